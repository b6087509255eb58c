/* bench_matmul16.c -- products of bf16 compared with oneDNN's (dnnl_gemm_bf16bf16f32), and with our f32 product.
 *
 * All run in one process and take turns; the fastest time of each counts. Shapes are those of GPT-2 124M with 256 rows,
 * forward, dx, dw, and squares. In a step weights come from memory; here operands stay in the caches where they fit. */
#include <dlfcn.h>
#include <inttypes.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>

#include "bench/bench.h"
#include "kernels/kernels.h"
#include "amp/kernels_16bit.h"
#include "core/storage.h"

typedef struct options {
    int64_t turns, threads;
    bool quick;
    const char *csv;
} options;

static const mt_option flags[] = {
    { "turns", 'r', "N", MT_I64(options, turns, 1, 1000), "Of each product; the fastest counts (8)" },
    { "threads", 't', "N", MT_I64(options, threads, 0, 1024), "0: one, then all processors" },
    { "quick", 'q', NULL, MT_FLAG(options, quick), "no large shapes" },
    { "csv", 'c', "FILE", MT_TEXT(options, csv), "also write the table as CSV" },
    { 0 },
};

static const struct shape {
    const char *trans; /* nn, nt: B transposed, tn: A transposed, and C accumulated as in a weight's gradient */
    int64_t m, n, k;
} shapes[] = {
    { "nn", 512, 512, 512 },   { "nn", 1024, 1024, 1024 }, { "nn", 2048, 2048, 2048 }, { "nn", 256, 2304, 768 },
    { "nt", 256, 768, 2304 },  { "tn", 768, 2304, 256 },   { "nn", 256, 768, 768 },    { "nt", 256, 768, 768 },
    { "tn", 768, 768, 256 },   { "nn", 256, 3072, 768 },   { "nt", 256, 768, 3072 },   { "tn", 768, 3072, 256 },
    { "nn", 256, 768, 3072 },  { "nt", 256, 3072, 768 },   { "tn", 3072, 768, 256 },   { "nt", 256, 50257, 768 },
    { "nn", 256, 768, 50257 }, { "tn", 50257, 768, 256 },
};

enum { OURS, F32, PEER, CONTESTANTS };

typedef int gemm_fn(char trans_a, char trans_b, int64_t m, int64_t n, int64_t k, float alpha, const void *a,
                    int64_t lda, const void *b, int64_t ldb, float beta, float *c, int64_t ldc);

static gemm_fn *peer; /* NULL: there is none */
static float *a32, *b32, *c;
static uint16_t *a16, *b16;

static void run_once(int who, const mt_matmul_dims *d)
{
    if (who == OURS)
        mt_16bit_cpu.matmul16(c, a16, b16, MT_BF16, d);
    else if (who == F32)
        mt_base_cpu.matmul(c, a32, b32, d);
    else
        peer(d->trans_a ? 'T' : 'N', d->trans_b ? 'T' : 'N', d->M, d->N, d->K, 1, a16, d->lda, b16, d->ldb,
             d->write == MT_ACCUMULATE ? 1 : 0, c, d->ldc);
}

/* Seconds of one product: as many as fill some milliseconds. */
static double time_slice(int who, const mt_matmul_dims *d)
{
    double flops = 2.0 * (double)d->M * (double)d->N * (double)d->K, start = mt_now();
    int64_t times = (int64_t)(1e9 / flops) + 1;
    for (int64_t i = 0; i < times; i++)
        run_once(who, d);
    return (mt_now() - start) / (double)times;
}

static void bench(const options *o, int threads, FILE *csv)
{
    double log_sum = 0, worst = INFINITY;
    int64_t rows = 0;
    omp_set_num_threads(threads);
    for (const struct shape *s = shapes; s < shapes + MT_COUNT(shapes); s++) {
        bool ta = s->trans[0] == 't', tb = s->trans[1] == 't';
        mt_matmul_dims d = mt_dense_dims(s->m, s->n, s->k, ta ? MT_TRANS : MT_NO_TRANS, tb ? MT_TRANS : MT_NO_TRANS,
                                         ta ? MT_ACCUMULATE : MT_OVERWRITE);
        double best[CONTESTANTS] = { INFINITY, INFINITY, INFINITY }, flops = 2e-9 * (double)(s->m * s->n * s->k);
        if (o->quick && flops > 2)
            continue;
        for (int64_t turn = 0; turn < o->turns; turn++)
            for (int who = 0; who < (peer ? CONTESTANTS : PEER); who++)
                bench_keep_least(&best[who], time_slice(who, &d));
        double ratio = best[PEER] / best[OURS];
        printf("%7d   %s  %5" PRId64 " %6" PRId64 " %5" PRId64 " %9.1f %9.1f %9.1f", threads, s->trans, s->m, s->n,
               s->k, flops / best[OURS], flops / best[F32], flops / best[PEER]);
        printf(peer ? "   %.3f\n" : "\n", ratio);
        fflush(stdout);
        if (csv)
            fprintf(csv, "%d,%s,%" PRId64 ",%" PRId64 ",%" PRId64 ",%.1f,%.1f,%.1f\n", threads, s->trans, s->m, s->n,
                    s->k, flops / best[OURS], flops / best[F32], flops / best[PEER]);
        log_sum += log(ratio);
        worst = fmin(worst, ratio);
        rows++;
    }
    if (peer)
        printf("bench matmul16: threads=%d geomean=%.3f worst=%.3f rows=%" PRId64 "\n", threads,
               exp(log_sum / (double)rows), worst, rows);
}

int main(int argc, char **argv)
{
    options o = { .turns = 8 };
    mt_cli_parse(argc, argv, "Products of bf16 beside oneDNN's.", flags, &o);
    void *library = dlopen("libdnnl.so.3", RTLD_NOW);
    library = library ? library : dlopen("libdnnl.so.2", RTLD_NOW);
    peer = library ? (gemm_fn *)dlsym(library, "dnnl_gemm_bf16bf16f32") : NULL;
    printf("%s; products of bf16 are %s\n%s\n", bench_machine(), mt_matmul16_form(MT_BF16),
           peer ? "oneDNN: dnnl_gemm_bf16bf16f32" : "oneDNN is not installed: apt-get install libdnnl2");
    const int64_t most = o.quick ? 1 << 22 : 50257 * 768;
    a32 = mt_alloc(4 * most, MT_CPU), b32 = mt_alloc(4 * most, MT_CPU), c = mt_alloc(4 * most, MT_CPU);
    a16 = mt_alloc(2 * most, MT_CPU), b16 = mt_alloc(2 * most, MT_CPU);
    mt_clear(c, 4 * most, MT_CPU);
    for (int64_t i = 0; i < most; i++) {
        a32[i] = (float)((uint32_t)i * 2654435761u >> 8) * 0x1p-24f - 0.5f;
        b32[i] = (float)((uint32_t)i * 2246822519u >> 8) * 0x1p-24f - 0.5f;
    }
    mt_16bit_cpu.convert(a16, MT_BF16, a32, MT_F32, most);
    mt_16bit_cpu.convert(b16, MT_BF16, b32, MT_F32, most);
    printf("%7s %5s %5s %6s %5s %9s %9s %9s   %s\n", "threads", "trans", "m", "n", "k", "GFLOP/s", "f32", "oneDNN",
           "ratio");
    FILE *csv = bench_csv_open(o.csv, "threads,trans,m,n,k,gflops,f32_gflops,onednn_gflops");
    int all = omp_get_num_procs(), counts[2] = { o.threads ? (int)o.threads : 1, o.threads ? 0 : all > 1 ? all : 0 };
    for (int i = 0; i < 2 && counts[i]; i++)
        bench(&o, counts[i], csv);
    bench_csv_close(csv, o.csv);
    return 0;
}
