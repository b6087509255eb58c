/* test_evaluation.c -- the loss of the whole validation part is that of each of its tokens, predicted once, in double
 * precision from the logits; whatever the number of windows at once, and with a last window that is shorter. */
#include "autograd/tape.h"
#include "core/scope.h"
#include "models/gpt2.h"
#include "temp_dir.h"
#include "train/evaluation.h"

#include <fcntl.h>
#include <math.h>

TestSuite(evaluation, .init = temp_dir_make, .fini = temp_dir_remove);

enum { T = 7, LENGTH = 400, TRAIN = 360, VALID = LENGTH - TRAIN };

static void open_text(mt_corpus *c)
{
    FILE *file = fopen(in_dir("text"), "w");
    for (int64_t i = 0; i < LENGTH; i++)
        fputc('a' + (int)(i * i % 23 % 11), file);
    fclose(file);
    cr_assert_eq(mt_corpus_open(c, in_dir("text"), NULL, T), MT_OK, "%s", mt_last_error());
}

static mt_module *small_model(int64_t tokens)
{
    const mt_gpt2_config config = { .vocabulary = tokens, .block = T, .layers = 1, .heads = 2, .width = 8 };
    mt_rng rng = mt_rng_new(3, MT_STREAM_INIT);
    mt_module *model = mt_gpt2_new(&config, &rng);
    mt_state params = mt_module_params(model);
    for (const mt_state_item *p = params.item; p < params.item + params.count; p++)
        for (int64_t i = 0; i < mt_numel(p->tensor); i++)
            mt_f32(p->tensor)[i] *= 20; /* far from equal probabilities */
    mt_state_free(&params);
    return model;
}

/* log p of `next` after the n tokens at ids, one prediction at a time. */
static double log_probability(mt_module *model, const int32_t *ids, int64_t n, int32_t next)
{
    double largest = -INFINITY, sum = 0;
    mt_no_grad_begin();
    mt_scope_begin();
    mt_tensor *x = mt_empty(MT_SHAPE(1, n), MT_I32, MT_CPU);
    memcpy(mt_data(x), ids, (size_t)n * sizeof *ids);
    mt_tensor *logits = mt_gpt2_logits(model, x);
    int64_t V = mt_dim(logits, 2);
    const float *row = mt_f32(logits) + (n - 1) * V;
    for (int64_t v = 0; v < V; v++)
        largest = fmax(largest, (double)row[v]);
    for (int64_t v = 0; v < V; v++)
        sum += exp((double)row[v] - largest);
    double result = (double)row[next] - largest - log(sum);
    mt_scope_end();
    mt_no_grad_end();
    return result;
}

/* A loss is a sum over V = 11 logits of 8 products each, three layers deep, and a mean of 39: fewer than 1000 roundings
 * of 2^-24 of numbers below 40. */
static const double tolerance = 1000 * 0x1p-24 * 40;

Test(evaluation, every_token_of_the_validation_part_once)
{
    mt_corpus c;
    int32_t ids[VALID];
    double want = 0, loss;
    int64_t targets;
    open_text(&c);
    mt_module *model = small_model(c.vocabulary->token.count);
    for (int64_t i = 0; i < VALID; i++)
        ids[i] = ((const int32_t *)c.tokens.data)[TRAIN + i];
    for (int64_t i = 1; i < VALID; i++) /* a window begins at 0, T, 2 T ...; a token is predicted from it on */
        want -= log_probability(model, ids + (i - 1) / T * T, (i - 1) % T + 1, ids[i]) / (VALID - 1);
    cr_assert(want > 2.5, "the model is near to equal probabilities: %f", want);
    for (int64_t batch = 1; batch < 9; batch++) {
        cr_assert_eq(mt_evaluate_text(&loss, &targets, &c, model, batch), MT_OK);
        cr_assert_eq(targets, VALID - 1);
        cr_assert(fabs(loss - want) < tolerance, "batches of %ld: %.9f, not %.9f", (long)batch, loss, want);
    }
    mt_module_free(model);
    mt_corpus_close(&c);
}
