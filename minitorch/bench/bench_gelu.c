/* bench_gelu.c -- what a linear layer with GELU does beside its products, in ops of their own and fused (lab 11.5).
 *
 * For N = 256, 512, ... --rows and --columns: processor time of forward (rows of biases into the result, GELU of it;
 * or both in one pass over the product) and of backward (GELU's, then the sums of columns; or both in one pass), the
 * least of --rounds. The two take turns, so that another program slows both down. */
#include <math.h>
#include <omp.h>

#include "bench/bench.h"
#include "kernels/kernels.h"
#include "core/rng.h"
#include "fused/kernels_fused.h"

typedef struct options {
    int64_t rows, columns, rounds, threads;
} options;

static const mt_option flags[] = {
    { "rows", 'n', "N", MT_I64(options, rows, 256, 1 << 20), "Most rows (4096)" },
    { "columns", 'C', "N", MT_I64(options, columns, 1, 1 << 20), "Columns (3072)" },
    { "rounds", 'r', "N", MT_I64(options, rounds, 1, 1000), "Calls of each kernel; the fastest counts (7)" },
    { "threads", 't', "N", MT_I64(options, threads, 1, 1024), "Threads (1)" },
    { 0 },
};

typedef struct arrays {
    float *x, *bias, *z, *out, *dout, *dx, *dbias;
} arrays;

static float *numbers(mt_rng *rng, int64_t n)
{
    float *x = malloc((size_t)n * sizeof *x);
    MT_CHECK(x, "out of memory for %lld numbers", (long long)n);
    mt_rng_fill_normal(rng, x, n, 0, 1);
    return x;
}

static void ops_forward(const arrays *a, int64_t N, int64_t C)
{
    mt_linear_fwd_cpu(a->z, NULL, NULL, a->bias, N, 0, C); /* a product of no columns, which reads and adds nothing */
    mt_gelu_tanh_fwd_cpu(a->out, a->z, N * C);
}

static void ops_backward(const arrays *a, int64_t N, int64_t C)
{
    mt_gelu_tanh_bwd_cpu(a->dx, a->dout, a->z, N * C);
    mt_linear_bwd_cpu(NULL, NULL, a->dbias, a->dx, NULL, NULL, N, 0, C);
}

static void fused_forward(const arrays *a, int64_t N, int64_t C)
{
    mt_bias_gelu_fwd_cpu(a->out, a->x, a->bias, N, C);
}

static void fused_backward(const arrays *a, int64_t N, int64_t C)
{
    mt_bias_gelu_bwd_cpu(a->dx, a->dbias, a->dout, a->x, a->bias, N, C);
}

static void bench(const options *o, int64_t N)
{
    static void (*const kernel[])(const arrays *a, int64_t N, int64_t C) = { ops_forward, fused_forward, ops_backward,
                                                                             fused_backward };
    mt_rng rng = mt_rng_new(1, MT_STREAM_TEST);
    int64_t C = o->columns, n = N * C;
    arrays a = { numbers(&rng, n), numbers(&rng, C), numbers(&rng, n), numbers(&rng, n),
                 numbers(&rng, n), numbers(&rng, n), numbers(&rng, C) };
    double least[] = { INFINITY, INFINITY, INFINITY, INFINITY };
    for (int64_t round = 0; round < o->rounds; round++)
        for (int k = 0; k < 4; k++) {
            double start = bench_cpu(CLOCK_PROCESS_CPUTIME_ID);
            kernel[k](&a, N, C);
            bench_keep_least(&least[k], bench_cpu(CLOCK_PROCESS_CPUTIME_ID) - start);
        }
    printf("%6lld %12.2f %12.2f %8.2f %12.2f %12.2f %8.2f\n", (long long)N, 1e3 * least[0], 1e3 * least[1],
           least[0] / least[1], 1e3 * least[2], 1e3 * least[3], least[2] / least[3]);
    free(a.x), free(a.bias), free(a.z), free(a.out), free(a.dout), free(a.dx), free(a.dbias);
}

int main(int argc, char **argv)
{
    options o = { .rows = 4096, .columns = 3072, .rounds = 7, .threads = 1 };
    mt_cli_parse(argc, argv, "Bias and GELU as two ops and as one: processor time beside the products.", flags, &o);
    omp_set_num_threads((int)o.threads);
    printf("%s; %lld columns, times in ms\n\n", bench_machine(), (long long)o.columns);
    printf("%6s %12s %12s %8s %12s %12s %8s\n", "rows", "forward", "fused", "x", "backward", "fused", "x");
    for (int64_t N = 256; N <= o.rows; N *= 2)
        bench(&o, N);
    return 0;
}
