/* bench_tape.c -- the overhead of the tape: time per op compared with the same ops without a tape, and memory with and
 * without freeing results during backward. Lab 03's "measure it yourself".
 *
 * Time: a chain of ops over four numbers, so that the time is overhead, not arithmetic. The variants take turns, and
 * the fastest round of each counts.
 *   no tape    the chain inside mt_no_grad: shapes checked, results allocated and freed
 *   recording  the additional time with a tape: a node and its edges for each op, created and freed
 *   walking    mt_backward, less direct calls of the backward kernels
 * Memory: layers of linear and ReLU; live bytes each time a layer's weights have their gradient. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "autograd/tape.h"
#include "bench/bench.h"
#include "core/scope.h"
#include "ops/ops.h"
#include "kernels/kernels.h"

enum { SMALL = 4, MOST_LAYERS = 64 };

typedef struct options {
    int64_t nodes, rounds, layers, rows, width;
    const char *csv;
} options;

static const mt_option flags[] = {
    { "nodes", 'n', "N", MT_I64(options, nodes, 1, 1000000), "ops in the chain (1000)" },
    { "rounds", 'r', "N", MT_I64(options, rounds, 1, 1000000), "rounds; the fastest counts (200)" },
    { "layers", 'l', "N", MT_I64(options, layers, 1, MOST_LAYERS), "layers of the memory measurement (12)" },
    { "rows", 'b', "N", MT_I64(options, rows, 1, 1 << 20), "its batch (1024)" },
    { "width", 'w', "N", MT_I64(options, width, 1, 1 << 14), "its layers' width (512)" },
    { "csv", 'c', "FILE", MT_TEXT(options, csv), "also write the tables as CSV" },
    { 0 },
};

/* ---- time per op ------------------------------------------------------------------------------------ */

static mt_tensor *one_relu(mt_tensor *y, mt_tensor *x)
{
    (void)x;
    return mt_relu(y);
}

static void kernel_relu(float *dx, float *dout, float *saved)
{
    mt_kernels(MT_CPU)->relu_bwd(dx, dout, saved, SMALL);
}

static void kernel_binary(mt_binary_bwd_fn *bwd, float *dx, float *dout, float *saved)
{
    mt_view view = mt_view_contiguous(MT_SHAPE(SMALL));
    mt_strided da = { dx, view }, db = { dx + SMALL, view }, a = { saved, view };
    bwd(&da, &db, dout, &a, &a);
}

static void kernel_add(float *dx, float *dout, float *saved)
{
    kernel_binary(mt_kernels(MT_CPU)->add_bwd, dx, dout, saved);
}

static void kernel_mul(float *dx, float *dout, float *saved)
{
    kernel_binary(mt_kernels(MT_CPU)->mul_bwd, dx, dout, saved);
}

typedef struct link {
    const char *name;
    mt_tensor *(*op)(mt_tensor *y, mt_tensor *x); /* y: the chain so far; x: a leaf */
    void (*kernel)(float *dx, float *dout, float *saved);
    double without, with, back, bare; /* nanoseconds per op, fastest round */
} link;

static link links[] = {
    { "relu(y)", one_relu, kernel_relu, 1e9, 1e9, 1e9, 1e9 },
    { "y + x", mt_add, kernel_add, 1e9, 1e9, 1e9, 1e9 },
    { "y * x", mt_mul, kernel_mul, 1e9, 1e9, 1e9, 1e9 },
};

static double overhead(const link *l)
{
    return l->with - l->without + l->back - l->bare;
}

static mt_tensor *chain(const link *l, mt_tensor *x, int64_t nodes)
{
    mt_tensor *y = x;
    for (int64_t i = 0; i < nodes; i++)
        y = l->op(y, x);
    return y;
}

static void keep_least(double *least, double seconds, int64_t nodes)
{
    bench_keep_least(least, seconds * 1e9 / (double)nodes);
}

static void time_round(link *l, mt_tensor *x, int64_t nodes)
{
    float dx[2 * SMALL] = { 0 }, dout[SMALL] = { 1, 1, 1, 1 }, saved[SMALL] = { 1, 1, 1, 1 };
    double start = mt_now();
    mt_no_grad_begin();
    mt_scope_begin();
    chain(l, x, nodes);
    mt_scope_end();
    mt_no_grad_end();
    keep_least(&l->without, mt_now() - start, nodes);

    start = mt_now();
    mt_scope_begin();
    chain(l, x, nodes);
    mt_scope_end();
    keep_least(&l->with, mt_now() - start, nodes);

    mt_scope_begin();
    mt_tensor *loss = mt_sum(chain(l, x, nodes));
    start = mt_now();
    mt_backward(loss);
    keep_least(&l->back, mt_now() - start, nodes);
    mt_scope_end();
    mt_zero_grad(x);

    start = mt_now();
    for (int64_t i = 0; i < nodes; i++)
        l->kernel(dx, dout, saved);
    keep_least(&l->bare, mt_now() - start, nodes);
}

static void measure_time(const options *o)
{
    mt_scope_begin();
    mt_tensor *x = mt_full(MT_SHAPE(SMALL), 1);
    x->requires_grad = true;
    for (int64_t r = 0; r < o->rounds; r++)
        for (link *l = links; l < links + MT_COUNT(links); l++)
            time_round(l, x, o->nodes);
    mt_scope_end();
}

/* ---- memory ------------------------------------------------------------------------------------------- */

typedef struct memory {
    int64_t before, forward, peak;
    int64_t at[MOST_LAYERS]; /* live when the weights of layer i had their gradient */
} memory;

typedef struct sample {
    int64_t *live;
} sample;

static void note(void *user, mt_tensor *leaf)
{
    (void)leaf;
    *((sample *)user)->live = mt_live_bytes(MT_CPU);
}

/* keep: retain every result, like a program that reads them all afterwards. */
static void measure_memory(memory *m, const options *o, bool keep)
{
    mt_tensor *w[MOST_LAYERS], *held[2 * MOST_LAYERS];
    sample samples[MOST_LAYERS];
    int64_t results = 0;
    mt_scope_begin();
    for (int64_t l = 0; l < o->layers; l++) {
        w[l] = mt_full(MT_SHAPE(o->width, o->width), 1 / (float)o->width);
        w[l]->requires_grad = true;
        samples[l].live = &m->at[l];
        mt_grad_ready_on(w[l], note, &samples[l]);
    }
    mt_tensor *y = mt_full(MT_SHAPE(o->rows, o->width), 1);
    m->before = mt_live_bytes(MT_CPU);
    mt_scope_begin();
    for (int64_t l = 0; l < o->layers; l++) {
        mt_tensor *z = mt_linear(y, w[l], NULL);
        y = mt_relu(z);
        held[results++] = mt_retain(z);
        held[results++] = mt_retain(y);
    }
    mt_tensor *loss = mt_sum(y);
    for (int64_t i = 0; i < results && !keep; i++)
        mt_release(held[i]);
    m->forward = mt_live_bytes(MT_CPU);
    mt_peak_reset(MT_CPU);
    mt_backward(loss);
    m->peak = mt_peak_bytes(MT_CPU);
    for (int64_t i = 0; i < results && keep; i++)
        mt_release(held[i]);
    mt_scope_end();
    for (int64_t l = 0; l < o->layers; l++)
        mt_grad_ready_off(w[l], note, &samples[l]);
    mt_scope_end();
}

/* ---- output ---------------------------------------------------------------------------------------------- */

static double mib(int64_t bytes)
{
    return (double)bytes / (1 << 20);
}

static void print_time(const options *o)
{
    printf("%s; chains of %" PRId64 " ops over %d numbers, fastest of %" PRId64 " rounds, ns per op\n", bench_machine(),
           o->nodes, SMALL, o->rounds);
    printf("%-10s %10s %10s %10s %10s\n", "", "no tape", "recording", "walking", "overhead");
    for (const link *l = links; l < links + MT_COUNT(links); l++)
        printf("%-10s %10.0f %10.0f %10.0f %10.0f\n", l->name, l->without, l->with - l->without, l->back - l->bare,
               overhead(l));
}

static void print_memory(const options *o, const memory *kept, const memory *freed)
{
    printf("\n%" PRId64 " layers of linear and ReLU, [%" PRId64 ",%" PRId64 "], MiB beyond weights and input\n",
           o->layers, o->rows, o->width);
    printf("%-34s %12s %12s\n", "", "all kept", "given back");
    printf("%-34s %12.1f %12.1f\n", "after forward", mib(kept->forward - kept->before),
           mib(freed->forward - freed->before));
    for (int64_t l = o->layers - 1; l >= 0; l -= mt_max(1, o->layers / 4))
        printf("when layer %-3" PRId64 " has its gradient    %12.1f %12.1f\n", l, mib(kept->at[l] - kept->before),
               mib(freed->at[l] - freed->before));
    printf("%-34s %12.1f %12.1f\n", "most during backward", mib(kept->peak - kept->before),
           mib(freed->peak - freed->before));
}

static void write_csv(const options *o, const memory *kept, const memory *freed)
{
    FILE *f = bench_csv_open(o->csv, "what,name,value,unit");
    if (!f)
        return;
    for (const link *l = links; l < links + MT_COUNT(links); l++)
        fprintf(f, "no tape,%s,%.1f,ns\nrecording,%s,%.1f,ns\nwalking,%s,%.1f,ns\n", l->name, l->without, l->name,
                l->with - l->without, l->name, l->back - l->bare);
    for (int64_t l = o->layers - 1; l >= 0; l--)
        fprintf(f, "all kept,layer %" PRId64 ",%" PRId64 ",B\ngiven back,layer %" PRId64 ",%" PRId64 ",B\n", l,
                kept->at[l] - kept->before, l, freed->at[l] - freed->before);
    fprintf(f, "all kept,peak,%" PRId64 ",B\ngiven back,peak,%" PRId64 ",B\n", kept->peak - kept->before,
            freed->peak - freed->before);
    bench_csv_close(f, o->csv);
}

int main(int argc, char **argv)
{
    options o = { .nodes = 1000, .rounds = 200, .layers = 12, .rows = 1024, .width = 512 };
    memory kept = { 0 }, freed = { 0 };
    double worst = 0;
    mt_cli_parse(argc, argv, "What the tape costs: time per op, and memory with and without giving back.", flags, &o);
    measure_time(&o);
    measure_memory(&kept, &o, true);
    measure_memory(&freed, &o, false);
    print_time(&o);
    print_memory(&o, &kept, &freed);
    for (const link *l = links; l < links + MT_COUNT(links); l++)
        worst = overhead(l) > worst ? overhead(l) : worst;
    write_csv(&o, &kept, &freed);
    printf("bench tape: overhead_ns=%.0f goal_ns=1000 peak_kept_mib=%.1f peak_given_back_mib=%.1f\n", worst,
           mib(kept.peak - kept.before), mib(freed.peak - freed.before));
    return 0;
}
