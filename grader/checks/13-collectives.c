/* 13-collectives.c -- how the checks of steps 13.1 to 13.4 run: calls on all ranks, and the values that they should
 * have. Rows: 13-data-parallel.c. */
#include "checks/13-data-parallel.h"
#include "checks/fill.h"
#include "checks/worlds.h"
#include "rows/traffic.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const functions[] = {
    "mt_ring_reduce_scatter", "mt_ring_all_gather",     "mt_ring_all_reduce", "mt_tree_broadcast",
    "mt_tree_all_reduce",     "mt_doubling_all_reduce", "mt_all_reduce",      "mt_hierarchical_all_reduce",
};

int64_t mg_13_part(const trial *t, int rank)
{
    int64_t rest = t->n % t->ranks;
    return t->n / t->ranks * rank + (rank < rest ? rank : rest);
}

bool mg_13_is_reduction(collective what)
{
    return what != RING_ALL_GATHER && what != TREE_BROADCAST;
}

const char *mg_13_name(const trial *t, char words[120])
{
    int used = snprintf(words, 120, "%d ranks, %" PRId64 " %s", t->ranks, t->n, mt_dtype_name(t->dtype));
    if (mg_13_is_reduction(t->what))
        snprintf(words + used, 120 - (size_t)used, ", %s", t->op == RANKS_MAX ? "maximum" : "sum");
    if (t->what == TREE_BROADCAST)
        snprintf(words + used, 120 - (size_t)used, ", root %d", t->root);
    if (t->node)
        snprintf(words + strlen(words), 120 - strlen(words), ", nodes of %d", t->node);
    return words;
}

/* ---- the call -------------------------------------------------------------------------------------------- */

static bool is_float(mt_dtype dtype)
{
    return dtype == MT_F32 || dtype == MT_F16 || dtype == MT_BF16;
}

/* The elements of a rank's array: far away there is none. */
static int64_t there(const trial *t)
{
    return t->fault == MG_FAULT_NO_DATA ? 0 : t->n;
}

/* What is only copied may have any bits, and integers wrap. */
static void fill(mt_rng *rng, void *data, const trial *t)
{
    int64_t bytes = t->n * mt_dtype_size(t->dtype);
    if (!mg_13_is_reduction(t->what) || !is_float(t->dtype))
        for (int64_t i = 0; i < bytes; i += (int64_t)sizeof(uint32_t)) {
            uint32_t word = mt_rng_u32(rng);
            memcpy((char *)data + i, &word, (size_t)mt_min(bytes - i, (int64_t)sizeof word));
        }
    else
        for (int64_t i = 0; i < t->n; i++) {
            double x = (double)mt_rng_uniform(rng) * 2 - 1;
            mt_store_f64(data, t->dtype, i, t->wild ? ldexp(x, (int)mg_pick(rng, -20, 20)) : x);
        }
    if (t->op == RANKS_MAX && is_float(t->dtype) && t->n > 1 && mt_rng_below(rng, 2))
        mt_store_f64(data, t->dtype, mt_rng_below(rng, t->n), NAN);
}

/* The arguments behind the type. */
static const char *more_of(const trial *t)
{
    static char root[24];
    snprintf(root, sizeof root, ", root=%d", t->root);
    return t->what == TREE_BROADCAST      ? root
           : !mg_13_is_reduction(t->what) ? ""
           : t->op == RANKS_MAX           ? ", MT_MAX"
                                          : ", MT_SUM";
}

static void describe(mg_run *run, trial *t)
{
    int64_t *numbers = mg_13_describe(run, functions[t->what], t->ranks);
    const int64_t values[] = { t->n, t->dtype, t->op, t->root, t->fault, t->who, t->message };
    memcpy(numbers, values, sizeof values);
    memcpy(&numbers[MG_CALL_LATENCY], &t->network.latency, sizeof(double));
    memcpy(&numbers[MG_CALL_BYTE_TIME], &t->network.byte_time, sizeof(double));
    numbers[MG_CALL_NODE] = t->node;
    mg_as_called(run, "%s(comm, data, n=%" PRId64 ", %s%s) on %d ranks", functions[t->what], t->n,
                 mt_dtype_name(t->dtype), more_of(t), t->ranks);
    mg_13_arrays(run, t->data, t->ranks, t->dtype, there(t));
    for (int rank = 0; rank < t->ranks && there(t) > 0; rank++)
        fill(mg_rng(run), t->data[rank], t);
}

/* A failure without a fault: ranks wait for each other, or their messages do not fit. */
static void judge_failure(mg_run *run, trial *t, int rank)
{
    char words[400] = "", name[120];
    mg_13_replay(t->deeds, t->ranks, (mg_network){ 0, 0 });
    mg_13_say_deadlock(words, sizeof words, t->deeds, t->ranks);
    if (words[0])
        mg_13_hint_deadlock(run, t->deeds, t->ranks);
    if (words[0])
        mg_fail(run, "%s: a deadlock. These wait for ever: %s", mg_13_name(t, name), words);
    else
        mg_fail(run, "%s: rank %d returns status %" PRId64 ": %.*s", mg_13_name(t, name), rank, t->result[2 * rank],
                MG_RANKS_WORDS - 1, t->words + (ptrdiff_t)rank * MG_RANKS_WORDS);
}

bool mg_13_call(mg_run *run, trial *t)
{
    describe(run, t);
    if (!mg_ranks_call(run, t->searched))
        return false;
    t->result = mg_result(run, "status, operations");
    t->words = mg_result(run, "words");
    mg_13_arrays_after(run, t->got, t->ranks, t->dtype, there(t));
    if (!mg_13_deeds(run, t->deeds, t->ranks, mg_13_operations(t->ranks)))
        return false;
    for (int rank = 0; rank < t->ranks; rank++)
        if (t->result[2 * rank] != MT_OK && t->fault != MG_FAULT_FAILS) {
            judge_failure(run, t, rank);
            return false;
        }
    return true;
}

/* ---- values ---------------------------------------------------------------------------------------------- */

static int64_t integer(const void *data, mt_dtype dtype, int64_t i)
{
    return dtype == MT_U8    ? ((const uint8_t *)data)[i]
           : dtype == MT_I32 ? ((const int32_t *)data)[i]
                             : ((const int64_t *)data)[i];
}

static bool right_integer(const trial *t, int rank, int64_t i, double *want)
{
    int64_t sum = 0, most = INT64_MIN;
    for (int r = 0; r < t->ranks; r++) {
        int64_t x = integer(t->data[r], t->dtype, i);
        sum = (int64_t)((uint64_t)sum + (uint64_t)x);
        most = x > most ? x : most;
    }
    sum = t->dtype == MT_U8 ? (uint8_t)sum : t->dtype == MT_I32 ? (int32_t)sum : sum;
    sum = t->op == RANKS_MAX ? most : sum;
    *want = (double)sum;
    return integer(t->got[rank], t->dtype, i) == sum;
}

/* A sum of P numbers has at most P - 1 roundings on the way of each, by 2^-24 of a partial sum, or of 16-bit floats
 * 2^-11 and 2^-8; below 2^-14, an f16 is off by 2^-25. */
static bool right_float(const trial *t, int rank, int64_t i, double *want)
{
    double sum = 0, most = -INFINITY, size = 0, got = mt_load_f64(t->got[rank], t->dtype, i);
    double unit = t->dtype == MT_F32 ? 0x1p-24 : t->dtype == MT_F16 ? 0x1p-11 : 0x1p-8;
    for (int r = 0; r < t->ranks; r++) {
        double x = mt_load_f64(t->data[r], t->dtype, i);
        sum += x;
        size += fabs(x);
        most = isnan(x) || isnan(most) ? NAN : fmax(most, x);
    }
    *want = t->op == RANKS_MAX ? most : sum;
    if (t->op == RANKS_MAX)
        return isnan(most) ? isnan(got) : got == most;
    return fabs(got - sum) <= t->ranks * (unit * size + (t->dtype == MT_F16 ? 0x1p-25 : 0));
}

int mg_13_source(const trial *t, int64_t i)
{
    int owner = 0;
    if (t->what == TREE_BROADCAST)
        return t->root;
    while (mg_13_part(t, owner + 1) <= i)
        owner++;
    return owner;
}

static bool right(const trial *t, int rank, int64_t i, double *want)
{
    int64_t size = mt_dtype_size(t->dtype);
    if (mg_13_is_reduction(t->what))
        return is_float(t->dtype) ? right_float(t, rank, i, want) : right_integer(t, rank, i, want);
    const char *from = t->data[mg_13_source(t, i)], *got = t->got[rank];
    if (memcmp(got + i * size, from + i * size, (size_t)size) == 0)
        return true;
    *want = mt_load_f64(from, t->dtype, i);
    return false;
}

/* Errors that their value shows. */
static void recognise(mg_run *run, const trial *t, int rank, int64_t i, double want)
{
    double got = mt_load_f64(t->got[rank], t->dtype, i);
    if (memcmp(t->got[rank], t->data[rank], (size_t)(t->n * mt_dtype_size(t->dtype))) == 0) {
        mg_hint(run, "the data of rank %d is as before the call", rank);
        return;
    }
    if (t->op == RANKS_MAX || !mg_13_is_reduction(t->what) || !is_float(t->dtype))
        return;
    double tolerance = 1e-3 * (fabs(want) + 1);
    if (fabs(got * t->ranks - want) < tolerance)
        mg_hint(run, "a sum was asked for, not a mean");
    for (int r = 0; r < t->ranks; r++) {
        double x = mt_load_f64(t->data[r], t->dtype, i);
        if (fabs(want - x - got) < tolerance && fabs(x) > 2 * tolerance)
            mg_hint(run, "the sum lacks the number of rank %d, %g", r, x);
        else if (fabs(want + x - got) < tolerance && fabs(x) > 2 * tolerance)
            mg_hint(run, "the sum has the number of rank %d, %g, twice", r, x);
    }
}

static bool same_bits(mg_run *run, const trial *t)
{
    int64_t size = mt_dtype_size(t->dtype);
    char name[120];
    for (int rank = 1; rank < t->ranks; rank++)
        for (int64_t i = 0; i < t->n; i++)
            if (memcmp((const char *)t->got[rank] + i * size, (const char *)t->got[0] + i * size, (size_t)size) != 0)
                return mg_fail(run, "%s: element %" PRId64 " is %.9g on rank %d, and %.9g on rank 0",
                               mg_13_name(t, name), i, mt_load_f64(t->got[rank], t->dtype, i), rank,
                               mt_load_f64(t->got[0], t->dtype, i));
    return true;
}

bool mg_13_judge_values(mg_run *run, const trial *t)
{
    char name[120];
    for (int rank = 0; rank < t->ranks; rank++) {
        bool part = t->what == RING_REDUCE_SCATTER;
        int64_t first = part ? mg_13_part(t, rank) : 0, end = part ? mg_13_part(t, rank + 1) : t->n;
        for (int64_t i = first; i < end; i++) {
            double want;
            if (right(t, rank, i, &want))
                continue;
            recognise(run, t, rank, i, want);
            return mg_fail(run, "%s: element %" PRId64 " (part %d) of rank %d is %.9g, expected %.9g",
                           mg_13_name(t, name), i, mg_13_source(t, i), rank, mt_load_f64(t->got[rank], t->dtype, i),
                           want);
        }
    }
    return !mg_13_is_reduction(t->what) || t->what == RING_REDUCE_SCATTER || same_bits(run, t);
}

/* ---- rows ------------------------------------------------------------------------------------------------ */

enum { FEW = 8 /* calls on 1, 2, .. FEW ranks */ };

/* A call of a row on so many ranks. */
static trial trial_of(mg_run *run, const ranks_case *c, int ranks)
{
    trial t = { .ranks = ranks, .op = c->op, .dtype = MT_F32, .wild = c->about == RANKS_BITS };
    while (strcmp(functions[t.what], c->function) != 0)
        t.what++;
    t.n = c->about == RANKS_BITS ? 1009 : ranks == 5 ? 10007 : mg_pick(mg_rng(run), 30, 400);
    t.root = (int)mt_rng_below(mg_rng(run), ranks);
    t.node = t.what == HIERARCHICAL_ALL_REDUCE ? mg_node(mg_rng(run), ranks) : 0;
    return t;
}

/* On many ranks everything is judged, as a call takes long. */
static bool play(mg_run *run, const ranks_case *c, trial t)
{
    bool many = t.ranks > 64, messages = c->about == RANKS_MESSAGES || c->about == RANKS_FAR || many;
    bool values = !messages && c->about != RANKS_TIME;
    return mg_13_call(run, &t) && (!(values || many) || mg_13_judge_values(run, &t)) &&
           (!messages || mg_13_judge_messages(run, &t)) && (c->about != RANKS_TIME || mg_13_judge_time(run, &t));
}

static bool is_in_nodes(const ranks_case *c)
{
    return strcmp(c->function, functions[HIERARCHICAL_ALL_REDUCE]) == 0;
}

static bool lengths(mg_run *run, const ranks_case *c)
{
    enum { ANY, FEWER, NONE, MORE };
    static const mg_idea tries[] = {
        { "fewer elements than ranks", "a rank may have no element, and sends an empty part", FEWER },
        { "no elements", "all parts may be empty", NONE },
        { "one element more than ranks", "parts may have different lengths", MORE },
        { NULL },
    };
    static const int worlds[] = { 1, 2, 3, 5, 6, 8, 13 };
    bool good = true;
    for (mg_ideas each = { 0 }; MG_NEXT(run, &each, tries, 0);)
        for (int i = 0; i < MT_COUNT(worlds) && good; i++) {
            trial t = trial_of(run, c, worlds[i]);
            t.dtype = c->about == RANKS_UNEVEN ? MT_I32 : MT_F32;
            t.n = each.is == NONE ? 0 : each.is == ANY ? mg_pick(mg_rng(run), 1, 400) : t.ranks + each.is - NONE;
            good = play(run, c, t);
        }
    return good;
}

/* Each on three ranks, or two nodes of two, and its maximum in another world. */
static bool types(mg_run *run, const ranks_case *c)
{
    static const mt_dtype all[] = { MT_F16, MT_BF16, MT_I32, MT_I64, MT_U8 };
    bool good = true;
    for (int i = 0; i < MT_COUNT(all) && good; i++) {
        trial sum = trial_of(run, c, is_in_nodes(c) ? 4 : 3), largest = trial_of(run, c, mg_world(mg_rng(run), i));
        sum.op = RANKS_SUM, largest.op = RANKS_MAX;
        sum.dtype = largest.dtype = all[i];
        mg_part(run, mt_dtype_name(all[i]), NULL);
        good = play(run, c, sum) && play(run, c, largest);
    }
    return good;
}

static bool roots(mg_run *run, const ranks_case *c)
{
    static const int worlds[] = { 3, 5, 8 };
    bool good = true;
    for (int i = 0; i < MT_COUNT(worlds); i++)
        for (int root = 0; root < worlds[i] && good; root++) {
            trial t = trial_of(run, c, worlds[i]);
            t.root = root;
            good = play(run, c, t);
        }
    return good;
}

/* Two long messages, the longer one of elements of 8 bytes. */
static bool long_messages(mg_run *run, const ranks_case *c)
{
    trial t = trial_of(run, c, 3), longer = trial_of(run, c, 2);
    longer.dtype = MT_I64;
    t.n = mg_long_parts(mg_rng(run), t.what <= RING_ALL_REDUCE ? 3 : 1, MT_F32, 64 << 10);
    longer.n = mg_long_parts(mg_rng(run), t.what <= RING_ALL_REDUCE ? 2 : 1, MT_I64, 1 << 20);
    mg_part(run, "long messages",
            "a message of more than 64 KiB or 1 MiB is not sent at once: a send waits for its receive");
    return play(run, c, t) && play(run, c, longer);
}

static bool any_world(mg_run *run, const ranks_case *c)
{
    bool good = true;
    for (int ranks = 1; ranks <= FEW + 1 && good; ranks++) {
        trial t = trial_of(run, c, ranks <= FEW ? ranks : mg_world(mg_rng(run), MG_WORLD_PRIME));
        if (c->about == RANKS_FAR)
            t.n = ((int64_t)1 << 33) + mg_pick(mg_rng(run), 0, 7), t.fault = MG_FAULT_NO_DATA;
        good = play(run, c, t);
    }
    return good;
}

static bool many_ranks(mg_run *run, const ranks_case *c)
{
    trial t = trial_of(run, c, mg_world(mg_rng(run), MG_WORLD_MANY));
    t.root = c->about == RANKS_ROOTS ? t.ranks - 1 : t.root;
    mg_part(run, "many ranks", MG_MANY_RANKS);
    return play(run, c, t);
}

static bool searched(mg_run *run, const ranks_case *c)
{
    trial t = trial_of(run, c, is_in_nodes(c) ? FEW : FEW - 1);
    t.searched = true;
    mg_part(run, "a search for data races", NULL);
    return play(run, c, t);
}

void mg_13_ranks(mg_run *run, const void *one_case)
{
    const ranks_case *c = one_case;
    trial t = trial_of(run, c, 1);
    bool is_ring = t.what == RING_ALL_REDUCE; /* made of the other two */
    switch (c->about) {
    case RANKS_FAILS:
        mg_13_fail_each(run, &t);
        break;
    case RANKS_CHANGED:
        mg_13_change_each(run, &t);
        break;
    case RANKS_UNEVEN:
    case RANKS_MESSAGES:
        lengths(run, c);
        break;
    case RANKS_TYPES:
        types(run, c);
        break;
    case RANKS_ROOTS:
        (void)(roots(run, c) && many_ranks(run, c));
        break;
    case RANKS_TIME:
        (void)(any_world(run, c) && (is_ring || many_ranks(run, c)));
        break;
    case RANKS_VALUES:
        (void)(any_world(run, c) && (is_ring || c->op != RANKS_SUM || long_messages(run, c)) &&
               (c->op != RANKS_SUM || searched(run, c)));
        break;
    default:
        any_world(run, c);
    }
}
