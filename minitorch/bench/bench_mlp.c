/* bench_mlp.c -- how long an epoch of MNIST's size takes, and where the time goes: the chapter's "matrix products are 60
 * to 90 % of training". The data are random numbers of MNIST's shape, already in memory, so nothing but training is timed.
 *
 * An epoch is timed whole. Then a few hundred steps are walked kernel by kernel with a clock around each, the products
 * caught in the kernel table; at the end the walked network must hold the very bits of one that was stepped normally. */
#include <errno.h>
#include <inttypes.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/storage.h"
#include "models/manual_mlp.h"
#include "ops/tables.h"
#include "prof/cli.h"

enum { WALKED = 200 }; /* steps */

static const float RATE = 0.01f;

/* ---- command line ---------------------------------------------------------------------------- */

typedef struct options {
    int64_t samples, batch, epochs, threads;
    const char *csv;
} options;

static const mt_option flags[] = {
    { "samples", 'n', "N", MT_I64(options, samples, 1, 10000000), "samples in an epoch (60000, MNIST's)" },
    { "batch", 'b', "N", MT_I64(options, batch, 1, 65536), "samples in a step (64)" },
    { "epochs", 'e', "N", MT_I64(options, epochs, 1, 1000), "epochs to time; the fastest counts (3)" },
    { "threads", 't', "N", MT_I64(options, threads, 1, 1024), "threads (2, as in performance.md)" },
    { "csv", 'c', "FILE", MT_TEXT(options, csv), "also write the table as CSV" },
    { 0 },
};

/* ---- the clock ------------------------------------------------------------------------------- */

typedef enum kind { MATMUL, ACTIVATION, LOSS, UPDATE, REST, KINDS } kind;

static const char *const kind_names[KINDS] = { "matmul", "activation", "loss", "update", "rest" };

static double spent[KINDS], last_tick;

/* All time since the last tick was spent on this kind. */
static void tick(kind k)
{
    double now = mt_now();
    spent[k] += now - last_tick;
    last_tick = now;
}

static void timed_matmul(float *c, const float *a, const float *b, const mt_matmul_dims *dims)
{
    tick(REST);
    mt_kernels_cpu.matmul(c, a, b, dims);
    tick(MATMUL);
}

/* ---- one step, whole and walked ---------------------------------------------------------------- */

typedef struct data {
    float *x;
    int32_t *label;
    int64_t samples, in;
} data;

static void step(mt_manual_mlp *mlp, const float *x, const int32_t *label, int64_t N)
{
    mt_manual_mlp_forward(mlp, x, N);
    mt_manual_mlp_backward(mlp, x, label, N);
    mt_manual_mlp_sgd(mlp, RATE);
}

static void zero_gradients(mt_manual_mlp *mlp, int64_t N)
{
    memset(mlp->grads, 0, (size_t)mlp->count * sizeof(float));
    for (int l = 0; l < mlp->layers; l++)
        memset(mlp->dz[l], 0, (size_t)(N * mlp->width[l + 1]) * sizeof(float));
    for (int l = 0; l < mlp->layers - 1; l++)
        memset(mlp->dact[l], 0, (size_t)(N * mlp->width[l + 1]) * sizeof(float));
}

/* The same step as the unit's (solutions/02-backprop/manual_mlp.c); what is no named kind (biases, zeroing) is rest. */
static void walk_step(mt_manual_mlp *m, const float *x, const int32_t *label, int64_t N)
{
    const int64_t *width = m->width;
    int last = m->layers - 1;
    last_tick = mt_now();
    for (int l = 0; l < m->layers; l++) {
        mt_linear_fwd_cpu(m->act[l], l ? m->act[l - 1] : x, m->w[l], m->b[l], N, width[l], width[l + 1]);
        tick(REST);
        if (l < last)
            mt_relu_fwd_cpu(m->act[l], m->act[l], N * width[l + 1]);
        tick(ACTIVATION);
    }
    zero_gradients(m, N);
    tick(REST);
    mt_cross_entropy_fwd_cpu(m->loss, m->probs, m->act[last], label, N, m->classes);
    for (int64_t n = 0; n < N; n++)
        m->dloss[n] = 1.0f / (float)N;
    mt_cross_entropy_bwd_cpu(m->dz[last], m->dloss, m->probs, label, N, m->classes);
    tick(LOSS);
    for (int l = last; l >= 0; l--) {
        mt_linear_bwd_cpu(l ? m->dact[l - 1] : NULL, m->dw[l], m->db[l], m->dz[l], l ? m->act[l - 1] : x, m->w[l], N,
                          width[l], width[l + 1]);
        tick(REST);
        if (l)
            mt_relu_bwd_cpu(m->dz[l - 1], m->dact[l - 1], m->act[l - 1], N * width[l]);
        tick(ACTIVATION);
    }
    mt_manual_mlp_sgd(m, RATE);
    tick(UPDATE);
}

typedef void step_fn(mt_manual_mlp *mlp, const float *x, const int32_t *label, int64_t N);

static void run_steps(step_fn *one_step, mt_manual_mlp *mlp, const data *d, int64_t steps)
{
    for (int64_t s = 0; s < steps; s++) {
        int64_t from = s * mlp->max_batch % d->samples, N = mt_min(mlp->max_batch, d->samples - from);
        one_step(mlp, d->x + from * d->in, d->label + from, N);
    }
}

/* ---- the table --------------------------------------------------------------------------------- */

static mt_manual_mlp *new_mlp(const int64_t width[MT_MLP_LAYERS + 1], int64_t batch)
{
    mt_rng rng = mt_rng_new(1, MT_STREAM_INIT);
    mt_manual_mlp *mlp = mt_manual_mlp_new(width, batch);
    mt_manual_mlp_init(mlp, &rng);
    return mlp;
}

static double fastest_epoch(const int64_t *width, const data *d, const options *o)
{
    mt_manual_mlp *mlp = new_mlp(width, o->batch);
    double best = 0;
    run_steps(step, mlp, d, WALKED); /* wakes threads and caches */
    for (int64_t e = 0; e < o->epochs; e++) {
        double start = mt_now();
        run_steps(step, mlp, d, (d->samples + o->batch - 1) / o->batch);
        double seconds = mt_now() - start;
        if (e == 0 || seconds < best)
            best = seconds;
    }
    mt_manual_mlp_free(mlp);
    return best;
}

/* Leaves the time of each kind in spent. */
static void walk(const int64_t *width, const data *d, const options *o)
{
    mt_kernel_table timed = mt_kernels_cpu;
    mt_manual_mlp *walked = new_mlp(width, o->batch), *stepped = new_mlp(width, o->batch);
    timed.matmul = timed_matmul;
    memset(spent, 0, sizeof spent);
    mt_kernels_set(MT_CPU, &timed);
    run_steps(walk_step, walked, d, WALKED);
    mt_kernels_set(MT_CPU, NULL);
    run_steps(step, stepped, d, WALKED);
    MT_CHECK(memcmp(walked->params, stepped->params, (size_t)walked->count * sizeof(float)) == 0,
             "bench_mlp: the walked step is no longer the unit's step");
    mt_manual_mlp_free(walked);
    mt_manual_mlp_free(stepped);
}

typedef struct row {
    char name[96];
    double seconds;      /* fastest epoch */
    double share[KINDS]; /* of a step's time */
} row;

static row measure(const int64_t width[MT_MLP_LAYERS + 1], const data *d, const options *o)
{
    row r = { .seconds = fastest_epoch(width, d, o) };
    double total = 0;
    for (int l = 0; l <= MT_MLP_LAYERS && width[l]; l++)
        snprintf(r.name + strlen(r.name), sizeof r.name - strlen(r.name), "%s%" PRId64, l ? "-" : "", width[l]);
    walk(width, d, o);
    for (int k = 0; k < KINDS; k++)
        total += spent[k];
    for (int k = 0; k < KINDS; k++)
        r.share[k] = spent[k] / total;
    return r;
}

static void print_table(const row *rows, int64_t count, const options *o)
{
    printf("%" PRId64 " samples, batch %" PRId64 ", %" PRId64 " threads, SGD\n%-16s %7s %8s", o->samples, o->batch,
           o->threads, "network", "s/epoch", "sample/s");
    for (int k = 0; k < KINDS; k++)
        printf("  %10s", kind_names[k]);
    for (const row *r = rows; r < rows + count; r++) {
        printf("\n%-16s %7.3f %8.0f", r->name, r->seconds, (double)o->samples / r->seconds);
        for (int k = 0; k < KINDS; k++)
            printf("  %8.1f %%", 100 * r->share[k]);
    }
    printf("\n");
}

static mt_status write_csv(const row *rows, int64_t count, const options *o)
{
    FILE *f = fopen(o->csv, "w");
    if (!f)
        return mt_fail(MT_ERR_IO, "%s: %s", o->csv, strerror(errno));
    fprintf(f, "network,threads,batch,seconds_per_epoch");
    for (int k = 0; k < KINDS; k++)
        fprintf(f, ",%s", kind_names[k]);
    for (const row *r = rows; r < rows + count; r++) {
        fprintf(f, "\n%s,%" PRId64 ",%" PRId64 ",%.4f", r->name, o->threads, o->batch, r->seconds);
        for (int k = 0; k < KINDS; k++)
            fprintf(f, ",%.4f", r->share[k]);
    }
    fprintf(f, "\n");
    if (fclose(f) != 0)
        return mt_fail(MT_ERR_IO, "%s: %s", o->csv, strerror(errno));
    return MT_OK;
}

static data new_data(int64_t samples, int64_t in, int64_t classes)
{
    mt_rng rng = mt_rng_new(1, MT_STREAM_DATA);
    data d = { mt_alloc(samples * in * (int64_t)sizeof(float), MT_CPU),
               mt_alloc(samples * (int64_t)sizeof(int32_t), MT_CPU), samples, in };
    mt_rng_fill_uniform(&rng, d.x, samples * in, 0, 1);
    for (int64_t n = 0; n < samples; n++)
        d.label[n] = (int32_t)mt_rng_below(&rng, classes);
    return d;
}

static void free_data(data *d)
{
    mt_free(d->x, d->samples * d->in * (int64_t)sizeof(float), MT_CPU);
    mt_free(d->label, d->samples * (int64_t)sizeof(int32_t), MT_CPU);
}

int main(int argc, char **argv)
{
    static const int64_t widths[][MT_MLP_LAYERS + 1] = { { 784, 256, 128, 10 }, { 784, 512, 10, 0 } };
    options o = { .samples = 60000, .batch = 64, .epochs = 3, .threads = 2 };
    row rows[MT_COUNT(widths)];
    mt_cli_parse(argc, argv, "Time of an epoch of MNIST's size on random data, and its share in matrix products.",
                 flags, &o);
    omp_set_num_threads((int)o.threads);
    data d = new_data(o.samples, 784, 10);
    for (int64_t i = 0; i < MT_COUNT(widths); i++)
        rows[i] = measure(widths[i], &d, &o);
    free_data(&d);
    print_table(rows, MT_COUNT(widths), &o);
    if (o.csv && write_csv(rows, MT_COUNT(widths), &o) != MT_OK) {
        fprintf(stderr, "bench_mlp: %s\n", mt_last_error());
        return 1;
    }
    return 0;
}
