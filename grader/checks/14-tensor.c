/* 14-tensor.c -- how the checks of steps 14.2 to 14.4 run: values, gradients and collectives of tensor-parallel ranks,
 * in integers (14-integers.h). A whole layer: 14-layer.c. Rows: 14-model-parallel.c. */
#include "checks/14-mlp.h"
#include "checks/14-model-parallel.h"
#include "checks/worlds.h"
#include "rows/traffic.h"
#include "worker/tensor.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base.h"

enum { LATENCY = 1000, BYTE_TIME = 2, WORDS = 160, ALL_REDUCE = 0, REDUCE_SCATTER, ALL_GATHER };

/* ---- collectives ------------------------------------------------------------------------------------------- */

void mg_14_ranks(mg_run *run, int64_t ranks)
{
    mg_out(run, "results", MT_I64, MT_SHAPE(ranks, MG_TP_RESULTS));
    mg_inout(run, "rows", MT_I64, MT_SHAPE(ranks, MG_HUB_ROWS, MG_HUB_COLUMNS));
}

void mg_14_numbers(mg_run *run, int64_t fails, const int64_t *more, int64_t count)
{
    int64_t *numbers = mg_in(run, "numbers", MT_I64, MT_SHAPE(MG_HUB_NUMBERS + count));
    numbers[MG_HUB_LATENCY] = LATENCY, numbers[MG_HUB_BYTE_TIME] = BYTE_TIME, numbers[MG_HUB_FAILS] = fails;
    if (count > 0)
        memcpy(numbers + MG_HUB_NUMBERS, more, (size_t)count * sizeof *more);
}

bool mg_14_call(mg_run *run, int64_t ranks, bool searched)
{
    return searched && ranks == 1 ? mg_shared_call(run) : mg_ranks_call(run, searched && ranks == RANKS);
}

/* What rank r did, in the same terms. */
static tensor_calls done_by(mg_run *run, int64_t r)
{
    const int64_t *result = (const int64_t *)mg_result(run, "results") + r * MG_TP_RESULTS;
    const int64_t(*row)[MG_HUB_COLUMNS] = (const int64_t(*)[MG_HUB_COLUMNS])mg_result(run, "rows") + r * MG_HUB_ROWS;
    tensor_calls did = { .forward = result[MG_TP_FORWARD], .calls = result[MG_TP_CALLS] };
    for (int64_t k = 0; k < mt_min(did.calls, MG_HUB_ROWS); k++) {
        if (row[k][MG_HUB_KIND] == ALL_REDUCE && row[k][MG_HUB_DTYPE] == MT_F32)
            *(row[k][MG_HUB_OP] == 0 ? &did.sums : &did.maxima) += row[k][MG_HUB_N];
        else if (row[k][MG_HUB_KIND] == REDUCE_SCATTER && row[k][MG_HUB_DTYPE] == MT_F32 && row[k][MG_HUB_OP] == 0)
            did.scattered += row[k][MG_HUB_N];
        else /* of an all-gather; of what nobody asked for, more than there should be */
            did.gathered += row[k][MG_HUB_KIND] == ALL_GATHER
                                ? row[k][MG_HUB_N] * mt_dtype_size((mt_dtype)row[k][MG_HUB_DTYPE])
                                : 1 << 20;
    }
    return did;
}

bool mg_14_judge_calls(mg_run *run, int64_t ranks, const tensor_calls *want)
{
    const int64_t *result = mg_result(run, "results");
    for (int64_t r = 0; r < ranks; r++, result += MG_TP_RESULTS) {
        if (result[MG_TP_STATUS] != MT_OK) {
            mg_hint(run, "all ranks must call the same collectives in the same order");
            return mg_fail(run,
                           "rank %" PRId64 " of %" PRId64 ": status %" PRId64
                           ": another rank has called another collective, or none",
                           r, ranks, result[MG_TP_STATUS]);
        }
        if (ranks == 1) /* one alone needs none */
            continue;
        tensor_calls did = done_by(run, r);
        bool is_right = want->at_most ? did.calls <= want->calls && did.forward <= want->forward
                                      : did.calls == want->calls && did.forward == want->forward;
        if (!is_right || did.sums != want->sums || did.maxima != want->maxima || did.gathered != want->gathered ||
            did.scattered != want->scattered)
            return mg_fail(run,
                           "rank %" PRId64 " of %" PRId64 ": %" PRId64 " collectives in forward, %" PRId64
                           " in all, sums of %" PRId64 " numbers, maxima of %" PRId64 ", %" PRId64
                           " bytes gathered, %" PRId64 " numbers of a reduce-scatter; expected %s%" PRId64 ", %" PRId64
                           ", %" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64,
                           r, ranks, did.forward, did.calls, did.sums, did.maxima, did.gathered, did.scattered,
                           want->at_most ? "at most " : "", want->forward, want->calls, want->sums, want->maxima,
                           want->gathered, want->scattered);
        int64_t time = did.calls * LATENCY + BYTE_TIME * (4 * (did.sums + did.maxima + did.scattered) + did.gathered);
        if (llabs(result[MG_TP_ENDED] - time) > 4)
            return mg_fail(run, "rank %" PRId64 " of %" PRId64 ": it ends after %" PRId64 " ns, expected %" PRId64, r,
                           ranks, result[MG_TP_ENDED], time);
    }
    return true;
}

bool mg_14_judge_failure(mg_run *run, int64_t ranks, int64_t fails)
{
    const int64_t *result = mg_result(run, "results");
    for (int64_t r = 0; r < ranks; r++, result += MG_TP_RESULTS)
        if (result[MG_TP_STATUS] != MT_ERR_UNAVAILABLE || result[MG_TP_CALLS] != fails + 1)
            return mg_fail(run,
                           "collective %" PRId64 " failed: rank %" PRId64 " of %" PRId64 " has status %" PRId64
                           " and has called %" PRId64 " collectives",
                           fails, r, ranks, result[MG_TP_STATUS], result[MG_TP_CALLS]);
    return true;
}

/* ---- 14.2 copy and reduce ----------------------------------------------------------------------------------- */

enum { MOST = 40, MANY = 1300 }; /* elements */

static bool pair_once(mg_run *run, tensor_about about, int64_t ranks, int64_t kind, bool many)
{
    int64_t n = many ? mg_pick(mg_rng(run), MANY - 9, MANY) : mg_pick(mg_rng(run), 1, MOST),
            fails = about == TENSOR_FAILS ? mg_pick(mg_rng(run), 0, kind == MG_TP_TWICE ? 2 : 0) : -1;
    double out[RANKS * MANY], dx[RANKS * MANY], dout[RANKS * MANY], sum[MANY] = { 0 }, dsum[MANY] = { 0 };
    int64_t copies = kind == MG_TP_COPY ? 1 : kind == MG_TP_REDUCE ? 0 : 2, reduces = kind != MG_TP_COPY;
    mg_begin(run, "mt_tp_copy, mt_tp_reduce");
    mg_as_called(run, "%s on %" PRId64 " ranks: %" PRId64 " elements, and its backward",
                 kind == MG_TP_COPY ? "mt_tp_copy(tp, x)"
                 : kind == MG_TP_REDUCE
                     ? "mt_tp_reduce(tp, x)"
                     : "mt_tp_reduce(tp, x) + mt_tp_reduce(tp, mt_tp_copy(tp, x) + mt_tp_copy(tp, x))",
                 ranks, n);
    mg_14_ranks(run, ranks);
    mg_out(run, "out", MT_F32, MT_SHAPE(ranks, n));
    mg_out(run, "dx", MT_F32, MT_SHAPE(ranks, n));
    float *lent = mg_inout(run, "dout", MT_F32, MT_SHAPE(ranks, n));
    mg_14_numbers(run, fails, NULL, 0);
    const float *x = input(run, "x", MT_SHAPE(ranks, n), 9);
    integers(run, lent, ranks * n, 9);
    mg_i64(run, "kind", kind);
    for (int64_t i = 0; i < ranks * n; i++) {
        dout[i] = (double)lent[kind == MG_TP_COPY ? i : i % n]; /* the gradient of a sum is the same on all ranks */
        lent[i] = (float)dout[i];
        sum[i % n] += (double)x[i], dsum[i % n] += dout[i];
    }
    for (int64_t i = 0; i < ranks * n; i++) {
        out[i] = kind == MG_TP_COPY ? (double)x[i] : (double)(copies + reduces) * sum[i % n];
        dx[i] = (double)copies * dsum[i % n] + (double)reduces * dout[i];
    }
    if (!mg_14_call(run, ranks, about == (tensor_about)kind))
        return false;
    if (fails >= 0)
        return mg_14_judge_failure(run, ranks, fails);
    int64_t forward = kind == MG_TP_TWICE ? 2 : reduces;
    tensor_calls want = { forward, forward + copies, (forward + copies) * n, 0, 0, false };
    if (about == TENSOR_CALLS)
        return mg_14_judge_calls(run, ranks, &want);
    return mg_expect(run, "out", out, NULL) && mg_expect(run, "dx", dx, NULL) && mg_expect(run, "dout", dout, NULL);
}

void mg_14_pair(mg_run *run, const void *one_case)
{
    tensor_about about = ((const tensor_case *)one_case)->about;
    static const mg_idea tries[] = { { NULL }, { "many elements", "there may be any number of elements", true } };
    for (mg_ideas t = { 0 }; MG_NEXT(run, &t, tries, 0);)
        for (int64_t ranks = t.is ? 3 : about == TENSOR_FAILS ? 2 : 1; ranks <= (t.is ? 3 : RANKS); ranks++)
            for (int64_t kind = MG_TP_COPY; kind <= MG_TP_TWICE; kind++)
                if ((about == TENSOR_CALLS || about == TENSOR_FAILS || about == (tensor_about)kind) &&
                    !pair_once(run, about, ranks, kind, t.is))
                    return;
}

/* ---- 14.3 products ------------------------------------------------------------------------------------------ */

static bool products_once(mg_run *run, tensor_about about, int64_t ranks)
{
    mt_rng *rng = mg_rng(run);
    mlp m = { .ranks = ranks,
              .n = mg_pick(rng, 1, ROWS_),
              .I = mg_pick(rng, 1, WIDE),
              .F = mg_pick(rng, 1, WIDE),
              .O = mg_pick(rng, 1, WIDE) };
    bool has_bias = about != TENSOR_NO_BIAS;
    mt_shape w1 = MT_SHAPE(ranks, m.I, m.F), b1 = MT_SHAPE(ranks, m.F), w2 = MT_SHAPE(ranks, m.F, m.O);
    mg_begin(run, "mt_tp_column_linear, mt_tp_row_linear");
    mg_as_called(run,
                 "mt_tp_row_linear(tp, mt_relu(mt_tp_column_linear(tp, x, w1, b1)), w2, b2) on %" PRId64
                 " ranks, and its backward",
                 ranks);
    mg_14_ranks(run, ranks);
    mg_out(run, "y", MT_F32, MT_SHAPE(ranks, m.n, m.O));
    mg_out(run, "dx", MT_F32, MT_SHAPE(ranks, m.n, m.I));
    mg_out(run, "dw1", MT_F32, w1);
    has_bias ? mg_out(run, "db1", MT_F32, b1) : mg_null(run, "db1");
    mg_out(run, "dw2", MT_F32, w2);
    has_bias ? mg_out(run, "db2", MT_F32, MT_SHAPE(ranks, m.O)) : mg_null(run, "db2");
    mg_14_numbers(run, -1, NULL, 0);
    lift(m.x, input(run, "x", MT_SHAPE(m.n, m.I), 3), m.n * m.I);
    lift(m.w1, input(run, "w1", w1, 3), mt_shape_numel(w1));
    if (has_bias)
        lift(m.b1, input(run, "b1", b1, 3), mt_shape_numel(b1));
    else
        mg_null(run, "b1");
    lift(m.w2, input(run, "w2", w2, 3), mt_shape_numel(w2));
    if (has_bias)
        lift(m.b2, input(run, "b2", MT_SHAPE(m.O), 3), m.O);
    else
        mg_null(run, "b2");
    lift(m.dy, input(run, "dy", MT_SHAPE(m.n, m.O), 3), m.n * m.O);
    mg_i64(run, "N", m.n);
    if (!mg_14_call(run, ranks, about != TENSOR_CALLS))
        return false;
    if (about == TENSOR_CALLS)
        return mg_14_judge_calls(run, ranks, &(tensor_calls){ 1, 2, m.n * (m.O + m.I), 0, 0, false });
    compute_mlp(&m);
    return expect_alike(run, "y", m.y, ranks, m.n * m.O) && expect_alike(run, "dx", m.dx, ranks, m.n * m.I) &&
           mg_expect(run, "dw1", m.dw1, NULL) && mg_expect(run, "dw2", m.dw2, NULL) &&
           (!has_bias || (mg_expect(run, "db1", m.db1, NULL) && expect_alike(run, "db2", m.db2, ranks, m.O)));
}

void mg_14_products(mg_run *run, const void *one_case)
{
    for (int64_t ranks = 1; ranks <= RANKS; ranks++)
        if (!products_once(run, ((const tensor_case *)one_case)->about, ranks))
            return;
}

/* ---- 14.4 parts ---------------------------------------------------------------------------------------------- */

/* Where element i of the part of rank r of size is in the whole. */
static int64_t place_of(const int64_t layout[MG_TP_LAYOUT], int64_t i, int64_t r, int64_t size)
{
    int64_t width = layout[2], part = width / size;
    return i / part * width + r * part + i % part;
}

static bool shard_once(mg_run *run, const int64_t layout[MG_TP_LAYOUT], int64_t size, int64_t rank)
{
    int64_t n = layout[0] * layout[1] * layout[2];
    double *want = malloc((size_t)n * sizeof *want);
    MT_CHECK(want, "out of memory");
    mg_begin(run, "mt_tp_shard");
    mg_out(run, "status", MT_I64, MT_SHAPE(1));
    mg_out(run, "out", MT_F32, MT_SHAPE(n / size));
    mg_inout(run, "words", MT_U8, MT_SHAPE(WORDS));
    float *all = mg_in(run, "all", MT_F32, MT_SHAPE(n));
    mg_fill(mg_rng(run), all, n, (mg_dist)NORMAL(0, 1));
    memcpy(mg_in(run, "rows, groups, width, unit", MT_I64, MT_SHAPE(MG_TP_LAYOUT)), layout,
           MG_TP_LAYOUT * sizeof *layout);
    mg_i64(run, "size", size);
    mg_i64(run, "rank", rank);
    for (int64_t i = 0; i < n / size; i++)
        want[i] = (double)all[place_of(layout, i, rank, size)];
    bool good = mg_call(run) && mg_expect(run, "out", want, NULL);
    if (good && *(const int64_t *)mg_result(run, "status") != MT_OK) {
        good = false;
        mg_fail(run, "status %" PRId64, *(const int64_t *)mg_result(run, "status"));
    }
    free(want);
    return good;
}

/* Whether words have a number, not as a part of a longer one. */
static bool has_number(const char *words, int64_t number)
{
    char digits[24];
    size_t length = (size_t)snprintf(digits, sizeof digits, "%" PRId64, number);
    for (const char *at = words; (at = strstr(at, digits)); at++)
        if ((at == words || !isdigit((unsigned char)at[-1])) && !isdigit((unsigned char)at[length]))
            return true;
    return false;
}

/* What is divided, in elements or in units, and by what; a unit of one element need not be named. */
static bool has_numbers(const char *words, const int64_t layout[MG_TP_LAYOUT], int64_t size)
{
    int64_t width = layout[2], unit = layout[3];
    return (has_number(words, width) || has_number(words, width / unit)) &&
           (has_number(words, unit * size) || (has_number(words, size) && (unit == 1 || has_number(words, unit))));
}

/* Refused with the numbers, in any words, and out is not written. */
static bool shard_refused(mg_run *run, const int64_t layout[MG_TP_LAYOUT], int64_t size)
{
    double want[MOST];
    char said[WORDS] = { 0 };
    mg_begin(run, "mt_tp_shard");
    mg_out(run, "status", MT_I64, MT_SHAPE(1));
    float *out = mg_inout(run, "out", MT_F32, MT_SHAPE(MOST));
    mg_inout(run, "words", MT_U8, MT_SHAPE(WORDS));
    integers(run, out, MOST, 9);
    lift(want, out, MOST);
    input(run, "all", MT_SHAPE(layout[0] * layout[1] * layout[2]), 9);
    memcpy(mg_in(run, "rows, groups, width, unit", MT_I64, MT_SHAPE(MG_TP_LAYOUT)), layout,
           MG_TP_LAYOUT * sizeof *layout);
    mg_i64(run, "size", size);
    mg_i64(run, "rank", size - 1);
    if (!mg_call(run) || !mg_expect(run, "out", want, NULL))
        return false;
    memcpy(said, mg_result(run, "words"), WORDS - 1);
    if (*(const int64_t *)mg_result(run, "status") == MT_ERR_ARGUMENT && has_numbers(said, layout, size))
        return true;
    return mg_fail(run,
                   "status %" PRId64 ", expected %d; message \"%s\", expected with the numbers: a width of %" PRId64
                   ", units of %" PRId64 ", %" PRId64 " ranks",
                   *(const int64_t *)mg_result(run, "status"), MT_ERR_ARGUMENT, said, layout[2], layout[3], size);
}

void mg_14_shard(mg_run *run, const void *one_case)
{
    tensor_about about = ((const tensor_case *)one_case)->about;
    mt_rng *rng = mg_rng(run);
    if (about == TENSOR_REFUSED) {
        (void)(shard_refused(run, (int64_t[]){ 1, 3, 12, 2 }, 4) && shard_refused(run, (int64_t[]){ 2, 1, 5, 1 }, 2) &&
               shard_refused(run, (int64_t[]){ 1, 1, 12, 4 }, 2) && shard_refused(run, (int64_t[]){ 1, 1, 10, 4 }, 2) &&
               shard_refused(run, (int64_t[]){ 2, 1, 12, 4 }, 2));
        return;
    }
    for (int64_t size = 1; size <= RANKS; size++)
        for (int64_t rank = 0; rank < size; rank++) {
            int64_t unit = mg_pick(rng, 1, 4), width = unit * size * mg_pick(rng, 1, 3), rows = mg_pick(rng, 2, 7);
            const int64_t layout[][MG_TP_LAYOUT] = { [TENSOR_COLUMNS] = { rows, 1, width, 1 },
                                                     [TENSOR_ROWS] = { 1, 1, width * rows, unit * rows },
                                                     [TENSOR_HEADS] = { rows, 3, width, unit } };
            if (!shard_once(run, layout[about], size, rank))
                return;
        }
    mg_part(run, "long parts", "there may be any number of elements");
    int64_t part = mg_long_parts(rng, 1, MT_F32, 64 << 10); /* of two ranks, with two heads each */
    const int64_t longer[][MG_TP_LAYOUT] = { [TENSOR_COLUMNS] = { 2, 1, 4 * part, 1 },
                                             [TENSOR_ROWS] = { 1, 1, 4 * part, part },
                                             [TENSOR_HEADS] = { 1, 3, 4 * part, part } };
    shard_once(run, longer[about], 2, mg_pick(rng, 0, 1));
}
