/* 10-account.c -- how the checks of accounts of memory run (steps 10.10 and 10.11): sums after each event, compared
 * with those of a list that is searched from end to end. All numbers are exact. Rows: 10-memory.c. */
#include "checks/10-memory.h"
#include "core/storage.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    OPS = 7,                  /* not as many as uses */
    SUMS = 1 + MT_USES + OPS, /* all, by use, by op */
    PEAK = SUMS + 1 + OPS,    /* then peak_op, and the most of each op */
    MOST_EVENTS = 400,
    CALLS = 6,
};

typedef struct event {
    int64_t address, bytes, device, use, op;
} event;

/* ---- the model, written from the contract ----------------------------------------------------------------- */

typedef struct model {
    event live[MOST_EVENTS];
    int64_t count;
    int64_t sums[MT_DEVICE_COUNT][SUMS], peak[MT_DEVICE_COUNT][PEAK];
} model;

static void model_add(int64_t *sums, const event *e, int64_t sign)
{
    sums[0] += sign * e->bytes;
    sums[1 + e->use] += sign * e->bytes;
    sums[1 + MT_USES + e->op] += sign * e->bytes;
}

static void model_peak(int64_t *peak, const int64_t *sums, int64_t op)
{
    if (sums[0] > peak[0]) {
        memcpy(peak, sums, SUMS * sizeof *peak);
        peak[SUMS] = op;
    }
    if (sums[0] > peak[SUMS + 1 + op])
        peak[SUMS + 1 + op] = sums[0];
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
    int64_t at = model_find(m, e->device, e->address), *sums = m->sums[e->device];
    if (at >= 0) {
        model_add(sums, &m->live[at], -1);
        m->live[at] = m->live[--m->count];
    }
    if (e->bytes > 0) {
        model_add(sums, e, 1);
        m->live[m->count++] = *e;
        model_peak(m->peak[e->device], sums, e->op);
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
                .op = mt_rng_below(rng, OPS) };
    const event *some = m->count > 0 ? &m->live[mt_rng_below(rng, m->count)] : NULL;
    bool full = m->count >= (r->addresses ? r->addresses / 2 : 30);
    if (one_in(rng, r->unknown)) {
        e.address = free_address(m, r, rng, e.device, n);
        e.bytes = -1 - mt_rng_below(rng, r->most);
    } else if (some && (full || mt_rng_below(rng, 5) < 2)) {
        e = (event){ some->address, r->other ? -1 - mt_rng_below(rng, r->most) : -some->bytes, some->device,
                     r->other ? (some->use + 1 + mt_rng_below(rng, 4)) % MT_USES : some->use,
                     r->other ? (some->op + 1 + mt_rng_below(rng, OPS - 1)) % OPS : some->op };
    } else {
        bool over = some && one_in(rng, r->unseen);
        e.device = over ? some->device : e.device;
        e.address = over ? some->address : free_address(m, r, rng, e.device, n);
        e.bytes = over && one_in(rng, 2) ? some->bytes : r->least + mt_rng_below(rng, r->most - r->least + 1);
    }
    return e;
}

static void describe_events(mg_run *run, const event *e, int64_t n)
{
    static const char *const names[] = { "addresses", "bytes", "devices", "uses", "ops" };
    for (int field = 0; field < MT_COUNT(names); field++) {
        int64_t *to = mg_in(run, names[field], MT_I64, MT_SHAPE(n));
        for (int64_t i = 0; i < n; i++)
            to[i] = ((const int64_t *)&e[i])[field];
    }
    mg_i64(run, "ops", OPS);
}

/* ---- judging ---------------------------------------------------------------------------------------------- */

/* What number k of a row of sums or peaks is. */
static const char *name_of(int64_t k, const char *sums)
{
    static char name[64];
    if (k == 0)
        snprintf(name, sizeof name, "%s.all", sums);
    else if (k < 1 + MT_USES)
        snprintf(name, sizeof name, "%s.use[%s]", sums, mt_use_name[k - 1]);
    else if (k < SUMS)
        snprintf(name, sizeof name, "%s.op[%d]", sums, (int)(k - 1 - MT_USES));
    else if (k == SUMS)
        snprintf(name, sizeof name, "peak_op");
    else
        snprintf(name, sizeof name, "op_most[%d]", (int)(k - SUMS - 1));
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

static bool check_live(mg_run *run, const recipe *r)
{
    static event events[MOST_EVENTS];
    static int64_t want[MOST_EVENTS][MT_DEVICE_COUNT][SUMS];
    model *m = calloc(1, sizeof *m);
    MT_CHECK(m, "out of memory");
    for (int64_t n = 0; n < r->events; n++) {
        events[n] = next_event(m, r, mg_rng(run), n);
        model_note(m, &events[n]);
        memcpy(want[n], m->sums, sizeof want[n]);
    }
    free(m);
    mg_begin(run, "mt_account_live");
    mg_out(run, "live", MT_I64, MT_SHAPE(r->events, MT_DEVICE_COUNT * SUMS));
    describe_events(run, events, r->events);
    if (!mg_call(run))
        return false;
    const int64_t *got = mg_result(run, "live");
    for (int64_t n = 0; n < r->events; n++)
        for (int d = 0; d < MT_DEVICE_COUNT; d++)
            for (int64_t k = 0; k < SUMS; k++, got++)
                if (*got != want[n][d][k]) {
                    mg_fail(run, "event %" PRId64 ", %s: %s of %s is %" PRId64 ", expected %" PRId64, n,
                            text_of(&events[n]), name_of(k, "live"), mt_device_name((mt_device)d), *got, want[n][d][k]);
                    return false;
                }
    return true;
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
    for (int i = 0; i < CALLS && good; i++) {
        recipe r = recipes[((const live_case *)one_case)->about];
        r.events = i == 0 ? 12 : MOST_EVENTS; /* a short one is easier to follow */
        good = check_live(run, &r);
    }
}

/* ---- peaks ------------------------------------------------------------------------------------------------ */

static bool same_peak(mg_run *run, const int64_t *got, const int64_t *want, const char *when)
{
    for (int64_t k = 0; k < PEAK; k++)
        if (got[k] != want[k]) {
            mg_fail(run, "%s: %s is %" PRId64 ", expected %" PRId64, when, name_of(k, "peak"), got[k], want[k]);
            return false;
        }
    return true;
}

/* Sums whose total is `all`, split at random over uses and ops. */
static void split(mt_rng *rng, int64_t *sums, int64_t all)
{
    const event piece = { .bytes = 1 };
    memset(sums, 0, SUMS * sizeof *sums);
    for (int64_t left = all; left > 0;) {
        event e = piece;
        e.bytes = 1 + mt_rng_below(rng, mt_min(left, all / 4 + 1));
        e.use = mt_rng_below(rng, MT_USES);
        e.op = mt_rng_below(rng, OPS);
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

static bool check_peak(mg_run *run, peak_about about, int64_t N)
{
    mt_rng *rng = mg_rng(run);
    int64_t want[PEAK] = { 0 };
    char when[128];
    mg_begin(run, "mt_account_peak");
    mg_out(run, "peak", MT_I64, MT_SHAPE(N, PEAK));
    int64_t *live = mg_in(run, "live", MT_I64, MT_SHAPE(N, SUMS)), *op = mg_in(run, "op", MT_I64, MT_SHAPE(N));
    mg_i64(run, "ops", OPS);
    for (int64_t n = 0; n < N; n++) {
        split(rng, live + n * SUMS, height(about, rng, n, N));
        op[n] = mt_rng_below(rng, OPS - 1); /* the last one allocates nothing */
    }
    if (!mg_call(run))
        return false;
    const int64_t *got = mg_result(run, "peak");
    bool good = true;
    for (int64_t n = 0; n < N && good; n++) {
        model_peak(want, live + n * SUMS, op[n]);
        snprintf(when, sizeof when, "allocation %" PRId64 ", by op %d, after which %" PRId64 " bytes are live", n,
                 (int)op[n], live[n * SUMS]);
        good = same_peak(run, got + n * PEAK, want, when);
    }
    return good;
}

static bool check_note(mg_run *run)
{
    static event events[MOST_EVENTS];
    const recipe r = { MOST_EVENTS,  .addresses = 20, .unknown = 9, .unseen = 9,
                       .devices = 2, .least = 1,      .most = 9,    .other = true };
    model *m = calloc(1, sizeof *m);
    MT_CHECK(m, "out of memory");
    for (int64_t n = 0; n < r.events; n++) {
        events[n] = next_event(m, &r, mg_rng(run), n);
        model_note(m, &events[n]);
    }
    mg_begin(run, "mt_account_note");
    mg_out(run, "peak", MT_I64, MT_SHAPE(MT_DEVICE_COUNT, PEAK));
    describe_events(run, events, r.events);
    bool good = mg_call(run);
    for (int d = 0; d < MT_DEVICE_COUNT && good; d++) {
        char when[64];
        snprintf(when, sizeof when, "after %d events, of %s", MOST_EVENTS, mt_device_name((mt_device)d));
        good = same_peak(run, (const int64_t *)mg_result(run, "peak") + d * PEAK, m->peak[d], when);
    }
    free(m);
    return good;
}

void mg_10_peak(mg_run *run, const void *one_case)
{
    peak_about about = ((const peak_case *)one_case)->about;
    bool good = true;
    for (int i = 0; i < CALLS && good; i++)
        good = about == PEAK_STEP ? check_note(run) : check_peak(run, about, i == 0 ? 6 : 60);
}
