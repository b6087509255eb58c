/* 08-sample.c -- how the checks of sampling run (step 08.9). Rows: 08-gpt2.c.
 *
 * The random number is an argument here, so there is one right token. Shares and parts are chosen from the weights
 * themselves, in the middle of the interval of the wanted rank: rounding cannot move them out of it, because an
 * interval shorter than MARGIN of the sum is never chosen. Expected values are added up in double, from the first
 * on. */
#include "checks/08-gpt2.h"
#include "checks/answer.h"
#include "checks/oracle.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

enum { CALLS = 8, LONG = 50257 /* GPT-2's vocabulary */, WIDEST = 70000, EXACT = 8 };
#define MARGIN 4e-6 /* 64 roundings of a part in f32 */

/* ---- the most likely ---------------------------------------------------------------------------------- */

typedef enum likely { ANY, LAST, FAR, HUGE_NUMBERS, CLOSE, NONE } likely;

static bool most_likely_once(mg_run *run, const char *part, const char *hint, bool equal, likely what, int64_t V)
{
    mg_part(run, part, hint);
    int64_t best = 0;
    mg_begin(run, "mt_most_likely_cpu");
    mg_out(run, "token", MT_I32, MT_SHAPE(1));
    float *logits = mg_input(run, "logits", MT_SHAPE(V), (mg_dist)NORMAL(-50, 10)); /* all below 0 */
    for (int64_t v = 0; v < V; v++) {
        logits[v] = equal ? (float)mg_pick(mg_rng(run), -3, -1) : logits[v];
        logits[v] = what == CLOSE          ? (float)(v - V) * 1e-8f
                    : what == NONE         ? -INFINITY
                    : what != HUGE_NUMBERS ? logits[v]
                    : v < V - 1            ? logits[v] * 0x1p120f
                                           : -0x1p110f;
    }
    if (what == LAST || what == FAR)
        logits[what == LAST ? V - 1 : mg_pick(mg_rng(run), 1 << 16, V - 1)] = 100;
    for (int64_t v = 1; v < V; v++)
        best = logits[v] > logits[best] ? v : best;
    mg_i64(run, "V", V);
    return mg_call(run) && mg_expect(run, "token", (const double[]){ (double)best }, NULL);
}

void mg_08_most_likely(mg_run *run, const void *one_case)
{
    const bool equal = ((const sample_case *)one_case)->kind == MG_SAMPLE_EQUAL;
    bool good = true;
    for (int t = 0; t < CALLS && good; t++)
        good = most_likely_once(run, NULL, NULL, equal, ANY, mg_size(run, -1, 200));
    if (good && most_likely_once(run, "the last token", NULL, equal, LAST, mg_size(run, -1, 200)) &&
        most_likely_once(run, "a token of more than 16 bits", "the vocabulary may have more than 65536 tokens", equal,
                         FAR, WIDEST) &&
        most_likely_once(run, "large logits", "logits may all be below -1e30: begin with the first one", equal,
                         HUGE_NUMBERS, 101) &&
        most_likely_once(run, "close logits", "logits may differ by 1e-8: compare them as they are", equal, CLOSE, 101))
        most_likely_once(run, "logits of -INFINITY", "logits may all be -INFINITY: the first is as large as the others",
                         equal, NONE, 101);
}

/* ---- weights -------------------------------------------------------------------------------------------- */

static int falling(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x < y) - (x > y);
}

/* exp's argument is rounded twice, by the difference and the quotient; exp itself by 2 ulp. close: the logits differ as
 * little as the temperature; far: the last is below the first by so much. */
static bool weights_once(mg_run *run, const char *part, const char *hint, int64_t V, double mean, float temperature,
                         bool close, float far)
{
    mg_part(run, part, hint);
    mg_begin(run, "mt_sample_weights_cpu");
    mg_answer weight = mg_overwritten(run, "weight", MT_SHAPE(V));
    float *logit = mg_input(run, "logit", MT_SHAPE(V), (mg_dist)NORMAL(mean, 4));
    for (int64_t i = 0; i < V && close; i++)
        logit[i] *= temperature;
    if (far > 0)
        logit[V - 1] = logit[0] - far;
    qsort(logit, (size_t)V, sizeof *logit, falling);
    mg_i64(run, "V", V);
    mg_f32(run, "temperature", temperature);
    for (int64_t i = 0; i < V; i++) {
        double power = ((double)logit[i] - logit[0]) / temperature;
        weight.v[i] = exp(power);
        weight.e[i] = weight.v[i] * MG_U * (2 * fabs(power) + 4) + FLT_MIN;
    }
    return mg_call_and_judge(run, &weight, 1);
}

void mg_08_sample_weights(mg_run *run, const void *one_case)
{
    const double mean = ((const sample_case *)one_case)->kind == MG_SAMPLE_LARGE ? 5000 : 0;
    for (int t = 0; t < CALLS; t++)
        if (!weights_once(run, NULL, NULL, mg_size(run, -1, 200), mean,
                          (float)exp2((double)mg_pick(mg_rng(run), -8, 8) / 4), false, 0))
            return;
    if (weights_once(run, "a large vocabulary", NULL, LONG, mean, 1, false, 0) &&
        weights_once(run, "a low temperature", "at a low temperature close logits still leave several tokens", 101,
                     mean, 1e-4f, true, 0))
        weights_once(run, "a high temperature",
                     "at temperature 100, a logit 60 below the first has a weight of about a half: cut nothing off",
                     101, mean, 100, false, 60);
}

/* ---- cutting off, and drawing ------------------------------------------------------------------------------ */

/* Weights as mt_sample_weights_cpu makes them, and of each rank the sum up to it. */
typedef struct ranks {
    int64_t V;
    float *weight;   /* [V] falling from 1 */
    double *reached; /* [V] */
} ranks;

static ranks ranks_in(mg_run *run, sample_kind kind, bool exact)
{
    int64_t V = exact ? EXACT : kind == MG_SAMPLE_LONG ? LONG : mg_size(run, -1, 200);
    ranks r = { V, mg_input(run, "weight", MT_SHAPE(V), (mg_dist)UNIFORM(0.01, 1)), mg_doubles(V) };
    float alike =
        (float)mg_pick(mg_rng(run), 1 << 23, 1 << 24) * 0x1p-24f; /* one number again and again, as untrained */
    for (int64_t i = 0; i < V && kind == MG_SAMPLE_LONG; i++)     /* models say: all additions in f32 err to one side */
        r.weight[i] = alike;
    r.weight[0] = 1;
    for (int64_t i = 0; i < V && exact; i++)
        r.weight[i] = 1;
    qsort(r.weight, (size_t)V, sizeof *r.weight, falling);
    for (int64_t i = 0; i < V; i++)
        r.reached[i] = (i ? r.reached[i - 1] : 0) + r.weight[i];
    return r;
}

/* A part of what the first `kept` have together, in the middle of the interval of rank *rank; the rank may change. */
static float part_of(mg_run *run, const ranks *r, int64_t kept, int64_t *rank)
{
    double sum = r->reached[kept - 1];
    while (r->weight[*rank] < MARGIN * sum)
        *rank = mt_rng_below(mg_rng(run), kept);
    return (float)((r->reached[*rank] - 0.5 * r->weight[*rank]) / sum);
}

/* The wanted rank, of the first `most`: any, the first, the last, or one whose share is met exactly. */
typedef enum wanted { ANY_RANK, FIRST, LAST_RANK, EXACTLY, ALL } wanted;

static int64_t wanted_rank(mg_run *run, wanted what, int64_t most)
{
    return what == FIRST       ? 0
           : what == LAST_RANK ? most - 1
                               : mt_rng_below(mg_rng(run), what == ANY_RANK ? most : most - 1);
}

/* top_k < 0: drawn. ALL: the share is 1, and the weights after the wanted rank are 0. */
static bool kept_once(mg_run *run, const char *part, sample_kind kind, wanted what, int64_t top_k)
{
    mg_part(run, part, NULL);
    const bool exact = what >= EXACTLY;
    mg_begin(run, "mt_sample_kept_cpu");
    mg_out(run, "kept", MT_I64, MT_SHAPE(1));
    ranks r = ranks_in(run, kind, exact);
    top_k = top_k < 0 ? mg_pick(mg_rng(run), 1, r.V + 3) : top_k;
    int64_t most = top_k ? mt_min(top_k, r.V) : r.V, last = wanted_rank(run, what, most);
    float top_p = kind == MG_SAMPLE_TOP_K || what == ALL ? 1
                  : exact                                ? (float)(last + 1) / EXACT
                                                         : part_of(run, &r, most, &last);
    for (int64_t i = last + 1; i < r.V && what == ALL; i++)
        r.weight[i] = 0;
    mg_i64(run, "V", r.V);
    mg_i64(run, "top_k", top_k);
    mg_f32(run, "top_p", top_p);
    double want = (double)(kind == MG_SAMPLE_TOP_K ? most : last + 1);
    free(r.reached);
    return mg_call(run) && mg_expect(run, "kept", &want, NULL);
}

void mg_08_sample_kept(mg_run *run, const void *one_case)
{
    const sample_kind kind = ((const sample_case *)one_case)->kind;
    const int64_t top_k = kind == MG_SAMPLE_TOP_P ? 0 : -1;
    bool good = true;
    for (int t = 0; t < CALLS && good; t++)
        good = kept_once(run, NULL, kind, ANY_RANK, top_k);
    good = good && kept_once(run, "the first token alone", kind, FIRST, top_k) &&
           kept_once(run, "all tokens", kind, LAST_RANK, top_k);
    if (kind != MG_SAMPLE_TOP_P)
        good = good && kept_once(run, "top_k of more than 32 bits", kind, ANY_RANK, ((int64_t)1 << 32) + 1);
    else if (good && kept_once(run, "a share that is met exactly", kind, EXACTLY, 0) &&
             kept_once(run, "a large vocabulary", MG_SAMPLE_LONG, ANY_RANK, 0))
        kept_once(run, "a share of 1, and weights of 0", kind, ALL, 0);
}

/* FIRST and LAST_RANK: the smallest and the largest number that a generator of 24 bits draws. */
static bool drawn_once(mg_run *run, const char *part, sample_kind kind, wanted what)
{
    mg_part(run, part, NULL);
    mg_begin(run, "mt_sample_drawn_cpu");
    mg_out(run, "rank", MT_I64, MT_SHAPE(1));
    ranks r = ranks_in(run, kind, what == EXACTLY);
    int64_t kept = kind == MG_SAMPLE_ANY && what != EXACTLY ? mg_pick(mg_rng(run), 1, r.V) : r.V;
    int64_t rank = wanted_rank(run, what == EXACTLY ? ANY_RANK : what, kept);
    float at = what == EXACTLY     ? (float)rank / EXACT
               : what == FIRST     ? 0
               : what == LAST_RANK ? 1 - FLT_EPSILON / 2
                                   : part_of(run, &r, kept, &rank);
    mg_i64(run, "kept", kept);
    mg_f32(run, "part", at);
    double want = (double)rank;
    free(r.reached);
    return mg_call(run) && mg_expect(run, "rank", &want, NULL);
}

void mg_08_sample_drawn(mg_run *run, const void *one_case)
{
    const sample_kind kind = ((const sample_case *)one_case)->kind;
    bool good = true;
    for (int t = 0; t < CALLS && good; t++)
        good = drawn_once(run, NULL, kind, ANY_RANK);
    if (good && drawn_once(run, "the smallest number", kind, FIRST) &&
        drawn_once(run, "the largest number", kind, LAST_RANK))
        drawn_once(run, "a sum that is met exactly", kind, EXACTLY);
}

/* ---- all of it, as mt_sample ---------------------------------------------------------------------------------- */

typedef struct token {
    float logit;
    int32_t id;
} token;

static int by_rank(const void *a, const void *b)
{
    const token *x = a, *y = b;
    return x->logit != y->logit ? falling(&x->logit, &y->logit) : (x->id > y->id) - (x->id < y->id);
}

/* The token that mt_sample should draw; -1 when rounding may decide it. */
static int32_t drawn(const float *logits, int64_t V, float temperature, int64_t top_k, float top_p, double part)
{
    token *ranked = calloc((size_t)V, sizeof *ranked);
    double *reached = mg_doubles(V), sum = 0;
    int64_t most = mt_min(top_k, V), kept = 0, rank = 0;
    MT_CHECK(ranked, "out of memory");
    for (int64_t v = 0; v < V; v++)
        ranked[v] = (token){ logits[v], (int32_t)v };
    qsort(ranked, (size_t)V, sizeof *ranked, by_rank);
    for (int64_t i = 0; i < most; i++)
        reached[i] = sum += exp(((double)ranked[i].logit - ranked[0].logit) / temperature);
    while (kept < most - 1 && reached[kept] < top_p * sum)
        kept++;
    double end = reached[kept], at = part * end;
    bool close = fabs(end - top_p * sum) < MARGIN * sum || (kept && top_p * sum - reached[kept - 1] < MARGIN * sum);
    while (rank < kept && reached[rank] <= at)
        rank++;
    close = close || fabs(reached[rank] - at) < MARGIN * end || (rank && at - reached[rank - 1] < MARGIN * end);
    int32_t id = close ? -1 : ranked[rank].id;
    free(ranked);
    free(reached);
    return id;
}

void mg_08_sample(mg_run *run, const void *one_case)
{
    (void)one_case;
    for (int t = 0; t < 3 * CALLS; t++) {
        int64_t V = mg_pick(mg_rng(run), 2, 200), top_k = mg_pick(mg_rng(run), 1, 40), seed;
        float temperature = (float)mg_pick(mg_rng(run), 2, 9) / 4, top_p;
        double want;
        mg_begin(run, "mt_sample");
        mg_out(run, "token", MT_I32, MT_SHAPE(1));
        float *logits = mg_input(run, "logits", MT_SHAPE(V), (mg_dist)NORMAL(0, 2));
        logits[V - 1] = logits[0]; /* equally likely: they rank by id */
        do {
            top_p = (float)mg_pick(mg_rng(run), 5, 99) / 100;
            seed = mg_pick(mg_rng(run), 1, 1000000);
            mt_rng rng = mt_rng_new((uint64_t)seed, MT_STREAM_SAMPLE);
            want = drawn(logits, V, temperature, top_k, top_p, mt_rng_uniform(&rng));
        } while (want < 0);
        mg_i64(run, "V", V);
        mg_f32(run, "temperature", temperature);
        mg_i64(run, "top_k", top_k);
        mg_f32(run, "top_p", top_p);
        mg_i64(run, "seed", seed);
        if (!mg_call(run) || !mg_expect(run, "token", &want, NULL))
            return;
    }
}
