/* offload.h -- activations that wait outside of the device's memory: what forward keeps of chosen segments is copied to
 * the host while later segments compute, and comes back before backward needs it. No result changes by a bit.
 *
 *     forward    compute  [ 0 ][ 1 ][ 2 ][ 3 ]                  mt_offload_leave at the end of each segment
 *                bus           [0 out][1 out][2 out]
 *     backward   compute  [ 3 ][ 2 ][ 1 ][ 0 ]                  mt_offload_arrive at the beginning of each
 *                bus      [2 in][1 in][0 in]
 *
 *     mt_bus *bus;
 *     MT_TRY(mt_bus_open(&bus, MT_CUDA));
 *     mt_offload *o = mt_offload_new(bus, blocks->child, chosen, blocks->children);
 *     ...                                             // steps of training, in this thread
 *     mt_offload_free(o);
 *     mt_bus_free(bus);
 *
 * Segments run one after another, each on the result of the one before. The device has at most those activations that
 * stay, those of two neighbouring segments, and what it works with.
 *
 * Unit: solutions/10-memory/offload.c
 * Source: Rhu et al. 2016, arXiv:1602.08124 (vDNN); Ren et al. 2021, arXiv:2101.06840 (ZeRO-Offload). */
#pragma once

#include "memory/bus.h"
#include "memory/choose.h"
#include "nn/module.h"

MT_C_BEGIN

/* ---- which segments ------------------------------------------------------------------------------ */

typedef struct mt_offload_segment {
    int64_t bytes;             /* that forward keeps of it for its backward */
    int64_t forward, backward; /* FLOPs */
} mt_offload_segment;

/* mt_offload_stall -- for how long the device waits for the bus if segment s goes to the host and comes back, in FLOPs
 * that it could do in this time; `rate`: FLOPs that it does while one byte crosses the bus.
 *   - The copy out takes as long as the whole forward pass of segment s + 1 may: leaving that one, the device waits for
 *     the copy, since the memory is used again. The copy back has the backward pass of s + 1.
 *   - The device waits for none of the last segment: behind it there is nothing to hide a copy, so it stays, and has no
 *     stall: the answer is 0.
 *   0 <= s < count; sizes and rate >= 0, and their products below 2^62
 * Lab 10.12 */
int64_t mt_offload_stall(const mt_offload_segment *segment, int64_t count, int64_t s, int64_t rate);

/* mt_offload_choose -- which segments to offload, so that the device has at most `budget` bytes of activations and
 * waits for the bus as little as possible; of several such choices one that keeps the fewest bytes on the device.
 *   chosen [count]; the last is never chosen; bytes of all segments together, and all stalls together, below 2^62
 * What the device has while it is at segment s, forward or backward, are the activations of s and s - 1, and of those
 * before them that stay.
 *   out->peak: the most of this over all s, of this choice;  out->kept: bytes of the segments that stay;
 *   out->flops: the sum of the stalls
 * Fails: MT_ERR_ARGUMENT, with the least budget in the message: the budget is smaller; outputs are unchanged.
 * Lab 10.12 */
mt_status mt_offload_choose(mt_memory_choice *out, bool *chosen, const mt_offload_segment *segment, int64_t count,
                            int64_t budget, int64_t rate);

/* ---- when they move ------------------------------------------------------------------------------ */

/* One segment, from the end of its forward to the beginning of its backward. */
typedef struct mt_offload_part {
    bool chosen;
    mt_storage **storage; /* [count] what its backward reads, each once: activations, no parameters */
    int64_t count, bytes; /* bytes of all of them */
    char *host;           /* if it is chosen: memory of the host for so many bytes */
    int64_t mark;         /* the mark of the bus behind the last copy of this part; before its first copy any number */
    bool away;            /* the device's memory of its storages is freed, and they are not on their way back */

    /* Members of the given part. */
    struct mt_offload *owner;
    mt_module *module;
    mt_tensor *(*run)(mt_module *module, mt_tensor *x); /* the module's before; NULL: none */
    int64_t room, host_bytes;
} mt_offload_part;

typedef struct mt_offload {
    mt_bus *bus;
    mt_offload_part *part; /* [parts] in the order of forward */
    int64_t parts;
    mt_status status; /* of the first failure to get memory of the host: such a segment was not offloaded */
    struct mt_offload *next;
} mt_offload;

/* mt_offload_leave -- forward has computed segment s: if it is chosen, its copies to the host begin. Those of segment
 * s - 1, if that was chosen, must now be complete before anything else is computed; then its memory on the device is
 * freed, and it is away.
 *   The host memory of a part has its storages one after another, in an order of your choice.
 * Lab 10.13 */
void mt_offload_leave(mt_offload *o, int64_t s);

/* mt_offload_arrive -- backward is about to read the first storage of segment s: if s is chosen, its storages are
 * complete on the device before anything else is computed; copies back begin, if they have not begun before. Its
 * copies out are complete, too, if it was not away: backward frees the memory. Then, if segment s - 1 is away, its
 * copies back begin, and it is away no longer.
 * Lab 10.13 */
void mt_offload_arrive(mt_offload *o, int64_t s);

/* mt_offload_give, mt_offload_take -- free the device's memory of a storage; take new memory for it, uninitialised.
 * Given. */
void mt_offload_give(mt_storage *storage);
void mt_offload_take(mt_storage *storage);

/* mt_offload_new -- from the next forward on, in this thread, the modules are segments 0, 1, ... of which `chosen`
 * [count] are offloaded. Each keeps the run that it had (module.h) inside of it. The bus is lent.   Given.
 * If the module has another forward before the backward of its last one, all that this needs is on the device again.
 * A segment that has nothing to record, because all up to it is frozen, keeps no storage, and is not left.
 * What no backward reads lives until the next forward or mt_offload_free. */
mt_offload *mt_offload_new(mt_bus *bus, mt_module *const *module, const bool *chosen, int64_t count);
void mt_offload_free(mt_offload *o); /* the modules run as before; NULL is allowed */

MT_C_END
