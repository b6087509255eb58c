/* test_evaluation.c -- the loss of the whole validation part is that of each of its tokens, predicted once, in double
 * precision from the logits; whatever the number of windows at once, and with a last window that is shorter. Endings of
 * questions have the likelihood that the same predictions give them; files of questions that cannot be read are
 * refused. */
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
        fputc('a' + (int)((7 * i + i * i % 5) % 11), file); /* all of a to k */
    fclose(file);
    cr_assert_eq(mt_corpus_open(c, in_dir("text"), NULL, T), MT_OK, "%s", mt_last_error());
    cr_assert_eq(c->vocabulary->token.count, 11);
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
        ids[i] = ((const int32_t *)c.part->tokens.data)[TRAIN + i];
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

/* ---- multiple choice --------------------------------------------------------------------------------------- */

/* The log-likelihood of the last n tokens, one prediction at a time. A prediction sees at most T tokens before it. */
static double likelihood(mt_module *model, const int32_t *ids, int64_t count, int64_t n)
{
    int64_t first = count - 1 > T ? count - 1 - T : 0;
    double sum = 0;
    for (int64_t i = count - n; i < count; i++)
        sum += log_probability(model, ids + first, i - first, ids[i]);
    return sum;
}

Test(evaluation, the_likelihood_of_endings)
{
    static const int32_t ids[] = { 3, 0, 7, 7, 1, 10, 4, 2, 9, 5, 5, 8 };
    mt_module *model = small_model(11);
    for (int64_t count = 2; count <= MT_COUNT(ids); count++)
        for (int64_t n = 1; n < count && n <= T; n++) {
            double got = mt_choice_likelihood(model, ids, count, n), want = likelihood(model, ids, count, n);
            cr_assert(fabs(got - want) < (double)n * tolerance, "%ld of %ld: %f, not %f", (long)n, (long)count, got,
                      want);
        }
    mt_module_free(model);
}

static void put(const char *name, const char *text)
{
    FILE *file = fopen(in_dir(name), "w");
    cr_assert(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

/* Endings of "ab": the likeliest of the letters after it, and another; by hand from the logits. */
Test(evaluation, questions_are_counted)
{
    mt_corpus c;
    mt_choices_result r;
    char text[1024];
    open_text(&c);
    mt_module *model = small_model(c.vocabulary->token.count);
    int32_t ids[3] = { 0, 1, 0 }, best = 0, worst = 0;
    double value[11];
    for (int32_t v = 0; v < 11; v++) {
        ids[2] = v;
        value[v] = likelihood(model, ids, 3, 1);
        best = value[v] > value[best] ? v : best, worst = value[v] < value[worst] ? v : worst;
    }
    char b = (char)c.vocabulary->token.bytes[best], w = (char)c.vocabulary->token.bytes[worst];
    const uint8_t *letter = c.vocabulary->token.bytes;
    snprintf(text, sizeof text,
             "{\"question\": \"%c%c\", \"endings\": [\"%c\", \"%c\"], \"label\": 0, \"id\": 7}\r\n\n"
             "{\"label\": 1, \"endings\": [\"%c\", \"%c\"], \"question\": \"%c%c\"}\n"
             "{\"question\": \"%c%c\", \"endings\": [\"%c\", \"%c\", \"%c\", \"%c\"], \"label\": 3}",
             letter[0], letter[1], b, w, w, b, letter[0], letter[1], letter[0], letter[1], b, w, w, w);
    put("questions", text);
    cr_assert_eq(mt_choices(&r, in_dir("questions"), model, c.vocabulary), MT_OK, "%s", mt_last_error());
    cr_assert(r.questions == 3 && r.right == 2 && r.right_per_byte == 2 && fabs(r.chance - 1.25 / 3) < 1e-12);
    /* A second letter makes an ending less likely, but where it is likely more so per byte. */
    int32_t two[4] = { 0, 1, worst, 0 };
    double most = -INFINITY;
    for (int32_t v = 0; v < 11; v++) {
        int32_t tried[4] = { 0, 1, worst, v };
        double now = likelihood(model, tried, 4, 2);
        if (now > most)
            most = now, two[3] = v;
    }
    cr_assert(most < value[worst] && most / 2 > value[worst], "%f %f", most, value[worst]);
    snprintf(text, sizeof text, "{\"question\": \"%c%c\", \"endings\": [\"%c\", \"%c%c\"], \"label\": 1}\n", letter[0],
             letter[1], w, w, (char)letter[two[3]]);
    put("questions", text);
    cr_assert_eq(mt_choices(&r, in_dir("questions"), model, c.vocabulary), MT_OK, "%s", mt_last_error());
    cr_assert(r.questions == 1 && r.right == 0 && r.right_per_byte == 1);
    mt_module_free(model);
    mt_corpus_close(&c);
}

Test(evaluation, refuses_questions)
{
    static const char *const wrong[][2] = {
        { "", "there is no question" },
        { " \n\n", "there is no question" },
        { "{\"question\": \"a\"", "line 1: no JSON object" },
        { "\n[]", "line 2: no JSON object" },
        { "{\"endings\": [\"a\", \"b\"], \"label\": 0}", "line 1: \"question\" must be a text" },
        { "{\"question\": \"\", \"endings\": [\"a\", \"b\"], \"label\": 0}", "\"question\" must be a text" },
        { "{\"question\": \"a\", \"endings\": [\"a\"], \"label\": 0}", "\"endings\" must be two texts" },
        { "{\"question\": \"a\", \"endings\": \"ab\", \"label\": 0}", "\"endings\" must be two texts" },
        { "{\"question\": \"a\", \"endings\": [\"a\", \"b\"], \"label\": 2}", "\"label\" must be the number" },
        { "{\"question\": \"a\", \"endings\": [\"a\", \"b\"], \"label\": -1}", "\"label\" must be the number" },
        { "{\"question\": \"a\", \"endings\": [\"a\", \"b\"]}", "\"label\" must be the number" },
        { "{\"question\": \"a\", \"endings\": [\"a\", \"\"], \"label\": 0}", "an ending must be a text" },
        { "{\"question\": \"a\", \"endings\": [\"a\", 5], \"label\": 0}", "an ending must be a text" },
        { "{\"question\": \"a\", \"endings\": [\"a\", \"bbbbbbbb\"], \"label\": 0}",
          "ending 1 has 8 tokens, and the model's context 7" },
        { "{\"question\": \"?\", \"endings\": [\"a\", \"b\"], \"label\": 0}", "line 1: " },
    };
    mt_corpus c;
    mt_choices_result r = { .questions = -5 };
    open_text(&c);
    mt_module *model = small_model(c.vocabulary->token.count);
    for (int i = 0; i < MT_COUNT(wrong); i++) {
        put("wrong", wrong[i][0]);
        cr_assert_eq(mt_choices(&r, in_dir("wrong"), model, c.vocabulary), MT_ERR_FORMAT, "%s", wrong[i][0]);
        SAYS(wrong[i][1]);
        SAYS("/wrong: ");
    }
    cr_assert_eq(mt_choices(&r, in_dir("none"), model, c.vocabulary), MT_ERR_IO);
    cr_assert_eq(r.questions, -5);
    mt_module_free(model);
    mt_corpus_close(&c);
}
