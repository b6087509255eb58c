/* test_decoder.c -- decoding one token at a time gives the logits of forward on the whole context, and continues when
 * the context is full.
 *
 * Both compute the same sums in a different order. As in test_gpt2.c the tolerance is measured: every weight gets a
 * relative perturbation of 2^-12, and the change of the logits times roundings * 2^-24 / 2^-12 is the tolerance. */
#include "core/dtype.h"
#include "core/scope.h"
#include "models/decoder.h"
#include "models/gpt2.h"
#include "amp/autocast.h"

#include <criterion/criterion.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

/* A width that is not a multiple of a vector's, and more rows than the decoder processes together. */
enum { V = 13, BLOCK = 8, LAYERS = 2, C = 45, ROUNDINGS = LAYERS * (5 * C + 4 * C + 4 * C + 2 * BLOCK) + 3 * C };

static mt_module *model_moved(float moved)
{
    mt_rng rng = mt_rng_new(4, MT_STREAM_INIT), sign = mt_rng_new(5, MT_STREAM_TEST);
    mt_module *model = mt_gpt2_new(&(mt_gpt2_config){ V, 0, BLOCK, LAYERS, 5, C }, &rng);
    mt_state params = mt_module_params(model);
    for (int64_t i = 0; i < params.count; i++)
        for (int64_t k = 0; k < mt_numel(params.item[i].tensor); k++) /* 10: far from an even attention */
            mt_f32(params.item[i].tensor)[k] *= 10 * (1 + (mt_rng_u32(&sign) & 1 ? moved : -moved));
    mt_state_free(&params);
    return model;
}

/* The last row of logits of the context ids[0 .. T-1], all at once. */
static void at_once(float *out, mt_module *model, const int32_t *ids, int64_t T)
{
    mt_scope_begin();
    mt_tensor *logits = mt_gpt2_logits(model, mt_from(MT_SHAPE(1, T), MT_I32, ids));
    for (int v = 0; v < V; v++)
        out[v] = mt_f32(logits)[(T - 1) * V + v];
    mt_scope_end();
}

static void same(const float *got, mt_module *model, mt_module *moved, const int32_t *ids, int64_t T)
{
    float want[V], other[V], farthest = 0;
    at_once(want, model, ids, T);
    at_once(other, moved, ids, T);
    for (int v = 0; v < V; v++)
        farthest = fmaxf(farthest, fabsf(want[v] - other[v]));
    for (int v = 0; v < V; v++)
        cr_assert_leq(fabs((double)got[v] - (double)want[v]), (double)farthest * ROUNDINGS * 0x1p-12,
                      "%d tokens: logit %d is %g, not %g", (int)T, v, (double)got[v], (double)want[v]);
}

Test(decoder, as_all_at_once)
{
    mt_module *model = model_moved(0), *moved = model_moved(0x1p-12f);
    mt_decoder *decoder = mt_decoder_new(model);
    int32_t ids[BLOCK + 6];
    for (int i = 0; i < BLOCK + 6; i++) {
        ids[i] = i * 7 % V;
        const float *logits = mt_decoder_next(decoder, ids[i]);
        int64_t T = i < BLOCK ? i + 1 : i - BLOCK / 2 + 1 - (i >= BLOCK + BLOCK / 2 ? BLOCK / 2 : 0);
        same(logits, model, moved, ids + i + 1 - T, T);
    }
    mt_decoder_free(decoder);
    mt_module_free(model);
    mt_module_free(moved);
}

Test(decoder, threads_change_no_bit)
{
    float first[BLOCK][V];
    mt_module *model = model_moved(0);
    for (int threads = 1; threads <= 5; threads++) {
        omp_set_num_threads(threads);
        mt_decoder *decoder = mt_decoder_new(model);
        for (int i = 0; i < BLOCK; i++) {
            const float *logits = mt_decoder_next(decoder, i * 5 % V);
            if (threads == 1)
                memcpy(first[i], logits, sizeof first[i]);
            cr_assert_arr_eq(logits, first[i], sizeof first[i], "token %d, %d threads", i, threads);
        }
        mt_decoder_free(decoder);
    }
    mt_module_free(model);
}

/* Under autocast the matrices are read from 16-bit copies. Weights that are representable in 16 bits give the same
 * logits (except for fused multiply-adds); with other weights logits change by about 2^-9 or 2^-12. */
Test(decoder, reads_weights_of_16_bits)
{
    static const mt_dtype types[] = { MT_F32, MT_BF16, MT_F16 };
    for (int k = 1; k < 3; k++)
        for (int round = 0; round < 2; round++) {
            float logits[2][V];
            mt_module *model = model_moved(0);
            mt_state params = mt_module_params(model);
            for (int64_t i = 0; i < params.count; i++)
                for (int64_t j = 0; round && j < mt_numel(params.item[i].tensor); j++) {
                    float *p = mt_f32(params.item[i].tensor) + j;
                    *p = k == 1 ? mt_bf16_to_f32(mt_bf16_from_f32(*p)) : mt_f16_to_f32(mt_f16_from_f32(*p));
                }
            mt_state_free(&params);
            for (int with = 0; with < 2; with++) {
                mt_autocast_begin(with ? types[k] : MT_F32);
                mt_decoder *decoder = mt_decoder_new(model);
                mt_autocast_end();
                for (int i = 0; i < BLOCK; i++)
                    memcpy(logits[with], mt_decoder_next(decoder, i * 3 % V), sizeof logits[with]);
                mt_decoder_free(decoder);
            }
            float farthest = 0, largest = 0;
            for (int v = 0; v < V; v++) {
                farthest = fmaxf(farthest, fabsf(logits[1][v] - logits[0][v]));
                largest = fmaxf(largest, fabsf(logits[0][v]));
            }
            cr_assert_eq(farthest <= 0x1p-16f * largest, round, "%s, rounded %d: %g of %g", mt_dtype_name(types[k]),
                         round, (double)farthest, (double)largest);
            mt_module_free(model);
        }
}
