/* snapshot.c -- what was allocated and freed in the format of PyTorch's memory snapshots, for pytorch.org/memory_viz.
 *
 * A pickle is a program for a stack machine: `}` pushes an empty dict, `X` a text; `s` takes a key and a value off the
 * stack and puts them into the dict below, `a` adds to a list. That is all of it that is needed here.
 * Sources: the opcodes are described in CPython's Lib/pickletools.py; the keys are those that PyTorch's
 * torch/utils/viz/MemoryViz.js reads. */
#include "core/io.h"
#include "memory/blocks.h"
#include "memory/report.h"

#include <string.h>

enum {
    EMPTY_DICT = '}',
    EMPTY_LIST = ']',
    SET = 's',
    APPEND = 'a',
    TEXT = 'X',
    STOP = '.',
    PROTOCOL = 0x80,
    LONG = 0x8a
};

/* ---- pickle ------------------------------------------------------------------------------------------------- */

/* count bytes of value, the lowest first, whatever this machine's order. */
static void put_bytes(FILE *out, uint64_t value, int count)
{
    for (int i = 0; i < count; i++)
        fputc((int)(value >> 8 * i & 0xff), out);
}

static void put_integer(FILE *out, int64_t value)
{
    fputc(LONG, out);
    fputc(8, out);
    put_bytes(out, (uint64_t)value, 8);
}

static void put_text(FILE *out, const char *text)
{
    fputc(TEXT, out);
    put_bytes(out, strlen(text), 4);
    fputs(text, out);
}

static void set_integer(FILE *out, const char *key, int64_t value)
{
    put_text(out, key);
    put_integer(out, value);
    fputc(SET, out);
}

static void set_text(FILE *out, const char *key, const char *value)
{
    put_text(out, key);
    put_text(out, value);
    fputc(SET, out);
}

/* ---- the snapshot ------------------------------------------------------------------------------------------- */

typedef struct snapshot {
    FILE *out;
    const mt_profile *p;
    mt_blocks live; /* op: the index of the allocation in p->block */
    bool categories;
} snapshot;

static const char *category(mt_memory_use use)
{
    return use == MT_USE_OTHER ? "unknown" : mt_use_name[use];
}

/* A frame for each of the two things that are known: the op, and what the memory is for. */
static void set_frames(const snapshot *s, const mt_profile_block *b)
{
    put_text(s->out, "frames");
    fputc(EMPTY_LIST, s->out);
    fputc(EMPTY_DICT, s->out);
    set_text(s->out, "name", b->op ? b->op : b->address ? "no op" : "before the recording");
    set_text(s->out, "filename", b->bytes > 0 ? mt_use_name[b->use] : "free");
    set_integer(s->out, "line", 0);
    fputc(APPEND, s->out);
    fputc(SET, s->out);
}

static void put_action(const snapshot *s, const char *action, const mt_profile_block *b, int64_t bytes)
{
    fputc(EMPTY_DICT, s->out);
    set_text(s->out, "action", action);
    set_integer(s->out, "addr", (int64_t)b->address);
    set_integer(s->out, "size", bytes);
    set_integer(s->out, "stream", 0);
    set_integer(s->out, "time_us", (int64_t)(1e6 * b->at));
    if (s->categories && strcmp(action, "alloc") == 0)
        set_text(s->out, "category", category(b->use));
    set_frames(s, b);
    fputc(APPEND, s->out);
}

/* Whether the block is in a segment that the allocator still has; else it is a segment of its own. */
static bool in_segment(const mt_profile *p, mt_device device, uint64_t address)
{
    for (const mt_profile_room *r = p->room; r < p->room + p->room_count; r++)
        if (r->device == device && address >= r->address && address < r->address + (uint64_t)r->bytes)
            return true;
    return false;
}

/* b frees the block that is live at this address. */
static void put_free(snapshot *s, const mt_profile_block *b)
{
    const mt_block *old = mt_blocks_find(&s->live, b->device, b->address);
    if (!old)
        return;
    put_action(s, "free_requested", b, old->bytes);
    put_action(s, "free_completed", b, old->bytes);
    if (!in_segment(s->p, b->device, b->address))
        put_action(s, "segment_free", b, old->bytes);
    mt_blocks_remove(&s->live, b->device, b->address);
}

static void put_trace(snapshot *s, mt_device device)
{
    fputc(EMPTY_LIST, s->out);
    for (int64_t i = 0; i < s->p->block_count; i++) {
        const mt_profile_block *b = &s->p->block[i];
        if (b->device != device)
            continue;
        put_free(s, b);
        if (b->bytes < 0)
            continue;
        if (!in_segment(s->p, device, b->address))
            put_action(s, "segment_alloc", b, b->bytes);
        put_action(s, "alloc", b, b->bytes);
        mt_blocks_put(&s->live, &(mt_block){ b->address, b->bytes, device, b->use, (int)i, NULL });
    }
    fputc(APPEND, s->out);
}

/* Room that an allocator keeps, with the block that is live there, if there is one. */
static void put_room(const snapshot *s, const mt_profile_room *room)
{
    const mt_block *block = mt_blocks_find(&s->live, room->device, room->address);
    fputc(EMPTY_DICT, s->out);
    set_integer(s->out, "address", (int64_t)room->address);
    set_integer(s->out, "size", room->bytes);
    set_integer(s->out, "requested_size", block ? block->bytes : 0);
    set_text(s->out, "state", block ? "active_allocated" : "inactive");
    if (block)
        set_frames(s, &s->p->block[block->op]);
    fputc(APPEND, s->out);
}

/* The segment that begins with this room. Returns what follows it. */
static const mt_profile_room *put_segment(const snapshot *s, const mt_profile_room *room, const mt_profile_room *end)
{
    int64_t total = 0, used = 0;
    const mt_profile_room *first = room;
    for (; room < end && (room == first || room->before > 0); room++) {
        total += room->bytes;
        used += mt_blocks_find(&s->live, room->device, room->address) ? room->bytes : 0;
    }
    fputc(EMPTY_DICT, s->out);
    set_integer(s->out, "device", first->device);
    set_integer(s->out, "address", (int64_t)first->address);
    set_integer(s->out, "stream", 0);
    set_text(s->out, "segment_type", "large");
    set_integer(s->out, "total_size", total);
    set_integer(s->out, "allocated_size", used);
    set_integer(s->out, "active_size", used);
    put_text(s->out, "blocks");
    fputc(EMPTY_LIST, s->out);
    for (const mt_profile_room *r = first; r < room; r++)
        put_room(s, r);
    fputc(SET, s->out);
    fputc(APPEND, s->out);
    return room;
}

/* Those that the allocator has at the end, and live blocks in none of them. */
static void put_segments(const snapshot *s)
{
    const mt_profile_room *end = s->p->room + s->p->room_count;
    fputc(EMPTY_LIST, s->out);
    for (const mt_profile_room *r = s->p->room; r < end;)
        r = put_segment(s, r, end);
    for (const mt_block *b = s->live.slot; b < s->live.slot + s->live.slots; b++)
        if (b->bytes > 0 && !in_segment(s->p, b->device, b->address)) {
            const mt_profile_room own = { b->address, b->bytes, b->device, 0 };
            put_segment(s, &own, &own + 1);
        }
}

mt_status mt_memory_snapshot(const char *path, const mt_profile *p)
{
    mt_file_writer file;
    MT_TRY(mt_file_writer_open(&file, path));
    snapshot s = { .out = file.out, .p = p };
    for (int64_t i = 0; i < p->block_count; i++) /* the page shows categories only if one of them is "unknown" */
        s.categories = s.categories || (p->block[i].bytes > 0 && p->block[i].use == MT_USE_OTHER);
    fputc(PROTOCOL, file.out);
    fputc(2, file.out);
    fputc(EMPTY_DICT, file.out);
    put_text(file.out, "device_traces");
    fputc(EMPTY_LIST, file.out);
    for (int d = 0; d < MT_DEVICE_COUNT; d++)
        put_trace(&s, (mt_device)d);
    fputc(SET, file.out);
    put_text(file.out, "segments");
    put_segments(&s);
    fputc(SET, file.out);
    fputc(STOP, file.out);
    mt_blocks_free(&s.live);
    return mt_file_writer_close(&file);
}
