/* bench_precision.c -- the errors of 16-bit types, and the bytes and time they save: lab 09's "measure it yourself".
 *
 * The toy GPT-2 (models/gpt2.h) is trained in f32 for --steps steps of 12 windows. Then, with one more batch:
 *   gradients   that products under f16 read, by the scale of the loss: rounded to 0, subnormal, infinite
 *   parameters  that AdamW's step does not change when p - step is rounded to 16 bits, without an f32 master; and a sum
 *               of 1000 times 0.01, rounded after each addition
 *   steps       with products in each type: bytes that forward keeps for backward, bytes a parameter,
 *               time of all processors together, the least of --rounds steps
 * All but the times are the same in every run on one machine. */
#include <math.h>

#include "amp/amp.h"
#include "autograd/tape.h"
#include "bench/bench.h"
#include "core/dtype.h"
#include "core/scope.h"
#include "fused/fused.h"
#include "models/gpt2.h"
#include "amp/autocast.h"
#include "amp/kernels_16bit.h"
#include "ops/ops.h"
#include "train/corpus.h"
#include "train/recipe.h"

typedef struct options {
    const char *data, *csv;
    int64_t steps, rounds;
} options;

static const mt_option flags[] = {
    { "data", 'd', "FILE", MT_TEXT(options, data), "Text to train on; default: tiny Shakespeare of datasets/fetch" },
    { "steps", 's', "N", MT_I64(options, steps, 1, 100000), "Steps before gradients and updates are looked at (300)" },
    { "rounds", 'r', "N", MT_I64(options, rounds, 1, 1000), "Timed steps in each type; the fastest counts (10)" },
    { "csv", 'c', "FILE", MT_TEXT(options, csv), "Also write every figure as CSV" },
    { 0 },
};

static const mt_dtype types[] = { MT_F32, MT_BF16, MT_F16 };
enum { TYPES = MT_COUNT(types), WINDOWS = 12, COLUMNS = 3 };

static struct {
    FILE *csv; /* NULL without --csv */
    const char *title, *column[COLUMNS];
} now;

static void table(const char *title, const char *a, const char *b, const char *c)
{
    now.title = title, now.column[0] = a, now.column[1] = b, now.column[2] = c;
    printf("\n%-24s %16s %16s %16s\n", title, a, b, c);
}

static void row(const char *name, double a, double b, double c)
{
    const double value[COLUMNS] = { a, b, c };
    printf("  %-22s %16.5g %16.5g %16.6g\n", name, a, b, c);
    for (int i = 0; i < COLUMNS && now.csv; i++)
        fprintf(now.csv, "%s,%s,%s,%.9g\n", now.title, name, now.column[i], value[i]);
}

static bool next_batch(void *loader, mt_batch *batch)
{
    return mt_loader_next(loader, batch);
}

static mt_training training_new(const mt_corpus *corpus, mt_loader *loader, mt_dtype type)
{
    mt_recipe recipe = { .optimizer = MT_ADAMW, .lr = 1e-3, .warmup = 100, .clip = 1, .weight_decay = 0.1 };
    mt_gpt2_config config = *mt_gpt2_size("toy");
    config.vocabulary = corpus->vocabulary->token.count;
    mt_rng rng = mt_rng_new(1, MT_STREAM_INIT);
    mt_module *model = mt_gpt2_new(&config, &rng);
    mt_training t = mt_recipe_training(&recipe, model, mt_recipe_optim(&recipe, model), 1000);
    t.loss = mt_gpt2_loss, t.next = next_batch, t.source = loader;
    t.around = mt_amp_around(mt_amp_new(t.optim, type));
    return t;
}

static void training_free(mt_training *t)
{
    mt_optim_zero_grad(t->optim);
    mt_amp_free(t->around.user);
    mt_optim_free(t->optim);
    mt_module_free(t->model);
}

static mt_tensor *loss_in(mt_dtype type, const mt_training *t, const mt_batch *batch)
{
    mt_autocast_begin(type);
    mt_tensor *loss = t->loss(t->model, batch->x, batch->y);
    mt_autocast_end();
    return loss;
}

static struct {
    double all, zero, subnormal, infinite; /* all: not 0 before */
} seen;

/* The table's conversion, counting. In backward, what is converted from f32 to 16 bits are gradients. */
static void counting_convert(void *out, mt_dtype to, const void *x, mt_dtype from, int64_t n)
{
    mt_convert_cpu(out, to, x, from, n);
    for (int64_t i = 0; i < n && from == MT_F32; i++) {
        uint16_t size = ((uint16_t *)out)[i] & 0x7fff;
        seen.all += ((const float *)x)[i] != 0;
        seen.zero += ((const float *)x)[i] != 0 && size == 0;
        seen.subnormal += size > 0 && size < 0x0400;
        seen.infinite += size == 0x7c00;
    }
}

static void gradients(const mt_training *t, const mt_batch *batch)
{
    char name[16];
    mt_16bit_table counting = mt_16bit_cpu;
    counting.convert = counting_convert;
    table("gradients in f16", "become 0 %", "subnormal %", "infinite");
    for (int exponent = 0; exponent <= 40 && seen.infinite == 0; exponent++) {
        memset(&seen, 0, sizeof seen);
        mt_scope_begin();
        mt_tensor *loss = mt_scale(loss_in(MT_F16, t, batch), ldexpf(1, exponent));
        mt_table_set(&mt_16bit_tables, MT_CPU, &counting);
        mt_backward(loss);
        mt_table_set(&mt_16bit_tables, MT_CPU, NULL);
        mt_scope_end();
        mt_optim_zero_grad(t->optim);
        snprintf(name, sizeof name, "scale 2^%d", exponent);
        if (exponent % 5 == 0 || seen.infinite > 0)
            row(name, 100 * seen.zero / seen.all, 100 * seen.subnormal / seen.all, seen.infinite);
    }
}

static float rounded(mt_dtype type, float x)
{
    float f16 = mt_f16_to_f32(mt_f16_from_f32(x)), bf16 = mt_bf16_to_f32(mt_bf16_from_f32(x));
    return type == MT_F16 ? f16 : type == MT_BF16 ? bf16 : x;
}

/* Percent of the parameters that the step changed in f32 and would not change in `type`. */
static double lost(mt_dtype type, const mt_state *before, const mt_state *after)
{
    double changed = 0, same = 0;
    for (int64_t k = 0; k < before->count; k++)
        for (int64_t i = 0; i < mt_numel(before->item[k].tensor); i++) {
            float p = mt_f32(before->item[k].tensor)[i], step = mt_f32(after->item[k].tensor)[i] - p;
            changed += step != 0;
            same += step != 0 && rounded(type, rounded(type, p) + step) == rounded(type, p);
        }
    return 100 * same / changed;
}

static void parameters(mt_training *t, int64_t step)
{
    const double rates[] = { 2.5e-4, 2.5e-5 };
    double share[TYPES][2];
    mt_state params = mt_module_params(t->model), before = mt_state_clone(&params);
    mt_step_result result;
    for (int r = 0; r < MT_COUNT(rates); r++) {
        t->schedule.lr = rates[r];
        mt_state_copy(&params, &before);
        mt_train_step(&result, t, step);
        for (int d = 0; d < TYPES; d++)
            share[d][r] = lost(types[d], &before, &params);
    }
    table("parameters rounded", "lost % at 2.5e-4", "lost % at 2.5e-5", "1000 x 0.01");
    for (int d = 0; d < TYPES; d++) {
        float sum = 0;
        for (int i = 0; i < 1000; i++)
            sum = rounded(types[d], sum + rounded(types[d], 0.01f));
        row(mt_dtype_name(types[d]), share[d][0], share[d][1], sum);
    }
    mt_state_free(&before);
    mt_state_free(&params);
}

/* Bytes that the tape holds for backward: what lives on when the scope of forward has ended. */
static double kept_bytes(mt_dtype type, const mt_training *t, const mt_batch *batch)
{
    int64_t before = mt_live_bytes(MT_CPU);
    mt_scope_begin();
    mt_tensor *loss = mt_retain(loss_in(type, t, batch));
    mt_scope_end();
    int64_t bytes = mt_live_bytes(MT_CPU) - before;
    mt_release(loss);
    return (double)bytes;
}

static void steps(int64_t rounds, const mt_corpus *corpus, mt_loader *loader, const mt_batch *batch)
{
    mt_step_result result;
    table("a step, products in", "kept MB", "B a parameter", "processor ms");
    for (int d = 0; d < TYPES; d++) {
        double least = INFINITY;
        int64_t before = mt_live_bytes(MT_CPU);
        mt_training t = training_new(corpus, loader, types[d]);
        mt_train_step(&result, &t, 0); /* makes gradients, state and copies */
        double each = (double)(mt_live_bytes(MT_CPU) - before) / (double)mt_module_count(t.model);
        for (int64_t round = 1; round <= rounds; round++) {
            double start = bench_cpu(CLOCK_PROCESS_CPUTIME_ID);
            mt_train_step(&result, &t, round);
            bench_keep_least(&least, bench_cpu(CLOCK_PROCESS_CPUTIME_ID) - start);
        }
        row(mt_dtype_name(types[d]), 1e-6 * kept_bytes(types[d], &t, batch), each, 1e3 * least);
        training_free(&t);
    }
}

static void bench(const options *o, const mt_corpus *corpus)
{
    const mt_recipe recipe = { 0 };
    mt_loader *loader = mt_recipe_batches(&recipe, mt_batches_random(corpus->train_set, 1), WINDOWS);
    mt_training t = training_new(corpus, loader, MT_F32);
    mt_batch batch;
    mt_step_result result = { 0 };
    for (int64_t step = 0; step < o->steps; step++)
        mt_train_step(&result, &t, step);
    printf("%s; toy GPT-2 after %d steps, loss %.3f\n", bench_machine(), (int)o->steps, result.loss);
    mt_loader_next(loader, &batch);
    batch.x = mt_tensor_packed(batch.x), batch.y = mt_tensor_packed(batch.y); /* the loader's own are lent */
    gradients(&t, &batch);
    parameters(&t, o->steps);
    steps(o->rounds, corpus, loader, &batch);
    mt_release(batch.x);
    mt_release(batch.y);
    training_free(&t);
    mt_loader_free(loader);
}

int main(int argc, char **argv)
{
    options o = { .data = mt_corpus_text(), .steps = 300, .rounds = 10 };
    mt_corpus corpus;
    mt_fused_use();
    mt_cli_parse(argc, argv, "What products in 16 bits lose, keep and take, on a toy GPT-2.", flags, &o);
    now.csv = bench_csv_open(o.csv, "table,row,column,value");
    mt_status status = mt_corpus_open(&corpus, o.data, NULL, mt_gpt2_size("toy")->block);
    if (status == MT_OK) {
        bench(&o, &corpus);
        mt_corpus_close(&corpus);
    }
    bench_csv_close(now.csv, o.csv);
    return mt_cli_exit(status);
}
