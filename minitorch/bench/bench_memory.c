/* bench_memory.c -- what recomputation saves and costs: a step of GPT-2 that keeps everything, all but cheap results,
 * or the blocks' inputs only, or lets them wait in a file; what offload costs on a bus of each speed, in virtual time;
 * then the rule of sqrt(L) on layers that are all alike.
 *
 * The gradients exist before a step begins, as with micro-batches, so that what is counted above them is activations
 * and the gradients of activations. Bytes and FLOPs are exact; of the time the least of all rounds counts. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "autograd/tape.h"
#include "bench/bench.h"
#include "core/scope.h"
#include "core/span.h"
#include "fused/fused.h"
#include "memory/offload.h"
#include "memory/segment.h"
#include "models/gpt2.h"
#include "ops/ops.h"
#include "testing/bus_sim.h"
#include "testing/profile_here.h"

enum { LAYERS = 36, ELEMENTS = 1 << 16 };

typedef struct options {
    int64_t layers, heads, width, vocabulary, batch, time, rounds;
} options;

typedef mt_tensor *run_fn(mt_module *module, mt_tensor *x);

static struct {
    const char *name;
    run_fn *run;
} ways[] = {
    { "none", NULL }, { "selective", mt_selective_forward }, { "block", mt_segment_forward }, { "offload", NULL }
};

enum { OFFLOAD = 3 };

typedef struct cost {
    int64_t kept, peak, flops; /* kept after forward and at the peak, in bytes above parameters and gradients; FLOPs */
    double seconds;            /* processor time */
} cost;

/* Forward and backward; `loss` is the forward pass. */
static cost step(mt_tensor *(*loss)(void *user), void *user)
{
    cost c;
    int64_t before = mt_live_bytes(MT_CPU);
    double start = bench_cpu(CLOCK_PROCESS_CPUTIME_ID);
    mt_profile_begin(0);
    mt_peak_reset(MT_CPU);
    mt_scope_begin();
    mt_tensor *end = loss(user);
    c.kept = mt_live_bytes(MT_CPU) - before;
    mt_backward(end);
    mt_scope_end();
    c.peak = mt_peak_bytes(MT_CPU) - before;
    c.seconds = bench_cpu(CLOCK_PROCESS_CPUTIME_ID) - start;
    mt_profile *profile = mt_profile_end();
    c.flops = profile->flops;
    mt_profile_free(profile);
    return c;
}

/* ---- GPT-2 ---------------------------------------------------------------------------------------------- */

typedef struct gpt2 {
    mt_module *model;
    mt_tensor *ids;
} gpt2;

static mt_tensor *gpt2_loss(void *user)
{
    gpt2 *g = user;
    return mt_gpt2_loss(g->model, g->ids, g->ids);
}

static mt_tensor *random_tokens(const options *o)
{
    mt_rng rng = mt_rng_new(1, MT_STREAM_DATA);
    mt_tensor *ids = mt_zeros(MT_SHAPE(o->batch, o->time), MT_I32, MT_CPU);
    int32_t *id = mt_data(ids);
    for (int64_t i = 0; i < mt_numel(ids); i++)
        id[i] = (int32_t)(mt_rng_u32(&rng) % (uint32_t)o->vocabulary);
    return ids;
}

static mt_offload *offload_all_but_the_last(mt_bus *bus, const mt_module *blocks)
{
    bool chosen[blocks->children];
    for (int l = 0; l < blocks->children; l++)
        chosen[l] = l < blocks->children - 1;
    return mt_offload_new(bus, blocks->child, chosen, blocks->children);
}

static void compute(void *bus, const mt_span *span)
{
    mt_bus_sim_compute(bus, span->flops);
}

/* A step on a simulated bus beside what the law says of it (mt_offload_stall), for buses of several speeds. */
static void bench_rates(const options *o, gpt2 *g, const cost *best)
{
    static const int64_t rates[] = { 25, 50, 75, 100, 150, 200 };
    const int64_t C = o->width, tokens = o->batch * o->time,
                  forward = tokens * (24 * C * C + 2 * (o->time + 1) * C + 2 * C);
    const mt_offload_segment like = { tokens * 4 * (16 * C + o->heads + 4), forward,
                                      2 * forward + tokens * (o->time + 1) * C };
    const mt_offload_segment pair[] = { like, like };
    printf("\nall blocks but the last offloaded: virtual time of a step over that without\n");
    printf("FLOP a byte   bus MB   planned   measured\n");
    for (int64_t i = 0; i < MT_COUNT(rates); i++) {
        mt_bus *bus = mt_bus_sim_open(rates[i]);
        mt_offload *all = offload_all_but_the_last(bus, g->model->child[MT_GPT2_H]);
        int64_t stalls = (o->layers - 1) * mt_offload_stall(pair, 2, 0, rates[i]);
        mt_span_listen(compute, bus);
        mt_scope_begin();
        mt_backward(gpt2_loss(g));
        mt_scope_end();
        mt_span_listen(NULL, NULL);
        printf("%11" PRId64 " %8.2f %9.4f %10.4f\n", rates[i], (double)(bus->out + bus->in) / 1e6,
               1 + (double)stalls / (double)best[0].flops, (double)mt_bus_sim_now(bus) / (double)best[0].flops);
        mt_offload_free(all);
        mt_bus_free(bus);
    }
}

static void bench_gpt2(const options *o)
{
    mt_rng rng = mt_rng_new(1, MT_STREAM_INIT);
    const mt_gpt2_config config = { o->vocabulary, 0, o->time, o->layers, o->heads, o->width };
    cost best[MT_COUNT(ways)];
    gpt2 g = { mt_gpt2_new(&config, &rng), random_tokens(o) };
    mt_module *blocks = g.model->child[MT_GPT2_H];
    step(gpt2_loss, &g); /* makes the gradients */
    mt_bus *bus;
    if (mt_bus_open(&bus, MT_CPU) != MT_OK)
        exit(mt_cli_exit(MT_ERR_UNAVAILABLE));
    mt_offload *all = offload_all_but_the_last(bus, blocks);
    ways[OFFLOAD].run = blocks->child[0]->run;
    for (int64_t round = 0; round < o->rounds; round++)
        for (int64_t w = 0; w < MT_COUNT(ways); w++) {
            for (int l = 0; l < blocks->children; l++)
                blocks->child[l]->run = ways[w].run;
            cost c = step(gpt2_loss, &g);
            if (round > 0)
                c.seconds = fmin(c.seconds, best[w].seconds);
            best[w] = c;
        }
    printf("%" PRId64 " blocks, %" PRId64 " wide, %" PRId64 " x %" PRId64 " tokens, vocabulary %" PRId64 "\n",
           o->layers, o->width, o->batch, o->time, o->vocabulary);
    printf("recomputed      kept MB   ratio   peak MB   ratio   GFLOP    ratio   time\n");
    for (int64_t w = 0; w < MT_COUNT(ways); w++)
        printf("%-12s %10.2f %7.3f %9.2f %7.3f %7.3f %8.4f %6.2f\n", ways[w].name, (double)best[w].kept / 1e6,
               (double)best[w].kept / (double)best[0].kept, (double)best[w].peak / 1e6,
               (double)best[w].peak / (double)best[0].peak, (double)best[w].flops / 1e9,
               (double)best[w].flops / (double)best[0].flops, best[w].seconds / best[0].seconds);
    mt_offload_free(all);
    mt_bus_free(bus);
    bench_rates(o, &g, best);
    mt_release(g.ids);
    mt_module_free(g.model);
}

/* ---- equal layers ----------------------------------------------------------------------------------------- */

typedef struct chain {
    mt_module *model;
    mt_tensor *x;
} chain;

static mt_tensor *chain_loss(void *user)
{
    chain *c = user;
    return mt_sum(mt_forward(c->model, c->x));
}

/* LAYERS layers in this many segments; 0: no segments. Each layer keeps one tensor. */
static mt_module *chain_new(int segments)
{
    mt_module *model = mt_sequential(0);
    for (int s = 0, layer = 0; s < (segments ? segments : 1); s++) {
        mt_module *part = mt_sequential(0);
        char name[24];
        for (; layer < LAYERS && (segments == 0 || layer < (s + 1) * LAYERS / segments); layer++) {
            snprintf(name, sizeof name, "%d", layer);
            mt_module_child(part, name, mt_function_layer(mt_tanh));
        }
        part->run = segments ? mt_segment_forward : NULL;
        snprintf(name, sizeof name, "%d", s);
        mt_module_child(model, name, part);
    }
    return model;
}

static void bench_chain(void)
{
    static const int counts[] = { 0, 1, 2, 3, 4, 6, 9, 12, 18, 36 };
    printf("\n%d equal layers, each keeps one tensor; in tensors:\n", LAYERS);
    printf("segments      kept    peak\n");
    for (int64_t i = 0; i < MT_COUNT(counts); i++) {
        chain c = { chain_new(counts[i]), mt_full(MT_SHAPE(ELEMENTS), 0.5f) };
        c.x->requires_grad = true;
        step(chain_loss, &c);
        cost bytes = step(chain_loss, &c);
        char name[16] = "none";
        if (counts[i] > 0)
            snprintf(name, sizeof name, "%d", counts[i]);
        printf("%-8s %9.0f %7.0f\n", name, (double)bytes.kept / (4 * ELEMENTS), (double)bytes.peak / (4 * ELEMENTS));
        mt_zero_grad(c.x);
        mt_release(c.x);
        mt_module_free(c.model);
    }
}

/* ---- command line ----------------------------------------------------------------------------------------- */

static const mt_option flags[] = {
    { "layers", 0, "N", MT_I64(options, layers, 1, 1000), "Blocks (12)" },
    { "heads", 0, "N", MT_I64(options, heads, 1, 1000), "Heads (4)" },
    { "width", 0, "N", MT_I64(options, width, 1, 1 << 16), "Columns of the residual stream (128)" },
    { "vocabulary", 0, "N", MT_I64(options, vocabulary, 1, 1 << 20), "Tokens (512)" },
    { "batch", 'b', "N", MT_I64(options, batch, 1, 65536), "Windows in a batch (8)" },
    { "time", 'T', "N", MT_I64(options, time, 1, 1 << 20), "Tokens in a window (128)" },
    { "rounds", 0, "N", MT_I64(options, rounds, 1, 1000), "Steps of each way; the fastest counts (5)" },
    { 0 },
};

int main(int argc, char **argv)
{
    options o = { 12, 4, 128, 512, 8, 128, 5 };
    mt_fused_use();
    mt_cli_parse(argc, argv, "What recomputation saves in memory, and what it costs.", flags, &o);
    printf("%s\n", bench_machine());
    if (o.width % o.heads != 0)
        return mt_cli_exit(
            mt_fail(MT_ERR_ARGUMENT, "%" PRId64 " heads cannot share a width of %" PRId64, o.heads, o.width));
    bench_gpt2(&o);
    bench_chain();
    return 0;
}
