/* parts.c -- joins a warp's accesses to the members of vectors: v.x, v.y, v.z and v.w are one access of 16 bytes.
 *
 * nvcc makes one access of them if they are in one basic block, because a float4 is aligned to 16 bytes, whatever the
 * source looks like. The translator gives the hooks of members names of their own (translate/members.c); their records
 * say which half of the vector they are of, and the requests of a block wait here for their other half. That all lanes
 * have theirs beside it tells a float4 from a struct of three floats. */
#include <stdlib.h>
#include <string.h>
#include "emulator/count/tally.h"

enum { MOST = 16 }; /* requests that wait */

/* A request for members. */
typedef struct emu_part {
    emu_record like;
    int size;                       /* of all members that it has so far */
    enum { LOW, HIGH, WHOLE } half; /* WHOLE: members of 8 bytes */
    int count;
    uint32_t lanes;
    uint64_t address[EMU_WARP_SIZE]; /* [count] */
} emu_part;

typedef struct emu_parts {
    int count;
    emu_part at[MOST];
} emu_parts;

emu_parts *emu_parts_new(void)
{
    return calloc(1, sizeof(emu_parts));
}

/* Half, size and kind, space, depth and path agree, and the same lanes take part. */
static bool alike(const emu_part *a, const emu_part *b)
{
    return a->size == b->size && a->lanes == b->lanes &&
           a->like.what >> EMU_KIND_SHIFT == b->like.what >> EMU_KIND_SHIFT &&
           a->like.where >> EMU_ADDRESS_BITS == b->like.where >> EMU_ADDRESS_BITS;
}

/* Whether the two are the halves of aligned pieces of twice the size, in every lane. */
static bool are_halves(const emu_part *a, const emu_part *b)
{
    uint64_t size = (uint64_t)a->size;
    bool first = a->address[0] < b->address[0]; /* a has the lower addresses */
    bool fit = size == 8 && a->half != WHOLE ? a->half == (first ? LOW : HIGH) && b->half == (first ? HIGH : LOW)
                                             : a->half == b->half;
    if (!fit) /* such as .x and .y of one float2, and of the float2 beside it */
        return false;
    for (int i = 0; i < a->count; i++)
        if ((a->address[i] ^ b->address[i]) != size || (a->address[i] < b->address[i]) != first)
            return false;
    return true;
}

static void count_part(emu_tally *t, emu_part *p)
{
    emu_record plain = p->like;
    plain.what = emu_with_code(plain.what, __builtin_ctz((unsigned)p->size));
    emu_request(t, &plain, p->address, p->count, p->lanes);
}

static void drop(emu_parts *parts, int i)
{
    memmove(&parts->at[i], &parts->at[i + 1], (size_t)(--parts->count - i) * sizeof parts->at[0]);
}

static int half_of(uint64_t what)
{
    int code = emu_code_of(what);
    return code == EMU_LOW_4 ? LOW : code == EMU_HIGH_4 ? HIGH : WHOLE;
}

void emu_part_request(emu_tally *t, const emu_record *like, const uint64_t *addresses, int count, uint32_t lanes)
{
    emu_parts *parts = t->parts;
    emu_part now = { .like = *like, .half = half_of(like->what), .count = count, .lanes = lanes };
    now.size = emu_size_of(like->what);
    memcpy(now.address, addresses, (size_t)count * sizeof *addresses);
    for (int i = parts->count; i-- > 0 && now.size < 16;) {
        if (!alike(&now, &parts->at[i]) || !are_halves(&now, &parts->at[i]))
            continue;
        now.like = parts->at[i].like; /* the source line of the first */
        for (int k = 0; k < count; k++)
            now.address[k] &= ~(uint64_t)now.size;
        now.size *= 2;
        drop(parts, i);
        i = parts->count;
    }
    if (now.size == 16) {
        count_part(t, &now);
        return;
    }
    if (parts->count == MOST) {
        count_part(t, &parts->at[0]);
        drop(parts, 0);
    }
    parts->at[parts->count++] = now;
}

void emu_parts_end(emu_tally *t, uint32_t lanes)
{
    emu_parts *parts = t->parts;
    for (int i = 0; i < parts->count;)
        if (parts->at[i].lanes & lanes) {
            count_part(t, &parts->at[i]);
            drop(parts, i);
        } else {
            i++;
        }
}
