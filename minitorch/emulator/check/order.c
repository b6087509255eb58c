/* order.c -- the order of accesses (happens-before): within a block, in one barrier interval, and between blocks.
 *
 * Two things order threads within an interval. (1) Lanes of a warp synchronise, in __syncwarp or a shuffle. (2) A
 * thread that executes a fence and then an atomic releases what it did before the fence; a thread that executes an
 * atomic and then a fence acquires what was released by then. Locks and flags work this way; lanes that synchronise
 * release and acquire for each other. The addresses of the
 * atomics are not compared, so data guarded by the wrong lock may go unreported; accesses that a lock orders are never
 * reported. Blocks are ordered by fences alone.
 */
#include <string.h>
#include "emulator/check/order.h"

#define MOST_MEETINGS 0xffffu

void emu_order_next_interval(emu_tracer *t)
{
    t->tag++;
    for (int w = 0; w < t->worker->warp_count; w++) {
        t->meetings[w] = t->all_met[w] = 0;
        if (t->partly_met[w])
            memset(t->met[w], 0, sizeof t->met[w]);
        t->partly_met[w] = false;
    }
    if (t->block_fenced)
        memset(t->fences, 0, (size_t)t->worker->thread_count * sizeof t->fences[0]);
    t->block_fenced = false;
    t->releases = 0;
}

/* A new stamp for what the warp's lanes do from now on. */
static uint32_t next_stamp(emu_tracer *t, int warp)
{
    if (t->meetings[warp] == MOST_MEETINGS)
        emu_order_next_interval(t); /* no stamps left: drops the earlier accesses, which may hide a race */
    return ++t->meetings[warp];
}

/* What one of them acquired, all have acquired. */
static void share_acquired(emu_tracer *t, const emu_warp *warp, uint32_t lanes)
{
    emu_fences *fences = &t->fences[warp->index * EMU_WARP_SIZE];
    uint32_t most = 0;
    for (int i = 0; i < EMU_WARP_SIZE; i++)
        if (lanes >> i & 1 && fences[i].acquired > most)
            most = fences[i].acquired;
    for (int i = 0; i < EMU_WARP_SIZE; i++)
        if (lanes >> i & 1)
            fences[i].acquired = most;
}

/* Lanes that synchronise are ordered after everything that each of them did or was ordered after. */
void emu_order_meet(emu_tracer *t, emu_warp *warp, uint32_t lanes)
{
    int w = warp->index;
    uint32_t now = next_stamp(t, w);
    if (t->block_fenced)
        share_acquired(t, warp, lanes & warp->alive);
    if ((lanes & warp->alive) == warp->alive) {
        t->all_met[w] = now;
        return;
    }
    t->partly_met[w] = true;
    uint32_t joined[EMU_WARP_SIZE] = { 0 };
    for (int i = 0; i < EMU_WARP_SIZE; i++)
        if (lanes >> i & 1)
            for (int j = 0; j < EMU_WARP_SIZE; j++)
                joined[j] = lanes >> j & 1 ? now : t->met[w][i][j] > joined[j] ? t->met[w][i][j] : joined[j];
    for (int i = 0; i < EMU_WARP_SIZE; i++)
        if (lanes >> i & 1)
            memcpy(t->met[w][i], joined, sizeof joined);
}

void emu_order_fence(emu_tracer *t)
{
    emu_fences *mine = &t->fences[emu_self->rank];
    mine->fenced = next_stamp(t, emu_self->warp->index);
    mine->acquired = mine->saw;
    t->block_fenced = true;
}

static uint32_t last_release(const emu_fences *f)
{
    return f->count ? f->release[f->count - 1].before : f->forgotten;
}

static void add_release(emu_fences *f, uint32_t before, uint32_t when)
{
    if (before <= last_release(f))
        return;
    if (f->count == EMU_RELEASES) {
        f->forgotten = f->release[0].before;
        memmove(f->release, f->release + 1, (EMU_RELEASES - 1) * sizeof f->release[0]);
        f->count--;
    }
    f->release[f->count].before = before;
    f->release[f->count++].when = when;
}

/* A lane releases what it did, and what other lanes did before they last synchronised with it. */
static void release(emu_tracer *t, const emu_thread *self)
{
    uint32_t warp = self->rank / EMU_WARP_SIZE, when = ++t->releases;
    emu_fences *first = &t->fences[warp * EMU_WARP_SIZE];
    for (uint32_t j = 0; j < (uint32_t)self->warp->size; j++) {
        uint32_t met = t->all_met[warp];
        if (t->partly_met[warp] && t->met[warp][self->lane][j] > met)
            met = t->met[warp][self->lane][j];
        add_release(&first[j], j == self->lane ? first[j].fenced : met, when);
    }
}

void emu_order_atomic(emu_tracer *t)
{
    if (!t->block_fenced)
        return;
    emu_fences *mine = &t->fences[emu_self->rank];
    if (mine->fenced > last_release(mine))
        release(t, emu_self);
    mine->saw = t->releases;
}

bool emu_order_after(const emu_tracer *t, uint32_t rank, uint32_t stamp)
{
    const emu_thread *self = emu_self;
    uint32_t warp = self->rank / EMU_WARP_SIZE;
    if (rank / EMU_WARP_SIZE == warp &&
        (t->all_met[warp] > stamp || t->met[warp][self->lane][rank % EMU_WARP_SIZE] > stamp))
        return true;
    const emu_fences *theirs = &t->fences[rank];
    int i = 0;
    while (i < theirs->count && theirs->release[i].before <= stamp)
        i++;
    return theirs->forgotten > stamp ||
           (i < theirs->count && theirs->release[i].when <= t->fences[self->rank].acquired);
}

uint32_t emu_order_unordered(const emu_tracer *t, uint32_t warp, uint32_t lanes, uint32_t stamp)
{
    bool same = warp == emu_self->rank / EMU_WARP_SIZE;
    if (same && t->all_met[warp] > stamp)
        return 0;
    if (!t->releases && !(same && t->partly_met[warp]))
        return lanes;
    uint32_t left = 0;
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(rest);
        if (!emu_order_after(t, warp * EMU_WARP_SIZE + lane, stamp))
            left |= 1u << lane;
    }
    return left;
}

/* ---- blocks ------------------------------------------------------------------------------------------------------ */

static const struct emu_turn *turn_at(const emu_tracer *t, uint32_t tag)
{
    size_t low = 0, high = t->turn_count;
    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        *(t->turns[middle].tag <= tag ? &low : &high) = middle;
    }
    return &t->turns[low];
}

uint64_t emu_order_block(const emu_tracer *t, uint32_t tag)
{
    return turn_at(t, tag)->block;
}

void emu_order_block_fence(emu_tracer *t)
{
    struct emu_turn *turn = &t->turns[t->turn_count - 1];
    t->fenced = true;
    turn->fenced = t->tag;
    turn->warp = (uint32_t)emu_self->warp->index;
    turn->fence = t->meetings[turn->warp];
}

bool emu_order_released(const emu_tracer *t, uint32_t tag, uint32_t warp, uint32_t stamp, bool flag)
{
    if (!t->fenced)
        return false;
    const struct emu_turn *turn = turn_at(t, tag);
    bool since = turn->fenced > tag || (turn->fenced == tag && (turn->warp != warp || turn->fence > stamp));
    return since || (flag && turn->fenced);
}
