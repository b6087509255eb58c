/* test_parity.c -- every op of the case table on the device: values and gradients against the same oracle and within
 * the same derived tolerance as on the CPU (test_ops.c), dense and strided. Then what the table does not cover. */
#include "core/dtype.h"
#include "autograd/tape.h"
#include "core/scope.h"
#include "fused/fused.h"
#include "ops/ops.h"
#include "amp/kernels_16bit.h"
#include "models/kernels_gpt2.h"
#include "models/gpt2_ops.h"
#include "kernels/kernels.h"
#include "optim/optim.h"
#include "testing/op_cases.h"

#include "aborts.h"
#include "must.h"

#include <math.h>
#include <stddef.h>

TestSuite(parity, .init = mt_fused_use);

enum { SEED = 3 };

static void on_device(mt_layout layout)
{
    must(mt_device_open(MT_CUDA) == MT_OK ? NULL : mt_last_error());
    for (int64_t i = 0; i < mt_op_case_count; i++) {
        mt_op_want *want = mt_op_want_new(&mt_op_cases[i], SEED + (uint64_t)i);
        want->device = MT_CUDA;
        must(mt_op_trial(want, layout));
        mt_op_want_free(want);
    }
    cr_assert_eq(mt_live_bytes(MT_CUDA), 0);
}

Test(parity, every_case_of_dense_inputs, .timeout = 300)
{
    on_device(MT_DENSE);
}

Test(parity, every_case_of_strided_inputs, .timeout = 300)
{
    on_device(MT_STRIDED);
}

/* A missing entry would otherwise be found only when an op first uses it. */
Test(parity, the_table_is_full)
{
    const struct {
        const char *name;
        const void *table;
        size_t size, on_the_cpu; /* the offset of an entry that only the CPU has */
    } of[] = { { "base", mt_kernels(MT_CUDA), sizeof(mt_base_table), SIZE_MAX },
               { "16bit", mt_16bit_kernels(MT_CUDA), sizeof(mt_16bit_table), SIZE_MAX },
               { "gpt2", mt_gpt2_kernels(MT_CUDA), sizeof(mt_gpt2_table), offsetof(mt_gpt2_table, classifier_rest) } };
    /* Not the fused ones: on a device two ops do what one does on the CPU (fused/bias_gelu.c). */
    for (int64_t f = 0; f < MT_COUNT(of); f++)
        for (size_t at = 0; at < of[f].size; at += sizeof(void *))
            cr_assert(*(void *const *)((const char *)of[f].table + at) || at == of[f].on_the_cpu,
                      "the entry at byte %d of cuda's table %s is missing", (int)at, of[f].name);
}

static mt_tensor *there(mt_shape shape, const float *values)
{
    return mt_to_device(mt_from(shape, MT_F32, values), MT_CUDA);
}

Test(parity, argmax_and_ties_and_nan_as_on_the_cpu)
{
    const float values[3][5] = { { 1, 3, 2, 3, 0 }, { -1, NAN, 5, NAN, 2 }, { -7, -7, -7, -7, -7 } };
    mt_scope_begin();
    mt_tensor *x = there(MT_SHAPE(3, 5), values[0]);
    mt_tensor *at = mt_to_device(mt_argmax(x), MT_CPU), *down = mt_to_device(mt_max_dim(x, 0), MT_CPU);
    for (int64_t n = 0; n < 3; n++)
        cr_assert_eq(mt_get(at, &n), n == 2 ? 0 : 1, "row %d", (int)n);
    for (int64_t c = 0; c < 5; c++)
        cr_assert(c % 2 ? isnan(mt_get(down, &c)) : mt_get(down, &c) == (c == 0 ? 1 : c == 2 ? 5 : 2));
    mt_scope_end();
}

Test(parity, dropout_draws_the_mask_of_the_cpu)
{
    mt_rng here = mt_rng_new(9, MT_STREAM_DROPOUT), same = here;
    mt_scope_begin();
    mt_tensor *ones = mt_full(MT_SHAPE(1003), 1), *a = mt_dropout(ones, 0.3f, &here);
    mt_tensor *b = mt_to_device(mt_dropout(mt_to_device(ones, MT_CUDA), 0.3f, &same), MT_CPU);
    must(mt_compare_bits("dropout on cuda", mt_f32(b), mt_f32(a), 1003));
    cr_assert_eq(here.counter, same.counter);
    mt_scope_end();
}

/* One launch for all tensors (lab 11.9). An update is at most lr times a factor near 1, with a few roundings; there are
 * three updates, and each is added to the parameter. */
Test(parity, adamw_of_all_tensors_as_on_the_cpu)
{
    enum { TENSORS = 5, STEPS = 3 };
    const int64_t length[TENSORS] = { 1, 33, 4096, 4097, 10007 };
    mt_hyper hyper = mt_hyper_default(MT_ADAMW);
    hyper.lr = 0.01;
    mt_scope_begin();
    mt_optim *optim[] = { mt_optim_new(MT_ADAMW, hyper), mt_optim_new(MT_ADAMW, hyper) };
    mt_tensor *param[2][TENSORS];
    for (int k = 0; k < TENSORS; k++) {
        mt_rng rng = mt_rng_new(SEED + (uint64_t)k, MT_STREAM_TEST);
        for (int on = 0; on < 2; on++) {
            mt_tensor *host = mt_zeros(MT_SHAPE(length[k]), MT_F32, MT_CPU), *grad = mt_full(MT_SHAPE(length[k]), 0);
            mt_rng same = rng;
            mt_rng_fill_normal(&same, mt_f32(host), length[k], 0, 1);
            mt_rng_fill_normal(&same, mt_f32(grad), length[k], 0, 1);
            param[on][k] = on ? mt_to_device(host, MT_CUDA) : host;
            mt_optim_add(optim[on], (char[]){ (char)('a' + k), 0 }, param[on][k]);
            param[on][k]->grad = mt_retain(on ? mt_to_device(grad, MT_CUDA) : grad);
        }
    }
    for (int step = 0; step < STEPS; step++)
        for (int on = 0; on < 2; on++)
            mt_optim_step(optim[on]);
    for (int k = 0; k < TENSORS; k++) {
        const float *want = mt_f32(param[0][k]), *got = mt_f32(mt_to_device(param[1][k], MT_CPU));
        for (int64_t i = 0; i < length[k]; i++) {
            double most = STEPS * 0x1p-24 * (64 * 0.01 + 4 * fabs((double)want[i]));
            cr_assert_leq(fabs((double)got[i] - (double)want[i]), most, "tensor %d, element %d", k, (int)i);
        }
    }
    mt_optim_free(optim[0]), mt_optim_free(optim[1]);
    mt_scope_end();
}

/* ---- copies between devices ------------------------------------------------------------------------- */

Test(parity, views_of_every_element_size_move_and_come_back)
{
    const mt_dtype types[] = { MT_U8, MT_BF16, MT_F32, MT_I64 };
    int64_t index[2];
    for (int i = 0; i < MT_COUNT(types); i++) {
        mt_scope_begin();
        mt_tensor *x = mt_zeros(MT_SHAPE(5, 7), types[i], MT_CPU);
        for (int64_t k = 0; k < 35; k++)
            mt_store_f64(x->storage->data, types[i], k, (double)(k % 9));
        mt_tensor *part = mt_transpose(mt_slice(mt_to_device(x, MT_CUDA), 1, 1, 7, 2), 0, 1);
        mt_tensor *back = mt_to_device(part, MT_CPU);
        for (index[0] = 0; index[0] < 3; index[0]++)
            for (index[1] = 0; index[1] < 5; index[1]++) {
                double want = (double)((index[1] * 7 + 1 + 2 * index[0]) % 9);
                cr_assert_eq(mt_get(back, index), want);
                cr_assert_eq(mt_get(part, index), want, "an element read from the device");
            }
        mt_scope_end();
    }
}

Test(parity, empty_tensors_and_scalars_move)
{
    mt_scope_begin();
    cr_assert_eq(mt_numel(mt_to_device(mt_zeros(MT_SHAPE(0, 3), MT_F32, MT_CPU), MT_CUDA)), 0);
    cr_assert_eq(mt_item(mt_to_device(mt_full(MT_SCALAR, 2.5f), MT_CUDA)), 2.5);
    mt_tensor *x = mt_zeros(MT_SHAPE(3), MT_F32, MT_CUDA);
    cr_assert_eq(mt_to_device(x, MT_CUDA), x, "a tensor that is there stays itself");
    cr_assert_eq(mt_item(mt_sum(x)), 0);
    mt_scope_end();
}

/* ---- misuse ------------------------------------------------------------------------------------------ */

Test(parity, operands_on_two_devices_are_refused)
{
    mt_scope_begin();
    mt_tensor *here = mt_full(MT_SHAPE(2), 1), *other = mt_to_device(here, MT_CUDA);
    ABORTS("add: operands are on cpu and cuda", mt_add(here, other));
    mt_tensor *ids = mt_zeros(MT_SHAPE(1, 2), MT_I32, MT_CPU), *table = mt_zeros(MT_SHAPE(2, 3), MT_F32, MT_CUDA);
    ABORTS("embedding: operands are on cuda and cpu", mt_embedding(table, table, ids));
    ABORTS("classifier: operands are on cuda and cpu", mt_classifier(table, table, mt_reshape(ids, MT_SHAPE(2)), 2));
    mt_scope_end();
}

/* The kernel prints the error on stdout; the next call that waits for it aborts. */
static void token_outside(void)
{
    mt_scope_begin();
    mt_tensor *table = mt_zeros(MT_SHAPE(2, 3), MT_F32, MT_CUDA);
    mt_tensor *ids = mt_to_device(mt_from(MT_SHAPE(1, 1), MT_I32, (int32_t[]){ 2 }), MT_CUDA);
    mt_to_device(mt_embedding(table, table, ids), MT_CPU);
    mt_scope_end();
}

Test(parity, what_the_device_cannot_do_it_says)
{
    ABORTS("heads of 129 columns; on cuda they have 128 at most",
           mt_gpt2_kernels(MT_CUDA)->attention_fwd(NULL, NULL, NULL, 1, 2, 129, 1));
    ABORTS("cuda: ", token_outside());
}
