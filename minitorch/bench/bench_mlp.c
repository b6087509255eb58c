/* bench_mlp.c -- the time of an epoch of MNIST's size, and its profile: the chapter's "matrix products are 60 to 90 %
 * of training". The data are random numbers of MNIST's shape, already in memory, so only training is timed.
 *
 * An epoch is timed as a whole. Then a few hundred steps run under the profiler, with every product marked as a
 * span. */
#include <inttypes.h>
#include <omp.h>

#include "bench/bench.h"
#include "bench/products.h"
#include "models/classifier.h"
#include "models/mlp.h"
#include "ops/ops.h"
#include "train/recipe.h"
#include "testing/profile_here.h"

enum { PROFILED = 200 /* steps */, PIXELS = 784 };

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

/* Kinds of work, and the spans that belong to each; time outside all spans is `rest`. */
typedef enum kind { MATMUL, ACTIVATION, LOSS, UPDATE, REST, KINDS } kind;

static const struct {
    const char *name, *spans[2];
} kinds[KINDS] = {
    [MATMUL] = { "matmul", { "product" } },
    [ACTIVATION] = { "activation", { "relu", "relu backward" } },
    [LOSS] = { "loss", { "cross_entropy", "cross_entropy backward" } },
    [UPDATE] = { "update", { "sgd step" } },
    [REST] = { "rest" },
};

/* Random samples, returned batch by batch. */
typedef struct data {
    mt_tensor *x, *label;
    int64_t at, batch;
} data;

static bool next_batch(void *source, mt_batch *batch)
{
    data *d = source;
    int64_t count = mt_dim(d->x, 0), begin = d->at >= count ? 0 : d->at, end = mt_min(begin + d->batch, count);
    *batch = (mt_batch){ .count = end - begin };
    batch->x = mt_slice(d->x, 0, begin, end, 1);
    batch->y = mt_slice(d->label, 0, begin, end, 1);
    d->at = end;
    return true;
}

static double seconds_of(const mt_training *training, int64_t steps)
{
    mt_step_result result;
    double start = mt_now();
    for (int64_t s = 0; s < steps; s++)
        mt_train_step(&result, training, 0);
    return mt_now() - start;
}

typedef struct row {
    char name[96];
    double seconds;      /* fastest epoch */
    double share[KINDS]; /* of a step's time */
} row;

static void profile(row *r, const mt_training *training)
{
    bench_mark_products(NULL);
    mt_profile_begin(1);
    seconds_of(training, PROFILED);
    mt_profile *profile = mt_profile_end();
    mt_table_set(&mt_base_tables, MT_CPU, NULL);
    r->share[REST] = 1;
    for (int k = 0; k < REST; k++) {
        for (int s = 0; s < 2 && kinds[k].spans[s]; s++)
            r->share[k] += bench_line(profile, kinds[k].spans[s]).self / profile->seconds;
        r->share[REST] -= r->share[k];
    }
    mt_profile_free(profile);
}

static row measure(const int64_t *width, int layers, data *d, const options *o)
{
    const mt_recipe recipe = { .optimizer = MT_SGD, .lr = 0.01 };
    row r = { .seconds = 1e30 };
    mt_rng rng = mt_rng_new(1, MT_STREAM_INIT);
    mt_module *model = mt_mlp_new(width, layers, &rng);
    mt_optim *optim = mt_recipe_optim(&recipe, model);
    mt_training training = mt_recipe_training(&recipe, model, optim, 1);
    training.loss = mt_classifier_loss;
    training.next = next_batch;
    training.source = d;
    for (int l = 0; l <= layers; l++)
        snprintf(r.name + strlen(r.name), sizeof r.name - strlen(r.name), "%s%" PRId64, l ? "-" : "", width[l]);
    seconds_of(&training, PROFILED); /* threads and caches are warm afterwards */
    for (int64_t e = 0; e < o->epochs; e++)
        bench_keep_least(&r.seconds, seconds_of(&training, (o->samples + o->batch - 1) / o->batch));
    profile(&r, &training);
    mt_optim_zero_grad(optim);
    mt_optim_free(optim);
    mt_module_free(model);
    return r;
}

static void print_table(const row *rows, int64_t count, const options *o)
{
    printf("%" PRId64 " samples, batch %" PRId64 ", %" PRId64 " threads, SGD\n%-16s %7s %8s", o->samples, o->batch,
           o->threads, "network", "s/epoch", "sample/s");
    for (int k = 0; k < KINDS; k++)
        printf("  %10s", kinds[k].name);
    for (const row *r = rows; r < rows + count; r++) {
        printf("\n%-16s %7.3f %8.0f", r->name, r->seconds, (double)o->samples / r->seconds);
        for (int k = 0; k < KINDS; k++)
            printf("  %8.1f %%", 100 * r->share[k]);
    }
    printf("\n");
}

static void write_csv(const row *rows, int64_t count, const options *o)
{
    FILE *csv = bench_csv_open(o->csv, "network,threads,batch,seconds_per_epoch,matmul,activation,loss,update,rest");
    for (const row *r = rows; csv && r < rows + count; r++) {
        fprintf(csv, "%s,%" PRId64 ",%" PRId64 ",%.4f", r->name, o->threads, o->batch, r->seconds);
        for (int k = 0; k < KINDS; k++)
            fprintf(csv, ",%.4f", r->share[k]);
        fprintf(csv, "\n");
    }
    bench_csv_close(csv, o->csv);
}

int main(int argc, char **argv)
{
    static const int64_t three[] = { PIXELS, 256, 128, MT_CLASSES }, two[] = { PIXELS, 512, MT_CLASSES };
    options o = { .samples = 60000, .batch = 64, .epochs = 3, .threads = 2 };
    mt_cli_parse(argc, argv, "Time of an epoch of MNIST's size on random data, and its share in matrix products.",
                 flags, &o);
    omp_set_num_threads((int)o.threads);
    mt_rng rng = mt_rng_new(1, MT_STREAM_DATA);
    data d = { .batch = o.batch };
    d.x = mt_uniform(MT_SHAPE(o.samples, PIXELS), 0, 1, &rng);
    d.label = mt_empty(MT_SHAPE(o.samples), MT_I32, MT_CPU);
    for (int64_t n = 0; n < o.samples; n++)
        ((int32_t *)mt_data(d.label))[n] = (int32_t)mt_rng_below(&rng, MT_CLASSES);
    const row rows[] = { measure(three, 3, &d, &o), measure(two, 2, &d, &o) };
    mt_release(d.x);
    mt_release(d.label);
    print_table(rows, MT_COUNT(rows), &o);
    write_csv(rows, MT_COUNT(rows), &o);
    return 0;
}
