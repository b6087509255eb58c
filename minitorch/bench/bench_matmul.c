/* bench_matmul.c -- every step of the ladder of matrix products compared with OpenBLAS and oneDNN, in one run.
 *
 * OpenBLAS chooses its kernels when it is loaded, and on some processors another core type is faster. So one worker
 * loads it with its own choice, one for each core type that this processor can run (OPENBLAS_CORETYPE; that of the
 * environment is ignored), and one loads oneDNN; for each shape the best of these peers counts, and is named. In a turn
 * a worker runs all contestants in order and then in reverse order, so that a slower machine affects all of them alike;
 * workers take turns, one at a time. The fastest time of each contestant counts; turns end when no time decreases. */
#include <dlfcn.h>
#include <inttypes.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/bench.h"
#include "core/storage.h"
#include "kernels/matmul.h"
#include "testing/matmul_ladder.h"

enum {
    RUNGS = 5,    /* steps of the ladder */
    PEER = RUNGS, /* the last contestant: the worker's library */
    CONTESTANTS,
    WORKERS = 6, /* at most */
};
static const double SLICE = 3e-3;   /* seconds that a contestant runs at a stretch, at least one product */
static const double SMALLEST = 1e6; /* FLOPs: smaller products are mostly the call; shown, not summed up */

/* ---- shapes ---------------------------------------------------------------------------------- */

typedef struct shape {
    const char *trans; /* nn, nt: B transposed, tn: A transposed, and C accumulated as in a weight's gradient */
    int64_t m, n, k;
    bool ladder; /* the slow rungs run too */
} shape;

static const shape shapes[] = {
    /* squares */
    { "nn", 256, 256, 256, true },
    { "nn", 512, 512, 512, true },
    { "nn", 1024, 1024, 1024, true },
    { "nn", 2048, 2048, 2048, false },
    { "nt", 256, 256, 256, false },
    { "nt", 1024, 1024, 1024, false },
    { "tn", 256, 256, 256, false },
    { "tn", 1024, 1024, 1024, false },
    /* GPT-2 124M, B T = 256: qkv, projection, MLP up and down, logits; forward, dx, dw */
    { "nn", 256, 2304, 768, false },
    { "nt", 256, 2304, 768, false },
    { "nt", 256, 768, 768, false },
    { "nt", 256, 3072, 768, false },
    { "nn", 256, 768, 3072, false },
    { "nt", 256, 768, 3072, false },
    { "tn", 768, 3072, 256, false },
    { "nt", 256, 50257, 768, false },
    /* MNIST, batch 64: forward, dx, dw */
    { "nt", 64, 512, 784, false },
    { "nn", 64, 512, 784, false },
    { "nn", 64, 256, 784, false },
    { "nn", 64, 128, 256, false },
    { "nn", 64, 10, 128, false },
    { "nt", 64, 256, 128, false },
    { "nt", 64, 128, 10, false },
    { "tn", 784, 256, 64, false },
    { "tn", 256, 128, 64, false },
    { "tn", 128, 10, 64, false },
    /* small batches through wide layers, whose weights come from memory */
    { "nn", 8, 4096, 1024, false },
    { "nn", 32, 2048, 2048, false },
    { "nn", 64, 4096, 4096, false },
};

static double flops_of(const shape *s)
{
    return 2.0 * (double)s->m * (double)s->n * (double)s->k;
}

/* Slow versions run on small squares only; of the two fast ones, packed on one thread and parallel on several. */
static bool takes_part(int who, const shape *s, int threads, int turn)
{
    if (who == PEER)
        return true;
    if (who >= RUNGS - 2)
        return who == (threads == 1 ? RUNGS - 2 : RUNGS - 1);
    return s->ladder && threads == 1 && turn < 3 && flops_of(s) <= (who == 0 ? 3e8 : 3e9);
}

/* ---- peers ----------------------------------------------------------------------------------- */

typedef struct peers {
    const char *name[WORKERS]; /* NULL: OpenBLAS as it chooses; else its core type; the last: oneDNN */
    int count;
} peers;

static peers peers_here(void)
{
    peers here = { { NULL }, 1 };
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        here.name[here.count++] = "Haswell";
    if (__builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
        here.name[here.count++] = "SkylakeX";
    if (__builtin_cpu_supports("avx512bf16")) {
        here.name[here.count++] = "Cooperlake";
        here.name[here.count++] = "SapphireRapids";
    }
    here.name[here.count++] = "onednn";
    return here;
}

/* ---- the worker ------------------------------------------------------------------------------ */

typedef struct request {
    int shape, threads, turn;
} request;

typedef struct reply {
    double seconds[CONTESTANTS]; /* of one product; infinite for who did not run */
} reply;

typedef void sgemm_fn(int order, int trans_a, int trans_b, int m, int n, int k, float alpha, const float *a, int lda,
                      const float *b, int ldb, float beta, float *c, int ldc);
typedef int onednn_fn(char trans_a, char trans_b, int64_t m, int64_t n, int64_t k, float alpha, const float *a,
                      int64_t lda, const float *b, int64_t ldb, float beta, float *c, int64_t ldc);

typedef struct library {
    sgemm_fn *openblas;
    onednn_fn *onednn;
    void (*set_threads)(int);
    char about[256];
} library;

static library load(const char *name)
{
    library lib = { 0 };
    bool onednn = name && strcmp(name, "onednn") == 0;
    void *handle = dlopen(onednn ? "libdnnl.so.3" : "libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
    if (onednn) {
        handle = handle ? handle : dlopen("libdnnl.so.2", RTLD_NOW | RTLD_LOCAL);
        lib.onednn = handle ? (onednn_fn *)dlsym(handle, "dnnl_sgemm") : NULL;
        snprintf(lib.about, sizeof lib.about, "%s", lib.onednn ? "oneDNN" : "");
    } else if (handle) {
        char *(*config)(void) = (char *(*)(void))dlsym(handle, "openblas_get_config");
        lib.set_threads = (void (*)(int))dlsym(handle, "openblas_set_num_threads");
        lib.openblas = lib.set_threads ? (sgemm_fn *)dlsym(handle, "cblas_sgemm") : NULL;
        snprintf(lib.about, sizeof lib.about, "%s", config ? config() : "OpenBLAS");
    }
    return lib;
}

static void run_once(int who, const library *lib, const shape *s, float *c, const float *a, const float *b)
{
    bool ta = s->trans[0] == 't', tb = s->trans[1] == 't';
    mt_matmul_dims d = {
        .M = s->m, .N = s->n, .K = s->k, .lda = ta ? s->m : s->k, .ldb = tb ? s->k : s->n, .ldc = s->n
    };
    d.trans_a = ta ? MT_TRANS : MT_NO_TRANS, d.trans_b = tb ? MT_TRANS : MT_NO_TRANS;
    d.write = ta ? MT_ACCUMULATE : MT_OVERWRITE;
    if (who == PEER && lib->onednn)
        lib->onednn(s->trans[0], s->trans[1], s->m, s->n, s->k, 1, a, d.lda, b, d.ldb, ta ? 1 : 0, c, d.ldc);
    else if (who == PEER)
        lib->openblas(101, ta ? 112 : 111, tb ? 112 : 111, (int)s->m, (int)s->n, (int)s->k, 1, a, (int)d.lda, b,
                      (int)d.ldb, ta ? 1 : 0, c, (int)d.ldc);
    else
        mt_matmul_ladder_cpu[who].run(c, a, b, &d);
}

/* Seconds of one product: one run to warm up, then as many as fill a slice. */
static double time_slice(int who, const library *lib, const shape *s, float *c, const float *a, const float *b)
{
    double start = mt_now();
    run_once(who, lib, s, c, a, b);
    int64_t times = (int64_t)(SLICE / (mt_now() - start)) + 1;
    start = mt_now();
    for (int64_t i = 0; i < times; i++)
        run_once(who, lib, s, c, a, b);
    return (mt_now() - start) / (double)times;
}

static float *numbers(int64_t count)
{
    float *at = mt_alloc(count * (int64_t)sizeof *at, MT_CPU); /* as a tensor has it: large ones in huge pages */
    uint32_t state = 1;
    for (int64_t i = 0; i < count; i++)
        at[i] = (float)((state = state * 1664525u + 1013904223u) >> 8) * 0x1p-24f - 0.5f;
    return at;
}

/* Answers requests until the pipe closes. The first output is its library's version, empty if there is none. */
static void worker(const char *name, int in, int out)
{
    if (name)
        setenv("OPENBLAS_CORETYPE", name, 1);
    library lib = load(name);
    int64_t a_most = 0, b_most = 0, c_most = 0;
    for (int64_t i = 0; i < MT_COUNT(shapes); i++) {
        a_most = mt_max(a_most, shapes[i].m * shapes[i].k);
        b_most = mt_max(b_most, shapes[i].k * shapes[i].n);
        c_most = mt_max(c_most, shapes[i].m * shapes[i].n);
    }
    float *a = numbers(a_most), *b = numbers(b_most), *c = numbers(c_most);
    request ask;
    if (write(out, lib.about, sizeof lib.about) < 0)
        _exit(1);
    while (read(in, &ask, sizeof ask) == sizeof ask) {
        const shape *s = &shapes[ask.shape];
        reply best;
        omp_set_num_threads(ask.threads);
        if (lib.set_threads)
            lib.set_threads(ask.threads);
        for (int who = 0; who < CONTESTANTS; who++)
            best.seconds[who] = INFINITY;
        for (int i = 0; i < 2 * CONTESTANTS; i++) {
            int who = i < CONTESTANTS ? i : 2 * CONTESTANTS - 1 - i;
            if (takes_part(who, s, ask.threads, ask.turn) && (who != PEER || lib.openblas || lib.onednn))
                best.seconds[who] = fmin(best.seconds[who], time_slice(who, &lib, s, c, a, b));
        }
        usleep(5000); /* OpenMP's idle threads spin for a while: not into the other worker's turn */
        if (write(out, &best, sizeof best) != sizeof best)
            break;
    }
    _exit(0);
}

/* ---- the referee ----------------------------------------------------------------------------- */

typedef struct options {
    bool quick;
    const char *csv;
} options;

typedef struct link_to {
    int ask, answer;
    pid_t pid;
    char about[256];
} link_to;

typedef struct race {
    link_to worker[WORKERS];
    peers types; /* one for each worker */
} race;

static bool start_worker(race *r, int which)
{
    link_to *w = &r->worker[which];
    int ask[2], answer[2];
    if (pipe(ask) || pipe(answer) || (w->pid = fork()) < 0)
        return false;
    if (w->pid == 0) {
        for (int other = 0; other < which; other++)
            close(r->worker[other].ask); /* a pipe ends when all its write ends are closed */
        close(ask[1]);
        worker(r->types.name[which], ask[0], answer[1]);
    }
    close(ask[0]);
    close(answer[1]);
    w->ask = ask[1];
    w->answer = answer[0];
    return read(w->answer, w->about, sizeof w->about) == sizeof w->about;
}

/* The workers take turns until no time has decreased by one percent for two turns. False when a worker has ended. */
static bool compete(const race *r, int shape_index, int threads, const options *o, double best[WORKERS][CONTESTANTS])
{
    int least = o->quick ? 2 : 5, most = o->quick ? 5 : 20, still = 0;
    for (int w = 0; w < r->types.count; w++)
        for (int who = 0; who < CONTESTANTS; who++)
            best[w][who] = INFINITY;
    for (int turn = 0; turn < most && (turn < least || still < 2); turn++, still++) {
        for (int i = 0; i < r->types.count; i++) {
            int w = turn % 2 ? r->types.count - 1 - i : i;
            request ask = { shape_index, threads, turn };
            reply got;
            if (write(r->worker[w].ask, &ask, sizeof ask) != sizeof ask ||
                read(r->worker[w].answer, &got, sizeof got) != sizeof got)
                return false;
            for (int who = 0; who < CONTESTANTS; who++) {
                if (got.seconds[who] < 0.99 * best[w][who] && who >= RUNGS - 2)
                    still = -1;
                best[w][who] = fmin(best[w][who], got.seconds[who]);
            }
        }
    }
    return true;
}

typedef struct summary {
    double log_sum[2], worst; /* of one thread and of several */
    int64_t count[2];
    char worst_at[64];
} summary;

static void report(const race *r, const shape *s, int threads, double best[WORKERS][CONTESTANTS], FILE *csv,
                   summary *sum)
{
    int first = 0, onednn = r->types.count - 1;
    for (int w = 1; w < r->types.count; w++)
        if (best[w][PEER] < best[first][PEER])
            first = w;
    double peer = best[first][PEER];
    const char *name = r->types.name[first];
    for (int who = 0; who < CONTESTANTS; who++) {
        double seconds = INFINITY;
        for (int w = 0; w < r->types.count; w++)
            seconds = fmin(seconds, best[w][who]);
        double ratio = peer / seconds, gflops = flops_of(s) / seconds * 1e-9;
        if (!isfinite(seconds))
            continue;
        const char *what = who < PEER ? mt_matmul_ladder_cpu[who].name : first == onednn ? name : "openblas";
        char ratio_text[32] = "";
        if (isfinite(peer))
            snprintf(ratio_text, sizeof ratio_text, "%.3f", ratio);
        const char *as = who == PEER && first != onednn ? name : NULL;
        printf("%-10s %7d   %s  %5" PRId64 " %6" PRId64 " %5" PRId64 " %9.1f   %5s%s%s\n", what, threads, s->trans,
               s->m, s->n, s->k, gflops, ratio_text, as ? "  as " : "", as ? as : "");
        if (csv)
            fprintf(csv, "%s,%d,%s,%" PRId64 ",%" PRId64 ",%" PRId64 ",%.2f,%s\n", what, threads, s->trans, s->m, s->n,
                    s->k, gflops, ratio_text);
        if (who < RUNGS - 2 || who == PEER || !isfinite(peer) || flops_of(s) < SMALLEST)
            continue;
        sum->log_sum[threads > 1] += log(ratio);
        sum->count[threads > 1]++;
        if (ratio < sum->worst) {
            sum->worst = ratio;
            snprintf(sum->worst_at, sizeof sum->worst_at, "%s-%" PRId64 "x%" PRId64 "x%" PRId64 "-%dT", s->trans, s->m,
                     s->n, s->k, threads);
        }
    }
    fflush(stdout);
}

static int bench(const race *r, const options *o, FILE *csv)
{
    int counts[2] = { 1, omp_get_num_procs() };
    int thread_counts = counts[1] > 1 ? 2 : 1;
    summary sum = { .worst = INFINITY };
    printf("%-10s %7s %5s %5s %6s %5s %9s   %5s\n", "what", "threads", "trans", "m", "n", "k", "GFLOP/s", "ratio");
    for (int t = 0; t < thread_counts; t++) {
        for (int i = 0; i < MT_COUNT(shapes); i++) {
            double best[WORKERS][CONTESTANTS];
            if (o->quick && flops_of(&shapes[i]) > 3e9)
                continue;
            fprintf(stderr, "\r%d of %d, %d thread%s ... ", t * (int)MT_COUNT(shapes) + i + 1,
                    thread_counts * (int)MT_COUNT(shapes), counts[t], counts[t] > 1 ? "s" : "");
            if (!compete(r, i, counts[t], o, best)) {
                fprintf(stderr, "\nbench_matmul: a worker died\n");
                return 1;
            }
            fprintf(stderr, "\r                              \r");
            report(r, &shapes[i], counts[t], best, csv, &sum);
        }
    }
    int64_t rows = sum.count[0] + sum.count[1];
    if (rows == 0) {
        printf("bench matmul: peers=missing\n");
        return 0;
    }
    printf("\nratios of packed and parallel to the best peer, geometric mean:\n");
    for (int t = 0; t < thread_counts; t++)
        printf("  %2d thread%s  %.3f\n", counts[t], t ? "s" : " ", exp(sum.log_sum[t] / (double)sum.count[t]));
    printf("bench matmul: geomean=%.3f worst=%.3f worst_at=%s rows=%" PRId64 "\n",
           exp((sum.log_sum[0] + sum.log_sum[1]) / (double)rows), sum.worst, sum.worst_at, rows);
    return 0;
}

/* ---- command line ---------------------------------------------------------------------------- */

static const mt_option flags[] = {
    { "quick", 'q', NULL, MT_FLAG(options, quick), "few rounds, no large shapes" },
    { "csv", 'c', "FILE", MT_TEXT(options, csv), "also write the table as CSV" },
    { 0 },
};

int main(int argc, char **argv)
{
    options o = { 0 };
    race r = { .types = peers_here() };
    mt_cli_parse(argc, argv, "The ladder of matrix products beside OpenBLAS and oneDNN.", flags, &o);
    unsetenv("OPENBLAS_CORETYPE");
    unsetenv("OPENBLAS_L2_SIZE");
    FILE *csv = bench_csv_open(o.csv, "what,threads,trans,m,n,k,gflops,ratio");
    for (int w = 0; w < r.types.count; w++) {
        if (!start_worker(&r, w)) {
            fprintf(stderr, "bench_matmul: a worker does not start\n");
            return 1;
        }
        printf("peer: %s\n", r.worker[w].about[0] ? r.worker[w].about
                                                  : "not installed (apt-get install libopenblas0-openmp libdnnl-dev)");
    }
    int rc = bench(&r, &o, csv);
    for (int w = 0; w < r.types.count; w++) {
        close(r.worker[w].ask);
        waitpid(r.worker[w].pid, NULL, 0);
    }
    bench_csv_close(csv, o.csv);
    return rc;
}
