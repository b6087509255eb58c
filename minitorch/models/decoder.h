/* decoder.h -- GPT-2 one token at a time: keys and values of earlier tokens are cached, so that a token costs one row.
 *
 *     mt_decoder *decoder = mt_decoder_new(model);
 *     const float *logits = mt_decoder_next(decoder, id);       // of what follows id
 *     int32_t next = mt_sample(logits, vocabulary, &how, &rng);
 */
#pragma once

#include "nn/module.h"

MT_C_BEGIN

typedef struct mt_decoder mt_decoder; /* opaque */

/* mt_decoder_new -- model is borrowed, on the CPU, and must not change while it is used. Where the cast policy
 * (ops/policy.h) wants products in another type than f32, the decoder reads copies of the matrices, which their
 * parameters keep: in 16 bits half of what a token reads from memory. */
mt_decoder *mt_decoder_new(const mt_module *model);
void mt_decoder_free(mt_decoder *decoder); /* NULL is allowed */

/* mt_decoder_next -- read one more token; logits [vocabulary], lent until the next call. When the context is full, the
 * older half of it is dropped and the newer half is read again, because positions are absolute.   Aborts: an id out
 * of range. */
const float *mt_decoder_next(mt_decoder *decoder, int32_t id);

MT_C_END
