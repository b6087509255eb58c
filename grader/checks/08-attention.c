/* 08-attention.c -- how the checks of attention run: forward, backward, and with a cache (steps 08.5, 08.6, 08.8, 11.1,
 * 11.2). Rows: 08-gpt2.c, 11-fusion.c. */
#include "checks/08-attention.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_D = 260 /* columns of a head */ };

/* ---- shapes and numbers ----------------------------------------------------------------------------- */

typedef enum shape_kind { MANY_HEADS, ANY_HEADS, WHOLE_HEADS, LARGE_HEADS, LARGER_HEADS, MANY_TOKENS } shape_kind;

/* The calls of a row. The first is searched for data races: a race is named before its wrong values. How many tokens,
 * -1: random. Lengths around 64 and 128 catch kernels that work in tiles of such sizes. */
static const struct shape_try {
    const char *part; /* unless the texts are long: then heads are small, as the oracle computes all scores */
    shape_kind kind;
    int64_t length[5]; /* by MG_TOKENS_..., 5 of NONE: of no samples */
} shape_tries[] = {
    { NULL, MANY_HEADS, { 0, 1, 6, -1, 129 } },
    { NULL, ANY_HEADS, { 5, 1, 3, 33, 63 } },
    { NULL, ANY_HEADS, { 0, 1, 2, 31, 65 } },
    { NULL, WHOLE_HEADS, { 0, 1, 4, 2, 127 } },
    { "large heads", LARGE_HEADS, { 5, 1, 5, 64, 128 } },
    { "heads of more than 128 columns", LARGER_HEADS, { 5, 1, 7, -1, 200 } },
    { "more than 1280 tokens", MANY_TOKENS, { 0 } },
};

/* Lab 08's rows of long texts have a call more, with texts longer than GPT-2's. */
static int calls_of(const attention_case *c)
{
    return MT_COUNT(shape_tries) - (c->tokens != MG_TOKENS_LONG || c->tiled || c->cuda);
}

/* Heads of an odd number of columns, so that none begins where a vector would. */
static mg_attention draw_shape(mg_run *run, const attention_case *c, const struct shape_try *k)
{
    mt_rng *rng = mg_rng(run);
    const bool small = c->tokens == MG_TOKENS_LONG;
    mg_part(run, (small || c->cuda || c->bf16) && k->kind != MANY_TOKENS ? NULL : k->part, NULL);
    if (k->kind == MANY_TOKENS) /* the oracle has little to compute with one column */
        return (mg_attention){ .B = 1, .T = 1281 + 2 * mg_pick(rng, 0, 40), .C = 1, .H = 1 };
    mg_attention a = { .B = mg_pick(rng, 1, 3), .T = k->length[c->tokens], .H = mg_pick(rng, c->heads ? 2 : 1, 4) };
    if (c->tokens == MG_TOKENS_NONE && a.T > 0)
        a.B = 0;
    if (small)
        a.B = 1, a.H = mg_pick(rng, c->heads || k->kind == MANY_HEADS ? 2 : 1, 2);
    if (c->packed && a.T == 200) /* more than two tiles of 126 keys */
        a.T = 260;
    a.T = mg_size(run, a.T, 70);
    a.C = a.H * (2 * mg_pick(rng, 0, 16) + 1);
    if (k->kind == LARGE_HEADS && !small && !c->tiled)
        a.C = a.H * (2 * mg_pick(rng, 32, 63) + 1);
    if (k->kind == LARGER_HEADS && !small)
        a.C = a.H * (c->tiled ? 2 * mg_pick(rng, 32, 65) + 1 : 129 + 2 * mg_pick(rng, 0, 1) + 128 * mg_pick(rng, 0, 1));
    if (k->kind == MANY_HEADS && !small)
        a.H = 13, a.C = 13 * (2 * mg_pick(rng, 0, 4) + 1);
    if (c->wide)
        a.C = a.H * (129 + 2 * mg_pick(rng, 0, 1));
    if (c->cuda || c->bf16) /* at most 128 columns; and whole parts of 32 */
        a.C = a.H *
              (k->kind == WHOLE_HEADS || k->kind == LARGER_HEADS ? 32 * mg_pick(rng, 1, 4) : mt_min(a.C / a.H, 128));
    return a;
}

/* The wanted score with key j, for every query. */
static double steer(mt_rng *rng, int64_t scores, int64_t j, int64_t T)
{
    double share = T > 1 ? 2 * (double)j / (double)(T - 1) - 1 : 1; /* -1 .. 1 along the keys */
    switch (scores) {
    case MG_SCORES_LARGE:
    case MG_SCORES_FAR:
        return (mt_rng_u32(rng) & 1 ? -1 : 1) * (90 + 20 * (double)mt_rng_uniform(rng));
    case MG_SCORES_GROWING:
        return 100 * share;
    case MG_SCORES_SLOWLY:
        return 3 * share;
    case MG_SCORES_EQUAL:
        return 5;
    default:
        return -100 * share;
    }
}

/* Normal queries, keys and values; with chosen scores all queries of a head have one direction, a corner
 * of a cube, and each key is the multiple of it that gives its score. Equal ones: all have the head's first key. */
static void fill_qkv(mt_rng *rng, float *qkv, const mg_attention *a, int64_t scores)
{
    int64_t C = a->C, D = C / a->H;
    bool steered = scores != MG_SCORES_ANY;
    mg_fill(rng, qkv, a->B * a->T * 3 * C, (mg_dist)NORMAL(0, 1));
    for (int64_t task = 0; task < a->B * a->H && steered; task++) {
        /* Below the -10,000 with which some hide keys; less where the bounds would become wide. */
        bool far = scores == MG_SCORES_FAR && task % 2;
        float corner[MOST_D], *head = qkv + task / a->H * a->T * 3 * C + task % a->H * D;
        for (int64_t d = 0; d < D; d++)
            corner[d] = mt_rng_u32(rng) & 1 ? -1 : 1;
        for (int64_t j = 0; j < a->T; j++) {
            float *q = head + j * 3 * C, *k = q + C;
            float along = (float)((far ? (D <= 33 ? -50000 : -300) : steer(rng, scores, j, a->T)) / sqrt((double)D));
            for (int64_t d = 0; d < D; d++) {
                q[d] = corner[d] + 0.25f * q[d];
                k[d] = corner[d] * along + 0.25f * k[d];
            }
            if (scores == MG_SCORES_EQUAL)
                memcpy(k, head + C, (size_t)D * sizeof *k);
        }
    }
}

/* ---- forward ---------------------------------------------------------------------------------------- */

static mt_shape saved_shape(const mg_attention *a, bool tiled)
{
    return tiled ? MT_SHAPE(a->B, a->H, a->T) : MT_SHAPE(a->B, a->H, a->T, a->T);
}

/* What forward must give for place i. */
static void expect_place(mg_answer answer[2], const mg_attention *a, bool tiled, int64_t i)
{
    double lse[2];
    int64_t row = mg_attention_row(a, i);
    mg_oracle_attention(answer[0].v + row, answer[0].e + row, lse, a, i);
    if (tiled)
        answer[1].v[i] = lse[0], answer[1].e[i] = lse[1];
    else
        mg_oracle_attention_probs(answer[1].v + i * a->T, answer[1].e + i * a->T, a, i);
}

void *mg_08_describe_forward(mg_run *run, const attention_case *c, mg_attention a, mg_answer answer[2])
{
    mg_begin(run, mg_08_function(c->tiled, c->packed, c->bf16, c->cuda, false));
    answer[0] = mg_overwritten(run, "out", MT_SHAPE(a.B, a.T, a.C));
    answer[1] = mg_overwritten(run, "saved", saved_shape(&a, c->tiled));
    float *qkv = c->bf16 ? mg_attention_floats(&a) : mg_in(run, "qkv", MT_F32, MT_SHAPE(a.B, a.T, 3 * a.C));
    fill_qkv(mg_rng(run), qkv, &a, c->scores);
    void *sent = c->bf16 ? (void *)mg_attention_rounded(run, qkv, &a) : qkv;
    a.qkv = qkv;
    a.bf16 = c->bf16;
    mg_08_send_shape(run, &a);
    for (int64_t i = 0; i < mg_attention_places(&a); i++)
        expect_place(answer, &a, c->tiled, i);
    return sent;
}

static bool forward(mg_run *run, const attention_case *c, mg_attention a, bool searched)
{
    mg_answer answer[2];
    mg_08_describe_forward(run, c, a, answer);
    mg_08_drop(answer, 2, c->judged);
    return mg_searched_and_judge(run, searched, answer, 2);
}

/* ---- backward --------------------------------------------------------------------------------------- */

/* What forward would have left, as f32: out, and in saved the log-sum-exp or the probabilities. */
static void save(float *out, float *saved, mg_attention *a, bool tiled)
{
    int64_t D = a->C / a->H, T = a->T;
    double *v = mg_doubles(2 * D), *p = mg_doubles(2 * T), lse[2];
    a->spread = tiled ? NULL : mg_doubles(mg_attention_places(a));
    a->out = out;
    a->lse = tiled ? saved : NULL;
    a->probs = tiled ? NULL : saved;
    for (int64_t i = 0; i < mg_attention_places(a); i++) {
        float *row = out + mg_attention_row(a, i);
        mg_oracle_attention(v, v + D, lse, a, i);
        for (int64_t d = 0; d < D; d++)
            row[d] = (float)v[d];
        if (tiled) {
            saved[i] = (float)lse[0];
            continue;
        }
        mg_oracle_attention_probs(p, p + T, a, i);
        for (int64_t j = 0; j < T; j++)
            saved[i * T + j] = (float)p[j];
        a->spread[i] = mg_oracle_attention_spread(a, i);
    }
    free(v);
    free(p);
}

/* The other arguments of a backward call, after dqkv. The checker's own saved
 * stays as it was sent, whatever the call does with it. */
static void send_saved(mg_run *run, mg_attention *a, int64_t scores, bool tiled, bool cuda)
{
    mt_shape shape = cuda ? MT_SHAPE(2, a->B, a->H, a->T) : saved_shape(a, tiled);
    float *saved = mg_inout(run, "saved", MT_F32, shape);
    for (int64_t i = 0, places = mg_attention_places(a); cuda && i < places; i++)
        saved[places + i] = NAN; /* forward does not write it */
    a->dout = mg_input(run, "dout", MT_SHAPE(a->B, a->T, a->C), (mg_dist)NORMAL(0, 1));
    float *qkv = mg_in(run, "qkv", MT_F32, MT_SHAPE(a->B, a->T, 3 * a->C));
    float *out = mg_in(run, "out", MT_F32, MT_SHAPE(a->B, a->T, a->C));
    fill_qkv(mg_rng(run), qkv, a, scores);
    a->qkv = qkv;
    save(out, saved, a, tiled);
    mg_08_send_shape(run, a);
}

mg_answer mg_08_describe_backward(mg_run *run, const attention_case *c, mg_attention a)
{
    mg_begin(run, mg_08_function(c->tiled, c->packed, false, c->cuda, true));
    mg_answer answer = mg_accumulated(run, "dqkv", MT_SHAPE(a.B, a.T, 3 * a.C), c->held);
    send_saved(run, &a, c->scores, c->tiled, c->cuda);
    for (int64_t i = 0; i < mg_attention_places(&a); i++)
        mg_oracle_attention_add(answer.v, answer.e, &a, i);
    free(a.spread);
    return answer;
}

static bool backward(mg_run *run, const attention_case *c, mg_attention a, bool searched)
{
    mg_answer answer = mg_08_describe_backward(run, c, a);
    for (int64_t i = 0; i < a.B * a.T * 3 * a.C; i++)
        if (!(c->judged >> (i / a.C % 3) & 1))
            answer.e[i] = INFINITY; /* another row's concern: any finite number */
    return mg_searched_and_judge(run, searched, &answer, 1);
}

static void each_shape(mg_run *run, const attention_case *c, bool back)
{
    for (int i = 0; i < calls_of(c); i++) {
        const struct shape_try *k = &shape_tries[i];
        if (!(back ? backward : forward)(run, c, draw_shape(run, c, k), k->kind == MANY_HEADS && !c->cuda))
            return;
    }
    mg_part(run, NULL, NULL);
    mg_attention_more(run, c, back);
}

void mg_08_attention(mg_run *run, const void *one_case)
{
    each_shape(run, one_case, false);
}

void mg_08_attention_backward(mg_run *run, const void *one_case)
{
    each_shape(run, one_case, true);
}

/* ---- with a cache ----------------------------------------------------------------------------------- */

/* The last of T tokens; the cache holds the keys and values of the others. Later rows hold what must not be read or
 * changed. */
static bool cached(mg_run *run, const attention_case *c, mg_attention a, bool searched)
{
    int64_t place = a.T - 1, C = a.C, D = C / a.H, rows = a.T + mg_pick(mg_rng(run), 0, 3);
    float *kept, *all = malloc((size_t)(a.T * 3 * C) * sizeof *all);
    MT_CHECK(all, "out of memory for %lld tokens", (long long)a.T);
    mg_begin(run, "mt_attention_cached_cpu");
    mg_answer answer[] = { mg_overwritten(run, "out", MT_SHAPE(C)),
                           mg_replaced(run, "cache", MT_SHAPE(rows, 2 * C), (mg_dist)NORMAL(0, 1e20), &kept) };
    fill_qkv(mg_rng(run), all, &a, c->scores);
    a.qkv = all;
    for (int64_t t = 0; t < place; t++)
        memcpy(kept + t * 2 * C, all + (t * 3 + 1) * C, (size_t)(2 * C) * sizeof *all);
    memcpy(mg_in(run, "qkv", MT_F32, MT_SHAPE(3 * C)), all + place * 3 * C, (size_t)(3 * C) * sizeof *all);
    mg_i64(run, "place", place);
    mg_i64(run, "C", C);
    mg_i64(run, "H", a.H);
    for (int64_t i = 0; i < rows * 2 * C; i++)
        answer[1].v[i] = i / (2 * C) == place ? all[(place * 3 + 1) * C + i % (2 * C)] : kept[i];
    for (int64_t h = 0; h < a.H; h++) {
        double lse[2];
        mg_oracle_attention(answer[0].v + h * D, answer[0].e + h * D, lse, &a, h * a.T + place);
    }
    mg_08_drop(answer, 2, c->judged);
    free(all);
    return mg_searched_and_judge(run, searched, answer, 2);
}

void mg_08_cached(mg_run *run, const void *one_case)
{
    const attention_case *c = one_case;
    for (int i = 0; i < calls_of(c); i++) {
        mg_attention a = draw_shape(run, c, &shape_tries[i]);
        a.B = 1;
        if (!cached(run, c, a, false))
            return;
    }
    mg_part(run, "several threads", NULL);
    if (c->tokens == MG_TOKENS_LONG) /* as many keys as threads share */
        cached(run, c, (mg_attention){ .B = 1, .T = 521, .H = 3, .C = 129 }, true);
    mg_08_cached_refused(run, c);
}

/* A text from its first token on, with one cache: the result of attention over the whole text. */
void mg_08_cached_text(mg_run *run, const void *one_case)
{
    const attention_case *c = one_case;
    for (int k = 0; k < calls_of(c) - 1; k++) {
        mg_attention a = draw_shape(run, c, &shape_tries[k]);
        a.B = 1;
        mg_begin(run, "mt_attention_cached_cpu, token by token");
        mg_answer out = mg_overwritten(run, "out", MT_SHAPE(a.T, a.C));
        mg_out(run, "cache", MT_F32, MT_SHAPE(a.T, 2 * a.C));
        float *qkv = mg_in(run, "qkv", MT_F32, MT_SHAPE(a.T, 3 * a.C));
        fill_qkv(mg_rng(run), qkv, &a, c->scores);
        a.qkv = qkv;
        mg_i64(run, "T", a.T);
        mg_i64(run, "C", a.C);
        mg_i64(run, "H", a.H);
        for (int64_t i = 0; i < mg_attention_places(&a); i++) {
            double lse[2];
            mg_oracle_attention(out.v + mg_attention_row(&a, i), out.e + mg_attention_row(&a, i), lse, &a, i);
        }
        if (!mg_call_and_judge(run, &out, 1))
            return;
    }
}

/* ---- races ------------------------------------------------------------------------------------------ */

/* One sample, a third of the smallest GPT-2 wide. All numbers of a reply must be finite, and those of WATCHED places
 * right. They are drawn after the reply, one from each of as many intervals. A place that was left out to save time is
 * found soon: a race looks at some thousands. */
enum { RACE_C = 256, RACE_H = 4, WATCHED = 64 };

static mg_attention racing; /* the call described last; the checker races one pair at a time */

static int64_t watch(mg_run *run, int64_t k)
{
    int64_t stretch = mg_attention_places(&racing) / WATCHED;
    return k * stretch + mt_rng_below(mg_rng(run), stretch);
}

/* Elements without an expected value have no bound: any finite number. */
static bool expect_watched(mg_run *run, mg_answer answer, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        answer.e[i] = answer.e[i] > 0 ? answer.e[i] : INFINITY;
    bool good = mg_expect(run, answer.name, answer.v, answer.e);
    mg_answer_drop(&answer);
    return good;
}

static void start_race(const attention_race *c)
{
    free(racing.spread);
    racing = (mg_attention){ .B = 1, .T = c->T, .C = RACE_C, .H = RACE_H };
}

static void describe_forward(mg_run *run, const void *one_case, const char *function)
{
    const attention_race *c = one_case;
    start_race(c);
    mg_begin(run, function);
    mg_out(run, "out", MT_F32, MT_SHAPE(1, racing.T, RACE_C));
    mg_out(run, "saved", MT_F32, saved_shape(&racing, c->tiled));
    racing.bf16 = c->bf16;
    float *qkv = c->bf16 ? mg_attention_floats(&racing) : mg_in(run, "qkv", MT_F32, MT_SHAPE(1, racing.T, 3 * RACE_C));
    mg_fill(mg_rng(run), qkv, racing.T * 3 * RACE_C, (mg_dist)NORMAL(0, 1));
    if (c->bf16)
        mg_attention_rounded(run, qkv, &racing);
    racing.qkv = qkv;
    mg_08_send_shape(run, &racing);
}

static bool verify_forward(mg_run *run, const void *one_case)
{
    const attention_race *c = one_case;
    int64_t n = racing.T * RACE_C, places = mg_attention_places(&racing) * (c->tiled ? 1 : racing.T);
    mg_answer answer[] = { { "out", mg_doubles(n), mg_doubles(n), n },
                           { "saved", mg_doubles(places), mg_doubles(places), places } };
    for (int64_t k = 0; k < WATCHED; k++)
        expect_place(answer, &racing, c->tiled, watch(run, k));
    bool good = expect_watched(run, answer[0], n);
    return expect_watched(run, answer[1], places) && good;
}

static void describe_backward(mg_run *run, const void *one_case, const char *function)
{
    const attention_race *c = one_case;
    start_race(c);
    mg_begin(run, function);
    mg_inout(run, "dqkv", MT_F32, MT_SHAPE(1, racing.T, 3 * RACE_C));
    send_saved(run, &racing, MG_SCORES_ANY, c->tiled, false);
}

static bool verify_backward(mg_run *run, const void *one_case)
{
    int64_t n = racing.T * 3 * RACE_C;
    mg_answer dqkv = { "dqkv", mg_doubles(n), mg_doubles(n), n };
    (void)one_case;
    for (int64_t k = 0; k < WATCHED; k++)
        mg_oracle_attention_add(dqkv.v, dqkv.e, &racing, watch(run, k));
    return expect_watched(run, dqkv, n);
}

void mg_08_attention_race(mg_run *run, const void *one_case)
{
    const attention_race *c = one_case;
    const char *function = mg_08_function(c->tiled, c->packed, c->bf16, false, c->backward);
    mg_race race = { c->bar, function, function, "the reference", 1, describe_forward, verify_forward };
    if (c->backward)
        race.describe = describe_backward, race.verify = verify_backward;
    mg_perf(run, &race, one_case);
}
