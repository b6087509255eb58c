/* test_16bit_cuda.c -- mixed precision on the device against the CPU: conversions bit by bit, products, a layer under
 * autocast, unscaled gradients. */
#include "autograd/tape.h"
#include "core/rng.h"
#include "core/scope.h"
#include "nn/module.h"
#include "amp/autocast.h"
#include "amp/kernels_16bit.h"
#include "fused/kernels_fused.h"
#include "models/gpt2_ops.h"
#include "ops/ops.h"
#include "testing/compare.h"

#include "must.h"

#include <math.h>
#include <string.h>

static mt_rng rng;

static void open_device(void)
{
    cr_assert_eq(mt_device_open(MT_CUDA), MT_OK, "%s", mt_last_error());
    rng = mt_rng_new(11, MT_STREAM_TEST);
}

/* x in another type, computed on the device, back on the CPU. */
static mt_tensor *converted(mt_tensor *x, mt_dtype to)
{
    mt_tensor *there = mt_to_device(x, MT_CUDA), *out = mt_empty(mt_view_shape(&x->view), to, MT_CUDA);
    mt_16bit_kernels(MT_CUDA)->convert(mt_data(out), to, mt_data(there), x->dtype, mt_numel(x));
    return mt_to_device(out, MT_CPU);
}

Test(precision, every_pattern_converts_as_on_the_cpu, .init = open_device)
{
    enum { PATTERNS = 65536 };
    static uint16_t pattern[PATTERNS];
    static float number[PATTERNS];
    static const mt_dtype dtypes[] = { MT_F16, MT_BF16 };
    for (int i = 0; i < PATTERNS; i++) {
        pattern[i] = (uint16_t)i;
        uint32_t bits = (uint32_t)i << 16 | mt_rng_u32(&rng) >> 16;
        memcpy(&number[i], &bits, sizeof bits);
    }
    mt_scope_begin();
    for (int d = 0; d < 2; d++) {
        mt_tensor *wide = converted(mt_from(MT_SHAPE(PATTERNS), dtypes[d], pattern), MT_F32);
        mt_tensor *narrow = converted(mt_from(MT_SHAPE(PATTERNS), MT_F32, number), dtypes[d]);
        for (int i = 0; i < PATTERNS; i++) {
            double want = mt_load_f64(pattern, dtypes[d], i), got = mt_load_f64(mt_data(wide), MT_F32, i);
            cr_assert(isnan(want) ? isnan(got) : got == want, "%s %04x: %g", mt_dtype_name(dtypes[d]), i, got);
            uint16_t rounded = dtypes[d] == MT_F16 ? mt_f16_from_f32(number[i]).bits : mt_bf16_from_f32(number[i]).bits;
            uint16_t bits = ((uint16_t *)mt_data(narrow))[i];
            cr_assert(isnan(number[i]) ? isnan(mt_load_f64(&bits, dtypes[d], 0)) : bits == rounded, "%s of %a: %04x",
                      mt_dtype_name(dtypes[d]), number[i], bits);
        }
    }
    mt_scope_end();
}

/* The output's gradients are representable in 16 bits, so that both devices round the same numbers. */
static void layer(mt_tensor *result[3], mt_device device, mt_dtype dtype, mt_tensor *const data[4])
{
    mt_tensor *x = mt_to_device(data[0], device), *w = mt_to_device(data[1], device),
              *b = mt_to_device(data[2], device);
    x->requires_grad = w->requires_grad = true;
    mt_autocast_begin(dtype);
    mt_tensor *out = mt_linear(x, w, b);
    mt_autocast_end();
    mt_backward_from(out, mt_to_device(data[3], device));
    result[0] = mt_to_device(out, MT_CPU);
    result[1] = mt_to_device(x->grad, MT_CPU);
    result[2] = mt_to_device(w->grad, MT_CPU);
}

Test(precision, a_layer_computes_as_on_the_cpu, .init = open_device)
{
    enum { N = 33, I = 31, O = 7 };
    static const char *const names[] = { "out", "dx", "dw" };
    static const mt_dtype dtypes[] = { MT_F16, MT_BF16 };
    for (int d = 0; d < 2; d++) {
        mt_tensor *here[3], *there[3];
        mt_scope_begin();
        mt_tensor *dout = mt_full(MT_SHAPE(N, O), 0.375f);
        mt_tensor *const data[4] = { mt_normal(MT_SHAPE(N, I), 0, 1, &rng), mt_normal(MT_SHAPE(I, O), 0, 1, &rng),
                                     mt_normal(MT_SHAPE(O), 0, 1, &rng), dout };
        layer(here, MT_CPU, dtypes[d], data);
        for (int i = 0; i < 2; i++) /* a leaf on the CPU is the tensor itself */
            mt_zero_grad(data[i]);
        layer(there, MT_CUDA, dtypes[d], data);
        for (int r = 0; r < 3; r++) {
            double want[N * I], tolerance[N * I];
            for (int64_t i = 0; i < mt_numel(here[r]); i++) {
                want[i] = mt_f32(here[r])[i];
                tolerance[i] = (N + 2) * 0x1p-23 * N * 16; /* sums of at most N products below 4 x 4, in any order */
            }
            must(mt_compare(names[r], mt_f32(there[r]), want, tolerance, mt_numel(here[r])));
        }
        mt_scope_end();
    }
}

/* GELU's input is kept in 16 bits on the device, too: both compute the gradient from the same rounded numbers. */
Test(precision, what_is_saved_is_kept_as_on_the_cpu, .init = open_device)
{
    enum { R = 9, C = 31 };
    static const mt_dtype dtypes[] = { MT_F16, MT_BF16 };
    for (int d = 0; d < 2; d++) {
        mt_scope_begin();
        mt_tensor *x[2], *data = mt_normal(MT_SHAPE(R, C), 0, 1, &rng), *ones = mt_full(MT_SHAPE(R, C), 1);
        for (mt_device on = MT_CPU; on <= MT_CUDA; on++) {
            x[on] = mt_to_device(on == MT_CPU ? mt_tensor_packed(data) : data, on);
            x[on]->requires_grad = true;
            mt_autocast_begin(dtypes[d]);
            mt_tensor *h = mt_scale(x[on], 1);
            h->precision = dtypes[d]; /* as if a product had computed it */
            mt_tensor *out = mt_gelu(h);
            mt_autocast_end();
            cr_assert_eq(out->node->saved[0].tensor->dtype, dtypes[d]);
            cr_assert_eq(out->node->saved[0].tensor->storage->device, on);
            mt_backward_from(out, mt_to_device(ones, on));
        }
        double want[R * C], tolerance[R * C];
        for (int64_t i = 0; i < R * C; i++) {
            want[i] = mt_f32(x[MT_CPU]->grad)[i];
            tolerance[i] = 16 * 0x1p-24; /* that of GELU's gradient; a rounded x shifts it by up to 2^-9 */
        }
        must(mt_compare("dx", mt_f32(mt_to_device(x[MT_CUDA]->grad, MT_CPU)), want, tolerance, R * C));
        mt_scope_end();
    }
}

Test(precision, unscaling_is_as_on_the_cpu, .init = open_device)
{
    enum { N = 1000 };
    static const double limits[] = { INFINITY, 3 };
    for (int l = 0; l < 2; l++) {
        double want[N], tolerance[N];
        mt_scope_begin();
        mt_tensor *here = mt_normal(MT_SHAPE(N), 0, 1000, &rng), *there = mt_to_device(here, MT_CUDA);
        const mt_grad_array a = { mt_f32(here), N }, b = { mt_f32(there), N };
        double norm = mt_16bit_kernels(MT_CPU)->unscale_grads(&a, 1, 0x1p10, limits[l]);
        cr_assert_lt(fabs(mt_16bit_kernels(MT_CUDA)->unscale_grads(&b, 1, 0x1p10, limits[l]) / norm - 1), 1e-12);
        for (int i = 0; i < N; i++) {
            want[i] = mt_f32(here)[i];
            tolerance[i] = l ? 0x1p-23 * fabs(want[i]) : 0;
        }
        must(mt_compare("gradient", mt_f32(mt_to_device(there, MT_CPU)), want, tolerance, N));
        mt_scope_end();
    }
}

Test(precision, a_parameter_that_moved_is_converted_anew, .init = open_device)
{
    mt_module *layer = mt_linear_layer(5, 3, &rng);
    mt_scope_begin();
    mt_tensor *x = mt_normal(MT_SHAPE(2, 5), 0, 1, &rng), *out[2];
    mt_autocast_begin(MT_BF16);
    out[0] = mt_forward(layer, x);
    mt_module_to_device(layer, MT_CUDA);
    out[1] = mt_to_device(mt_forward(layer, mt_to_device(x, MT_CUDA)), MT_CPU);
    mt_autocast_end();
    cr_assert_eq(layer->param[0]->cast->storage->device, MT_CUDA);
    for (int i = 0; i < 6; i++)
        cr_assert_float_eq(mt_f32(out[0])[i], mt_f32(out[1])[i], 5 * 16 * 0x1p-23);
    mt_scope_end();
    mt_module_free(layer);
}

/* Weights near the middle of two bf16 may be rounded to either, which is 2^-8 of them; values are below 8. */
Test(precision, attention_on_tensor_cores_is_that_of_the_cpu, .init = open_device)
{
    static const int64_t sizes[][2] = {
        { 1, 8 }, { 33, 31 }, { 70, 64 }, { 130, 128 }
    }; /* tokens, columns of a head */
    enum { B = 2, H = 3 };
    for (int k = 0; k < MT_COUNT(sizes); k++) {
        int64_t T = sizes[k][0], C = H * sizes[k][1];
        mt_scope_begin();
        mt_tensor *x = mt_normal(MT_SHAPE(B, T, 3 * C), 0, 1, &rng),
                  *want = mt_empty(MT_SHAPE(B, T, C), MT_F32, MT_CPU);
        mt_tensor *lse = mt_empty(MT_SHAPE(B, H, T), MT_F32, MT_CPU), *there = mt_to_device(x, MT_CUDA);
        mt_attention_bf16_fwd_cpu(mt_f32(want), mt_f32(lse), mt_data(mt_autocast_operand(x, MT_BF16)), B, T, C, H);
        mt_autocast_begin(MT_BF16);
        mt_tensor *got = mt_to_device(mt_attention(there, H), MT_CPU);
        mt_autocast_end();
        double most = 0;
        for (int64_t i = 0; i < B * T * C; i++)
            most = fmax(most, fabs((double)mt_f32(got)[i] - (double)mt_f32(want)[i]));
        cr_expect(most <= 8 * 0x1p-8, "%d tokens: off by %g", (int)T, most);
        mt_scope_end();
    }
}
