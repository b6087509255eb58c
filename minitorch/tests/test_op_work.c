/* test_op_work.c -- the FLOPs and bytes that ops count, forward and backward, against formulas of their operands'
 * sizes. */
#include "autograd/tape.h"
#include "core/scope.h"
#include "fused/fused.h"
#include "models/gpt2_ops.h"
#include "ops/ops.h"
#include "testing/profile_here.h"

#include <criterion/criterion.h>
#include <string.h>

static mt_tensor *leaf(mt_shape shape)
{
    mt_tensor *t = mt_zeros(shape, MT_F32, MT_CPU);
    t->requires_grad = true;
    return t;
}

/* Every test computes one loss and its gradients while a profile runs. */
static mt_profile *profile;

static void begin(void)
{
    mt_fused_use();
    mt_scope_begin();
}

static void end(void)
{
    mt_profile_free(profile);
    mt_scope_end();
}

static void run(mt_tensor *result)
{
    mt_backward(mt_sum(result));
    profile = mt_profile_end();
}

static void counted(const char *name, int64_t flops, int64_t bytes)
{
    for (int64_t i = 0; i < profile->line_count; i++) {
        const mt_profile_line *line = &profile->line[i];
        if (strcmp(line->name, name) != 0)
            continue;
        cr_expect(line->flops == flops && line->bytes == bytes, "%s counted %lld FLOPs and %lld B, not %lld and %lld",
                  name, (long long)line->flops, (long long)line->bytes, (long long)flops, (long long)bytes);
        return;
    }
    cr_expect(false, "no span %s", name);
}

TestSuite(op_work, .init = begin, .fini = end);

enum { N = 5, I = 7, O = 3 };

Test(op_work, linear)
{
    mt_tensor *x = leaf(MT_SHAPE(N, I)), *w = leaf(MT_SHAPE(I, O)), *b = leaf(MT_SHAPE(O));
    mt_profile_begin(0);
    run(mt_linear(x, w, b));
    counted("linear", 2 * N * I * O, 4 * (N * I + I * O + O + N * O));
    counted("linear backward", 4 * N * I * O, 4 * (N * O + 3 * I * O + 3 * N * I + 2 * O));
    counted("sum", N * O, 4 * (N * O + 1));
    counted("sum backward", N * O, 4 * (2 * N * O + 1));
}

Test(op_work, linear_counts_only_gradients_that_are_wanted)
{
    mt_tensor *x = mt_zeros(MT_SHAPE(N, I), MT_F32, MT_CPU), *w = leaf(MT_SHAPE(I, O));
    mt_profile_begin(0);
    run(mt_linear(x, w, NULL));
    counted("linear backward", 2 * N * I * O, 4 * (N * O + N * I + 2 * I * O));
}

Test(op_work, matmul_of_a_batch)
{
    mt_tensor *a = leaf(MT_SHAPE(4, N, I)), *b = leaf(MT_SHAPE(4, I, O));
    mt_profile_begin(0);
    run(mt_matmul(a, b));
    counted("matmul", 4 * 2 * N * I * O, 4 * 4 * (N * I + I * O + N * O));
    counted("matmul backward", 4 * 4 * N * I * O, 4 * 4 * ((N * O + O * I + 2 * N * I) + (I * N + N * O + 2 * I * O)));
}

Test(op_work, matmul_of_a_batch_by_one_matrix)
{
    mt_tensor *a = leaf(MT_SHAPE(4, N, I)), *b = leaf(MT_SHAPE(I, O));
    mt_profile_begin(0);
    run(mt_matmul(a, b));
    counted("matmul", 4 * 2 * N * I * O, 4 * (4 * N * I + I * O + 4 * N * O));
    counted("matmul backward", 4 * 4 * N * I * O,
            4 * ((4 * N * O + O * I + 4 * 2 * N * I) + (4 * I * N + 4 * N * O + 2 * I * O)));
}

Test(op_work, arithmetic_and_activations)
{
    mt_tensor *x = leaf(MT_SHAPE(N, I)), *row = leaf(MT_SHAPE(I));
    mt_profile_begin(0);
    run(mt_scale(mt_gelu(mt_add(x, row)), 2));
    counted("add", N * I, 4 * (2 * N * I + I));
    counted("add backward", 2 * N * I, 4 * (2 * N * I + 2 * N * I + 2 * I));
    counted("gelu", 0, 8 * N * I);
    counted("gelu backward", 0, 16 * N * I);
    counted("scale", N * I, 8 * N * I);
    counted("scale backward", 2 * N * I, 12 * N * I);
}

Test(op_work, rows)
{
    mt_rng rng = mt_rng_new(1, MT_STREAM_DROPOUT);
    mt_tensor *x = leaf(MT_SHAPE(N, I));
    mt_profile_begin(0);
    run(mt_max_dim(mt_dropout(mt_softmax(x), 0.5f, &rng), 1));
    counted("softmax", 0, 8 * N * I);
    counted("softmax backward", 0, 16 * N * I);
    counted("dropout", N * I, 8 * N * I);
    counted("dropout backward", 2 * N * I, 12 * N * I);
    counted("max", 0, 4 * N * I + 12 * N);
}

Test(op_work, layernorm)
{
    mt_tensor *x = leaf(MT_SHAPE(N, I)), *gamma = leaf(MT_SHAPE(I)), *beta = leaf(MT_SHAPE(I));
    mt_profile_begin(0);
    run(mt_layernorm(x, gamma, beta, 1e-5f));
    counted("layernorm", 0, 8 * (N * I + N + I));
    counted("layernorm backward", 0, 16 * N * I);
}

Test(op_work, loss_and_table)
{
    mt_tensor *table = leaf(MT_SHAPE(10, I)), *label = mt_zeros(MT_SHAPE(N), MT_I32, MT_CPU);
    mt_profile_begin(0);
    run(mt_cross_entropy(mt_gather_rows(table, label), label));
    counted("gather_rows", 0, 8 * N * I);
    counted("gather_rows backward", N * I, 12 * N * I);
    counted("cross_entropy", 0, 8 * N * I);
    counted("cross_entropy backward", 0, 12 * N * I);
}

Test(op_work, parts_and_views)
{
    mt_tensor *a = leaf(MT_SHAPE(N, I)), *b = leaf(MT_SHAPE(N, O));
    mt_profile_begin(0);
    run(mt_transpose(mt_concat((mt_tensor *[]){ a, b }, 2, 1), 0, 1));
    counted("concat", 0, 8 * N * (I + O));
    counted("concat backward", N * (I + O), 12 * N * (I + O));
    counted("view backward", 2 * N * (I + O),
            24 * N * (I + O)); /* of the transposed view, and of sum's dense copy of it */
}

Test(op_work, language_model)
{
    enum { B = 2, T = 3, C = 4, V = 11 };
    mt_tensor *wte = leaf(MT_SHAPE(V, C)), *wpe = leaf(MT_SHAPE(T, C)), *ids = mt_zeros(MT_SHAPE(B, T), MT_I32, MT_CPU);
    mt_tensor *qkv = leaf(MT_SHAPE(B, T, 3 * C));
    mt_profile_begin(0);
    run(mt_classifier(mt_residual(mt_embedding(wte, wpe, ids), mt_attention(qkv, 2)), wte, ids, V));
    counted("residual", B * T * C, 12 * B * T * C);
    counted("residual backward", 2 * B * T * C, 24 * B * T * C);
    counted("embedding", B * T * C, 12 * B * T * C);
    counted("embedding backward", 2 * B * T * C, 24 * B * T * C);
    counted("attention", 2 * B * C * T * (T + 1), 16 * B * T * C);
    counted("attention backward", 5 * B * C * T * (T + 1), 44 * B * T * C);
    counted("classifier", 2 * B * T * V * C, 4 * (B * T * C + V * C + 2 * B * T * V));
    counted("classifier backward", 4 * B * T * V * C, 4 * (2 * B * T * V + 3 * V * C + 3 * B * T * C));
}

/* A linear layer with GELU reads and writes what bias and GELU take in one pass, beside the product. */
Test(op_work, a_linear_layer_with_gelu)
{
    mt_tensor *x = leaf(MT_SHAPE(N, I)), *w = leaf(MT_SHAPE(I, O)), *b = leaf(MT_SHAPE(O));
    mt_profile_begin(0);
    run(mt_linear_gelu(x, w, b));
    counted("linear", 2 * N * I * O, 4 * (N * I + I * O + N * O));
    counted("bias_gelu", 0, 8 * N * O + 4 * O);
    counted("bias_gelu backward", 0, 16 * N * O);
}

/* Twice: the gradients of the first are where forward made them, those of the second are added. Less than half of the
 * probabilities is ever allocated beside both. */
Test(op_work, a_classifier_in_chunks)
{
    enum { C = 4, V = 64, ROWS = 900 };
    mt_tensor *x = leaf(MT_SHAPE(ROWS, C)), *w = leaf(MT_SHAPE(V, C)), *ids = mt_zeros(MT_SHAPE(ROWS), MT_I32, MT_CPU);
    for (int64_t i = 0; i < ROWS * C; i++)
        mt_f32(x)[i] = (float)(i % 7);
    for (int time = 0; time < 2; time++) {
        int64_t before = mt_live_bytes(MT_CPU);
        mt_peak_reset(MT_CPU);
        mt_profile_begin(0);
        run(mt_scale(mt_classifier(x, w, ids, V), 0.5F));
        counted("classifier", 6 * ROWS * V * C, 4 * (3 * ROWS * C + 16 * V * C + 6 * ROWS * V));
        counted("classifier backward", time ? ROWS * C + V * C : 0, (time ? 12 : 8) * (ROWS * C + V * C));
        cr_expect_lt(mt_peak_bytes(MT_CPU) - before, 4 * ROWS * (V / 2 + C) + 4 * V * C);
        if (time == 0)
            mt_profile_free(profile);
    }
    for (int64_t i = 0; i < V * C; i++) { /* p is 1 / V, the target is 0 */
        double sum = 0;
        for (int64_t n = 0; n < ROWS; n++)
            sum += (double)(mt_f32(x)[n * C + i % C]) / ROWS;
        cr_expect_float_eq((double)mt_f32(w->grad)[i], sum * (1.0 / V - (i < C)), 1e-5, "%lld", (long long)i);
    }
    mt_zero_grad(x);
    mt_zero_grad(w);
}
