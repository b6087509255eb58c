/* test_gpt2_cuda.c -- a small GPT-2 on the device against the CPU: loss, every gradient, two steps of AdamW; then
 * checkpoints and samples; and what the table of ops does not cover: cached attention, and that attention gives the
 * same bits every time.
 *
 * Both devices round every product and sum, in different orders. The tolerance is measured as in test_gpt2.c: on the
 * CPU every weight is perturbed by a relative +-MOVED; if that changes a kind of result by at most `farthest`, it may
 * be off by farthest * ROUNDINGS * 2^-24 / MOVED on either device. ROUNDINGS is the length of the longest path: in each
 * layer two rows of layernorm, four products, scores and probabilities; then the head and its softmax. */
#include "autograd/tape.h"
#include "core/scope.h"
#include "ckpt/checkpoint.h"
#include "core/io.h"
#include "fused/fused.h"
#include "memory/segment.h"
#include "models/decoder.h"
#include "models/gpt2.h"
#include "models/sample.h"
#include "ops/ops.h"
#include "models/kernels_gpt2.h"
#include "models/gpt2_ops.h"
#include "optim/optim.h"
#include "testing/compare.h"

#include "aborts.h"
#include "must.h"
#include "temp_dir.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(gpt2_cuda, .init = mt_fused_use);

enum { B = 2, T = 37, C = 15, HEADS = 3, TOKENS = 29, LAYERS = 2, LARGER = 8 };
enum { ROUNDINGS = LAYERS * (2 * 2 * C + 3 * C + 4 * C + C / HEADS + 2 * T) + 2 * C + TOKENS };

static const double MOVED = 0x1p-12;
static const mt_gpt2_config config = { TOKENS, 0, 40, LAYERS, HEADS, C };

/* ---- a run ---------------------------------------------------------------------------------------------- */

/* Results of one kind, one parameter after the other. */
typedef struct results {
    float *grad, *after; /* gradients of the first step, parameters after the last */
    float loss[2];
    int64_t count; /* of each */
} results;

static void keep(float **to, int64_t at, const mt_tensor *t, int64_t room)
{
    *to = realloc(*to, (size_t)room * sizeof **to);
    mt_copy(*to + at, MT_CPU, mt_f32(t), t->storage->device, mt_numel(t) * (int64_t)sizeof **to);
}

static mt_tensor *(*run_of_blocks)(mt_module *, mt_tensor *);

/* Matrices are LARGER times the initial ones, with which all scores are nearly 0, so that a wrong score would have no
 * effect. */
static mt_module *model_on(mt_device device, double moved)
{
    mt_rng init = mt_rng_new(1, MT_STREAM_INIT), sign = mt_rng_new(2, MT_STREAM_TEST);
    mt_module *model = mt_gpt2_new(&config, &init);
    mt_state params = mt_module_params(model);
    for (int64_t p = 0; p < params.count; p++)
        for (int64_t i = 0; i < mt_numel(params.item[p].tensor); i++)
            mt_f32(params.item[p].tensor)[i] *= (float)((params.item[p].tensor->view.rank == 2 ? LARGER : 1) *
                                                        (1 + (mt_rng_u32(&sign) & 1 ? moved : -moved)));
    mt_state_free(&params);
    for (int l = 0; l < LAYERS; l++)
        model->child[MT_GPT2_H]->child[l]->run = run_of_blocks;
    mt_module_to_device(model, device);
    return model;
}

static mt_tensor *tokens_on(mt_device device, uint64_t seed)
{
    mt_rng draw = mt_rng_new(seed, MT_STREAM_TEST);
    int32_t id[B * T];
    for (int i = 0; i < B * T; i++)
        id[i] = (int32_t)mt_rng_below(&draw, TOKENS);
    return mt_to_device(mt_from(MT_SHAPE(B, T), MT_I32, id), device);
}

static mt_optim *optimizer(const mt_state *params)
{
    const mt_hyper hyper = { .lr = 1e-2, .beta1 = 0.9, .beta2 = 0.95, .eps = 1e-3, .weight_decay = 0.1 };
    mt_optim *optim = mt_optim_new(MT_ADAMW, hyper);
    for (int64_t i = 0; i < params->count; i++)
        mt_optim_add(optim, params->item[i].name, params->item[i].tensor);
    return optim;
}

typedef struct trained {
    mt_module *model;
    mt_state params;
    mt_optim *optim;
} trained;

static trained begin(mt_device device, double moved)
{
    trained t = { .model = model_on(device, moved) };
    t.params = mt_module_params(t.model);
    t.optim = optimizer(&t.params);
    return t;
}

static void end(trained *t)
{
    mt_optim_zero_grad(t->optim);
    mt_optim_free(t->optim);
    mt_state_free(&t->params);
    mt_module_free(t->model);
}

/* One step; returns its loss, and leaves its gradients. */
static float step(trained *t, mt_device device)
{
    mt_scope_begin();
    mt_tensor *loss = mt_gpt2_loss(t->model, tokens_on(device, 3), tokens_on(device, 4));
    mt_optim_zero_grad(t->optim);
    mt_backward(loss);
    mt_optim_step(t->optim);
    float value = (float)mt_item(loss);
    mt_scope_end();
    return value;
}

static results run(mt_device device, double moved)
{
    trained t = begin(device, moved);
    results r = { .count = mt_module_count(t.model) };
    r.loss[0] = step(&t, device);
    for (int64_t p = 0, at = 0; p < t.params.count; at += mt_numel(t.params.item[p++].tensor))
        keep(&r.grad, at, t.params.item[p].tensor->grad, r.count);
    r.loss[1] = step(&t, device);
    for (int64_t p = 0, at = 0; p < t.params.count; at += mt_numel(t.params.item[p++].tensor))
        keep(&r.after, at, t.params.item[p].tensor, r.count);
    end(&t);
    return r;
}

/* ---- beside the CPU ---------------------------------------------------------------------------------------- */

static void compare(const char *what, const float *there, const float *here, const float *moved, int64_t n)
{
    double *want = malloc((size_t)n * sizeof *want), *tolerance = malloc((size_t)n * sizeof *tolerance);
    double farthest = 0, largest = 0;
    for (int64_t i = 0; i < n; i++) {
        farthest = fmax(farthest, fabs((double)moved[i] - here[i]));
        largest = fmax(largest, fabs((double)here[i]));
    }
    for (int64_t i = 0; i < n; i++) {
        want[i] = here[i];
        tolerance[i] = 2 * farthest * ROUNDINGS * 0x1p-24 / MOVED;
    }
    cr_assert_lt(tolerance[0], 0.02 * largest, "%s: a tolerance of %g for numbers up to %g would let anything pass",
                 what, tolerance[0], largest);
    must(mt_compare(what, there, want, tolerance, n));
    free(want);
    free(tolerance);
}

static void free_results(results *r)
{
    free(r->grad);
    free(r->after);
}

Test(gpt2_cuda, loss_gradients_and_two_steps_as_on_the_cpu, .timeout = 120)
{
    must(mt_device_open(MT_CUDA) == MT_OK ? NULL : mt_last_error());
    results here = run(MT_CPU, 0), moved = run(MT_CPU, MOVED), there = run(MT_CUDA, 0);
    cr_assert_eq(mt_live_bytes(MT_CUDA), 0);
    mt_module *model = model_on(MT_CPU, 0);
    mt_state params = mt_module_params(model);
    for (int64_t p = 0, at = 0; p < params.count; at += mt_numel(params.item[p++].tensor)) {
        int64_t n = mt_numel(params.item[p].tensor);
        char name[128];
        snprintf(name, sizeof name, "gradient of %s", params.item[p].name);
        compare(name, there.grad + at, here.grad + at, moved.grad + at, n);
        snprintf(name, sizeof name, "%s after two steps", params.item[p].name);
        compare(name, there.after + at, here.after + at, moved.after + at, n);
    }
    compare("losses", there.loss, here.loss, moved.loss, 2);
    cr_assert_lt(there.loss[1], there.loss[0] - 0.1f, "nothing is learnt: %g to %g", there.loss[0], there.loss[1]);
    mt_state_free(&params);
    mt_module_free(model);
    free_results(&here);
    free_results(&moved);
    free_results(&there);
}

Test(gpt2_cuda, recomputed_blocks_have_the_same_bits, .timeout = 120)
{
    must(mt_device_open(MT_CUDA) == MT_OK ? NULL : mt_last_error());
    results plain = run(MT_CUDA, 0);
    for (int how = 0; how < 2; how++) {
        run_of_blocks = how ? mt_segment_forward : mt_selective_forward;
        results again = run(MT_CUDA, 0);
        must(mt_compare_bits("gradients", again.grad, plain.grad, plain.count));
        must(mt_compare_bits("parameters", again.after, plain.after, plain.count));
        free_results(&again);
    }
    free_results(&plain);
}

/* ---- around training: checkpoints, samples -------------------------------------------------------------------- */

static mt_state state_of(const trained *t)
{
    mt_state state = { 0 };
    mt_module_state(&state, t->model);
    mt_optim_state(&state, t->optim);
    return state;
}

static void write_to(int64_t step, const trained *t)
{
    mt_state state = state_of(t), rest = { 0 };
    cr_assert_eq(mt_checkpoint_save(temp_dir, step, &state, &rest, MT_SHARD_BYTES), MT_OK, "%s", mt_last_error());
    mt_state_free(&state);
}

static void read_from(int64_t step, trained *t)
{
    mt_state state = state_of(t), rest = { 0 };
    cr_assert_eq(mt_checkpoint_load(temp_dir, step, &state, &rest), MT_OK, "%s", mt_last_error());
    mt_state_free(&state);
}

#define WEIGHTS "model-00001-of-00001.safetensors"

static void same_bytes(const char *a, const char *b)
{
    mt_file_map left, right;
    cr_assert_eq(mt_file_map_open(&left, in_dir(a)), MT_OK);
    cr_assert_eq(mt_file_map_open(&right, in_dir(b)), MT_OK);
    cr_assert(left.size == right.size && memcmp(left.bytes, right.bytes, (size_t)left.size) == 0, "%s is not %s", a, b);
    mt_file_map_close(&left);
    mt_file_map_close(&right);
}

Test(gpt2_cuda, a_checkpoint_crosses_devices, .init = temp_dir_make, .fini = temp_dir_remove)
{
    trained there = begin(MT_CUDA, 0), here = begin(MT_CPU, MOVED), back = begin(MT_CUDA, 2 * MOVED);
    step(&there, MT_CUDA);
    write_to(1, &there);
    read_from(1, &here);
    write_to(2, &here);
    read_from(2, &back);
    write_to(3, &back);
    same_bytes("step-2/" WEIGHTS, "step-1/" WEIGHTS);
    same_bytes("step-3/" WEIGHTS, "step-1/" WEIGHTS);
    end(&there);
    end(&here);
    end(&back);
}

/* The most likely token each time, beyond the context. */
Test(gpt2_cuda, writes_what_the_cpu_writes)
{
    enum { LONG = 48 };
    int32_t ids[2][LONG] = { { 5 }, { 5 } };
    for (mt_device device = MT_CPU; device <= MT_CUDA; device++) {
        mt_rng rng = mt_rng_new(1, MT_STREAM_SAMPLE);
        mt_module *model = model_on(device, 0);
        mt_gpt2_extend(ids[device], 1, LONG - 1, model, &(mt_sampling){ 0, 0, 1 }, &rng);
        mt_module_free(model);
    }
    for (int i = 0; i < LONG; i++)
        cr_assert_eq(ids[MT_CUDA][i], ids[MT_CPU][i], "token %d: %d on cuda, %d on the cpu", i, ids[MT_CUDA][i],
                     ids[MT_CPU][i]);
}

/* Whichever lane of the token's warp comes first. */
Test(gpt2_cuda, the_embedding_names_a_token_that_there_is_not)
{
    extern bool emu_reversed __attribute__((weak)); /* the emulator's */
    for (int reversed = 0; reversed < 2; reversed++) {
        ending end;
        if (run_in_child(&end) == 0) {
            dup2(STDERR_FILENO, STDOUT_FILENO);
            setvbuf(stdout, NULL, _IONBF, 0);
            if (&emu_reversed)
                emu_reversed = reversed;
            mt_tensor *id = mt_to_device(mt_from(MT_SHAPE(1, 2), MT_I32, (int32_t[]){ 1, 99 }), MT_CUDA);
            mt_tensor *table = mt_zeros(MT_SHAPE(TOKENS, C), MT_F32, MT_CUDA);
            mt_tensor *out = mt_zeros(MT_SHAPE(1, 2, C), MT_F32, MT_CUDA);
            mt_gpt2_kernels(MT_CUDA)->embedding_fwd(mt_f32(out), mt_data(id), mt_f32(table), mt_f32(table), 1, 2,
                                                    TOKENS, C);
            mt_to_device(out, MT_CPU);
            _exit(0);
        }
        cr_assert(WIFSIGNALED(end.status), "it did not abort");
        cr_assert(strstr(end.said, "embedding: id[1] is 99, but the tokens are 0 .. 28"), "%s", end.said);
    }
}

Test(gpt2_cuda, the_decoder_says_where_it_reads)
{
    mt_module *model = model_on(MT_CUDA, 0);
    ABORTS("the decoder reads its model on the cpu, this one is on cuda", mt_decoder_new(model));
    mt_module_free(model);
}

/* ---- attention: its cache, its bits -------------------------------------------------------------------------- */

/* The rows of forward one after another, with the cache. Both are softmax-weighted means of values below 1 with scores
 * that are sums of D products below 1: a score has D roundings, an exponential those and the C library's, and each mean
 * has 2 (i + 1) more, in both computations. */
static void cache_is_forward(int64_t places, int64_t D)
{
    const mt_gpt2_table *kernels = mt_gpt2_kernels(MT_CUDA);
    int64_t width = 2 * D;
    float *drawn = mt_test_uniform((uint64_t)D, places * 3 * width, -1, 1);
    double *want = malloc((size_t)width * sizeof *want), *tolerance = malloc((size_t)width * sizeof *tolerance);
    mt_scope_begin();
    mt_tensor *qkv = mt_to_device(mt_from(MT_SHAPE(1, places, 3 * width), MT_F32, drawn), MT_CUDA);
    mt_tensor *all = mt_to_device(mt_attention(qkv, 2), MT_CPU), *out = mt_zeros(MT_SHAPE(width), MT_F32, MT_CUDA);
    mt_tensor *cache = mt_empty(MT_SHAPE(places, 2 * width), MT_F32, MT_CUDA);
    for (int64_t i = 0; i < places; i++) {
        kernels->attention_cached(mt_f32(out), mt_f32(cache), mt_f32(qkv) + i * 3 * width, i, width, 2);
        for (int64_t c = 0; c < width; c++) {
            want[c] = mt_f32(all)[i * width + c];
            tolerance[c] = 2 * mt_tolerance((double)(2 * D + 2 * MT_LIBM_ROUNDINGS + 2 * (i + 1)), 1);
        }
        must(mt_compare("cached", mt_f32(mt_to_device(out, MT_CPU)), want, tolerance, width));
    }
    mt_tensor *kept = mt_to_device(cache, MT_CPU);
    for (int64_t i = 0; i < places; i++)
        must(mt_compare_bits("cache", mt_f32(kept) + i * 2 * width, drawn + i * 3 * width + width, 2 * width));
    mt_scope_end();
    free(drawn);
    free(want);
    free(tolerance);
}

Test(gpt2_cuda, the_cache_gives_the_rows_of_attention)
{
    const int64_t columns[] = { 1, 7, 33, 128 };
    for (int i = 0; i < MT_COUNT(columns); i++)
        cache_is_forward(35, columns[i]);
}

Test(gpt2_cuda, attention_has_the_same_bits_every_time)
{
    float *drawn = mt_test_uniform(6, B * T * 3 * C, -1, 1), *first = NULL, *again = NULL;
    for (int time = 0; time < 2; time++) {
        mt_scope_begin();
        mt_tensor *qkv = mt_to_device(mt_from(MT_SHAPE(B, T, 3 * C), MT_F32, drawn), MT_CUDA);
        qkv->requires_grad = true;
        mt_tensor *out = mt_attention(qkv, HEADS);
        mt_backward(mt_sum(mt_mul(out, out)));
        keep(time == 0 ? &first : &again, 0, qkv->grad, mt_numel(qkv));
        mt_scope_end();
    }
    must(mt_compare_bits("dqkv", again, first, B * T * 3 * C));
    free(drawn);
    free(first);
    free(again);
}

/* Squares of 1e25 overflow f32: such a row has no result, and zeros or beta would hide that. */
Test(gpt2_cuda, a_row_too_large_is_nan_on_both_devices)
{
    const float values[6] = { 1e25f, 0, 5, 1, 2, 3 };
    for (mt_device device = MT_CPU; device <= MT_CUDA; device++) {
        mt_scope_begin();
        mt_tensor *x = mt_to_device(mt_from(MT_SHAPE(2, 3), MT_F32, values), device);
        mt_tensor *one = mt_to_device(mt_full(MT_SHAPE(3), 1), device), *zero = mt_zeros(MT_SHAPE(3), MT_F32, device);
        mt_tensor *out = mt_layernorm(x, one, zero, 1e-5f);
        const float *y = mt_f32(mt_to_device(out, MT_CPU));
        for (int k = 0; k < 6; k++)
            cr_assert(k < 3 ? isnan(y[k]) : isfinite(y[k]), "%s, number %d: %g", mt_device_name(device), k,
                      (double)y[k]);
        mt_scope_end();
    }
}
