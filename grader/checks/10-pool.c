/* 10-pool.c -- how the checks of steps 10.6 to 10.9 run: a script of allocations and frees, and after each of them
 * where the block lies and what the system was asked, compared with the rules of memory/pool.h.
 *
 * The rules leave one thing open: which of several free blocks of the same size is taken. So the model below does not
 * predict an address, it follows the blocks that the unit chose, and judges each choice. Rows: 10-memory.c. */
#include "checks/10-pool.h"
#include "checks/fill.h"

#include <stdlib.h>
#include <string.h>

/* ---- the rules ----------------------------------------------------------------------------------------- */

#define MIB ((int64_t)1 << 20)

static int64_t block_of(int64_t bytes)
{
    return (bytes + 511) / 512 * 512;
}

static bool is_small(int64_t bytes)
{
    return block_of(bytes) <= MIB;
}

static int64_t segment_of(int64_t bytes)
{
    int64_t block = block_of(bytes);
    if (block <= MIB)
        return 2 * MIB;
    return block < 10 * MIB ? 20 * MIB : (block + 2 * MIB - 1) / (2 * MIB) * (2 * MIB);
}

/* ---- sizes ----------------------------------------------------------------------------------------------- */

static int64_t any_request(mt_rng *rng)
{
    static const int64_t limits[] = { 1,
                                      511,
                                      512,
                                      513,
                                      1024,
                                      MIB,
                                      2 * MIB,
                                      10 * MIB,
                                      12 * MIB,
                                      20 * MIB,
                                      MIB - 512,
                                      (INT64_C(1) << 55) + 512,
                                      (INT64_C(1) << 62) - 512 };
    int64_t step = mt_rng_below(rng, 2) ? 1 : 512;
    if (mt_rng_below(rng, 2))
        return mt_max(1, limits[mt_rng_below(rng, MT_COUNT(limits))] + step * mg_pick(rng, -1, 1));
    return 1 + mt_rng_below(rng, (int64_t)1 << mg_pick(rng, 3, 40));
}

void mg_10_sizes(mg_run *run, const void *one_case)
{
    enum { N = 400 };
    static const char *const names[] = { "block", "kind", "segment" };
    sizes_about about = ((const sizes_case *)one_case)->about;
    mg_begin(run, "mt_pool_sizes_of");
    for (int i = 0; i < MT_COUNT(names); i++)
        mg_out(run, names[i], MT_I64, MT_SHAPE(N));
    int64_t *bytes = mg_in(run, "bytes", MT_I64, MT_SHAPE(N));
    for (int64_t i = 0; i < N; i++)
        bytes[i] = any_request(mg_rng(run));
    if (!mg_call(run))
        return;
    const int64_t *got = mg_result(run, names[about]);
    for (int64_t i = 0; i < N; i++) {
        int64_t want = about == SIZES_BLOCK  ? block_of(bytes[i])
                       : about == SIZES_KIND ? !is_small(bytes[i])
                                             : segment_of(bytes[i]);
        if (got[i] != want) {
            mg_fail(run, "%lld bytes: %s = %lld, expected %lld", (long long)bytes[i], names[about], (long long)got[i],
                    (long long)want);
            return;
        }
    }
}

/* ---- a script -------------------------------------------------------------------------------------------- */

int64_t mg_pool_add(pool_script *s, int64_t action, int64_t with)
{
    if (s->n == s->room) {
        s->room = mt_max(256, 2 * s->room);
        s->event = realloc(s->event, sizeof *s->event * (size_t)s->room);
        MT_CHECK(s->event, "out of memory");
    }
    s->event[s->n][0] = action;
    s->event[s->n][1] = with;
    return s->n++;
}

bool mg_pool_call(mg_run *run, const pool_script *s)
{
    static const char *const outputs[] = { "piece", "offset", "given", "calls", "used" };
    mg_begin(run, "mt_pool");
    for (int i = 0; i < MT_COUNT(outputs); i++)
        mg_out(run, outputs[i], MT_I64, MT_SHAPE(s->n));
    memcpy(mg_in(run, "script", MT_I64, MT_SHAPE(s->n, MG_POOL_COLUMNS)), s->event, sizeof *s->event * (size_t)s->n);
    mg_i64(run, "memory", s->memory);
    return mg_call(run);
}

/* ---- the model ------------------------------------------------------------------------------------------- */

/* A block of a piece that the system gave, in the order of their addresses. */
typedef struct extent {
    int64_t piece, offset, bytes, event; /* event -1: free */
} extent;

typedef struct model {
    const pool_script *script;
    const int64_t *piece, *offset, *given, *calls, *used; /* what came back */
    extent *extent;
    int64_t count, pieces; /* extents; pieces given so far */
    bool *small;           /* of each piece */
} model;

static bool is_free(const extent *e)
{
    return e->event < 0;
}

static void insert(model *m, int64_t at, extent e)
{
    memmove(m->extent + at + 1, m->extent + at, sizeof e * (size_t)(m->count - at));
    m->extent[at] = e;
    m->count++;
}

static void delete(model *m, int64_t at)
{
    m->count--;
    memmove(m->extent + at, m->extent + at + 1, sizeof *m->extent * (size_t)(m->count - at));
}

static int64_t bytes_of(const model *m, bool used)
{
    int64_t sum = 0;
    for (int64_t i = 0; i < m->count; i++)
        sum += used && is_free(&m->extent[i]) ? 0 : m->extent[i].bytes;
    return sum;
}

static int64_t bytes_given(const model *m)
{
    return bytes_of(m, false);
}

static bool is_whole(const model *m, int64_t at)
{
    return is_free(&m->extent[at]) && m->extent[at].offset == 0 &&
           (at + 1 == m->count || m->extent[at + 1].piece != m->extent[at].piece);
}

/* Returns how many pieces went back. */
static int64_t trim(model *m)
{
    int64_t gone = 0;
    for (int64_t i = m->count - 1; i >= 0; i--)
        if (is_whole(m, i)) {
            delete (m, i);
            gone++;
        }
    return gone;
}

static void merge(model *m, int64_t at)
{
    extent *e = m->extent;
    e[at].event = -1;
    if (at + 1 < m->count && e[at + 1].piece == e[at].piece && is_free(&e[at + 1])) {
        e[at].bytes += e[at + 1].bytes;
        delete (m, at + 1);
    }
    if (at > 0 && e[at - 1].piece == e[at].piece && is_free(&e[at - 1])) {
        e[at - 1].bytes += e[at].bytes;
        delete (m, at);
    }
}

static void use(model *m, int64_t at, int64_t bytes, int64_t event)
{
    extent *e = &m->extent[at], rest = *e;
    e->event = event;
    rest.offset += bytes;
    rest.bytes -= bytes;
    if (rest.bytes > (m->small[e->piece] ? 0 : MIB)) {
        e->bytes = bytes;
        insert(m, at + 1, rest);
    }
}

static int64_t best(const model *m, int64_t bytes)
{
    int64_t at = -1;
    for (int64_t i = 0; i < m->count; i++) {
        const extent *e = &m->extent[i];
        if (is_free(e) && m->small[e->piece] == is_small(bytes) && e->bytes >= block_of(bytes) &&
            (at < 0 || e->bytes < m->extent[at].bytes))
            at = i;
    }
    return at;
}

static int64_t find(const model *m, int64_t piece, int64_t offset)
{
    for (int64_t i = 0; i < m->count; i++)
        if (m->extent[i].piece == piece && m->extent[i].offset <= offset &&
            offset < m->extent[i].offset + m->extent[i].bytes)
            return i;
    return -1;
}

/* ---- judging ----------------------------------------------------------------------------------------------- */

#define LL(x) ((long long)(x))

/* Where nothing was freed yet, only two functions can be wrong. */
static bool only_allocated(const model *m, int64_t i)
{
    bool only = true;
    for (int64_t j = 0; j < i; j++)
        only &= m->script->event[j][0] == MG_POOL_ALLOC || m->script->event[j][0] == MG_POOL_RESERVE;
    return only;
}

/* The request at event i should have got this block; what is wrong if it did not. */
static void say_lost(mg_run *run, const model *m, int64_t i, const extent *e)
{
    if (!only_allocated(m, i))
        return;
    if (e->offset == 0)
        mg_hint(run, "mt_pool_best_fit has to find it: look at all blocks of the list mt_pool_list(bytes), and of the "
                     "next lists if none suits");
    else
        mg_hint(run,
                "it is the rest of a block: mt_pool_split has to enter it in its list, where mt_pool_best_fit has to "
                "find it");
}

/* A free block suits: the system must not be asked, and one of that size is to be taken. */
static bool judge_fit(mg_run *run, model *m, int64_t i, int64_t fit)
{
    int64_t bytes = m->script->event[i][1], smallest = m->extent[fit].bytes, at = find(m, m->piece[i], m->offset[i]);
    bool asked = m->calls[i] != (i ? m->calls[i - 1] : 0);
    bool begins = at >= 0 && is_free(&m->extent[at]) && m->extent[at].offset == m->offset[i];
    if (!asked && begins && m->small[m->piece[i]] == is_small(bytes) && m->extent[at].bytes == smallest)
        return use(m, at, block_of(bytes), i), true;
    say_lost(run, m, i, &m->extent[fit]);
    if (asked)
        mg_fail(run, "event %lld, %lld bytes: the system was asked, although a free block has %lld bytes", LL(i),
                LL(bytes), LL(smallest));
    else if (m->piece[i] < 0)
        mg_fail(run, "event %lld, %lld bytes: got NULL or an address outside of all segments; a free block has %lld",
                LL(i), LL(bytes), LL(smallest));
    else if (!begins)
        mg_fail(run, "event %lld, %lld bytes: lies at byte %lld of segment %lld, where no free block begins", LL(i),
                LL(bytes), LL(m->offset[i]), LL(m->piece[i]));
    else if (m->small[m->piece[i]] != is_small(bytes))
        mg_fail(run, "event %lld: %lld bytes lie in a segment for %s blocks", LL(i), LL(bytes),
                is_small(bytes) ? "large" : "small");
    else
        mg_fail(run, "event %lld, %lld bytes: taken from a free block of %lld bytes; the smallest that suits has %lld",
                LL(i), LL(bytes), LL(m->extent[at].bytes), LL(smallest));
    return false;
}

/* None suits: a new segment of the right size, after a trim if need be, or NULL. */
static bool judge_grown(mg_run *run, model *m, int64_t i)
{
    int64_t bytes = m->script->event[i][1], segment = segment_of(bytes),
            calls = m->calls[i] - (i ? m->calls[i - 1] : 0);
    bool refused = bytes_given(m) + segment > m->script->memory;
    int64_t gone = refused ? trim(m) : 0, given = bytes_given(m);
    bool wanted = given + segment <= m->script->memory;
    if (calls == 0)
        mg_fail(run, "event %lld: %lld bytes suit no free block, and the system was not asked", LL(i), LL(bytes));
    else if (calls > 1 + refused || (calls == 1 && refused && wanted))
        mg_fail(run, "event %lld, %lld bytes: the system was asked %lld times, expected %d", LL(i), LL(bytes),
                LL(calls), 1 + refused);
    else if (!wanted && m->piece[i] >= 0)
        mg_fail(run, "event %lld: %lld bytes lie at byte %lld of segment %lld, but there is no memory for them", LL(i),
                LL(bytes), LL(m->offset[i]), LL(m->piece[i]));
    else if (m->given[i] != given + wanted * segment)
        mg_fail(run, "event %lld, %lld bytes%s: segments have %lld bytes, expected %lld%s", LL(i), LL(bytes),
                refused ? ", refused at first" : "", LL(m->given[i]), LL(given + wanted * segment),
                gone ? ", without those that had no used block" : "");
    else if (wanted && (m->piece[i] != m->pieces || m->offset[i] != 0))
        mg_fail(run, "event %lld: %lld bytes lie at byte %lld of segment %lld, expected the new segment %lld", LL(i),
                LL(bytes), LL(m->offset[i]), LL(m->piece[i]), LL(m->pieces));
    else {
        if (wanted) {
            m->small[m->pieces] = is_small(bytes);
            insert(m, m->count, (extent){ m->pieces++, 0, segment, -1 });
            use(m, m->count - 1, block_of(bytes), i);
        }
        return true;
    }
    return false;
}

static bool judge_trim(mg_run *run, model *m, int64_t i)
{
    int64_t before = bytes_given(m);
    trim(m);
    if (m->given[i] == bytes_given(m) && m->offset[i] == before - bytes_given(m))
        return true;
    return mg_fail(run,
                   "event %lld, a trim: segments have %lld bytes after it, expected %lld; returned %lld, expected %lld",
                   LL(i), LL(m->given[i]), LL(bytes_given(m)), LL(m->offset[i]), LL(before - bytes_given(m)));
}

static bool judge_alloc(mg_run *run, model *m, int64_t i)
{
    int64_t bytes = m->script->event[i][1], fit = best(m, bytes), used = bytes_of(m, true);
    if (!(fit >= 0 ? judge_fit(run, m, i, fit) : judge_grown(run, m, i)))
        return false;
    if (m->used[i] == bytes_of(m, true))
        return true;
    if (only_allocated(m, i))
        mg_hint(run, "mt_pool_split cuts off the rest: all of it in a small segment, above 1 MiB in a large one");
    return mg_fail(run, "event %lld, %lld bytes: its block has %lld bytes, expected %lld", LL(i), LL(bytes),
                   LL(m->used[i] - used), LL(bytes_of(m, true) - used));
}

static bool judge_event(mg_run *run, model *m, int64_t i)
{
    int64_t action = m->script->event[i][0], with = m->script->event[i][1];
    if (action == MG_POOL_EMPTY)
        return judge_trim(run, m, i);
    if (action == MG_POOL_ALLOC)
        return judge_alloc(run, m, i);
    if (action == MG_POOL_RESERVE) {
        m->small[m->pieces] = false;
        insert(m, m->count, (extent){ m->pieces++, 0, (with + 2 * MIB - 1) / (2 * MIB) * (2 * MIB), -1 });
        return true;
    }
    if (m->piece[with] >= 0)
        merge(m, find(m, m->piece[with], m->offset[with]));
    if (m->given[i] == bytes_given(m))
        return true;
    return mg_fail(run, "event %lld, a free: segments have %lld bytes, expected %lld", LL(i), LL(m->given[i]),
                   LL(bytes_given(m)));
}

bool mg_pool_play(mg_run *run, const pool_script *s)
{
    bool good = mg_pool_call(run, s);
    if (!good)
        return false;
    model m = { .script = s,
                .piece = mg_result(run, "piece"),
                .offset = mg_result(run, "offset"),
                .given = mg_result(run, "given"),
                .calls = mg_result(run, "calls"),
                .used = mg_result(run, "used"),
                .extent = malloc(sizeof(extent) * (size_t)(2 * s->n + 1)),
                .small = malloc((size_t)s->n + 1) };
    for (int64_t i = 0; i < s->n && good; i++)
        good = judge_event(run, &m, i);
    free(m.extent);
    free(m.small);
    return good;
}
