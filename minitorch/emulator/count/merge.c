/* merge.c -- merges the records of 32 lanes into the requests of their warp.
 *
 * The emulated lanes ran one after another; on a GPU they run in lockstep. Lanes whose next records agree execute one
 * instruction together. Where they differ, the lanes with the deepest call go first, and among those the ones with the
 * lowest pc; the others wait. Compilers place the join of a branch and the exit of a loop after it, so diverged lanes
 * reconverge as early as possible. Accesses alone would not be enough for this: basic blocks are recorded too, so that
 * a lane that leaves an inner loop waits at the next block instead of running ahead. (Pairing the n-th access of one
 * lane with the n-th of another would be simpler, but wrong: it counts too little for a nested divergent loop.)
 */
#include <string.h>
#include "emulator/count/tally.h"

typedef struct emu_streams {
    emu_record *next[EMU_WARP_SIZE], *end[EMU_WARP_SIZE]; /* of the lanes that have records, in lane order */
    int lane[EMU_WARP_SIZE];
    int count;
    uint32_t lanes;
} emu_streams;

/* Drops the streams that have ended. Returns false when one of them is of a paused lane: its next record is unknown. */
static bool drop_ended(emu_streams *s, uint32_t paused)
{
    int kept = 0;
    bool known = true;
    s->lanes = 0;
    for (int i = 0; i < s->count; i++) {
        if (s->next[i] == s->end[i]) {
            known &= !(paused >> s->lane[i] & 1);
            continue;
        }
        s->next[kept] = s->next[i];
        s->end[kept] = s->end[i];
        s->lane[kept] = s->lane[i];
        s->lanes |= 1u << s->lane[kept++];
    }
    s->count = kept;
    return known;
}

static void one_step(emu_tally *t, const emu_record *like, const uint64_t *addresses, int count, uint32_t lanes)
{
    if (emu_kind_of(like->what) == EMU_BLOCK)
        emu_parts_end(t, lanes);
    else if (EMU_UNLIKELY(emu_code_of(like->what) >= EMU_LOW_4))
        emu_part_request(t, like, addresses, count, lanes);
    else
        emu_request(t, like, addresses, count, lanes);
}

/* Merges as long as all streams agree. Returns whether they diverged before one ended. */
static bool merge_together(emu_tally *t, emu_streams *s)
{
    size_t steps = (size_t)(s->end[0] - s->next[0]), done = 0;
    for (int i = 1; i < s->count; i++)
        steps = steps < (size_t)(s->end[i] - s->next[i]) ? steps : (size_t)(s->end[i] - s->next[i]);
    for (; done < steps; done++) {
        const emu_record *first = s->next[0] + done;
        uint64_t addresses[EMU_WARP_SIZE], differs = 0;
        for (int i = 0; i < s->count; i++) {
            const emu_record *r = s->next[i] + done;
            differs |= (r->where ^ first->where) | (r->what ^ first->what) >> EMU_ADDRESS_BITS;
            addresses[i] = emu_address_of(r->what);
        }
        if (differs)
            break;
        one_step(t, first, addresses, s->count, s->lanes);
    }
    for (int i = 0; i < s->count; i++)
        s->next[i] += done;
    t->totals.branches += done > 0 && done < steps;
    return done < steps;
}

/* The smallest goes first: deepest call, lowest pc. */
static uint64_t turn_of(const emu_record *r)
{
    return (uint64_t)(511 - (r->what >> EMU_DEPTH_SHIFT)) << EMU_ADDRESS_BITS | emu_pc_of(r->where);
}

/* The lanes whose turn it is take one step. */
static void merge_first(emu_tally *t, emu_streams *s)
{
    int leader = 0;
    for (int i = 1; i < s->count; i++)
        if (turn_of(s->next[i]) < turn_of(s->next[leader]))
            leader = i;
    const emu_record *first = s->next[leader], *after = NULL;
    uint64_t addresses[EMU_WARP_SIZE];
    uint32_t lanes = 0;
    int count = 0;
    bool part = false;
    for (int i = 0; i < s->count; i++) {
        const emu_record *r = s->next[i];
        if (r->where != first->where || (r->what ^ first->what) >> EMU_ADDRESS_BITS)
            continue;
        addresses[count++] = emu_address_of(r->what);
        lanes |= 1u << s->lane[i];
        if (++s->next[i] == s->end[i])
            continue;
        part |= after && after->where != s->next[i]->where;
        after = s->next[i];
    }
    t->totals.branches += part;
    one_step(t, first, addresses, count, lanes);
}

void emu_merge(emu_tally *t, emu_warp *warp)
{
    emu_streams s = { .count = warp->size };
    for (int i = 0; i < warp->size; i++) {
        s.next[i] = warp->lanes[i].trace.begin;
        s.end[i] = warp->lanes[i].trace.next;
        s.lane[i] = i;
        warp->lanes[i].trace.next = warp->lanes[i].trace.begin;
    }
    uint32_t paused = warp->in[EMU_PAUSED];
    while (drop_ended(&s, paused) && s.count > 0) {
        bool parted = merge_together(t, &s);
        if (parted)
            merge_first(t, &s);
    }
    emu_parts_end(t, ~0u);
    for (int i = 0; i < s.count; i++) { /* records that wait for a paused lane stay in the buffer */
        size_t left = (size_t)(s.end[i] - s.next[i]);
        emu_thread *lane = &warp->lanes[s.lane[i]];
        memmove(lane->trace.begin, s.next[i], left * sizeof *s.next[i]);
        lane->trace.next = lane->trace.begin + left;
    }
}
