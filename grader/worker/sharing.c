/* sharing.c -- searches one call of a counted unit (traffic.c) for data races: two threads, of a parallel region or
 * started by the unit, access the same memory, one of them writes it, and nothing says which access is first.
 *
 * The accesses need not happen at the same time. Each is compared with the last ones to that memory by other threads
 * in this region since its last barrier, so that a race is found whichever thread is first, on any machine. An access
 * is before another if a release (the end of a critical section, an unlock, an atomic operation) is behind it and an
 * acquire before the other: each thread has a clock for every thread, as in FastTrack (Flanagan and Freund 2009). All
 * locks count as one: a race may be missed then, but none is invented. A thread's own stack is left out. */
#include "worker/sharing.h"

#include "core/base.h"
#include "worker/own_stack.h"

#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

enum {
    CHUNK = 1 << 9,
    CHUNKS = 1 << 11,
    PROBES = 32,
    MOST = MG_SHARE_THREADS,
    CLOCK = 1 << 24, /* a stamp is thread * CLOCK + its clock; 0: no access */
};

/* The last accesses to 4 bytes, or to one that was accessed alone. */
typedef struct entry {
    uintptr_t key;
    uint32_t epoch;
    uint32_t write, read[2]; /* stamps; a third thread's read takes the place of the second's */
} entry;

/* Neighbours in memory are neighbours here: a chunk is of memory that begins at a multiple of CHUNK entries. When all
 * PROBES places of a chunk are taken, it takes one, and entries of the other are lost: a race may be missed then, but
 * none invented. */
static entry table[CHUNKS][CHUNK];
static _Atomic uintptr_t owner[CHUNKS]; /* key / CHUNK; 0: nobody, and its memory was never touched */
static atomic_flag table_busy[CHUNKS], released_busy;
static atomic_int threads_seen;
static _Atomic uint32_t region; /* even outside of parallel regions */
static _Atomic uintptr_t found; /* where the first race was, as an address of the code */
static atomic_bool unknown;     /* a unit synchronises in a way that is not followed: no verdict */
static atomic_bool ordered;     /* there was a release */
static bool watching;

/* What the releases of this epoch have published. */
static uint32_t released[MOST], released_epoch;
static _Atomic uint32_t releases; /* so far */

static _Thread_local struct {
    int id;      /* number of the thread, from 1 on; 0: it has none yet */
    bool inside; /* this file runs: it calls memset, which is wrapped, too */
    int paused;
    mg_stack stack;
    uint32_t barriers; /* that this thread passed in this region */
    uint32_t region;
    uint32_t acquired;    /* so many of the releases */
    uint32_t clock[MOST]; /* of each thread, what is before this thread's next access; its own: that access */
} self;

/* A thread's stack may be where that of an earlier one was. */
static void know_self(void)
{
    self.id = atomic_fetch_add(&threads_seen, 1) + 1;
    self.stack = mg_own_stack();
    mg_share_forget(self.stack.from, (size_t)(self.stack.end - self.stack.from));
}

static void lock(atomic_flag *busy)
{
    while (atomic_flag_test_and_set_explicit(busy, memory_order_acquire))
        sched_yield();
    self.inside = true;
}

static void unlock(atomic_flag *busy)
{
    self.inside = false;
    atomic_flag_clear_explicit(busy, memory_order_release);
}

/* After a barrier all is before what follows: entries of other epochs do not count. */
static void begin_epoch(uint32_t now, uint32_t barriers)
{
    self.inside = true;
    self.region = now;
    self.barriers = barriers;
    memset(self.clock, 0, sizeof self.clock);
    self.clock[self.id] = 1;
    self.inside = false;
}

static uint32_t epoch(void)
{
    return self.region << 12 | self.barriers;
}

/* Whether this thread is in a region that is searched. */
static bool is_searched(void)
{
    uint32_t now = atomic_load(&region);
    if (!watching || now % 2 == 0 || self.inside || self.paused > 0)
        return false;
    if (!self.id)
        know_self();
    if (self.id >= MOST)
        atomic_store(&unknown, true);
    else if (self.region != now)
        begin_epoch(now, 0);
    return self.id < MOST;
}

void mg_share_acquire(void)
{
    uint32_t count = atomic_load(&releases); /* a thread may acquire again and again until something is released */
    if (!is_searched() || self.acquired == count)
        return;
    self.acquired = count;
    lock(&released_busy);
    for (int t = 0; t < MOST && released_epoch == epoch(); t++)
        self.clock[t] = released[t] > self.clock[t] ? released[t] : self.clock[t];
    unlock(&released_busy);
}

void mg_share_release(void)
{
    if (!is_searched())
        return;
    lock(&released_busy);
    atomic_store(&ordered, true);
    if (released_epoch != epoch())
        memset(released, 0, sizeof released);
    released_epoch = epoch();
    for (int t = 0; t < MOST; t++)
        released[t] = self.clock[t] > released[t] ? self.clock[t] : released[t];
    atomic_fetch_add(&releases, 1);
    unlock(&released_busy);
    if (++self.clock[self.id] >= CLOCK)
        atomic_store(&unknown, true);
}

void mg_share_tell(mg_told *told)
{
    told->epoch = 0; /* of no region */
    if (!is_searched())
        return;
    told->epoch = epoch();
    for (int t = 0; t < MOST; t++)
        told->clock[t] = self.clock[t];
    if (++self.clock[self.id] >= CLOCK)
        atomic_store(&unknown, true);
}

void mg_share_hear(const mg_told *told)
{
    for (int t = 0; is_searched() && t < MOST && told->epoch == epoch(); t++)
        self.clock[t] = told->clock[t] > self.clock[t] ? told->clock[t] : self.clock[t];
}

void mg_share_pause(void)
{
    self.paused++;
}

void mg_share_resume(void)
{
    self.paused--;
}

/* The chunk of this key; -1: it has none, and is not to get one. */
static int chunk_of(uintptr_t key, bool take)
{
    uintptr_t mine = key / CHUNK;
    unsigned first = (unsigned)((mine * 0x9e3779b97f4a7c15u) >> 53);
    for (unsigned i = 0; i < PROBES; i++) {
        unsigned at = (first + i) % CHUNKS;
        uintptr_t whose = atomic_load_explicit(&owner[at], memory_order_relaxed);
        if (whose == 0 && (!take || atomic_compare_exchange_strong(&owner[at], &whose, mine)))
            return take ? (int)at : -1;
        if (whose == mine)
            return (int)at;
    }
    if (take)
        atomic_store(&owner[first], mine);
    return take ? (int)first : -1;
}

static bool is_before(uint32_t stamp)
{
    return stamp % CLOCK <= self.clock[stamp / CLOCK] || stamp / CLOCK == (uint32_t)self.id;
}

/* Whether this access races with one before it. */
static bool note(uintptr_t key, bool write)
{
    int chunk = chunk_of(key, true);
    entry *e = &table[chunk][key % CHUNK];
    uint32_t stamp = (uint32_t)self.id * CLOCK + self.clock[self.id];
    lock(&table_busy[chunk]);
    if (e->key != key || e->epoch != epoch())
        *e = (entry){ .key = key, .epoch = epoch() };
    bool race = !is_before(e->write) || (write && !(is_before(e->read[0]) && is_before(e->read[1])));
    if (write)
        e->write = stamp;
    else
        e->read[!is_before(e->read[0])] = stamp;
    unlock(&table_busy[chunk]);
    return race;
}

void mg_share_touch(const void *address, size_t bytes, bool write, uintptr_t code)
{
    const char *at = address;
    if (!is_searched() || (at >= self.stack.from && at < self.stack.end) || atomic_load(&found))
        return;
    bool words = (uintptr_t)at % 4 == 0 && bytes % 4 == 0, race = false;
    for (size_t i = 0; i < bytes; i += words ? 4 : 1)
        race = note(words ? (uintptr_t)(at + i) >> 2 : (uintptr_t)(at + i) | 1ull << 63, write) || race;
    uintptr_t none = 0;
    if (race)
        atomic_compare_exchange_strong(&found, &none, code);
}

void mg_share_begin(void)
{
    atomic_fetch_add(&region, 2); /* what was noted before does not count */
    atomic_store(&found, 0);
    atomic_store(&unknown, false);
    atomic_store(&ordered, false);
    watching = true;
}

bool mg_share_ordered(void)
{
    return atomic_load(&ordered) || atomic_load(&unknown);
}

uintptr_t mg_share_end(void)
{
    watching = false;
    return atomic_load(&unknown) ? 0 : atomic_load(&found);
}

uint32_t mg_share_region(void)
{
    return watching ? atomic_load(&region) : 0;
}

/* By how much a region's beginning and end advance its number: one that runs on one thread may begin others. */
uint32_t mg_share_enter(unsigned threads)
{
    bool alone = (threads ? (int)threads : omp_get_max_threads()) == 1;
    uint32_t by = atomic_load(&region) % 2 == 0 ? 1 : alone || omp_in_parallel() ? 0 : 2;
    atomic_fetch_add(&region, by);
    return by;
}

void mg_share_leave(uint32_t entered)
{
    atomic_fetch_add(&region, entered);
}

/* A nested region of one thread has barriers of its own, which order nothing. */
void mg_share_barrier(void)
{
    if (is_searched() && omp_get_num_threads() > 1)
        begin_epoch(self.region, self.barriers + 1);
}

void mg_share_unknown(void)
{
    if (is_searched())
        atomic_store(&unknown, true);
}

/* Whole chunks at a time: most of a large range has none. */
static void forget(uintptr_t first, uintptr_t last)
{
    for (uintptr_t next, key = first; key <= last; key = next) {
        int chunk = chunk_of(key, false);
        next = (key / CHUNK + 1) * CHUNK;
        if (chunk < 0)
            continue;
        lock(&table_busy[chunk]);
        for (; key <= last && key < next; key++)
            if (table[chunk][key % CHUNK].key == key)
                table[chunk][key % CHUNK].epoch = 0;
        unlock(&table_busy[chunk]);
    }
}

void mg_share_forget(const void *from, size_t bytes)
{
    const uintptr_t first = (uintptr_t)from, last = first + bytes - 1, byte = 1ull << 63;
    if (!watching || bytes == 0)
        return;
    forget(first >> 2, last >> 2);
    forget(first | byte, last | byte);
}
