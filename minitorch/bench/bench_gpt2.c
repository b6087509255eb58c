/* bench_gpt2.c -- a training step of GPT-2 on random tokens: its time, profile and memory; and with --generate the
 * tokens generated per second, compared with the limit of memory bandwidth.
 *
 * A step is train_gpt2's for one batch: loss, backward, clipping, AdamW. Products are intercepted in the kernel table
 * and marked as a span, so that the profile shows them separately; attention multiplies small tiles inside its own
 * kernel, and is one line. The fastest step counts, and its profile is shown. */
#include <inttypes.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "amp/amp.h"
#include "bench/bench.h"
#include "bench/products.h"
#include "core/scope.h"
#include "fused/fused.h"
#include "plan/gpt2_cost.h"
#include "models/decoder.h"
#include "train/recipe.h"
#include "kernels/vec.h"
#include "prof/mfu.h"
#include "testing/profile_here.h"

enum {
    EVENTS = 4096,   /* spans that a profile keeps one by one */
    SHAPES = 32,     /* of products */
    WARM_TOKENS = 4, /* before the clock starts */
};

static const double SHOWN = 0.002; /* of the step: lines with less are summed up as the rest */

typedef struct options {
    int64_t batch, time, steps, threads, tokens;
    const char *size;
    bool bf16, generate, products, csv;
} options;

/* ---- command line ---------------------------------------------------------------------------- */

static const mt_option flags[] = {
    { "batch", 'b', "N", MT_I64(options, batch, 1, 65536), "Windows in a batch (4)" },
    { "time", 'T', "N", MT_I64(options, time, 1, 1 << 20), "Tokens in a window (64)" },
    { "steps", 's', "N", MT_I64(options, steps, 1, 1000),
      "Steps to time after one that does not count; the fastest counts (3)" },
    { "size", 'z', "NAME", MT_TEXT(options, size), "gpt2 (124M), gpt2-medium, gpt2-large, gpt2-xl or toy" },
    { "threads", 't', "N", MT_I64(options, threads, 1, 1024), "Threads (2, as in performance.md)" },
    { "bf16", 0, NULL, MT_FLAG(options, bf16), "Products in bf16" },
    { "generate", 'g', NULL, MT_FLAG(options, generate), "Time generation with the cache of keys and values instead" },
    { "tokens", 'n', "N", MT_I64(options, tokens, 1, 1 << 20), "Tokens to generate (64)" },
    { "products", 'p', NULL, MT_FLAG(options, products), "Also show every shape of product, over all steps" },
    { "csv", 'c', NULL, MT_FLAG(options, csv), "Print one line of comma-separated figures only, for bench_gpt2.sh" },
    { 0 },
};

/* ---- training -------------------------------------------------------------------------------- */

/* All products of one shape so far. */
typedef struct shape_time {
    mt_matmul_dims dims;
    int64_t calls;
    double seconds;
} shape_time;

static shape_time shapes[SHAPES];
static int shape_count;

static bool same_shape(const mt_matmul_dims *a, const mt_matmul_dims *b)
{
    return a->M == b->M && a->N == b->N && a->K == b->K && a->trans_a == b->trans_a && a->trans_b == b->trans_b &&
           a->write == b->write;
}

static void count_shape(const mt_matmul_dims *d, double seconds)
{
    int i = 0;
    while (i < shape_count && !same_shape(&shapes[i].dims, d))
        i++;
    if (i == SHAPES)
        return;
    shape_count = (int)mt_max(shape_count, i + 1);
    shapes[i].dims = *d;
    shapes[i].calls++;
    shapes[i].seconds += seconds;
}

static void print_shapes(void)
{
    printf("%-42s %6s %9s %9s\n", "products (n plain, t transposed)", "calls", "ms", "GFLOP/s");
    for (const shape_time *s = shapes; s < shapes + shape_count; s++) {
        const mt_matmul_dims *d = &s->dims;
        printf("  %c%c %7" PRId64 " x %7" PRId64 " x %7" PRId64 " %-9s %6" PRId64 " %9.1f %9.1f\n", "nt"[d->trans_a],
               "nt"[d->trans_b], d -> M, d -> N, d -> K, d -> write == MT_ACCUMULATE ? "added" : "", s->calls,
               1e3 * s->seconds, 2e-9 * (double)(d->M * d->N * d->K * s->calls) / s->seconds);
    }
}

static mt_tensor *random_tokens(const options *o, int64_t vocabulary, mt_rng *rng)
{
    mt_tensor *ids = mt_empty(MT_SHAPE(o->batch, o->time), MT_I32, MT_CPU);
    for (int64_t i = 0; i < mt_numel(ids); i++)
        ((int32_t *)mt_data(ids))[i] = (int32_t)mt_rng_below(rng, vocabulary);
    return ids;
}

/* The same batch in every step. */
static bool same_batch(void *source, mt_batch *batch)
{
    *batch = *(const mt_batch *)source;
    return true;
}

typedef struct result {
    double seconds, loss;
    mt_profile *profile; /* of the fastest step */
    int64_t resident;    /* bytes, at most */
} result;

static int64_t peak_resident(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (int64_t)usage.ru_maxrss * 1024;
}

static result train(const options *o, const mt_gpt2_config *config)
{
    const mt_recipe recipe = {
        .optimizer = MT_ADAMW, .schedule = MT_SCHEDULE_CONSTANT, .lr = 3e-4, .clip = 1, .weight_decay = 0.1
    };
    mt_rng rng = mt_rng_new(1, MT_STREAM_INIT), data = mt_rng_new(1, MT_STREAM_DATA);
    mt_module *model = mt_gpt2_new(config, &rng);
    mt_optim *optim = mt_recipe_optim(&recipe, model);
    mt_amp *amp = mt_amp_new(optim, o->bf16 ? MT_BF16 : MT_F32);
    mt_batch batch = { .count = o->batch };
    batch.x = random_tokens(o, config->vocabulary, &data);
    batch.y = random_tokens(o, config->vocabulary, &data);
    const mt_training training = { .model = model,
                                   .optim = optim,
                                   .loss = mt_gpt2_loss,
                                   .next = same_batch,
                                   .source = &batch,
                                   .micro = 1,
                                   .around = mt_amp_around(amp),
                                   .schedule = mt_recipe_schedule(&recipe, 1),
                                   .clip = recipe.clip };
    mt_step_result done;
    result best = { 0 };
    mt_peak_reset(MT_CPU);
    for (int64_t step = 0; step <= o->steps; step++) {
        mt_profile_begin(EVENTS);
        double start = mt_now();
        mt_train_step(&done, &training, 0);
        double seconds = mt_now() - start;
        best.loss = done.loss;
        mt_profile *profile = mt_profile_end();
        if (step == 1 || (step > 1 && seconds < best.seconds)) {
            mt_profile_free(best.profile);
            best.seconds = seconds;
            best.profile = profile;
        } else {
            mt_profile_free(profile);
        }
    }
    best.resident = peak_resident();
    mt_optim_zero_grad(optim);
    mt_release(batch.x);
    mt_release(batch.y);
    mt_amp_free(amp);
    mt_optim_free(optim);
    mt_module_free(model);
    return best;
}

/* ---- report ---------------------------------------------------------------------------------- */

static void print_shares(const result *r)
{
    double rest = r->seconds;
    printf("%-24s %9s %8s\n", "where the time goes", "ms", "share");
    for (int64_t i = 0; i < r->profile->line_count; i++) {
        const mt_profile_line *l = &r->profile->line[i];
        if (l->self < SHOWN * r->seconds)
            continue;
        printf("  %-22s %9.1f %6.1f %%\n", l->name, 1e3 * l->self, 100 * l->self / r->seconds);
        rest -= l->self;
    }
    printf("  %-22s %9.1f %6.1f %%\n", "rest", 1e3 * rest, 100 * rest / r->seconds);
}

static void report(const options *o, const mt_gpt2_config *config, const result *r)
{
    mt_gpt2_cost cost = mt_gpt2_cost_of(config, &(mt_gpt2_batch){ o->batch, o->time, 1, MT_F32, 0, false }, NULL);
    mt_profile_line products = bench_line(r->profile, "product");
    double attention = bench_line(r->profile, "attention").self + bench_line(r->profile, "attention backward").self;
    double peak = mt_machine_flops((int)o->threads), rate = (double)products.flops / products.self;
    double share = products.self / r->seconds, mfu = mt_mfu((double)cost.flops, r->seconds, peak);
    if (o->csv) {
        printf("minitorch,%" PRId64 ",%" PRId64 ",%.1f,%.0f,%.5f,%.3f,%.3f,%.0f,%.0f,%.3f\n", o->batch, o->time,
               1e3 * r->seconds, 1e-6 * (double)r->resident, r->loss, share, attention / r->seconds, 1e-9 * rate,
               1e-9 * peak, mfu);
        return;
    }
    print_shares(r);
    if (o->products)
        print_shapes();
    printf("products: %.1f GFLOP/s, %.3f of the %.1f that %" PRId64 " threads reach in registers; MFU %.3f\n",
           1e-9 * rate, rate / peak, 1e-9 * peak, o->threads, mfu);
    printf("memory: resident %.0f MB at most, allocated %.0f MB, planned %.0f MB\n", 1e-6 * (double)r->resident,
           1e-6 * (double)mt_peak_bytes(MT_CPU), 1e-6 * (double)cost.peak_bytes);
    printf("bench_gpt2: batch=%" PRId64 " time=%" PRId64 " ms=%.1f tokens_per_second=%.0f products=%.3f attention=%.3f "
           "other=%.3f loss=%.5f\n",
           o->batch, o->time, 1e3 * r->seconds, (double)(o->batch * o->time) / r->seconds, share,
           attention / r->seconds, 1 - share - attention / r->seconds, r->loss);
}

/* ---- generation ------------------------------------------------------------------------------ */

/* The sum of x [n], read as STREAMS concurrent streams, because one does not saturate the memory bandwidth. */
static float read_all(const float *x, int64_t n)
{
    enum { STREAMS = 8, AHEAD = 1024 };
    mt_vec sum[STREAMS] = { 0 }, total = { 0 };
    for (int64_t i = 0; i < n / STREAMS; i += MT_VL)
        for (int s = 0; s < STREAMS; s++) {
            const float *at = x + s * (n / STREAMS) + i;
            __builtin_prefetch(at + AHEAD);
            sum[s] += mt_load(at);
        }
    for (int s = 0; s < STREAMS; s++)
        total += sum[s];
    return total[0];
}

/* B/s of reading an array far larger than the caches, the best of several rounds. */
static double read_bandwidth(int threads)
{
    enum { ROUNDS = 10 };
    const int64_t n = 64 << 20, part = n / threads / 1024 * 1024; /* 256 MiB */
    float *x = mt_alloc(n * 4, MT_CPU);
    double best = 0;
    volatile float sink;
    mt_clear(x, n * 4, MT_CPU);
    for (int round = 0; round < ROUNDS; round++) {
        float sum = 0;
        double start = mt_now();
#pragma omp parallel for num_threads(threads) schedule(static) reduction(+ : sum)
        for (int t = 0; t < threads; t++)
            sum += read_all(x + t * part, part);
        double rate = 4.0 * (double)(threads * part) / (mt_now() - start);
        best = rate > best ? rate : best;
        sink = sum;
    }
    (void)sink;
    mt_free(x, n * 4, MT_CPU);
    return best;
}

static void generate(const options *o, const mt_gpt2_config *config)
{
    mt_rng rng = mt_rng_new(1, MT_STREAM_INIT);
    mt_module *model = mt_gpt2_new(config, &rng);
    mt_decoder *decoder = mt_decoder_new(model);
    int64_t places = mt_gpt2_config_of(model)->block * config->width, tokens = o->tokens;
    double start = 0, bandwidth = read_bandwidth((int)o->threads);
    for (int64_t i = 0; i < WARM_TOKENS + tokens; i++) {
        if (i == WARM_TOKENS)
            start = mt_now();
        mt_decoder_next(decoder, (int32_t)(i % config->vocabulary));
    }
    double rate = (double)tokens / (mt_now() - start);
    /* Every weight once, but one row only of the position embedding. */
    double bytes =
               4 * (double)(mt_gpt2_cost_of(config, &(mt_gpt2_batch){ 1, 1, 1, MT_F32, 0, false }, NULL).parameters -
                            places),
           bound = bandwidth / bytes;
    if (o->csv)
        printf("generate,%" PRId64 ",%.2f,%.2f,%.3f\n", tokens, rate, bound, rate / bound);
    else
        printf("bench_gpt2: generated=%" PRId64 " tokens_per_second=%.1f bound=%.1f (%.1f MB a token at %.1f GB/s) "
               "ratio=%.2f\n",
               tokens, rate, bound, 1e-6 * bytes, 1e-9 * bandwidth, rate / bound);
    mt_decoder_free(decoder);
    mt_module_free(model);
}

int main(int argc, char **argv)
{
    options o = { .batch = 4, .time = 64, .steps = 3, .threads = 2, .tokens = 64, .size = "gpt2" };
    mt_fused_use();
    mt_cli_parse(argc, argv, "Time of a training step of GPT-2.", flags, &o);
    omp_set_num_threads((int)o.threads);
    const mt_gpt2_config *config = mt_gpt2_size(o.size);
    if (!config || o.time > config->block) {
        fprintf(stderr, "bench_gpt2: %s\n", config ? "--time is longer than the model's context" : mt_last_error());
        return 1;
    }
    bench_mark_products(count_shape);
    if (o.generate) {
        generate(&o, config);
        return 0;
    }
    result r = train(&o, config);
    report(&o, config, &r);
    mt_profile_free(r.profile);
    return 0;
}
