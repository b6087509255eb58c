/* offload.c -- which segments' activations wait on the host, and when their copies begin and are waited for. */
#include "memory/offload.h"

#include <stdlib.h>

/* ---- which ------------------------------------------------------------------------------------------ */

int64_t mt_offload_stall(const mt_offload_segment *segment, int64_t count, int64_t s, int64_t rate)
{
    int64_t stall = 0;
    /* TODO 10.12: What the neighbour's computing does not hide of the two copies.
     * Hint: each copy takes bytes * rate. A copy that ends before its neighbour's computing does costs nothing, and
     * does not make up for the other one. */
    MT_TODO("10.12"); /* delete this line when yours stands here */
    return stall;
}

/* Bytes of segment s; 0 behind the last. */
static int64_t bytes_of(const mt_offload_segment *segment, int64_t count, int64_t s)
{
    return s < count ? segment[s].bytes : 0;
}

/* block [1 + count] -- the choice as one of step 10.5: block 1 + s decides about segment s, and block 0, which has one
 * option that keeps nothing, is for what the first two segments need before anything can be away. */
static void fill_blocks(mt_memory_block *block, const mt_offload_segment *segment, int64_t count, int64_t rate)
{
    /* TODO 10.12: The options of each block: option 0 stays, option 1 is offloaded.
     * Hint: what is decided about segment s counts from the moment at which the device is at segment s + 2. So a
     * block's work, whichever its option, is what the device has of the two segments behind it. FLOPs are the stall.
     * The last segment has one option. */
    MT_TODO("10.12"); /* delete this line when yours stands here */
}

mt_status mt_offload_choose(mt_memory_choice *out, bool *chosen, const mt_offload_segment *segment, int64_t count,
                            int64_t budget, int64_t rate)
{
    mt_memory_block *block = mt_calloc(1 + count, sizeof *block);
    int *option = mt_calloc(1 + count, sizeof *option);
    fill_blocks(block, segment, count, rate);
    mt_status status = mt_memory_choose(out, option, block, 1 + count, budget);
    for (int64_t s = 0; status == MT_OK && s < count; s++)
        chosen[s] = option[1 + s] == 1;
    free(option);
    free(block);
    return status;
}

/* ---- when ------------------------------------------------------------------------------------------- */

void mt_offload_leave(mt_offload *o, int64_t s)
{
    mt_offload_part *part = &o->part[s], *before = s > 0 ? part - 1 : NULL;
    (void)part, (void)before;
    /* TODO 10.13: This segment's copies begin, those of the one before end.
     * Hint: mt_bus_mark behind the last copy of a part, in part->mark, is what mt_bus_wait needs later. Only what is
     * waited for may be given away (mt_offload_give). */
    MT_TODO("10.13"); /* delete this line when yours stands here */
}

/* The copies back of a part that is away. */
static void fetch(mt_bus *bus, mt_offload_part *part)
{
    (void)bus, (void)part;
    /* TODO 10.13: New memory on the device, and what comes into it.
     * Hint: as mt_offload_leave, in the other direction (mt_offload_take). */
    MT_TODO("10.13"); /* delete this line when yours stands here */
}

void mt_offload_arrive(mt_offload *o, int64_t s)
{
    mt_offload_part *part = &o->part[s];
    /* TODO 10.13: What backward reads now, and what it reads next.
     * Hint: a chosen part that is away is fetched now; in any case its last copies are waited for. Then the part before
     * it, if it is away. */
    MT_TODO("10.13"); /* delete this line when yours stands here */
}
