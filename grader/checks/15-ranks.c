/* 15-ranks.c -- the simulator against published figures, and against real ranks on a simulated clock. */
#include "checks/15-scale.h"
#include "checks/15-seconds.h"
#include "checks/fill.h"
#include "plan/gpt2_tasks.h"
#include "worker/cluster.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static int64_t bits(double x)
{
    int64_t n;
    memcpy(&n, &x, sizeof n);
    return n;
}

static void put_real(int64_t *n, int about, int64_t size, int64_t kind, int64_t micro, int64_t elements, double latency,
                     double byte_time)
{
    const int64_t numbers[] = { about,           size, 1,      kind, micro, 1, elements, 1, 0, bits(latency),
                                bits(byte_time), -1,   bits(1) };
    memset(n, 0, MG_REAL_NUMBERS * sizeof *n);
    memcpy(n, numbers, sizeof numbers);
}

static bool ask_ranks(mg_run *run, double *simulated, double *real, const int64_t *n)
{
    double both[2];
    mg_begin(run, "ranks on a simulated clock");
    mg_out(run, "simulated, real", MT_I64, MT_SHAPE(2));
    memcpy(mg_in(run, "experiments", MT_I64, MT_SHAPE(MG_REAL_NUMBERS)), n, MG_REAL_NUMBERS * sizeof *n);
    if (!mg_call(run))
        return false;
    memcpy(both, mg_result(run, "simulated, real"), sizeof both);
    *simulated = both[0];
    *real = both[1];
    return true;
}

/* Figures that are known: 4 MiB on 8 ranks; 3 GB on 4 nodes; buckets of 100 ms of backward; bubbles. */
void mg_15_laws(mg_run *run, const void *one_case)
{
    (void)one_case;
    static const struct {
        const char *part;
        int about, size, kind, micro;
        int64_t elements;
        double latency, byte_time, seconds, want;
    } laws[] = {
        { "a ring", MG_RANKS_COLLECT, 8, MT_RING, 1, 1 << 20, 0.5e-3, 8e-9, 0, 0.065720256 },
        { "a tree", MG_RANKS_COLLECT, 8, MT_TREE, 1, 1 << 20, 0.5e-3, 8e-9, 0, 0.204326592 },
        { "recursive doubling", MG_RANKS_COLLECT, 8, MT_DOUBLING, 1, 1 << 20, 0.5e-3, 8e-9, 0, 0.102163296 },
        { "a ring of 4 nodes", MG_RANKS_COLLECT, 4, MT_RING, 1, 1000, 0, 3e9 / 4000 / 12.5e9, 0, 0.36 },
        { "GPipe", MG_RANKS_PIPE, 4, MT_GPIPE, 8, 0, 0, 1e-12, 1, 33 },
        { "1F1B", MG_RANKS_PIPE, 4, MT_1F1B, 8, 0, 0, 1e-12, 1, 33 },
        { "GPipe with latencies", MG_RANKS_PIPE, 4, MT_GPIPE, 8, 0, 0.1, 1e-12, 1, 33.6 },
        { "1F1B with latencies", MG_RANKS_PIPE, 4, MT_1F1B, 8, 0, 0.1, 1e-12, 1, 34.6 },
        { "one bucket", MG_RANKS_BUCKETS, 4, 0, 1, 1 << 20, 0.5e-3, 8e-9, 0.1, 0.15333 },
        { "4 buckets", MG_RANKS_BUCKETS, 4, 0, 4, 1 << 18, 0.5e-3, 8e-9, 0.025, 0.11558 },
        { "16 buckets", MG_RANKS_BUCKETS, 4, 0, 16, 1 << 16, 0.5e-3, 8e-9, 0.00625, 0.106146 },
        { "64 buckets", MG_RANKS_BUCKETS, 4, 0, 64, 1 << 14, 0.5e-3, 8e-9, 0.0015625, 0.2439 },
    };
    for (int i = 0; i < MT_COUNT(laws); i++) {
        int64_t n[MG_REAL_NUMBERS];
        double simulated, real;
        mg_part(run, laws[i].part, NULL);
        put_real(n, laws[i].about, laws[i].size, laws[i].kind, laws[i].micro, laws[i].elements, laws[i].latency,
                 laws[i].byte_time);
        for (int r = 0; r < laws[i].size; r++)
            n[MG_REAL_SECONDS + r] = bits(laws[i].seconds);
        if (!ask_ranks(run, &simulated, &real, n))
            return;
        if (!(fabs(simulated - laws[i].want) <= 2e-4 * laws[i].want)) {
            mg_fail(run, "on %d ranks: %.9g s, expected %.9g (real ranks: %.9g)", laws[i].size, simulated, laws[i].want,
                    real);
            return;
        }
    }
}

static void pick_real(int64_t *n, mt_rng *rng, int about)
{
    int64_t size = about == MG_RANKS_PIPE ? mg_pick(rng, 1, 4) : mg_pick(rng, 1, 8), kind = mg_pick(rng, 0, 2);
    put_real(n, about, size, kind, mg_pick(rng, 1, 9), mg_pick(rng, 0, 20000), mg_15_real(rng, 0, 2e-3),
             mg_15_real(rng, 1e-9, 1e-7));
    for (int r = 0; r < 8; r++)
        n[MG_REAL_SECONDS + r] = bits(mg_15_real(rng, 1e-3, 8e-3));
    if (about == MG_RANKS_COLLECT)
        return;
    n[MG_REAL_SLOW] = mg_pick(rng, -1, size - 1);
    n[MG_REAL_FACTOR] = bits(mg_15_real(rng, 1, 3));
    if (about == MG_RANKS_BUCKETS)
        return;
    n[MG_REAL_REPLICAS] = mg_pick(rng, 1, 8 / size);
    n[MG_REAL_ACTIVE] = mg_pick(rng, 1, 9000);
    n[MG_REAL_TIED] = mg_pick(rng, 0, 1) * mg_pick(rng, 1, 9000);
    if (kind == MT_INTERLEAVED) {
        n[MG_REAL_MICRO] = size * mg_pick(rng, 1, 3);
        n[MG_REAL_CHUNKS] = size > 1 ? mg_pick(rng, 1, 3) : 1;
    }
}

/* 60 experiments, 20 of each kind: at most 1 % off. */
void mg_15_ranks(mg_run *run, const void *one_case)
{
    (void)one_case;
    static const mg_idea kinds[] = { { "an all-reduce", NULL, MG_RANKS_COLLECT, .times = 20 },
                                     { "pipelines", NULL, MG_RANKS_PIPE, .times = 20 },
                                     { "buckets", NULL, MG_RANKS_BUCKETS, .times = 20 } };
    for (mg_ideas t = { 0 }; MG_NEXT(run, &t, kinds, 0);) {
        int64_t n[MG_REAL_NUMBERS];
        double simulated, real;
        pick_real(n, mg_rng(run), (int)t.is);
        if (!ask_ranks(run, &simulated, &real, n))
            return;
        if (!(fabs(simulated - real) <= 0.01 * real)) {
            mg_fail(run,
                    "kind %" PRId64 ", %" PRId64 " x %" PRId64 " ranks, %" PRId64 " micro-batches or buckets, %" PRId64
                    " chunks: %.9g s, real ranks on a simulated clock: %.9g",
                    n[MG_REAL_KIND], n[MG_REAL_REPLICAS], n[MG_REAL_SIZE], n[MG_REAL_MICRO], n[MG_REAL_CHUNKS],
                    simulated, real);
            return;
        }
    }
}
