/* safetensors.h -- a file of tensors: the weights of a model, or a part of a checkpoint (ckpt/checkpoint.h).
 *
 *   u64 n | n bytes of JSON: {"__metadata__":{...},"NAME":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]},...} |
 *   data
 *
 * Little-endian; data_offsets count from the end of the header; the data has neither holes nor overlaps. What we write
 * is aligned to 8 bytes, and its __metadata__ is {"format":"pt"}, which Hugging Face's readers want. Integers and
 * settings of a list (core/state.h) are left out: a checkpoint has them in its manifest.
 * Format: github.com/huggingface/safetensors. Programs that read or write such files are linked with -lcjson. */
#pragma once

#include "core/state.h"

MT_C_BEGIN

/* mt_safetensors_write -- all tensors of the list as one file, which replaces path when it is complete (core/io.h). */
mt_status mt_safetensors_write(const char *path, const mt_state *state);

typedef struct mt_safetensors mt_safetensors; /* opaque: an open file whose header was read and checked */

/* mt_safetensors_open -- any file that the format allows, by any writer. MT_ERR_FORMAT, with the reason: not this
 * format, cut off, bytes that belong to no tensor, a type or shape that does not fit its bytes, a name twice. Members
 * that the format does not name are passed over. */
mt_status mt_safetensors_open(mt_safetensors **out, const char *path);
void mt_safetensors_close(mt_safetensors *file); /* NULL is allowed */

/* mt_safetensors_load -- copy every tensor of the list from the file, whose other tensors are ignored. Numbers of 16
 * bits in the file, F16 or BF16, become f32 where that is wanted, exactly. A tensor's name may begin with `prefix` in
 * the file: "transformer.", or "" for no prefix. MT_ERR_FORMAT, with nothing changed: one is missing, of another type
 * or shape, or there with and without the prefix. */
mt_status mt_safetensors_load(const mt_safetensors *file, const mt_state *state, const char *prefix);

/* mt_safetensors_stored -- the first type in the file that is not the tensor's, of the list's tensors there; f32 when
 * mt_safetensors_load converts nothing. */
mt_dtype mt_safetensors_stored(const mt_safetensors *file, const mt_state *state, const char *prefix);

/* mt_safetensors_check -- mt_safetensors_load without copying.
 * mt_safetensors_has -- whether the file has a tensor of this name. */
mt_status mt_safetensors_check(const mt_safetensors *file, const mt_state *state, const char *prefix);
bool mt_safetensors_has(const mt_safetensors *file, const char *name);
int64_t mt_safetensors_count(const mt_safetensors *file); /* of its tensors */

/* mt_safetensors_emit -- passes all bytes of the file to `put`, in order. */
void mt_safetensors_emit(const mt_state *state, void (*put)(void *user, const void *data, int64_t bytes), void *user);

/* The format's name of a type: "F32". */
const char *mt_safetensors_dtype(mt_dtype dtype);

MT_C_END
