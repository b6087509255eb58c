/* collective.c -- warp functions: shuffles, votes, matches, reductions, __syncwarp.
 *
 * Each synchronises the lanes of a mask. A lane waits until all lanes of its mask that have not returned wait with the
 * same mask; the last one to arrive computes the results of all lanes and continues without a switch.
 */
#include <stdio.h>
#include <string.h>
#include "emulator/run/hooks.h"
#include "emulator/run/sched.h"

#define FULL_MASK 0xffffffffu
#define UNDEFINED (~(uint64_t)0) /* a shuffle's result for a lane that takes no part: NaN in every float type */
#define HERE      ((uintptr_t)__builtin_return_address(0))

enum { TOGETHER = CUEMU_REDUCE_XOR + 1 }; /* cuemu_warp_together */

static const char *const op_name[] = {
    [CUEMU_SYNCWARP] = "__syncwarp",
    [CUEMU_SHFL] = "__shfl_sync",
    [CUEMU_SHFL_UP] = "__shfl_up_sync",
    [CUEMU_SHFL_DOWN] = "__shfl_down_sync",
    [CUEMU_SHFL_XOR] = "__shfl_xor_sync",
    [CUEMU_BALLOT] = "a vote (__ballot_sync, __any_sync, __all_sync)",
    [CUEMU_MATCH_ANY] = "__match_any_sync",
    [CUEMU_MATCH_ALL] = "__match_all_sync",
    [CUEMU_REDUCE_ADD] = "__reduce_add_sync",
    [CUEMU_REDUCE_MIN] = "__reduce_min_sync",
    [CUEMU_REDUCE_MAX] = "__reduce_max_sync",
    [CUEMU_REDUCE_MIN_S] = "__reduce_min_sync",
    [CUEMU_REDUCE_MAX_S] = "__reduce_max_sync",
    [CUEMU_REDUCE_AND] = "__reduce_and_sync",
    [CUEMU_REDUCE_OR] = "__reduce_or_sync",
    [CUEMU_REDUCE_XOR] = "__reduce_xor_sync",
    [TOGETHER] = "a matrix function",
};

/* "0-15, 20" */
static const char *lane_list(uint32_t lanes, char text[128])
{
    size_t used = 0;
    text[0] = '\0';
    for (int first = 0; first < EMU_WARP_SIZE; first++) {
        if (!(lanes >> first & 1))
            continue;
        int last = first;
        while (last + 1 < EMU_WARP_SIZE && lanes >> (last + 1) & 1)
            last++;
        used += (size_t)snprintf(text + used, 128 - used, first == last ? "%s%d" : "%s%d-%d", used ? ", " : "", first,
                                 last);
        first = last;
    }
    return text;
}

/* ---- results ----------------------------------------------------------------------------------------------------- */

static int source_lane(const emu_thread *self)
{
    int width = self->wait.width, lane = self->lane, arg = self->wait.arg, base = lane & ~(width - 1);
    switch (self->wait.op) {
    case CUEMU_SHFL:
        return base + (arg & (width - 1));
    case CUEMU_SHFL_UP:
        return lane - arg >= base ? lane - arg : lane;
    case CUEMU_SHFL_DOWN:
        return lane + arg < base + width ? lane + arg : lane;
    default:
        return (lane ^ arg) < base + width ? lane ^ arg : lane;
    }
}

static uint64_t shuffled(emu_thread *self, uint32_t lanes)
{
    int from = source_lane(self);
    const emu_warp *warp = self->warp;
    if (EMU_LIKELY(lanes >> from & 1))
        return warp->lanes[from].wait.value;
    bool returned = from < warp->size && !(warp->alive >> from & 1);
    const char *why = from >= warp->size ? "the block has no such thread"
                      : returned         ? "it has returned"
                                         : "it is not in the mask";
    /* In a sum by __shfl_down_sync only the first lane's result counts: the last lanes may read what is not there. */
    bool unused = self->wait.op == CUEMU_SHFL_DOWN && !returned && self->lane != __builtin_ctz(lanes);
    (unused ? emu_warning_of : emu_error_of)(
        self, EMU_SYNC, (emu_site){ .pc = self->wait.pc },
        "%s: lane %d reads lane %d, which does not take part (%s): the value is undefined\n"
        "hint: a lane may be read only if it executes the shuffle, too: call it where no branch or return depends on "
        "the lane, or choose mask and width so that all lanes that are read are among those that call",
        op_name[self->wait.op], self->lane, from, why);
    return UNDEFINED;
}

static uint32_t reduce2(int op, uint32_t a, uint32_t b)
{
    switch (op) {
    case CUEMU_REDUCE_ADD:
        return a + b;
    case CUEMU_REDUCE_MIN:
        return a < b ? a : b;
    case CUEMU_REDUCE_MAX:
        return a > b ? a : b;
    case CUEMU_REDUCE_MIN_S:
        return (int32_t)a < (int32_t)b ? a : b;
    case CUEMU_REDUCE_MAX_S:
        return (int32_t)a > (int32_t)b ? a : b;
    case CUEMU_REDUCE_AND:
        return a & b;
    case CUEMU_REDUCE_OR:
        return a | b;
    default:
        return a ^ b;
    }
}

#define FOR_LANES(l, lanes)                                                                      \
    for (uint32_t rest_##l = (lanes), l; rest_##l && (l = (uint32_t)__builtin_ctz(rest_##l), 1); \
         rest_##l &= rest_##l - 1)

/* The result that all lanes share: votes and reductions. */
static uint64_t common_result(const emu_warp *warp, uint32_t lanes, int op)
{
    const emu_thread *first = &warp->lanes[__builtin_ctz(lanes)];
    uint32_t ballot = 0, same = 0, reduced = (uint32_t)first->wait.value;
    FOR_LANES(l, lanes)
    {
        uint64_t value = warp->lanes[l].wait.value;
        ballot |= (uint32_t)(value != 0) << l;
        same |= (uint32_t)(value == first->wait.value) << l;
        if (&warp->lanes[l] != first)
            reduced = reduce2(op, reduced, (uint32_t)value);
    }
    return op == CUEMU_BALLOT ? ballot : op == CUEMU_MATCH_ALL ? (same == lanes ? lanes : 0) : reduced;
}

static uint32_t matching(const emu_warp *warp, uint32_t lanes, uint64_t value)
{
    uint32_t same = 0;
    FOR_LANES(l, lanes)
    {
        same |= (uint32_t)(warp->lanes[l].wait.value == value) << l;
    }
    return same;
}

static void combine_together(emu_warp *warp, uint32_t lanes)
{
    void *brought[EMU_WARP_SIZE] = { 0 };
    FOR_LANES(l, lanes)
    {
        brought[l] = (void *)(uintptr_t)warp->lanes[l].wait.value;
    }
    if (warp->lanes[__builtin_ctz(lanes)].wait.combine)
        warp->lanes[__builtin_ctz(lanes)].wait.combine(brought);
}

static void compute(emu_warp *warp, uint32_t lanes, int op)
{
    if (op == CUEMU_SYNCWARP)
        return;
    if (op == TOGETHER) {
        combine_together(warp, lanes);
    } else if (op >= CUEMU_SHFL && op <= CUEMU_SHFL_XOR) {
        FOR_LANES(l, lanes)
        {
            warp->lanes[l].wait.result = shuffled(&warp->lanes[l], lanes);
        }
    } else if (op == CUEMU_MATCH_ANY) {
        FOR_LANES(l, lanes)
        {
            warp->lanes[l].wait.result = matching(warp, lanes, warp->lanes[l].wait.value);
        }
    } else {
        uint64_t result = common_result(warp, lanes, op);
        FOR_LANES(l, lanes)
        {
            warp->lanes[l].wait.result = result;
        }
    }
}

/* ---- synchronisation of lanes ------------------------------------------------------------------------------------ */

/* Are all live lanes of `mask` among the waiting lanes `there`, each with the same mask? */
static bool complete(const emu_warp *warp, uint32_t mask, uint32_t there)
{
    uint32_t needed = mask & warp->alive;
    if ((there & needed) != needed)
        return false;
    FOR_LANES(l, needed)
    {
        if (warp->lanes[l].wait.mask != mask)
            return false;
    }
    return true;
}

/* Do two lanes execute one matrix function? The compiler may have copied its call: then the lines are equal. */
static bool same_call(const emu_thread *a, const emu_thread *b)
{
    const char *file[2];
    int line[2];
    return a->wait.pc == b->wait.pc ||
           (a->wait.combine == b->wait.combine && emu_source(a->wait.pc, &file[0], &line[0]) &&
            emu_source(b->wait.pc, &file[1], &line[1]) && line[0] == line[1] && !strcmp(file[0], file[1]));
}

/* Matrix functions are `aligned`: all lanes execute the same one. */
static bool check_matrix_function(emu_warp *warp)
{
    const emu_thread *first = &warp->lanes[0];
    for (int l = 1; l < EMU_WARP_SIZE; l++) {
        const emu_thread *other = &warp->lanes[l];
        const char *file = "?";
        int line = 0;
        if (EMU_LIKELY(same_call(first, other)))
            continue;
        emu_source(first->wait.pc, &file, &line);
        emu_error_of(other, EMU_SYNC, (emu_site){ .pc = other->wait.pc },
                     "lanes of one warp execute different matrix instructions: lane 0 at %s:%d, lane %d here\n"
                     "hint: mma, ldmatrix and wmma are for the whole warp: no branch may depend on the lane",
                     file, line, other->lane);
        emu_kill_block(warp->worker, cudaErrorLaunchFailure);
        return false;
    }
    return true;
}

static void finish(emu_warp *warp, uint32_t lanes)
{
    const emu_thread *first = &warp->lanes[__builtin_ctz(lanes)];
    FOR_LANES(l, lanes)
    {
        const emu_thread *other = &warp->lanes[l];
        if (EMU_LIKELY(other->wait.op == first->wait.op))
            continue;
        emu_error_of(other, EMU_SYNC, (emu_site){ .pc = other->wait.pc },
                     "lanes of one warp meet in different functions: lane %d in %s, lane %d in %s", first->lane,
                     op_name[first->wait.op], other->lane, op_name[other->wait.op]);
        emu_kill_block(warp->worker, cudaErrorLaunchFailure);
        return;
    }
    if (first->wait.op == TOGETHER && !check_matrix_function(warp))
        return;
    compute(warp, lanes, first->wait.op);
    if (first->wait.op != TOGETHER || first->wait.combine)
        EMU_CALL(meet, warp, lanes);
    warp->in[EMU_READY] |= lanes & warp->in[EMU_AT_WARP];
    warp->in[EMU_AT_WARP] &= ~lanes;
}

static uint64_t meet(emu_thread *self, int op, uint32_t mask)
{
    emu_warp *warp = self->warp;
    uint32_t me = 1u << self->lane;
    self->wait.op = op;
    self->wait.mask = mask;
    if (EMU_UNLIKELY(!(mask & me))) {
        emu_error(EMU_SYNC, (emu_site){ .pc = self->wait.pc },
                  "%s: lane %d calls with mask 0x%08x, which does not contain it", op_name[op], self->lane, mask);
        emu_kill(cudaErrorLaunchFailure);
    }
    if (complete(warp, mask, warp->in[EMU_AT_WARP] | me)) {
        finish(warp, mask & warp->alive);
        if (EMU_UNLIKELY(warp->worker->killed))
            emu_leave();
    } else {
        emu_wait(self, EMU_AT_WARP);
    }
    return self->wait.result;
}

bool emu_complete_meetings(emu_warp *warp)
{
    uint32_t before = warp->in[EMU_AT_WARP];
    for (uint32_t left = before; left;) {
        uint32_t mask = warp->lanes[__builtin_ctz(left)].wait.mask;
        if (complete(warp, mask, warp->in[EMU_AT_WARP]))
            finish(warp, mask & warp->alive);
        left &= ~mask;
    }
    return warp->in[EMU_AT_WARP] != before;
}

uint64_t cuemu_warp(enum cuemu_warp_op op, uint32_t mask, uint64_t value, int arg, int width)
{
    emu_thread *self = emu_device_only(op_name[op], HERE);
    self->wait.pc = HERE;
    self->wait.value = value;
    self->wait.arg = arg;
    self->wait.width = width;
    if (EMU_UNLIKELY(width < 1 || width > EMU_WARP_SIZE || (width & (width - 1)))) {
        emu_error(EMU_SYNC, EMU_HERE, "%s: width %d is not 1, 2, 4, 8, 16 or 32", op_name[op], width);
        emu_kill(cudaErrorLaunchFailure);
    }
    return meet(self, op, mask);
}

void emu_together(void (*combine)(void *lanes[32]), void *mine, uintptr_t pc)
{
    emu_thread *self = emu_self;
    self->wait.pc = pc;
    self->wait.value = (uintptr_t)mine;
    self->wait.combine = combine;
    if (EMU_UNLIKELY(self->warp->alive != FULL_MASK)) {
        emu_error(EMU_SYNC, (emu_site){ .pc = pc },
                  "a matrix function needs all 32 lanes of the warp, but only %d are left",
                  __builtin_popcount(self->warp->alive));
        emu_kill(cudaErrorLaunchFailure);
    }
    meet(self, TOGETHER, FULL_MASK);
}

void cuemu_warp_together(void (*combine)(void *lanes[32]), void *mine)
{
    emu_device_only("a matrix function", HERE);
    emu_together(combine, mine, HERE);
}

/* ---- __activemask: the lanes at the same call when no lane of the warp can continue ------------------------------ */

uint32_t cuemu_active_mask(void)
{
    emu_thread *self = emu_device_only("__activemask", HERE);
    self->wait.pc = HERE;
    emu_wait(self, EMU_AT_ACTIVE);
    return (uint32_t)self->wait.result;
}

bool emu_complete_active(emu_warp *warp)
{
    uint32_t waiting = warp->in[EMU_AT_ACTIVE];
    FOR_LANES(l, waiting)
    {
        uint32_t together = 0;
        FOR_LANES(other, waiting)
        {
            together |= (uint32_t)(warp->lanes[other].wait.pc == warp->lanes[l].wait.pc) << other;
        }
        warp->lanes[l].wait.result = together;
    }
    warp->in[EMU_AT_ACTIVE] = 0;
    warp->in[EMU_READY] |= waiting;
    return waiting != 0;
}

/* ---- deadlock ---------------------------------------------------------------------------------------------------- */

/* "lanes 16-31 wait in __syncthreads() at line 40": the lanes that `stuck` waits for. */
static void describe_missing(const emu_warp *warp, const emu_thread *stuck, char *text, size_t size)
{
    char list[128];
    uint32_t missing = stuck->wait.mask & warp->alive;
    FOR_LANES(l, warp->in[EMU_AT_WARP])
    {
        if (warp->lanes[l].wait.mask == stuck->wait.mask)
            missing &= ~(1u << l);
    }
    const emu_thread *first = &warp->lanes[__builtin_ctz(missing)];
    if (warp->in[EMU_AT_BARRIER] >> first->lane & 1) {
        snprintf(text, size, "lanes %s wait in __syncthreads() at line %d",
                 lane_list(missing & warp->in[EMU_AT_BARRIER], list), first->wait.line);
    } else {
        const char *file = "";
        int line = 0;
        emu_source(first->wait.pc, &file, &line);
        snprintf(text, size, "lanes %s wait in %s with mask 0x%08x at line %d",
                 lane_list(missing & warp->in[EMU_AT_WARP], list), op_name[first->wait.op], first->wait.mask, line);
    }
}

void emu_report_stuck(emu_worker *worker)
{
    for (int i = 0; i < worker->warp_count; i++) {
        const emu_warp *warp = &worker->warps[i];
        if (!warp->in[EMU_AT_WARP])
            continue;
        const emu_thread *stuck = &warp->lanes[__builtin_ctz(warp->in[EMU_AT_WARP])];
        char list[128], missing[256];
        uint32_t waiting = 0;
        FOR_LANES(l, warp->in[EMU_AT_WARP])
        {
            waiting |= (uint32_t)(warp->lanes[l].wait.mask == stuck->wait.mask) << l;
        }
        describe_missing(warp, stuck, missing, sizeof missing);
        emu_error_of(stuck, EMU_SYNC, (emu_site){ .pc = stuck->wait.pc },
                     "deadlock: lanes %s wait in %s with mask 0x%08x, but %s", lane_list(waiting, list),
                     op_name[stuck->wait.op], stuck->wait.mask, missing);
        break;
    }
    emu_kill_block(worker, cudaErrorLaunchFailure);
}
