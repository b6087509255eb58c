/* offload.c -- which segments' activations wait on the host, and when their copies begin and are waited for. */
#include "memory/offload.h"

#include <stdlib.h>

/* ---- which ------------------------------------------------------------------------------------------ */

int64_t mt_offload_stall(const mt_offload_segment *segment, int64_t count, int64_t s, int64_t rate)
{
    int64_t stall = 0;
    /* LAB 10.12 BEGIN  What the neighbour's computing does not hide of the two copies.
     * Hint: each copy takes bytes * rate. A copy that ends before its neighbour's computing does costs nothing, and
     * does not make up for the other one. */
    if (s < count - 1) {
        int64_t copy = segment[s].bytes * rate;
        stall = mt_max(0, copy - segment[s + 1].forward) + mt_max(0, copy - segment[s + 1].backward);
    }
    /* LAB 10.12 END */
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
    /* LAB 10.12 BEGIN  The options of each block: option 0 stays, option 1 is offloaded.
     * Hint: what is decided about segment s counts from the moment at which the device is at segment s + 2. So a
     * block's work, whichever its option, is what the device has of the two segments behind it. FLOPs are the stall.
     * The last segment has one option. */
    block[0] = (mt_memory_block){ .options = 1 };
    block[0].option[0].work = bytes_of(segment, count, 0) + bytes_of(segment, count, 1);
    for (int64_t s = 0; s < count; s++) {
        int64_t work = bytes_of(segment, count, s + 1) + bytes_of(segment, count, s + 2);
        block[1 + s] = (mt_memory_block){ .options = s < count - 1 ? 2 : 1 };
        block[1 + s].option[0] = (mt_memory_option){ segment[s].bytes, work, 0 };
        block[1 + s].option[1] = (mt_memory_option){ 0, work, mt_offload_stall(segment, count, s, rate) };
    }
    /* LAB 10.12 END */
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
    /* LAB 10.13 BEGIN  This segment's copies begin, those of the one before end.
     * Hint: mt_bus_mark behind the last copy of a part, in part->mark, is what mt_bus_wait needs later. Only what is
     * waited for may be given away (mt_offload_give). */
    if (part->chosen) {
        char *to = part->host;
        for (int64_t i = 0; i < part->count; i++) {
            mt_bus_out(o->bus, to, part->storage[i]);
            to += part->storage[i]->bytes;
        }
        part->mark = mt_bus_mark(o->bus);
    }
    if (before && before->chosen) {
        mt_bus_wait(o->bus, before->mark);
        for (int64_t i = 0; i < before->count; i++)
            mt_offload_give(before->storage[i]);
        before->away = true;
    }
    /* LAB 10.13 END */
}

/* The copies back of a part that is away. */
static void fetch(mt_bus *bus, mt_offload_part *part)
{
    (void)bus, (void)part;
    /* LAB 10.13 BEGIN  New memory on the device, and what comes into it.
     * Hint: as mt_offload_leave, in the other direction (mt_offload_take). */
    const char *from = part->host;
    for (int64_t i = 0; i < part->count; i++) {
        mt_offload_take(part->storage[i]);
        mt_bus_in(bus, part->storage[i], from);
        from += part->storage[i]->bytes;
    }
    part->mark = mt_bus_mark(bus);
    part->away = false;
    /* LAB 10.13 END */
}

void mt_offload_arrive(mt_offload *o, int64_t s)
{
    mt_offload_part *part = &o->part[s];
    /* LAB 10.13 BEGIN  What backward reads now, and what it reads next.
     * Hint: a chosen part that is away is fetched now; in any case its last copies are waited for. Then the part before
     * it, if it is away. */
    if (part->chosen) {
        if (part->away)
            fetch(o->bus, part);
        mt_bus_wait(o->bus, part->mark);
    }
    if (s > 0 && part[-1].away)
        fetch(o->bus, part - 1);
    /* LAB 10.13 END */
}
