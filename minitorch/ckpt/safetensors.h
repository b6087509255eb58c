/* safetensors.h -- the file of everything that is saved: weights of a model, or a whole run with optimizer and
 * settings.
 *
 *   u64 n | n bytes of JSON: {"__metadata__":{...},"NAME":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]},...} |
 *   data
 *
 * Little-endian; data_offsets count from the end of the header; the data has neither holes nor overlaps. What we write
 * is aligned to 8 bytes and keeps integers and settings of the list (core/state.h) as strings in __metadata__, whose
 * first entry, "crc64", is the CRC-64/XZ of the whole file with 16 zeros in its place.
 * Format: github.com/huggingface/safetensors. Programs that read or write such files are linked with -lcjson. */
#pragma once

#include "core/state.h"

MT_C_BEGIN

/* mt_safetensors_write -- all of the list as one file, which replaces path when it is complete (core/io.h). */
mt_status mt_safetensors_write(const char *path, const mt_state *state);

typedef struct mt_safetensors mt_safetensors; /* opaque: an open file whose header was read and checked */

/* mt_safetensors_open -- any file that the format allows, by any writer; the checksum is compared where there is one.
 * MT_ERR_FORMAT, with the reason: not this format, damaged, cut off, bytes that belong to no tensor, two tensors of one
 * name. */
mt_status mt_safetensors_open(mt_safetensors **out, const char *path);
void mt_safetensors_close(mt_safetensors *file); /* NULL is allowed */

/* mt_safetensors_load -- copy every tensor and integer of the list from the file, and compare every setting. Other
 * tensors of the file are ignored. Numbers of 16 bits in the file, F16 or BF16, become f32 where that is wanted,
 * exactly. A tensor's name may begin with `prefix` in the file: "transformer.", or "" for no
 * prefix. MT_ERR_FORMAT: one is missing, of another type or shape, or there with and without the prefix; or an integer
 * or a setting is wanted from a file without our checksum. MT_ERR_ARGUMENT: a setting differs. Both leave everything
 * unchanged. */
mt_status mt_safetensors_load(const mt_safetensors *file, const mt_state *state, const char *prefix);

/* mt_safetensors_stored -- the first type in the file that is not the tensor's, of the list's tensors there; f32 when
 * mt_safetensors_load converts nothing. */
mt_dtype mt_safetensors_stored(const mt_safetensors *file, const mt_state *state, const char *prefix);

/* mt_safetensors_check -- mt_safetensors_load without copying.
 * mt_safetensors_has -- whether the file has a tensor of this name. */
mt_status mt_safetensors_check(const mt_safetensors *file, const mt_state *state, const char *prefix);
bool mt_safetensors_has(const mt_safetensors *file, const char *name);
int64_t mt_safetensors_count(const mt_safetensors *file); /* of its tensors */

/* mt_safetensors_emit -- all bytes of the file in order, to put. sum: with integers, settings and room for the
 * checksum; else the tensors only. mt_safetensors_put -- the tensors as a file of a checkpoint, for mt_part's put
 * (ckpt/commit.h); its checksum, integers and settings are the manifest's. */
void mt_safetensors_emit(const mt_state *state, bool sum, void (*put)(void *user, const void *data, int64_t bytes),
                         void *user);
struct mt_part;
void mt_safetensors_put(struct mt_part *part, const void *state);

/* mt_crc64 -- CRC-64/XZ of data that follows data with this crc; 0 at the start. */
uint64_t mt_crc64(uint64_t crc, const void *data, int64_t bytes);

/* The format's name of a type: "F32". */
const char *mt_safetensors_dtype(mt_dtype dtype);

#define MT_SAFETENSORS_START "{\"__metadata__\":{\"crc64\":\"" /* of our headers; 16 digits follow */

MT_C_END
