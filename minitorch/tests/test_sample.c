/* test_sample.c -- which tokens can be drawn, how often each is, and that text continues with the model's tokens. */
#include "core/scope.h"
#include "models/gpt2.h"
#include "models/sample.h"
#include "ops/ops.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

enum { V = 5, DRAWS = 20000 };

static const float logits[V] = { 0, 3, 1, 3, -2 };

/* Observed frequencies against the probabilities: within five standard deviations of a binomial count. */
static void frequencies(mt_sampling how, const double *probability)
{
    int64_t count[V] = { 0 };
    mt_rng rng = mt_rng_new(3, MT_STREAM_SAMPLE);
    for (int i = 0; i < DRAWS; i++)
        count[mt_sample(logits, V, &how, &rng)]++;
    for (int v = 0; v < V; v++) {
        double want = DRAWS * probability[v], slack = 5 * sqrt(want * (1 - probability[v]));
        cr_expect_leq(fabs((double)count[v] - want), slack, "token %d came %d times, not %.0f", v, (int)count[v], want);
    }
}

static void softmax(double *p, double temperature, unsigned kept)
{
    double sum = 0;
    for (int v = 0; v < V; v++)
        sum += p[v] = kept >> v & 1 ? exp((double)logits[v] / temperature) : 0;
    for (int v = 0; v < V; v++)
        p[v] /= sum;
}

Test(sample, frequencies_are_the_probabilities)
{
    double p[V];
    softmax(p, 1, 31);
    frequencies((mt_sampling){ 1, 0, 1 }, p);
    softmax(p, 2.5, 31);
    frequencies((mt_sampling){ 2.5, 0, 1 }, p);
    softmax(p, 1, 1 << 1 | 1 << 2 | 1 << 3);
    frequencies((mt_sampling){ 1, 3, 1 }, p);
    softmax(p, 1, 1 << 1); /* of equals the lower id */
    frequencies((mt_sampling){ 1, 1, 1 }, p);
    softmax(p, 1, 1 << 1 | 1 << 3); /* 0.454 each: the second reaches 0.9, the first does not reach 0.5 */
    frequencies((mt_sampling){ 1, 0, 0.9 }, p);
    frequencies((mt_sampling){ 1, 0, 0.5 }, p);
    softmax(p, 1, 1 << 1);
    frequencies((mt_sampling){ 1, 0, 0.1 }, p);
}

Test(sample, greedy_draws_nothing)
{
    mt_rng rng = mt_rng_new(3, MT_STREAM_SAMPLE);
    cr_assert_eq(mt_sample(logits, V, &(mt_sampling){ 0, 0, 1 }, &rng), 1);
    cr_assert_eq(rng.counter, 0);
}

/* Greedy text, beyond the context too: every token is the largest logit behind the window before it. */
Test(sample, text_goes_on_as_the_model_says)
{
    enum { BLOCK = 6, LONG = 15 };
    int32_t ids[LONG] = { 3, 8 };
    mt_rng rng = mt_rng_new(9, MT_STREAM_INIT);
    mt_module *model = mt_gpt2_new(&(mt_gpt2_config){ 11, 0, BLOCK, 2, 2, 8 }, &rng);
    mt_gpt2_extend(ids, 2, LONG - 2, model, &(mt_sampling){ 0, 0, 1 }, &rng);
    mt_scope_begin();
    for (int64_t end = 2; end < LONG; end++) {
        int64_t T = mt_min(end, BLOCK);
        mt_tensor *all = mt_gpt2_logits(model, mt_from(MT_SHAPE(1, T), MT_I32, ids + end - T));
        const int64_t *best = mt_data(mt_argmax(all));
        cr_assert_eq(ids[end], best[T - 1], "token %d", (int)end);
    }
    mt_scope_end();
    mt_module_free(model);
}
