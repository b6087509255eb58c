/* 13-compress.c -- how the checks of steps 13.14 to 13.18 run: what compression sends and keeps, and the step after
 * local training. Rows: 13-data-parallel.c. */
#include "checks/13-network.h"
#include "checks/13-training.h"
#include "checks/fill.h"
#include "checks/oracle.h"
#include "checks/worlds.h"
#include "rows/traffic.h"
#include "worker/hub.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base.h"

#define EPS 0x1p-24

enum { MOST = 300 };

static double v_of(const float *x, const float *error, int64_t i)
{
    return (double)x[i] + (double)error[i];
}

/* x + error, rounded once, is `sent` and what is kept. */
static bool judge_kept(mg_run *run, const char *name, double v, double sent, double kept, int64_t i)
{
    if (fabs(v - sent - kept) <= 2 * EPS * (fabs(v) + fabs(v - sent)))
        return true;
    return mg_fail(run, "%s, element %" PRId64 ": x + error is %.9g, sent is %.9g; the error is %.9g, expected %.9g",
                   name, i, v, sent, kept, v - sent);
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
        if (n == 0)
            mg_hint(run, "no elements have the scale 0");
        else if (fabs((double)scale - want) <= 0.01 * want)
            mg_hint(run, "a sum of many numbers in f32 has an error that grows with their number: add up in double");
        return mg_fail(run, "%" PRId64 " elements: scale %.9g, expected %.9g, the mean of |x + error|", n,
                       (double)scale, want);
    }
    for (int64_t i = 0; i < n; i++) {
        double v = v_of(x, error, i);
        bool bit = message[4 + i / 8] >> i % 8 & 1;
        if (bit != (v >= 0))
            return mg_fail(run, "bit %" PRId64 " of %" PRId64 " is %d; x + error is %.9g", i, n, bit, v);
        if (!judge_kept(run, "one bit", v, bit ? (double)scale : -(double)scale, (double)kept[i], i))
            return false;
    }
    if (n % 8 && message[4 + n / 8] >> n % 8)
        return mg_fail(run, "%" PRId64 " elements: bits of the last byte that belong to no element are not 0", n);
    return true;
}

void mg_13_onebit_pack(mg_run *run, const void *one_case)
{
    enum { ANY = -2, LARGE, SIZES = 1 << COMPRESS_SIZES }; /* or so many elements */
    static const mg_idea tries[] = {
        { NULL, NULL, ANY, ~SIZES, 3 },
        { "sizes whose sum is above FLT_MAX",
          "the mean of such sizes is a float, their sum is none: it becomes one last", LARGE, 1 << COMPRESS_AGAIN },
        { "no elements", "without elements the scale is 0, and there is no byte of signs", 0, SIZES },
        { "one element", NULL, 1, SIZES },
        { "a whole byte of signs", NULL, 8, SIZES },
        { "a part of a byte of signs", NULL, 33, SIZES },
        { "many elements", "an array of all elements does not fit on a stack", MG_13_MANY, SIZES },
    };
    compress_about about = ((const compress_case *)one_case)->about;
    for (mg_ideas t = { 0 }; MG_NEXT(run, &t, tries, about);) {
        bool large = t.is == LARGE;
        int64_t n = t.is >= 0 ? t.is : large ? MOST : mg_pick(mg_rng(run), 9, MOST);
        mg_begin(run, "mt_onebit_pack");
        mg_as_called(run, "mt_onebit_pack(message, error, x, n=%" PRId64 ")", n);
        mg_out(run, "message", MT_U8, MT_SHAPE(message_bytes(n)));
        float *error = mg_inout(run, "error", MT_F32, MT_SHAPE(n)), *x = mg_in(run, "x", MT_F32, MT_SHAPE(n));
        mg_fill(mg_rng(run), x, n, (mg_dist)NORMAL(0, 1));
        if (about != COMPRESS_FIRST)
            mg_fill(mg_rng(run), error, n, (mg_dist)NORMAL(0.5, 2));
        if (about == COMPRESS_TIES)
            fill_zeros(x, error, n);
        for (int64_t i = 0; large && i < n; i++)
            x[i] *= 0x1p123F, error[i] *= 0x1p123F;
        if (mg_call(run))
            judge_message(run, x, error, n);
    }
}

void mg_13_onebit_unpack(mg_run *run, const void *one_case)
{
    (void)one_case;
    static const mg_idea tries[] = { { .is = 0 },
                                     { "one element", NULL, 1 },
                                     { "a whole byte of signs", NULL, 8 },
                                     { "a part of a byte of signs", NULL, 33 } };
    for (mg_ideas t = { 0 }; MG_NEXT(run, &t, tries, 0);) {
        int64_t n = t.is ? t.is : mg_pick(mg_rng(run), 40, MOST);
        double want[MOST];
        float scale = mt_rng_uniform(mg_rng(run)) + 0.1f;
        mg_begin(run, "mt_onebit_unpack");
        mg_as_called(run, "mt_onebit_unpack(out, message, n=%" PRId64 ")", n);
        mg_out(run, "out", MT_F32, MT_SHAPE(n));
        uint8_t *message = mg_in(run, "message", MT_U8, MT_SHAPE(message_bytes(n)));
        memcpy(message, &scale, sizeof scale);
        for (int64_t i = 4; i < message_bytes(n); i++)
            message[i] = (uint8_t)mt_rng_u32(mg_rng(run));
        for (int64_t i = 0; i < n; i++)
            want[i] = message[4 + i / 8] >> i % 8 & 1 ? (double)scale : -(double)scale;
        if (mg_call(run))
            mg_expect(run, "out", want, NULL);
    }
}

/* For rank r: data [n], error [n], part_error [longest], before and after. */
typedef struct trade {
    int64_t n, ranks, longest;
    void *before[MG_RANKS];
    const void *after[MG_RANKS];
} trade;

/* Element i of the array of a rank. */
static double at(const void *array, int64_t i)
{
    return (double)((const float *)array)[i];
}

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

/* What rank r sends and keeps of part p, elements begin .. begin + n - 1: what all send is added to mean, its size to
 * all. */
static bool judge_first(mg_run *run, const trade *t, int64_t r, int64_t begin, int64_t n, double *mean, double *all)
{
    double scale = 0;
    for (int64_t i = begin; i < begin + n; i++)
        scale += fabs(at(t->before[r], i) + at(t->before[r], t->n + i));
    scale /= (double)mt_max(n, 1);
    for (int64_t i = 0; i < n; i++) {
        double v = at(t->before[r], begin + i) + at(t->before[r], t->n + begin + i), sent = v >= 0 ? scale : -scale;
        double kept = at(t->after[r], t->n + begin + i);
        mean[i] += sent / (double)t->ranks;
        all[i] += scale;
        if (fabs(kept - (v - sent)) > 8 * EPS * (fabs(v) + scale))
            return mg_fail(run,
                           "%" PRId64 " ranks: error of rank %" PRId64 ", element %" PRId64 ": %.9g, expected %.9g",
                           t->ranks, r, begin + i, kept, v - sent);
    }
    return true;
}

/* What rank p sends of the mean of its part, and keeps. */
static bool judge_second(mg_run *run, const trade *t, int64_t p, int64_t begin, int64_t n, const double *mean,
                         const double *all)
{
    double scale = scale_of(mean, n);
    for (int64_t i = 0; i < n; i++) {
        double close = 16 * EPS * (all[i] + scale), sent = mean[i] >= 0 ? scale : -scale;
        double kept = at(t->after[p], 2 * t->n + i);
        for (int64_t r = 0; r < t->ranks; r++) {
            double got = at(t->after[r], begin + i);
            bool sign = fabs(mean[i]) > close; /* else rounding decides it */
            if (fabs((sign ? got : fabs(got)) - (sign ? sent : scale)) <= close)
                continue;
            return mg_fail(run, "%" PRId64 " ranks: element %" PRId64 " on rank %" PRId64 " is %.9g, expected %.9g",
                           t->ranks, begin + i, r, got, sent);
        }
        if (fabs(at(t->after[p], begin + i) + kept - mean[i]) > 2 * close)
            return mg_fail(run,
                           "%" PRId64 " ranks, second phase: part_error of rank %" PRId64 ", element %" PRId64
                           ": %.9g, expected %.9g",
                           t->ranks, p, i, kept, mean[i] - at(t->after[p], begin + i));
    }
    return true;
}

/* Part p of all ranks: first its messages, then its mean. */
static bool judge_part(mg_run *run, const trade *t, int64_t p)
{
    int64_t begin = part_begin(t, p), n = part_begin(t, p + 1) - begin;
    double *mean = mg_doubles(n), *all = mg_doubles(n);
    bool good = true;
    for (int64_t r = 0; r < t->ranks && good; r++)
        good = judge_first(run, t, r, begin, n, mean, all);
    for (int64_t i = 0; i < n; i++)
        mean[i] += at(t->before[p], 2 * t->n + i);
    good = good && judge_second(run, t, p, begin, n, mean, all);
    free(mean);
    free(all);
    return good;
}

/* 2 (P - 1) messages; parts to their ranks, then the own one to all. */
static bool judge_bytes(mg_run *run, const trade *t)
{
    mg_deeds deeds[MG_RANKS];
    if (!mg_13_deeds(run, deeds, (int)t->ranks, mg_13_operations((int)t->ranks)))
        return false;
    mg_13_replay(deeds, (int)t->ranks, (mg_network){ 0, 0 });
    for (int64_t rank = 0; rank < t->ranks; rank++) {
        int64_t own = message_bytes(part_begin(t, rank + 1) - part_begin(t, rank)), want = 0;
        for (int64_t r = 0; r < t->ranks; r++)
            want += r == rank ? 0 : own + message_bytes(part_begin(t, r + 1) - part_begin(t, r));
        if (deeds[rank].sends == 2 * (t->ranks - 1) && deeds[rank].sent == want)
            continue;
        return mg_fail(run,
                       "rank %" PRId64 " of %" PRId64 ", %" PRId64 " elements: %" PRId64 " messages, %" PRId64
                       " bytes; expected %" PRId64 ", %" PRId64,
                       rank, t->ranks, t->n, deeds[rank].sends, deeds[rank].sent, 2 * (t->ranks - 1), want);
    }
    return true;
}

/* fails: { the rank whose message fails, and which of its messages }; NULL: none. */
static bool exchange(mg_run *run, trade *t, const int64_t *fails, bool searched)
{
    int64_t whole = 2 * t->n + t->longest;
    int64_t *numbers = mg_13_describe(run, "mt_onebit_all_reduce", (int)t->ranks);
    mg_as_called(run, "mt_onebit_all_reduce(comm, data, n=%" PRId64 ", error, part_error) on %" PRId64 " ranks", t->n,
                 t->ranks);
    numbers[MG_CALL_N] = whole, numbers[MG_CALL_ROOT] = t->n;
    if (fails)
        numbers[MG_CALL_FAULT] = MG_FAULT_FAILS, numbers[MG_CALL_WHO] = fails[0], numbers[MG_CALL_MESSAGE] = fails[1];
    mg_13_arrays(run, t->before, (int)t->ranks, MT_F32, whole);
    for (int64_t r = 0; r < t->ranks; r++)
        mg_fill(mg_rng(run), t->before[r], whole, (mg_dist)NORMAL(0, 1));
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
            mg_deeds deeds[MG_RANKS];
            snprintf(name, sizeof name, "message %" PRId64 " of rank %" PRId64 " fails", message + 1, who);
            mg_hint(run, "return the status of the phase that failed, and send nothing after it");
            bool good = mg_13_deeds(run, deeds, (int)t.ranks, mg_13_operations((int)t.ranks));
            for (int r = 0; r < t.ranks && good; r++)
                good = mg_13_stops(run, name, &deeds[r], r, result[2 * r]);
            if (!good)
                return false;
        }
    return true;
}

enum { NONE = MG_WORLDS, LONG, LONGER };

/* One call in this world, or of no element, or with long parts; false: judged. */
static bool onebit_once(mg_run *run, compress_about about, int64_t is)
{
    mt_rng *rng = mg_rng(run);
    bool is_long = is == LONG || is == LONGER;
    trade t = { .ranks = is_long ? 2 : mg_world(rng, is == NONE ? MG_WORLD_POWER : (int)is) };
    t.n = is == NONE                ? 0
          : is_long                 ? mg_long_parts(rng, 2, MT_F32, is == LONG ? 64 << 10 : 1 << 20)
          : about == COMPRESS_SIZES ? mg_pick(rng, 1, 9)
                                    : mg_pick(rng, 40, MOST);
    t.longest = mt_ceil_div(t.n, t.ranks);
    if (!exchange(run, &t, NULL, about == COMPRESS_AGAIN && is == MG_WORLD_THREE))
        return false;
    mg_13_arrays_after(run, t.after, (int)t.ranks, MT_F32, 2 * t.n + t.longest);
    for (int64_t r = 0; r < t.ranks; r++)
        if (((const int64_t *)mg_result(run, "status, operations"))[2 * r] != MT_OK)
            return mg_fail(run, "rank %" PRId64 " of %" PRId64 " returns an error: %.*s", r, t.ranks,
                           MG_RANKS_WORDS - 1, (const char *)mg_result(run, "words") + r * MG_RANKS_WORDS);
    if ((about == COMPRESS_BYTES || is == MG_WORLD_MANY) && !judge_bytes(run, &t))
        return false;
    for (int64_t r = 0; r < t.ranks; r++) {
        if (about != COMPRESS_BYTES && !judge_part(run, &t, r))
            return false;
        if (memcmp(t.after[r], t.after[0], (size_t)t.n * sizeof(float)) != 0)
            return mg_fail(run, "ranks 0 and %" PRId64 " of %" PRId64 " have other bits", r, t.ranks);
    }
    return true;
}

void mg_13_onebit(mg_run *run, const void *one_case)
{
    enum { AGAIN = 1 << COMPRESS_AGAIN };
    static const mg_idea tries[] = {
        { "one rank", NULL, MG_WORLD_ONE },
        { .is = MG_WORLD_TWO },
        { .is = MG_WORLD_THREE },
        { NULL, NULL, MG_WORLD_POWER, ~(1 << COMPRESS_SIZES) },
        { "no elements", "without elements all parts are empty", NONE, 1 << COMPRESS_SIZES },
        { .is = MG_WORLD_PRIME },
        { "many ranks", MG_MANY_RANKS, MG_WORLD_MANY, AGAIN },
        { "parts of more than 64 KiB", MG_LONG, LONG, AGAIN },
        { "parts of more than 1 MiB", MG_LONG, LONGER, AGAIN },
    };
    compress_about about = ((const compress_case *)one_case)->about;
    if (about == COMPRESS_BYTES && !each_fails(run))
        return;
    for (mg_ideas t = { 0 }; MG_NEXT(run, &t, tries, about);)
        onebit_once(run, about, t.is);
}
