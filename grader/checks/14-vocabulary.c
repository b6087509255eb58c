/* 14-vocabulary.c -- how the checks of steps 14.5 and 14.12 run: token tables and losses of tensor-parallel
 * ranks. Rows: 14-model-parallel.c. Expected values and bounds: oracle.h. */
#include "checks/14-integers.h"
#include "checks/14-model-parallel.h"
#include "checks/oracle.h"
#include "checks/worlds.h"
#include "rows/traffic.h"
#include "worker/tensor.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "core/base.h"

enum { CALLS = 60, TOKENS = 17, MANY = 1100, CLASSES = 67, WIDTH = 9, WIDE = 1100, LARGE = 70002 };

/* ---- 14.5 ranges ----------------------------------------------------------------------------------------- */

void mg_14_range(mg_run *run, const void *one_case)
{
    static const char *const outs[] = { "begin", "end", "all" }, *const ins[] = { "rows", "size", "rank" };
    static const mg_idea tries[] = { { .is = 20 }, { "many rows", "rows are int64_t", INT64_C(1) << 40 } };
    (void)one_case;
    for (mg_ideas t = { 0 }; MG_NEXT(run, &t, tries, 0);) {
        double want[3][CALLS];
        int64_t *in[3];
        mg_begin(run, "mt_tp_range_of");
        for (int a = 0; a < 3; a++)
            mg_out(run, outs[a], MT_I64, MT_SHAPE(CALLS));
        for (int a = 0; a < 3; a++)
            in[a] = mg_in(run, ins[a], MT_I64, MT_SHAPE(CALLS));
        for (int i = 0; i < CALLS; i++) {
            int64_t n = mg_pick(mg_rng(run), 0, t.is), begin = 0, size = mg_pick(mg_rng(run), 1, t.is > 20 ? 99 : 9);
            int64_t rank = mg_pick(mg_rng(run), 0, size - 1), end;
            for (int64_t r = 0; r < rank; r++)
                begin += n / size + (r < n % size);
            end = begin + n / size + (rank < n % size);
            in[0][i] = n, in[1][i] = size, in[2][i] = rank;
            want[0][i] = (double)begin, want[1][i] = (double)end, want[2][i] = (double)n;
        }
        bool good = mg_call(run);
        for (int a = 0; a < 3 && good; a++)
            good = mg_expect(run, outs[a], want[a], NULL);
    }
}

/* Rows of each rank, given in any contiguous division: at [ranks + 1]. */
static const int64_t *divide(mg_run *run, vocabulary_about about, int64_t rows, int64_t ranks)
{
    int64_t *at = mg_in(run, "at", MT_I64, MT_SHAPE(ranks + 1));
    for (int64_t r = 1; r <= ranks; r++)
        at[r] = about == VOCABULARY_UNEVEN ? mg_pick(mg_rng(run), at[r - 1], rows) : rows * r / ranks;
    at[ranks] = rows;
    return at;
}

/* Rows of a table: as many on each rank, or any number, once fewer than ranks. */
static int64_t rows_for(mt_rng *rng, vocabulary_about about, int64_t ranks)
{
    if (about == VOCABULARY_UNEVEN)
        return mg_pick(rng, 1, ranks == RANKS ? RANKS - 1 : 23);
    return ranks * mg_pick(rng, 2, 16);
}

/* What is special in a call: many tokens, many classes, more than 16 bits of tokens and rows, wide rows, a NaN. */
enum { ANY, MANY_TOKENS, MANY_CLASSES, MANY_ROWS, WIDE_ROWS, BROKEN };

/* Number of tokens. The threads of a single rank are searched for races: there are enough tokens that every thread has
 * ids that other threads have, too. */
static int64_t tokens_for(mt_rng *rng, vocabulary_about about, int64_t ranks, int64_t is)
{
    if (is == MANY_TOKENS || is == MANY_ROWS)
        return is == MANY_TOKENS ? MANY : LARGE;
    if (about == VOCABULARY_EVEN && ranks == 1)
        return mg_pick(rng, 80, 99);
    return mg_pick(rng, about == VOCABULARY_FAR ? 8 : 1, TOKENS);
}

/* The collective that fails, another one with each number of ranks. */
static int64_t failing(vocabulary_about about, int64_t calls, int64_t ranks)
{
    return about == VOCABULARY_FAILS ? ranks % calls : -1;
}

/* ---- 14.5 embedding -------------------------------------------------------------------------------------- */

static bool embedding_once(mg_run *run, vocabulary_about about, int64_t ranks, int64_t is)
{
    mt_rng *rng = mg_rng(run);
    bool large = is == MANY_ROWS, wide = is == WIDE_ROWS;
    int64_t rows = large ? LARGE : rows_for(rng, about, ranks), n = tokens_for(rng, about, ranks, is),
            C = large ? 1 : mg_pick(rng, wide ? 1025 : 1, wide ? WIDE : WIDTH), fails = failing(about, 1, ranks);
    static double out[LARGE], dw[LARGE];
    mg_begin(run, "mt_tp_embedding");
    mg_as_called(run,
                 "mt_tp_embedding(tp, w, ids, range) on %" PRId64 " ranks: %" PRId64 " ids, %" PRId64
                 " rows of %" PRId64 " elements, and its backward",
                 ranks, n, rows, C);
    mg_14_ranks(run, ranks);
    mg_out(run, "out", MT_F32, MT_SHAPE(ranks, n, C));
    mg_out(run, "dw", MT_F32, MT_SHAPE(rows, C));
    mg_14_numbers(run, fails, NULL, 0);
    const float *w = input(run, "w", MT_SHAPE(rows, C), 1 << 20);
    int32_t *id = mg_in(run, "ids", MT_I32, MT_SHAPE(n));
    mg_fill_labels(rng, id, n, rows);
    const float *dout = input(run, "dout", MT_SHAPE(n, C), n == MANY ? 9 : 99); /* sums below 2^14, + 2^-10 */
    const int64_t *at = divide(run, about, rows, ranks);
    if (ranks > 1) /* one is the first row of a later rank */
        id[mg_pick(rng, 0, n - 1)] = (int32_t)mt_min(at[mg_pick(rng, 1, ranks - 1)], rows - 1);
    id[0] = large ? LARGE - 1 : id[0];
    for (int64_t i = 0; i < rows * C; i++)
        dw[i] = (double)MG_TP_MORE;
    for (int64_t i = 0; i < n * C; i++) {
        out[i] = (double)w[id[i / C] * C + i % C];
        dw[id[i / C] * C + i % C] += (double)dout[i];
    }
    if (!mg_14_call(run, ranks, about == VOCABULARY_EVEN))
        return false;
    if (about == VOCABULARY_FAILS)
        return mg_14_judge_failure(run, ranks, fails);
    if (about == VOCABULARY_CALLS)
        return mg_14_judge_calls(run, ranks, &(tensor_calls){ 1, 1, n * C, 0, 0, false });
    return expect_alike(run, "out", out, ranks, n * C) && mg_expect(run, "dw", dw, NULL);
}

void mg_14_embedding(mg_run *run, const void *one_case)
{
    vocabulary_about about = ((const vocabulary_case *)one_case)->about;
    bool good = true;
    for (int64_t ranks = about == VOCABULARY_FAILS ? 2 : 1; ranks <= RANKS && good; ranks++)
        good = embedding_once(run, about, ranks, ANY);
    static const mg_idea more[] = {
        { "many tokens", "there may be any number of tokens", MANY_TOKENS, 1 << VOCABULARY_EVEN },
        { "70,002 tokens and rows", "numbers of tokens and rows are int64_t", MANY_ROWS, 1 << VOCABULARY_EVEN },
        { "wide rows", "a row may have any number of elements", WIDE_ROWS, 1 << VOCABULARY_UNEVEN },
    };
    for (mg_ideas t = { 0 }; MG_NEXT(run, &t, more, about);)
        embedding_once(run, about, t.is == MANY_ROWS ? 2 : 3, t.is);
}

/* ---- 14.12 cross-entropy --------------------------------------------------------------------------------- */

/* The mean loss of n rows of logits x, ex [n,V], and the gradient of factor times it: dx, dx_e [n,V]. */
static void mean_loss(double loss[2], double *dx, double *dx_e, const double *x, const double *ex,
                      const int32_t *target, double factor, int64_t n, int64_t V)
{
    static double row[LARGE], row_e[LARGE], share[LARGE];
    double *p = mg_doubles(n * V), *p_e = mg_doubles(n * V);
    mg_oracle_cross_entropy(row, row_e, x, ex, target, n, V);
    mg_oracle_softmax(p, p_e, x, ex, n, V);
    loss[0] = loss[1] = 0;
    for (int64_t i = 0; i < n; i++) { /* a sum of n terms, the division */
        loss[0] += row[i] / (double)n;
        loss[1] += (row_e[i] + (double)(n + 1) * MG_U * fabs(row[i])) / (double)n;
        share[i] = factor / (double)n;
    }
    mg_oracle_cross_entropy_add(dx, dx_e, share, p, p_e, target, n, V);
    for (int64_t i = 0; i < n * V; i++) /* the share is rounded, too */
        dx_e[i] += 2 * MG_U * fabs(dx[i]);
    free(p);
    free(p_e);
}

/* For both functions: the results that are the same on all ranks. */
static bool expect_loss(mg_run *run, const double loss[2], int64_t ranks)
{
    const float *got = mg_result(run, "loss");
    for (int64_t r = 0; r < ranks; r++)
        if (!(fabs((double)got[r] - loss[0]) <= loss[1]) || memcmp(&got[r], &got[0], sizeof *got) != 0)
            return mg_fail(
                run, "%" PRId64 " ranks: the loss is %.9g on rank %" PRId64 ", %.9g on rank 0, expected %.9g +- %.2g",
                ranks, (double)got[r], r, (double)got[0], loss[0], loss[1]);
    return true;
}

/* Columns begin .. end - 1, all of one rank: in some rows beyond exp's range or far below; in others only one of them,
 * the first, the last or any. */
static void spread(mt_rng *rng, float *logits, int64_t n, int64_t V, int64_t begin, int64_t end)
{
    for (int64_t i = 0; i < n; i++) {
        const int64_t one[] = { begin, end - 1, mg_pick(rng, begin, end - 1) };
        float by = (float)mg_pick(rng, -2, 2) * 100;
        if (i % 2)
            logits[i * V + one[mg_pick(rng, 0, 2)]] += fabsf(by);
        for (int64_t c = begin; c < end && i % 2 == 0; c++)
            logits[i * V + c] += by;
    }
}

/* Each fourth row is far below 0 on all ranks, to where numbers of some size differ no more. */
static void sink(mt_rng *rng, float *logits, int64_t n, int64_t V)
{
    for (int64_t i = 0; i < n; i += 4) {
        float by = mg_pick(rng, 0, 1) ? -1e5f : -1e10f;
        for (int64_t c = 0; c < V; c++)
            logits[i * V + c] += by;
    }
}

/* A logit is NaN: so is the mean loss, on all ranks. */
static bool expect_nan(mg_run *run, int64_t ranks)
{
    const float *got = mg_result(run, "loss");
    for (int64_t r = 0; r < ranks; r++)
        if (!isnan(got[r]))
            return mg_fail(run,
                           "%" PRId64 " ranks, one logit is NaN: the loss is %.9g on rank %" PRId64 ", expected NaN",
                           ranks, (double)got[r], r);
    return true;
}

static bool entropy_once(mg_run *run, vocabulary_about about, int64_t ranks, int64_t is)
{
    mt_rng *rng = mg_rng(run);
    bool broken = is == BROKEN;
    int64_t V = is == MANY_CLASSES ? 2 * MANY
                : is == MANY_ROWS  ? 3
                                   : rows_for(rng, about, ranks),
            n = tokens_for(rng, about, ranks, is), fails = failing(about, 2, ranks);
    double loss[2], *dx = mg_doubles(n * V), *dx_e = mg_doubles(n * V);
    mg_begin(run, "mt_tp_cross_entropy");
    mg_as_called(run,
                 "mt_tp_cross_entropy(tp, logits, target, range) on %" PRId64 " ranks: %" PRId64 " rows, %" PRId64
                 " classes, and its backward",
                 ranks, n, V);
    mg_14_ranks(run, ranks);
    mg_out(run, "loss", MT_F32, MT_SHAPE(ranks));
    mg_out(run, "dlogits", MT_F32, MT_SHAPE(n, V));
    mg_14_numbers(run, fails, NULL, 0);
    float *logits = mg_in(run, "logits", MT_F32, MT_SHAPE(n, V)), *dloss;
    mg_fill(rng, logits, n * V, (mg_dist)NORMAL(0, 3));
    int32_t *target = mg_in(run, "target", MT_I32, MT_SHAPE(n));
    mg_fill_labels(rng, target, n, V);
    dloss = mg_in(run, "dloss", MT_F32, MT_SHAPE(1));
    *dloss = 0.5f + mt_rng_uniform(rng);
    const int64_t *at = divide(run, about, V, ranks);
    for (int64_t r = 0; r < ranks && about == VOCABULARY_FAR; r++)
        spread(rng, logits, n, V, at[r], at[r + 1]);
    if (about == VOCABULARY_FAR || about == VOCABULARY_UNEVEN)
        sink(rng, logits, n, V);
    double *x = mg_lift(logits, n * V);
    mean_loss(loss, dx, dx_e, x, NULL, target, (double)*dloss, n, V);
    for (int64_t i = 0; i < n * V; i++) { /* a product and a sum */
        dx[i] += (double)*dloss * (double)MG_TP_MORE;
        dx_e[i] += MG_U * ((double)*dloss * (double)MG_TP_MORE + fabs(dx[i]));
    }
    if (broken)
        logits[mg_pick(rng, 0, n * V - 1)] = NAN;
    bool good = mg_14_call(run, ranks, about == VOCABULARY_EVEN && !broken);
    if (good && broken)
        good = expect_nan(run, ranks);
    else if (good && about == VOCABULARY_FAILS)
        good = mg_14_judge_failure(run, ranks, fails);
    else if (good && about == VOCABULARY_CALLS)
        good = mg_14_judge_calls(run, ranks, &(tensor_calls){ 3, 3, 2 * n, n, 0, true });
    else if (good)
        good = expect_loss(run, loss, ranks) && mg_expect(run, "dlogits", dx, dx_e);
    free(x);
    free(dx);
    free(dx_e);
    return good;
}

void mg_14_cross_entropy(mg_run *run, const void *one_case)
{
    vocabulary_about about = ((const vocabulary_case *)one_case)->about;
    bool good = true;
    for (int64_t ranks = about == VOCABULARY_FAILS ? 2 : 1; ranks <= RANKS && good; ranks++)
        good = entropy_once(run, about, ranks, ANY);
    static const mg_idea more[] = {
        { "many classes", "there may be any number of classes", MANY_CLASSES, 1 << VOCABULARY_EVEN },
        { "many tokens", "there may be any number of tokens", MANY_TOKENS, 1 << VOCABULARY_EVEN },
        { "70,002 tokens", "numbers of tokens are int64_t", MANY_ROWS, 1 << VOCABULARY_EVEN },
        { "a NaN", "a NaN among the logits makes the loss NaN on all ranks: fmax hides it", BROKEN,
          1 << VOCABULARY_EVEN, RANKS },
    };
    for (mg_ideas t = { 0 }; MG_NEXT(run, &t, more, about);)
        entropy_once(run, about, t.is == BROKEN ? 1 + t.made : t.is == MANY_CLASSES ? 2 : 3, t.is);
}

/* ---- 14.12 the classifier -------------------------------------------------------------------------------- */

typedef struct head {
    int64_t rows, V, n, C; /* rows of the table, of which V are classes */
    double *x, *wt;        /* wt [C,V] */
    double loss[2], *dx, *dx_e, *dw, *dw_e;
} head;

static void compute_head(head *h, const float *w, const int32_t *target)
{
    int64_t n = h->n, C = h->C, V = h->V;
    double *logit = mg_doubles(n * V), *logit_e = mg_doubles(n * V), *d = mg_doubles(n * V), *d_e = mg_doubles(n * V),
           *dwt = mg_doubles(C * V), *dwt_e = mg_doubles(C * V);
    h->wt = mg_doubles(C * V);
    for (int64_t i = 0; i < C * V; i++)
        h->wt[i] = (double)w[i % V * C + i / V];
    mg_oracle_linear(logit, logit_e, h->x, NULL, h->wt, NULL, n, C, V);
    mean_loss(h->loss, d, d_e, logit, logit_e, target, 1, n, V);
    mg_oracle_linear_dx_add(h->dx, h->dx_e, d, d_e, h->wt, n, C, V);
    mg_oracle_linear_dw_add(dwt, dwt_e, d, d_e, h->x, NULL, n, C, V);
    for (int64_t i = 0; i < C * V; i++)
        h->dw[i % V * C + i / V] = dwt[i], h->dw_e[i % V * C + i / V] = dwt_e[i];
    double *const made[] = { logit, logit_e, d, d_e, dwt, dwt_e, h->wt };
    for (int i = 0; i < MT_COUNT(made); i++)
        free(made[i]);
}

static bool classifier_once(mg_run *run, vocabulary_about about, int64_t ranks)
{
    mt_rng *rng = mg_rng(run);
    head h = { .rows = rows_for(rng, about, ranks), .n = mg_pick(rng, 1, TOKENS), .C = mg_pick(rng, 1, WIDTH) };
    int64_t n = h.n, C = h.C, fails = failing(about, 3, ranks);
    h.V = about == VOCABULARY_PADDED ? mg_pick(rng, 1, h.rows) : h.rows;
    mg_begin(run, "mt_tp_classifier");
    mg_as_called(run,
                 "mt_tp_classifier(tp, x, w, target, range) on %" PRId64 " ranks: %" PRId64 " rows of %" PRId64
                 ", %" PRId64 " classes, and its backward",
                 ranks, n, C, h.V);
    mg_14_ranks(run, ranks);
    mg_out(run, "loss", MT_F32, MT_SHAPE(ranks));
    mg_out(run, "dx", MT_F32, MT_SHAPE(ranks, n, C));
    mg_out(run, "dw", MT_F32, MT_SHAPE(h.rows, C));
    mg_14_numbers(run, fails, NULL, 0);
    float *x = mg_in(run, "x", MT_F32, MT_SHAPE(n, C)), *w = mg_in(run, "w", MT_F32, MT_SHAPE(h.rows, C));
    mg_fill(rng, x, n * C, (mg_dist)NORMAL(0, 1));
    mg_fill(rng, w, h.rows * C, (mg_dist)NORMAL(0, 1));
    int32_t *target = mg_in(run, "target", MT_I32, MT_SHAPE(n));
    mg_fill_labels(rng, target, n, h.V);
    divide(run, about, h.rows, ranks);
    mg_i64(run, "classes", h.V);
    h.x = mg_lift(x, n * C);
    h.dx = mg_doubles(ranks * n * C), h.dx_e = mg_doubles(ranks * n * C);
    h.dw = mg_doubles(h.rows * C), h.dw_e = mg_doubles(h.rows * C);
    compute_head(&h, w, target);
    for (int64_t i = n * C; i < ranks * n * C; i++)
        h.dx[i] = h.dx[i % (n * C)], h.dx_e[i] = h.dx_e[i % (n * C)];
    bool good = mg_14_call(run, ranks, about == VOCABULARY_EVEN);
    if (good && about == VOCABULARY_FAILS)
        good = mg_14_judge_failure(run, ranks, fails);
    else if (good && about == VOCABULARY_CALLS)
        good = mg_14_judge_calls(run, ranks, &(tensor_calls){ 3, 4, 2 * n + n * C, n, 0, true });
    else if (good)
        good =
            expect_loss(run, h.loss, ranks) && mg_expect(run, "dx", h.dx, h.dx_e) && mg_expect(run, "dw", h.dw, h.dw_e);
    double *const made[] = { h.x, h.dx, h.dx_e, h.dw, h.dw_e };
    for (int i = 0; i < MT_COUNT(made); i++)
        free(made[i]);
    return good;
}

void mg_14_classifier(mg_run *run, const void *one_case)
{
    vocabulary_about about = ((const vocabulary_case *)one_case)->about;
    for (int64_t ranks = about == VOCABULARY_FAILS ? 2 : 1; ranks <= RANKS; ranks++)
        if (!classifier_once(run, about, ranks))
            return;
}
