/* bench_activations.c -- the time of an activation per element, forward and backward, compared with ReLU: figure 8.2 of
 * the chapter.
 *
 * The arrays fit in the L2 cache and there is one thread, so arithmetic is compared, not memory. All kernels take turns
 * in every round, and the fastest round of each counts, so that other programs disturb all of them alike. */
#include <inttypes.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>

#include "bench/bench.h"
#include "core/storage.h"
#include "kernels/kernels.h"

typedef struct options {
    int64_t n, rounds, threads;
    const char *csv;
} options;

static const mt_option flags[] = {
    { "elements", 'n', "N", MT_I64(options, n, 1, INT64_C(1) << 32),
      "elements of each array (32768: four arrays of 128 KiB)" },
    { "rounds", 'r', "N", MT_I64(options, rounds, 1, 1000000), "rounds; the fastest counts (200)" },
    { "threads", 't', "N", MT_I64(options, threads, 1, 1024), "threads (1)" },
    { "csv", 'c', "FILE", MT_TEXT(options, csv), "also write the table as CSV" },
    { 0 },
};

typedef struct activation {
    const char *name;
    mt_unary_fwd_fn *fwd;
    mt_unary_bwd_fn *bwd;
    bool saves_input;      /* backward reads x, not out */
    double fwd_ns, bwd_ns; /* per element, fastest round */
} activation;

static activation table[] = {
    { "relu", mt_relu_fwd_cpu, mt_relu_bwd_cpu, false, 1e9, 1e9 },
    { "sigmoid", mt_sigmoid_fwd_cpu, mt_sigmoid_bwd_cpu, false, 1e9, 1e9 },
    { "tanh", mt_tanh_fwd_cpu, mt_tanh_bwd_cpu, false, 1e9, 1e9 },
    { "gelu_erf", mt_gelu_fwd_cpu, mt_gelu_bwd_cpu, true, 1e9, 1e9 },
    { "gelu_tanh", mt_gelu_tanh_fwd_cpu, mt_gelu_tanh_bwd_cpu, true, 1e9, 1e9 },
};

/* One round: times one call of each. */
static void time_all(float *out, float *dx, const float *x, const float *dout, int64_t n)
{
    for (activation *a = table; a < table + MT_COUNT(table); a++) {
        double start = mt_now();
        a->fwd(out, x, n);
        double middle = mt_now();
        a->bwd(dx, dout, a->saves_input ? x : out, n);
        double end = mt_now();
        double fwd = (middle - start) * 1e9 / (double)n, bwd = (end - middle) * 1e9 / (double)n;
        bench_keep_least(&a->fwd_ns, fwd);
        bench_keep_least(&a->bwd_ns, bwd);
    }
}

static void measure(const options *o)
{
    mt_rng rng = mt_rng_new(1, MT_STREAM_DATA);
    int64_t bytes = o->n * (int64_t)sizeof(float);
    float *x = mt_alloc(bytes, MT_CPU), *dout = mt_alloc(bytes, MT_CPU);
    float *out = mt_alloc(bytes, MT_CPU), *dx = mt_alloc(bytes, MT_CPU);
    mt_rng_fill_normal(&rng, x, o->n, 0, 1);
    mt_rng_fill_normal(&rng, dout, o->n, 0, 1);
    memset(dx, 0, (size_t)bytes);
    for (int64_t r = 0; r < o->rounds; r++)
        time_all(out, dx, x, dout, o->n);
    mt_free(x, bytes, MT_CPU);
    mt_free(dout, bytes, MT_CPU);
    mt_free(out, bytes, MT_CPU);
    mt_free(dx, bytes, MT_CPU);
}

static void print_table(const options *o)
{
    printf("%" PRId64 " elements, %" PRId64 " thread%s, fastest of %" PRId64 " rounds\n", o->n, o->threads,
           o->threads == 1 ? "" : "s", o->rounds);
    printf("%-10s %12s %12s %12s %12s\n", "", "forward", "backward", "forward", "backward");
    printf("%-10s %12s %12s %12s %12s\n", "", "ns/element", "ns/element", "x ReLU", "x ReLU");
    for (const activation *a = table; a < table + MT_COUNT(table); a++)
        printf("%-10s %12.3f %12.3f %12.1f %12.1f\n", a->name, a->fwd_ns, a->bwd_ns, a->fwd_ns / table[0].fwd_ns,
               a->bwd_ns / table[0].bwd_ns);
}

static void write_csv(const options *o)
{
    FILE *csv =
        bench_csv_open(o->csv, "activation,elements,threads,forward_ns,backward_ns,forward_ratio,backward_ratio");
    for (const activation *a = table; csv && a < table + MT_COUNT(table); a++)
        fprintf(csv, "%s,%" PRId64 ",%" PRId64 ",%.4f,%.4f,%.2f,%.2f\n", a->name, o->n, o->threads, a->fwd_ns,
                a->bwd_ns, a->fwd_ns / table[0].fwd_ns, a->bwd_ns / table[0].bwd_ns);
    bench_csv_close(csv, o->csv);
}

int main(int argc, char **argv)
{
    options o = { .n = 32768, .rounds = 200, .threads = 1 };
    mt_cli_parse(argc, argv, "Cost of the activations per element, beside ReLU.", flags, &o);
    omp_set_num_threads((int)o.threads);
    measure(&o);
    print_table(&o);
    write_csv(&o);
    return 0;
}
