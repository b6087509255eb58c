/* attention_share.c -- which part of a training step is attention, against the length of the context.
 *
 * Every line has the same number of tokens, cut into samples of T, so the products with weights are the same; only
 * attention changes, whose FLOPs grow with T^2 per sample and with T per token. FLOPs are those that the ops count
 * (attention's backward recomputes the scores: seven products, against two in forward), times are from the profiler
 * (prof/profile.h): forward and backward of the whole model on random tokens. */
#include <inttypes.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>

#include "bench/bench.h"
#include "autograd/tape.h"
#include "core/scope.h"
#include "fused/fused.h"
#include "models/gpt2.h"
#include "testing/profile_here.h"

typedef struct options {
    const char *size;
    int64_t layers, tokens, rounds, threads;
} options;

static const mt_option flags[] = {
    { "size", 'z', "NAME", MT_TEXT(options, size), "gpt2, gpt2-medium, gpt2-large, gpt2-xl or toy" },
    { "layers", 'l', "N", MT_I64(options, layers, 1, 1000), "instead of the size's" },
    { "tokens", 'n', "N", MT_I64(options, tokens, 64, 1 << 20), "of a step, and the longest context (1024)" },
    { "rounds", 'r', "N", MT_I64(options, rounds, 1, 1000),
      "steps of each line; the fastest counts (1, after one that warms up)" },
    { "threads", 't', "N", MT_I64(options, threads, 1, 1024), "threads (one per core)" },
    { 0 },
};

/* Times of a step, and of attention in it, forward and backward. */
typedef struct share {
    double seconds, attention_seconds;
    int64_t flops, attention_flops;
} share;

static share share_of(const mt_profile *profile)
{
    share s = { .seconds = profile->seconds, .flops = profile->flops };
    for (const mt_profile_line *line = profile->line; line < profile->line + profile->line_count; line++)
        if (strcmp(line->name, "attention") == 0 || strcmp(line->name, "attention backward") == 0) {
            s.attention_seconds += line->self;
            s.attention_flops += line->flops;
        }
    return s;
}

static void forget_gradients(const mt_module *model)
{
    mt_state params = mt_module_params(model);
    for (int64_t i = 0; i < params.count; i++)
        mt_zero_grad(params.item[i].tensor);
    mt_state_free(&params);
}

/* Forward and backward of samples of T tokens. */
static share step(mt_module *model, int64_t samples, int64_t T)
{
    mt_rng rng = mt_rng_new(1, MT_STREAM_TEST);
    mt_scope_begin();
    mt_tensor *x = mt_empty(MT_SHAPE(samples, T), MT_I32, MT_CPU);
    int32_t *id = mt_data(x);
    for (int64_t i = 0; i < samples * T; i++)
        id[i] = (int32_t)mt_rng_below(&rng, mt_gpt2_config_of(model)->vocabulary);
    mt_profile_begin(0);
    mt_backward(mt_gpt2_loss(model, x, x));
    mt_profile *profile = mt_profile_end();
    share s = share_of(profile);
    mt_profile_free(profile);
    forget_gradients(model);
    mt_scope_end();
    return s;
}

/* ---- the program ------------------------------------------------------------------------------------- */

static void bench(const options *o, mt_module *model)
{
    printf("%6s %8s  %22s  %22s  %7s\n", "", "", "attention of a sample", "its share of a step", "step");
    printf("%6s %8s  %12s %9s  %11s %10s  %7s\n", "T", "samples", "GFLOP", "ms", "of FLOPs", "of time", "ms");
    step(model, 1, o->tokens);
    for (int64_t T = o->tokens / 16; T <= o->tokens; T *= 2) {
        int64_t samples = o->tokens / T;
        share best = step(model, samples, T);
        for (int64_t r = 1; r < o->rounds; r++) {
            share s = step(model, samples, T);
            best = s.seconds < best.seconds ? s : best;
        }
        printf("%6" PRId64 " %8" PRId64 "  %12.3f %9.2f  %9.1f %% %8.1f %%  %7.0f\n", T, samples,
               (double)best.attention_flops / (double)samples * 1e-9, best.attention_seconds / (double)samples * 1e3,
               100 * (double)best.attention_flops / (double)best.flops, 100 * best.attention_seconds / best.seconds,
               best.seconds * 1e3);
    }
}

int main(int argc, char **argv)
{
    options o = { .size = "gpt2", .tokens = 1024, .rounds = 1 };
    mt_fused_use();
    mt_cli_parse(argc, argv, "Attention's part of a step, against T.", flags, &o);
    if (o.threads)
        omp_set_num_threads((int)o.threads);
    mt_gpt2_config config = { .vocabulary = 50257, .block = o.tokens, .layers = o.layers };
    mt_status status = mt_gpt2_fill(&config, o.size);
    if (status != MT_OK)
        return mt_cli_exit(status);
    mt_rng rng = mt_rng_new(1, MT_STREAM_INIT);
    mt_module *model = mt_gpt2_new(&config, &rng);
    printf("%s, %s with %" PRId64 " layers, %" PRId64 " tokens a step\n", bench_machine(), o.size, config.layers,
           o.tokens);
    bench(&o, model);
    mt_module_free(model);
    return 0;
}
