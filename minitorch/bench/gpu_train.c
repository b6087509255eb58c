/* gpu_train.c -- make gpu-check: a small GPT-2 trained on the device beside the CPU, STEPS losses of each, then the
 * time of one step of GPT-2 124M, its model FLOPs utilisation, and its share of what cuBLAS reaches in a large product.
 *
 *     gpu_train OUT      writes OUT/train.md and OUT/train.json; exits with 1 if a loss is too far from the CPU's
 *
 * How far: both devices round every product and sum, in different orders. The CPU trains a second time with every
 * weight changed by a relative +-MOVED. If that changes a loss by `moved`, about ROUNDINGS roundings, each of 2^-24,
 * may change it by moved * ROUNDINGS * 2^-24 / MOVED on either device (test_gpt2_cuda.c measures its tolerance in this
 * way, too). */
#include "bench/gpu_report.h"
#include "autograd/tape.h"
#include "core/scope.h"
#include "cuda/cuda.h"
#include "cuda/matmul_cuda.h"
#include "fused/fused.h"
#include "models/gpt2.h"
#include "optim/optim.h"
#include "prof/mfu.h"

#include <math.h>
#include <stdlib.h>

enum { STEPS = 50, BATCH = 4, TIMED = 5, SIDE = 4096 };

/* The longest path in one step: in each layer two rows of layernorm, four products, scores and probabilities; then the
 * head and its softmax. */
enum { LAYERS = 2, C = 32, T = 32, HEADS = 4, TOKENS = 50 };
enum { ROUNDINGS = LAYERS * (2 * 2 * C + 3 * C + 4 * C + C / HEADS + 2 * T) + 2 * C + TOKENS };
static const double MOVED = 0x1p-12;

/* ids [BATCH,length] that can be learned: each token follows from the one before it, three times in four. With shift 1
 * those that follow the ids with shift 0: the targets. */
static mt_tensor *tokens(int64_t length, int64_t vocabulary, uint64_t step, int64_t shift, mt_device device)
{
    mt_rng draw = mt_rng_new(step, MT_STREAM_TEST);
    mt_tensor *ids = mt_empty(MT_SHAPE(BATCH, length), MT_I32, MT_CPU);
    int32_t *id = mt_data(ids);
    for (int64_t b = 0; b < BATCH; b++) {
        int64_t token = (int64_t)mt_rng_below(&draw, (uint32_t)vocabulary);
        for (int64_t t = 0; t <= length; t++) {
            if (t >= shift && t < length + shift)
                id[b * length + t - shift] = (int32_t)token;
            bool follows = mt_rng_below(&draw, 4) != 0;
            int64_t any = (int64_t)mt_rng_below(&draw, (uint32_t)vocabulary);
            token = follows ? (7 * token + 3) % vocabulary : any;
        }
    }
    return mt_to_device(ids, device);
}

typedef struct training {
    mt_module *model;
    mt_optim *optim;
    int64_t length, vocabulary;
    mt_device device;
} training;

static training training_new(const mt_gpt2_config *size, mt_device device, double moved)
{
    mt_rng init = mt_rng_new(1, MT_STREAM_INIT), sign = mt_rng_new(2, MT_STREAM_TEST);
    training t = { .model = mt_gpt2_new(size, &init), .length = size->block, .vocabulary = size->vocabulary };
    mt_state params = mt_module_params(t.model);
    for (int64_t p = 0; moved > 0 && p < params.count; p++)
        for (int64_t i = 0; i < mt_numel(params.item[p].tensor); i++)
            mt_f32(params.item[p].tensor)[i] *= (float)(1 + (mt_rng_u32(&sign) & 1 ? moved : -moved));
    mt_state_free(&params);
    t.device = device;
    mt_module_to_device(t.model, device);
    mt_hyper hyper = mt_hyper_default(MT_ADAMW);
    hyper.lr = 1e-2;
    t.optim = mt_optim_new(MT_ADAMW, hyper);
    mt_optim_add_all(t.optim, mt_module_params(t.model));
    return t;
}

static double train_step(training *t, uint64_t step)
{
    mt_scope_begin();
    mt_tensor *loss = mt_gpt2_loss(t->model, tokens(t->length, t->vocabulary, step, 0, t->device),
                                   tokens(t->length, t->vocabulary, step, 1, t->device));
    mt_backward(loss);
    mt_optim_step(t->optim);
    mt_optim_zero_grad(t->optim);
    double value = mt_item(loss);
    mt_scope_end();
    return value;
}

static void training_free(training *t)
{
    mt_optim_free(t->optim);
    mt_module_free(t->model);
}

/* ---- losses ------------------------------------------------------------------------------------------- */

static void check_losses(gpu_report *r)
{
    static const mt_gpt2_config small = { TOKENS, 0, T, LAYERS, HEADS, C };
    training here = training_new(&small, MT_CPU, 0), moved = training_new(&small, MT_CPU, MOVED),
             there = training_new(&small, MT_CUDA, 0);
    double farthest = 0, largest = 0, first = 0, last = 0;
    const char *complaint = NULL;
    char text[128];
    for (uint64_t step = 1; step <= STEPS; step++) {
        double cpu = train_step(&here, step), cuda = train_step(&there, step), off = fabs(cuda - cpu);
        farthest = fmax(farthest, fabs(train_step(&moved, step) - cpu));
        double limit = 2 * farthest * ROUNDINGS * 0x1p-24 / MOVED;
        if (!(off <= limit) && !complaint) {
            snprintf(text, sizeof text, "step %d: loss %.7g, on the CPU %.7g; it may be off by %.2g", (int)step, cuda,
                     cpu, limit);
            complaint = text;
        }
        largest = fmax(largest, off);
        first = step == 1 ? cuda : first;
        last = cuda;
    }
    gpu_report_note(r, "losses of GPT-2", complaint);
    if (last >= 0.9 * first)
        gpu_report_note(r, "losses of GPT-2", "the loss does not fall");
    fprintf(r->md, "%d steps of a small GPT-2: loss %.4f to %.4f, at most %.2g from the CPU's\n", STEPS, first, last,
            largest);
    training_free(&here), training_free(&moved), training_free(&there);
}

/* ---- the time of a step ---------------------------------------------------------------------------------- */

/* FLOP/s of cuBLAS in f32, the best of TIMED products of this side after one that warms up. */
static double product_rate(int64_t side)
{
    int64_t n = side * side;
    float *zeros = mt_calloc(n, sizeof *zeros), *a = gpu_sent(zeros, n), *b = gpu_sent(zeros, n),
          *c = gpu_sent(zeros, n);
    const mt_matmul_dims d = mt_dense_dims(side, side, side, MT_NO_TRANS, MT_NO_TRANS, MT_OVERWRITE);
    double least = INFINITY;
    for (int i = 0; i <= TIMED; i++) {
        mt_cuda_sync();
        double begin = mt_now();
        mt_matmul_cublas(c, a, b, &d);
        mt_cuda_sync();
        least = i ? fmin(least, mt_now() - begin) : least;
    }
    mt_free(a, 4 * n, MT_CUDA), mt_free(b, 4 * n, MT_CUDA), mt_free(c, 4 * n, MT_CUDA);
    free(zeros);
    return 2.0 * (double)n * (double)side / least;
}

/* FLOPs of a step by Chowdhery et al. 2022, appendix B: 6 for each weight of a product and 12 L C T of attention, a
 * token. */
static double step_flops(const mt_gpt2_config *size)
{
    double width = (double)size->width, layers = (double)size->layers;
    double weights = 12 * layers * width * width + (double)size->vocabulary * width;
    return (double)(BATCH * size->block) * (6 * weights + 12 * layers * width * (double)size->block);
}

static void time_step(gpu_report *r)
{
    static const mt_gpt2_config emulated = { 64, 0, 16, 1, 2, 16 };
    const mt_gpt2_config *size = mt_cuda_is_emulated() ? &emulated : mt_gpt2_size("gpt2");
    training t = training_new(size, MT_CUDA, 0);
    double least = INFINITY;
    for (uint64_t step = 0; step <= TIMED; step++) {
        double begin = mt_now(), loss = train_step(&t, step);
        MT_CHECK(isfinite(loss), "the loss is %g", loss);
        least = step ? fmin(least, mt_now() - begin) : least;
    }
    training_free(&t);
    double peak = product_rate(mt_cuda_is_emulated() ? 64 : SIDE), share = mt_mfu(step_flops(size), least, peak);
    fprintf(r->md,
            "A step of GPT-2 with %lld layers, %d x %lld tokens, f32: %.1f ms, %.0f tokens/s; %.2f of the %.1f TFLOP/s "
            "that cuBLAS reaches in a square product\n",
            (long long)size->layers, BATCH, (long long)size->block, least * 1e3, (double)(BATCH * size->block) / least,
            share, peak / 1e12);
    fprintf(r->json, "{\"name\": \"step\", \"seconds\": %.6g, \"share\": %.4g, \"cublas\": %.6g}\n", least, share,
            peak);
}

int main(int argc, char **argv)
{
    gpu_report r = gpu_report_begin(argc, argv, "train");
    mt_fused_use();
    fprintf(r.md, "## Training\n\n");
    check_losses(&r);
    gpu_report_verdict(&r, "training");
    time_step(&r);
    return gpu_report_end(&r);
}
