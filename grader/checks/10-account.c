/* 10-account.c -- how the checks of accounts of memory run (steps 10.10 and 10.11): sums after each event, compared
 * with those of a list that is searched from end to end. All numbers are exact. Rows: 10-memory.c. */
#include "checks/10-memory.h"
#include "core/storage.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_EVENTS = 400 };

/* The size of a call, of a part of its row: a short one is easier to follow. */
typedef struct extent {
    const char *part;
    int64_t ops, first; /* ops: not as many as uses; from `first` on they allocate */
    int64_t events;
} extent;

static const extent extents[] = { { NULL, 7, 0, 12 },
                                  { NULL, 7, 0, MOST_EVENTS },
                                  { NULL, 7, 0, MOST_EVENTS },
                                  { "300 ops", 300, 0, MOST_EVENTS },
                                  { "70,000 ops", 70000, 69000, 4 } };
static const char any_ops[] = "a run may have any number of ops";

/* One of the first n ops that allocate. */
static int64_t any_op(mt_rng *rng, const extent *of, int64_t n)
{
    return of->first + mt_rng_below(rng, n - of->first);
}

/* Numbers in a row of sums: all, by use, by op. */
static int64_t sums_of(int64_t ops)
{
    return 1 + MT_USES + ops;
}

/* ... of a peak: then peak_op, and the most of each op. */
static int64_t peak_of(int64_t ops)
{
    return sums_of(ops) + 1 + ops;
}

static int64_t *numbers(int64_t n)
{
    int64_t *x = calloc((size_t)n, sizeof *x);
    MT_CHECK(x, "out of memory for %" PRId64 " numbers", n);
    return x;
}

typedef struct event {
    int64_t address, bytes, device, use, op;
} event;

/* ---- the model, written from the contract ----------------------------------------------------------------- */

typedef struct model {
    event live[MOST_EVENTS];
    int64_t count, ops;
    const extent *size;
    int64_t *sums, *peak; /* [devices] rows of sums_of(ops) and peak_of(ops) */
} model;

static model *model_new(const extent *size)
{
    model *m = calloc(1, sizeof *m);
    MT_CHECK(m, "out of memory");
    m->size = size;
    m->ops = size->ops;
    m->sums = numbers(MT_DEVICE_COUNT * sums_of(m->ops));
    m->peak = numbers(MT_DEVICE_COUNT * peak_of(m->ops));
    return m;
}

static void model_free(model *m)
{
    free(m->sums);
    free(m->peak);
    free(m);
}

static void model_add(int64_t *sums, const event *e, int64_t sign)
{
    sums[0] += sign * e->bytes;
    sums[1 + e->use] += sign * e->bytes;
    sums[1 + MT_USES + e->op] += sign * e->bytes;
}

static void model_peak(int64_t *peak, const int64_t *sums, int64_t op, int64_t ops)
{
    int64_t n = sums_of(ops);
    if (sums[0] > peak[0]) {
        memcpy(peak, sums, (size_t)n * sizeof *peak);
        peak[n] = op;
    }
    peak[n + 1 + op] = mt_max(peak[n + 1 + op], sums[0]);
}

static int64_t model_find(const model *m, int64_t device, int64_t address)
{
    for (int64_t i = 0; i < m->count; i++)
        if (m->live[i].device == device && m->live[i].address == address)
            return i;
    return -1;
}

static void model_note(model *m, const event *e)
{
    int64_t at = model_find(m, e->device, e->address), *sums = m->sums + e->device * sums_of(m->ops);
    if (at >= 0) {
        model_add(sums, &m->live[at], -1);
        m->live[at] = m->live[--m->count];
    }
    if (e->bytes > 0) {
        model_add(sums, e, 1);
        m->live[m->count++] = *e;
        model_peak(m->peak + e->device * peak_of(m->ops), sums, e->op, m->ops);
    }
}

/* ---- events ----------------------------------------------------------------------------------------------- */

/* What a sequence is made of; each is one in so many events, 0: never. */
typedef struct recipe {
    int64_t events, addresses;    /* addresses 0: each allocation has a new one */
    int64_t unknown, unseen;      /* frees of what is not live; allocations where something is */
    int64_t devices, least, most; /* bytes of a block */
    bool other;                   /* a free comes with another use, op and size */
} recipe;

static bool one_in(mt_rng *rng, int64_t n)
{
    return n > 0 && mt_rng_below(rng, n) == 0;
}

/* An address on the device at which nothing is live. */
static int64_t free_address(const model *m, const recipe *r, mt_rng *rng, int64_t device, int64_t n)
{
    int64_t address = 64 * (n + 1);
    while (r->addresses && model_find(m, device, address = 64 * mt_rng_below(rng, r->addresses)) >= 0)
        continue;
    return address;
}

static event next_event(const model *m, const recipe *r, mt_rng *rng, int64_t n)
{
    event e = { .device = mt_rng_below(rng, r->devices),
                .use = mt_rng_below(rng, MT_USES),
                .op = any_op(rng, m->size, m->ops) };
    const event *some = m->count > 0 ? &m->live[mt_rng_below(rng, m->count)] : NULL;
    bool full = m->count >= (r->addresses ? r->addresses / 2 : 30);
    if (one_in(rng, r->unknown)) {
        e.address = free_address(m, r, rng, e.device, n);
        e.bytes = -1 - mt_rng_below(rng, r->most);
    } else if (some && (full || mt_rng_below(rng, 5) < 2)) {
        e = (event){ some->address, r->other ? -1 - mt_rng_below(rng, r->most) : -some->bytes, some->device,
                     r->other ? (some->use + 1 + mt_rng_below(rng, 4)) % MT_USES : some->use,
                     r->other ? (some->op + 1 + mt_rng_below(rng, m->ops - 1)) % m->ops : some->op };
    } else {
        bool over = some && one_in(rng, r->unseen);
        e.device = over ? some->device : e.device;
        e.address = over ? some->address : free_address(m, r, rng, e.device, n);
        e.bytes = over && one_in(rng, 2) ? some->bytes : r->least + mt_rng_below(rng, r->most - r->least + 1);
    }
    return e;
}

static void describe_events(mg_run *run, const event *e, int64_t n, int64_t ops)
{
    static const char *const names[] = { "addresses", "bytes", "devices", "uses", "op" };
    for (int field = 0; field < MT_COUNT(names); field++) {
        int64_t *to = mg_in(run, names[field], MT_I64, MT_SHAPE(n));
        for (int64_t i = 0; i < n; i++)
            to[i] = ((const int64_t *)&e[i])[field];
    }
    mg_i64(run, "ops", ops);
}

/* ---- judging ---------------------------------------------------------------------------------------------- */

/* What number k of a row of sums or peaks is. */
static const char *name_of(int64_t k, const char *sums, int64_t ops)
{
    static char name[64];
    if (k == 0)
        snprintf(name, sizeof name, "%s.all", sums);
    else if (k < 1 + MT_USES)
        snprintf(name, sizeof name, "%s.use[%s]", sums, mt_use_name[k - 1]);
    else if (k < sums_of(ops))
        snprintf(name, sizeof name, "%s.op[%d]", sums, (int)(k - 1 - MT_USES));
    else if (k == sums_of(ops))
        snprintf(name, sizeof name, "peak_op");
    else
        snprintf(name, sizeof name, "op_most[%d]", (int)(k - sums_of(ops) - 1));
    return name;
}

static const char *text_of(const event *e)
{
    static char text[128];
    if (e->bytes > 0)
        snprintf(text, sizeof text, "op %d allocates %" PRId64 " bytes at %#" PRIx64 " on %s for %s", (int)e->op,
                 e->bytes, (uint64_t)e->address, mt_device_name((mt_device)e->device), mt_use_name[e->use]);
    else
        snprintf(text, sizeof text, "%#" PRIx64 " on %s is freed in op %d", (uint64_t)e->address,
                 mt_device_name((mt_device)e->device), (int)e->op);
    return text;
}

/* Random events, and what they make of the model; want: when not NULL, all sums after each. */
static void play(mg_run *run, model *m, const recipe *r, event *events, int64_t *want)
{
    int64_t n = MT_DEVICE_COUNT * sums_of(m->ops);
    for (int64_t i = 0; i < r->events; i++) {
        events[i] = next_event(m, r, mg_rng(run), i);
        model_note(m, &events[i]);
        if (want)
            memcpy(want + i * n, m->sums, (size_t)n * sizeof *want);
    }
}

static bool judge_live(mg_run *run, const event *events, int64_t count, int64_t ops, const int64_t *want)
{
    const int64_t *got = mg_result(run, "live");
    for (int64_t n = 0; n < count; n++)
        for (int d = 0; d < MT_DEVICE_COUNT; d++)
            for (int64_t k = 0; k < sums_of(ops); k++, got++, want++)
                if (*got != *want)
                    return mg_fail(run, "event %" PRId64 ", %s: %s of %s is %" PRId64 ", expected %" PRId64, n,
                                   text_of(&events[n]), name_of(k, "live", ops), mt_device_name((mt_device)d), *got,
                                   *want);
    return true;
}

static bool check_live(mg_run *run, const recipe *r, const extent *size)
{
    static event events[MOST_EVENTS];
    int64_t ops = size->ops;
    model *m = model_new(size);
    int64_t *want = numbers(r->events * MT_DEVICE_COUNT * sums_of(ops));
    play(run, m, r, events, want);
    model_free(m);
    mg_begin(run, "mt_account_live");
    mg_out(run, "live", MT_I64, MT_SHAPE(r->events, MT_DEVICE_COUNT * sums_of(ops)));
    describe_events(run, events, r->events, ops);
    bool good = mg_call(run) && judge_live(run, events, r->events, ops, want);
    free(want);
    return good;
}

void mg_10_live(mg_run *run, const void *one_case)
{
    static const recipe recipes[] = {
        [LIVE_SUMS] = { .devices = 1, .least = 1, .most = 1000 },
        [LIVE_USES] = { .devices = 1, .least = 1, .most = 1000, .other = true },
        [LIVE_AGAIN] = { .devices = 1, .least = 1, .most = 1000, .other = true, .addresses = 12 },
        [LIVE_UNKNOWN] = { .devices = 1, .least = 1, .most = 1000, .unknown = 4 },
        [LIVE_UNSEEN] = { .devices = 1, .least = 1, .most = 1000, .unseen = 3 },
        [LIVE_DEVICES] = { .devices = 2, .least = 1, .most = 1000, .addresses = 16, .unknown = 6 },
        [LIVE_LARGE] = { .devices = 1, .least = INT64_C(1) << 32, .most = INT64_C(1) << 40 },
    };
    bool good = true;
    for (int i = 0; i < MT_COUNT(extents) && good; i++) {
        mg_part(run, extents[i].part, extents[i].part ? any_ops : NULL);
        recipe r = recipes[((const live_case *)one_case)->about];
        r.events = extents[i].events;
        good = check_live(run, &r, &extents[i]);
    }
}

/* ---- peaks ------------------------------------------------------------------------------------------------ */

static bool same_peak(mg_run *run, const int64_t *got, const int64_t *want, int64_t ops, const char *when)
{
    for (int64_t k = 0; k < peak_of(ops); k++)
        if (got[k] != want[k])
            return mg_fail(run, "%s: %s is %" PRId64 ", expected %" PRId64, when, name_of(k, "peak", ops), got[k],
                           want[k]);
    return true;
}

/* Sums whose total is `all`, split at random over uses and ops. */
static void split(mt_rng *rng, int64_t *sums, int64_t all, int64_t ops)
{
    for (int64_t left = all; left > 0;) {
        const event e = { .bytes = 1 + mt_rng_below(rng, mt_min(left, all / 4 + 1)),
                          .use = mt_rng_below(rng, MT_USES),
                          .op = mt_rng_below(rng, ops) };
        model_add(sums, &e, 1);
        left -= e.bytes;
    }
}

/* live.all at allocation n of N. */
static int64_t height(peak_about about, mt_rng *rng, int64_t n, int64_t N)
{
    switch (about) {
    case PEAK_FIRST: /* the same few heights again and again */
        return 100 * (1 + mt_rng_below(rng, 4));
    case PEAK_LOWER:
        return n < N / 3 ? 1000 + 10 * n : 900 - n;
    default:
        return 1 + mt_rng_below(rng, INT64_C(1) << 36);
    }
}

static bool check_peak(mg_run *run, peak_about about, const extent *size)
{
    int64_t ops = size->ops, N = mt_min(size->events, 60); /* a peak has many numbers */
    mt_rng *rng = mg_rng(run);
    char when[128];
    mg_begin(run, "mt_account_peak");
    mg_out(run, "peak", MT_I64, MT_SHAPE(N, peak_of(ops)));
    int64_t *live = mg_in(run, "live", MT_I64, MT_SHAPE(N, sums_of(ops))), *op = mg_in(run, "op", MT_I64, MT_SHAPE(N));
    mg_i64(run, "ops", ops);
    for (int64_t n = 0; n < N; n++) {
        split(rng, live + n * sums_of(ops), height(about, rng, n, N), ops);
        op[n] = any_op(rng, size, ops - 1); /* the last one allocates nothing */
    }
    if (!mg_call(run))
        return false;
    const int64_t *got = mg_result(run, "peak");
    int64_t *want = numbers(peak_of(ops));
    bool good = true;
    for (int64_t n = 0; n < N && good; n++) {
        const int64_t *sums = live + n * sums_of(ops);
        model_peak(want, sums, op[n], ops);
        snprintf(when, sizeof when, "allocation %" PRId64 ", by op %d, after which %" PRId64 " bytes are live", n,
                 (int)op[n], sums[0]);
        good = same_peak(run, got + n * peak_of(ops), want, ops, when);
    }
    free(want);
    return good;
}

static bool check_note(mg_run *run, const extent *size)
{
    static event events[MOST_EVENTS];
    const recipe r = { size->events, .addresses = 20, .unknown = 9, .unseen = 9,
                       .devices = 2, .least = 1,      .most = 9,    .other = true };
    model *m = model_new(size);
    play(run, m, &r, events, NULL);
    mg_begin(run, "mt_account_note");
    mg_out(run, "peak", MT_I64, MT_SHAPE(MT_DEVICE_COUNT, peak_of(m->ops)));
    describe_events(run, events, r.events, m->ops);
    bool good = mg_call(run);
    for (int d = 0; d < MT_DEVICE_COUNT && good; d++) {
        char when[64];
        snprintf(when, sizeof when, "after %d events, of %s", (int)r.events, mt_device_name((mt_device)d));
        int64_t at = d * peak_of(m->ops);
        good = same_peak(run, (const int64_t *)mg_result(run, "peak") + at, m->peak + at, m->ops, when);
    }
    model_free(m);
    return good;
}

void mg_10_peak(mg_run *run, const void *one_case)
{
    peak_about about = ((const peak_case *)one_case)->about;
    bool good = true;
    for (int i = 0; i < MT_COUNT(extents) && good; i++) {
        mg_part(run, extents[i].part, extents[i].part ? any_ops : NULL);
        good = about == PEAK_STEP ? check_note(run, &extents[i]) : check_peak(run, about, &extents[i]);
    }
}
