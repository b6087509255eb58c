/* 13-compress.c -- how the checks of steps 13.14 to 13.18 run: what compression sends and keeps, and the step after
 * local training. Rows: 13-data-parallel.c. */
#include "checks/13-network.h"
#include "checks/13-training.h"
#include "checks/fill.h"
#include "rows/traffic.h"
#include "worker/hub.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base.h"

#define EPS 0x1p-24

enum { MOST = 300, RANKS = 4 };

static double v_of(const float *x, const float *error, int64_t i)
{
    return (double)x[i] + (double)error[i];
}

/* x + error, rounded once, is `sent` and what is kept. */
static bool judge_kept(mg_run *run, const char *name, double v, double sent, double kept, int64_t i)
{
    if (fabs(v - sent - kept) <= 2 * EPS * (fabs(v) + fabs(v - sent)))
        return true;
    mg_fail(run, "%s, element %" PRId64 ": x + error is %.9g, sent is %.9g; the error is %.9g, expected %.9g", name, i,
            v, sent, kept, v - sent);
    return false;
}

/* ---- one bit -------------------------------------------------------------------------------------------------- */

static void fill_zeros(float *x, float *error, int64_t n)
{
    for (int64_t i = 0; i < n; i += 3)
        x[i] = -error[i];
    for (int64_t i = 1; i < n; i += 3)
        x[i] = error[i] = -0.0f; /* is >= 0, too */
}

static int64_t message_bytes(int64_t n)
{
    return 4 + (n + 7) / 8;
}

static bool judge_message(mg_run *run, const float *x, const float *error, int64_t n)
{
    const uint8_t *message = mg_result(run, "message");
    const float *kept = mg_result(run, "error");
    float scale;
    double sum = 0;
    memcpy(&scale, message, sizeof scale);
    for (int64_t i = 0; i < n; i++)
        sum += fabs(v_of(x, error, i));
    double want = n ? sum / (double)n : 0;
    if (!(fabs((double)scale - want) <= 4 * EPS * want)) {
        mg_fail(run, "%" PRId64 " elements: scale %.9g, expected %.9g, the mean of |x + error|", n, (double)scale,
                want);
        return false;
    }
    for (int64_t i = 0; i < n; i++) {
        double v = v_of(x, error, i);
        bool bit = message[4 + i / 8] >> i % 8 & 1;
        if (bit != (v >= 0)) {
            mg_fail(run, "bit %" PRId64 " of %" PRId64 " is %d; x + error is %.9g", i, n, bit, v);
            return false;
        }
        if (!judge_kept(run, "one bit", v, bit ? (double)scale : -(double)scale, (double)kept[i], i))
            return false;
    }
    if (n % 8 && message[4 + n / 8] >> n % 8) {
        mg_fail(run, "%" PRId64 " elements: bits of the last byte that belong to no element are not 0", n);
        return false;
    }
    return true;
}

void mg_13_onebit_pack(mg_run *run, const void *one_case)
{
    compress_about about = ((const compress_case *)one_case)->about;
    for (int try = 0; try < (about == COMPRESS_SIZES ? 5 : 4); try++) {
        int64_t n =
            about == COMPRESS_SIZES ? (int64_t[]){ 0, 1, 8, 33, MG_13_MANY }[try] : mg_pick(mg_rng(run), 9, MOST);
        mg_begin(run, "mt_onebit_pack");
        mg_out(run, "message", MT_U8, MT_SHAPE(message_bytes(n)));
        float *error = mg_inout(run, "error", MT_F32, MT_SHAPE(n)), *x = mg_in(run, "x", MT_F32, MT_SHAPE(n));
        mg_fill(mg_rng(run), x, n, (mg_dist)NORMAL(0, 1));
        if (about != COMPRESS_FIRST)
            mg_fill(mg_rng(run), error, n, (mg_dist)NORMAL(0.5, 2));
        if (about == COMPRESS_TIES)
            fill_zeros(x, error, n);
        if (!mg_call(run) || !judge_message(run, x, error, n))
            return;
    }
}

void mg_13_onebit_unpack(mg_run *run, const void *one_case)
{
    (void)one_case;
    for (int try = 0; try < 4; try++) {
        int64_t n = (int64_t[]){ 1, 8, 33, mg_pick(mg_rng(run), 40, MOST) }[try];
        double want[MOST];
        float scale = mt_rng_uniform(mg_rng(run)) + 0.1f;
        mg_begin(run, "mt_onebit_unpack");
        mg_out(run, "out", MT_F32, MT_SHAPE(n));
        uint8_t *message = mg_in(run, "message", MT_U8, MT_SHAPE(message_bytes(n)));
        memcpy(message, &scale, sizeof scale);
        for (int64_t i = 4; i < message_bytes(n); i++)
            message[i] = (uint8_t)mt_rng_u32(mg_rng(run));
        for (int64_t i = 0; i < n; i++)
            want[i] = message[4 + i / 8] >> i % 8 & 1 ? (double)scale : -(double)scale;
        if (!mg_call(run) || !mg_expect(run, "out", want, NULL))
            return;
    }
}

/* For rank r: data [n], error [n], part_error [longest], before and after. */
typedef struct trade {
    int64_t n, ranks, longest;
    const float *before[RANKS], *after[RANKS];
} trade;

static int64_t part_begin(const trade *t, int64_t rank)
{
    return t->n / t->ranks * rank + mt_min(rank, t->n % t->ranks);
}

/* The scale of a part of v. */
static double scale_of(const double *v, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += fabs(v[i]);
    return n ? sum / (double)n : 0;
}

/* Part p of all ranks: first its messages, then its mean. */
static bool judge_part(mg_run *run, const trade *t, int64_t p)
{
    int64_t begin = part_begin(t, p), n = part_begin(t, p + 1) - begin;
    double mean[MOST] = { 0 }, all[MOST] = { 0 };
    for (int64_t r = 0; r < t->ranks; r++) {
        const float *x = t->before[r] + begin, *error = x + t->n, *kept = t->after[r] + t->n + begin;
        double v[MOST];
        for (int64_t i = 0; i < n; i++)
            v[i] = v_of(x, error, i);
        double scale = scale_of(v, n);
        for (int64_t i = 0; i < n; i++) {
            double sent = v[i] >= 0 ? scale : -scale;
            mean[i] += sent / (double)t->ranks;
            all[i] += scale;
            if (fabs((double)kept[i] - (v[i] - sent)) > 8 * EPS * (fabs(v[i]) + scale)) {
                mg_fail(run, "%" PRId64 " ranks: error of rank %" PRId64 ", element %" PRId64 ": %.9g, expected %.9g",
                        t->ranks, r, begin + i, (double)kept[i], v[i] - sent);
                return false;
            }
        }
    }
    for (int64_t i = 0; i < n; i++)
        mean[i] += (double)t->before[p][2 * t->n + i];
    double scale = scale_of(mean, n);
    for (int64_t i = 0; i < n; i++) {
        double close = 16 * EPS * (all[i] + scale), sent = mean[i] >= 0 ? scale : -scale;
        double kept = (double)t->after[p][2 * t->n + i];
        for (int64_t r = 0; r < t->ranks; r++) {
            double got = (double)t->after[r][begin + i];
            bool sign = fabs(mean[i]) > close; /* else rounding decides it */
            if (fabs((sign ? got : fabs(got)) - (sign ? sent : scale)) <= close)
                continue;
            mg_fail(run, "%" PRId64 " ranks: element %" PRId64 " on rank %" PRId64 " is %.9g, expected %.9g", t->ranks,
                    begin + i, r, got, sent);
            return false;
        }
        if (fabs((double)t->after[p][begin + i] + kept - mean[i]) > 2 * close) {
            mg_fail(run,
                    "%" PRId64 " ranks, second phase: part_error of rank %" PRId64 ", element %" PRId64
                    ": %.9g, expected %.9g",
                    t->ranks, p, i, kept, mean[i] - (double)t->after[p][begin + i]);
            return false;
        }
    }
    return true;
}

/* 2 (P - 1) messages; parts to their ranks, then the own one to all. */
static bool judge_bytes(mg_run *run, const trade *t, int64_t rank)
{
    const int64_t *result = mg_result(run, "status, operations");
    const mg_op *op = (const mg_op *)mg_result(run, "operations") + rank * MG_RANKS_OPS;
    int64_t messages = 0, bytes = 0, want = 0, ops = mt_min(mt_max(result[2 * rank + 1], 0), MG_RANKS_OPS);
    for (int64_t i = 0; i < ops; i++)
        if (op[i][MG_OP_KIND] == MG_OP_SEND) {
            messages++;
            bytes += op[i][MG_OP_BYTES];
        }
    for (int64_t r = 0; r < t->ranks; r++)
        if (r != rank)
            want += message_bytes(part_begin(t, r + 1) - part_begin(t, r)) +
                    message_bytes(part_begin(t, rank + 1) - part_begin(t, rank));
    if (messages == 2 * (t->ranks - 1) && bytes == want)
        return true;
    mg_fail(run,
            "rank %" PRId64 " of %" PRId64 ", %" PRId64 " elements: %" PRId64 " messages, %" PRId64
            " bytes; expected %" PRId64 ", %" PRId64,
            rank, t->ranks, t->n, messages, bytes, 2 * (t->ranks - 1), want);
    return false;
}

static const char *const rank_names[RANKS] = { "rank 0", "rank 1", "rank 2", "rank 3" };

/* fails: { the rank whose message fails, and which of its messages }; NULL: none. */
static bool exchange(mg_run *run, trade *t, const int64_t *fails, bool searched)
{
    int64_t whole = 2 * t->n + t->longest;
    mg_begin(run, "mt_onebit_all_reduce");
    mg_out(run, "status, operations", MT_I64, MT_SHAPE(t->ranks, 2));
    mg_out(run, "words", MT_U8, MT_SHAPE(t->ranks, MG_RANKS_WORDS));
    mg_out(run, "operations", MT_I64, MT_SHAPE(t->ranks, MG_RANKS_OPS, MG_OP_COLUMNS));
    int64_t *numbers = mg_in(run, "numbers", MT_I64, MT_SHAPE(MG_CALL_NUMBERS));
    numbers[MG_CALL_N] = whole, numbers[MG_CALL_ROOT] = t->n;
    if (fails)
        numbers[MG_CALL_FAULT] = MG_FAULT_FAILS, numbers[MG_CALL_WHO] = fails[0], numbers[MG_CALL_MESSAGE] = fails[1];
    for (int64_t r = 0; r < t->ranks; r++) {
        float *data = mg_inout(run, rank_names[r], MT_F32, MT_SHAPE(whole));
        mg_fill(mg_rng(run), data, whole, (mg_dist)NORMAL(0, 1));
        t->before[r] = data;
    }
    return mg_ranks_call(run, searched);
}

/* Each message of each rank fails once. */
static bool each_fails(mg_run *run)
{
    trade t = { .ranks = 3, .n = 19, .longest = 7 };
    for (int64_t who = 0; who < t.ranks; who++)
        for (int64_t message = 0; message < 4 * (t.ranks - 1); message++) {
            char name[64];
            if (!exchange(run, &t, (int64_t[]){ who, message }, false))
                return false;
            const int64_t *result = mg_result(run, "status, operations");
            const mg_op *op = mg_result(run, "operations");
            snprintf(name, sizeof name, "message %" PRId64 " of rank %" PRId64 " fails", message + 1, who);
            for (int r = 0; r < t.ranks; r++) {
                mg_deeds deeds = { .op = op + (ptrdiff_t)r * MG_RANKS_OPS, .ops = result[2 * r + 1] };
                bool possible = mg_13_is_possible(&deeds, r, (int)t.ranks);
                mg_hint(run, "return the status of the phase that failed, and send nothing after it");
                if (!possible)
                    mg_fail(run, "rank %d: what the worker says of its messages is impossible", r);
                if (!possible || !mg_13_stops(run, name, &deeds, r, result[2 * r]))
                    return false;
            }
        }
    return true;
}

void mg_13_onebit(mg_run *run, const void *one_case)
{
    compress_about about = ((const compress_case *)one_case)->about;
    if (about == COMPRESS_BYTES && !each_fails(run))
        return;
    for (int try = 0; try < 4; try++) {
        trade t = { .ranks = 1 + (try + 1) % 4,
                    .n = mg_pick(mg_rng(run), about == COMPRESS_SIZES ? 1 : 40, about == COMPRESS_SIZES ? 9 : MOST) };
        if (about == COMPRESS_SIZES && try == 3)
            t.n = 0;
        t.longest = mt_ceil_div(t.n, t.ranks);
        if (!exchange(run, &t, NULL, about == COMPRESS_AGAIN && try == 2))
            return;
        for (int64_t r = 0; r < t.ranks; r++) {
            t.after[r] = mg_result(run, rank_names[r]);
            if (((const int64_t *)mg_result(run, "status, operations"))[2 * r] != MT_OK) {
                mg_fail(run, "rank %" PRId64 " of %" PRId64 " returns an error: %.*s", r, t.ranks, MG_RANKS_WORDS - 1,
                        (const char *)mg_result(run, "words") + r * MG_RANKS_WORDS);
                return;
            }
        }
        for (int64_t r = 0; r < t.ranks; r++) {
            if (about == COMPRESS_BYTES ? !judge_bytes(run, &t, r) : !judge_part(run, &t, r))
                return;
            if (memcmp(t.after[r], t.after[0], (size_t)t.n * sizeof(float)) != 0) {
                mg_fail(run, "ranks 0 and %" PRId64 " of %" PRId64 " have other bits", r, t.ranks);
                return;
            }
        }
    }
}
