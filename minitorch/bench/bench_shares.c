/* bench_shares.c -- ranks of different speeds: how long a step of data parallel training takes if all have as many
 * samples, and if those of a rank are in proportion to its speed in the step before (an experiment of lab 13).
 *
 *     build/release/bin/bench_shares                        four ranks, of which the last one has half the speed
 *     build/release/bin/bench_shares --speeds 4,2,1,1
 *
 * The mean over all n samples is that of mt_ddp_finish (dist/ddp.h): the sum of n_r / n times the mean of rank r. In
 * every step it is compared with the mean over the samples. Ranks are threads on a simulated clock: times are exact. By
 * the law a step takes as long as the samples of the rank that is done last, and then the all-reduce of one bucket.
 *
 * The last line is for programs: `bench_shares: gain=1.672 worst=1.000`, how much faster the second step is than the
 * first, and the largest time over its law. */
#include <math.h>

#include "autograd/tape.h"
#include "bench/bench.h"
#include "dist/collectives.h"
#include "dist/ddp.h"
#include "dist/threads.h"
#include "memory/flat.h"
#include "testing/clock_sim.h"

enum { MOST = 16, BUCKETS = 4, PART = 1 << 16 /* elements of a bucket */, STEPS = 6, SLOWS = 3 };

static const mt_network network = { .latency = 0.05e-3, .byte_time = 8e-9 };

typedef struct options {
    int64_t samples;
    double sample; /* seconds of a sample on a rank of speed 1 */
    const char *speeds;
} options;

static const mt_option flags[] = {
    { "samples", 'n', "N", MT_I64(options, samples, 1, 4096), "Samples of a step (64)" },
    { "sample", 0, "S", MT_F64(options, sample, 1e-3, 10), "Seconds of a sample on a rank of speed 1 (0.01)" },
    { "speeds", 0, "LIST", MT_TEXT(options, speeds), "Speeds of 1 to 16 ranks (1,1,1,0.5)" },
    { 0 },
};

/* ---- shares ------------------------------------------------------------------------------------------ */

/* share[r] samples of n in proportion to speed[r], rounded down; each of those that are left goes to the rank that is
 * done with it first. */
static void share_out(int64_t *share, const double *speed, int ranks, int64_t n)
{
    double all = 0;
    int64_t left = n;
    for (int r = 0; r < ranks; r++)
        all += speed[r];
    for (int r = 0; r < ranks; r++)
        left -= share[r] = (int64_t)((double)n * speed[r] / all);
    for (; left > 0; left--) {
        int first = 0;
        for (int r = 1; r < ranks; r++)
            if ((double)(share[r] + 1) / speed[r] < (double)(share[first] + 1) / speed[first])
                first = r;
        share[first]++;
    }
}

/* ---- a run of some steps ----------------------------------------------------------------------------- */

typedef struct job {
    const options *o;
    mt_clock *clock;
    int ranks;
    double speed[MOST], known[MOST]; /* known: the speeds of the step before, by which samples are shared out */
    double took[STEPS];              /* seconds */
    int64_t share[STEPS][MOST];
} job;

/* Element k of the gradient of a sample in parameter p. */
static double gradient_of(int64_t sample, int p, int64_t k)
{
    return (double)((sample * 7 + p * 5 + k * 3) % 11 - 5);
}

/* Backward of samples first .. first + n - 1, the last parameter first: the gradient of their mean loss. */
static void backward(const job *j, mt_tensor *const *param, int64_t first, int64_t n, double seconds)
{
    for (int p = BUCKETS - 1; p >= 0; p--) {
        j->clock->sleep(j->clock, seconds / BUCKETS);
        param[p]->grad = mt_retain(param[p]->grad_memory);
        for (int64_t k = 0; k < PART; k++) {
            double sum = 0;
            for (int64_t i = first; i < first + n && k < 16; i++) /* the others are 0 */
                sum += gradient_of(i, p, k);
            mt_f32(param[p]->grad)[k] = (float)(sum / (double)n);
        }
        mt_grad_ready(param[p]);
    }
}

/* Checks that all ranks have the mean over all samples. A rank's mean, its share, their product and the sums are
 * rounded. */
static void check_mean(const job *j, mt_tensor *const *param)
{
    int64_t n = j->o->samples;
    for (int p = 0; p < BUCKETS; p++)
        for (int64_t k = 0; k < 16; k++) {
            double sum = 0, size = 0;
            for (int64_t i = 0; i < n; i++)
                sum += gradient_of(i, p, k), size += fabs(gradient_of(i, p, k));
            double error = fabs(mt_f32(param[p]->grad)[k] - sum / (double)n);
            MT_CHECK(error <= (3 + j->ranks) * 0x1p-24 * size / (double)n, "parameter %d[%d] is off by %g", p, (int)k,
                     error);
        }
}

/* The speed of a rank in a step: the last one is slower from step SLOWS on. */
static double speed_of(const job *j, int rank, int at)
{
    return j->speed[rank] / (at >= SLOWS && rank == j->ranks - 1 ? 2 : 1);
}

/* A step, which begins on all ranks at a full hour. */
static mt_status step(job *j, mt_comm *comm, mt_ddp *ddp, mt_tensor *const *param, int at)
{
    int r = comm->rank;
    double begin = 3600 * (at + 1), speed = speed_of(j, r, at);
    int64_t *share = j->share[at], first = 0; /* each rank computes the same */
    j->clock->sleep(j->clock, begin - j->clock->now(j->clock));
    share_out(share, j->known, j->ranks, j->o->samples);
    for (int i = 0; i < r; i++)
        first += share[i];
    double seconds = (double)share[r] * j->o->sample / speed;
    for (int p = 0; p < BUCKETS; p++)
        mt_zero_grad(param[p]);
    mt_ddp_begin(ddp, share[r] > 0, share[r]);
    j->clock->sleep(j->clock, seconds / 3);
    if (share[r] > 0)
        backward(j, param, first, share[r], seconds * 2 / 3);
    MT_TRY(mt_ddp_finish(ddp));
    check_mean(j, param);
    j->took[at] = fmax(j->took[at], j->clock->now(j->clock) - begin);
    j->known[r] = speed; /* as it measures it; all tell each other */
    return MT_OK;
}

static mt_status run_rank(mt_comm *comm, void *user)
{
    job *j = user;
    mt_state list = { 0 };
    mt_tensor *param[BUCKETS];
    mt_ddp *ddp;
    for (int p = 0; p < BUCKETS; p++) {
        param[p] = mt_zeros(MT_SHAPE(PART), MT_F32, MT_CPU);
        param[p]->requires_grad = true;
        mt_state_tensor(&list, param[p], "%d", p);
    }
    mt_release(mt_flat_gradients(&list));
    mt_status status = mt_ddp_new(&ddp, comm, &list, &(mt_ddp_config){ .bucket_bytes = 4 * PART });
    for (int at = 0; at < STEPS && status == MT_OK; at++)
        status = step(j, comm, ddp, param, at);
    mt_ddp_free(ddp);
    for (int p = 0; p < BUCKETS; p++) {
        mt_zero_grad(param[p]);
        mt_release(param[p]);
    }
    mt_state_free(&list);
    return status;
}

/* ---- the table --------------------------------------------------------------------------------------- */

/* The samples of the rank that is done last, and the all-reduce of one bucket. */
static double law_of(const job *j, int at)
{
    double last = 0;
    for (int r = 0; r < j->ranks; r++)
        last = fmax(last, (double)j->share[at][r] * j->o->sample / speed_of(j, r, at));
    return last + mt_collective_seconds(mt_collective_pick(j->ranks, 4 * PART, &network), j->ranks, 4 * PART, &network);
}

static double print_steps(const job *j)
{
    double worst = 0;
    printf("step        ms (by the law)  samples of each rank\n");
    for (int at = 0; at < STEPS; at++) {
        double law = law_of(j, at);
        worst = fmax(worst, j->took[at] / law);
        printf("%4d  %8.2f (%8.2f) ", at, j->took[at] * 1e3, law * 1e3);
        for (int r = 0; r < j->ranks; r++)
            printf(" %3d", (int)j->share[at][r]);
        puts(at == SLOWS ? "  the last rank is half as fast from here on" : "");
    }
    return worst;
}

static mt_status read_speeds(job *j)
{
    const char *text = j->o->speeds;
    for (char *end; *text; text = *end == ',' ? end + 1 : end) {
        double speed = strtod(text, &end);
        if (end == text || (*end && *end != ',') || !(speed >= 0.01 && speed <= 100) || j->ranks == MOST)
            return mt_fail(MT_ERR_ARGUMENT, "--speeds %s: write 1 to %d numbers from 0.01 to 100, as in 1,1,1,0.5",
                           j->o->speeds, MOST);
        j->speed[j->ranks] = speed;
        j->known[j->ranks++] = 1;
    }
    return j->ranks ? MT_OK : mt_fail(MT_ERR_ARGUMENT, "--speeds: write the speed of at least one rank");
}

int main(int argc, char **argv)
{
    options o = { 64, 0.01, "1,1,1,0.5" };
    mt_cli_parse(argc, argv, "Steps of ranks whose speeds differ, with samples in proportion to them.", flags, &o);
    job j = { .o = &o, .clock = mt_clock_sim_new() };
    mt_status status = read_speeds(&j);
    if (status == MT_OK)
        status = mt_ranks_run(j.ranks, &(mt_wires){ .clock = j.clock, .network = network }, run_rank, &j);
    mt_clock_sim_free(j.clock);
    if (status != MT_OK)
        return mt_cli_exit(status);
    printf(
        "speeds %s: %d samples a step, of %g ms at speed 1; 1 MiB of gradients in %d buckets, %g ms and %g ns a byte\n",
        o.speeds, (int)o.samples, o.sample * 1e3, BUCKETS, network.latency * 1e3, network.byte_time * 1e9);
    double worst = print_steps(&j);
    printf("\nbench_shares: gain=%.3f worst=%.3f\n", j.took[0] / j.took[1], worst);
    return 0;
}
