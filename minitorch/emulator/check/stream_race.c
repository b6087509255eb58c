/* stream_race.c -- races between operations on different streams, and between the device and host code.
 *
 * For each 4-byte word of global memory the last operation that wrote it and the last two that read it are recorded, at
 * the end of the operation. An operation that accesses a word must come after those that it conflicts with: after the
 * writer, and if it writes, after the readers too (stream_order.c). Host code is checked in memory that it shares with
 * the device, in traced source only. Device memory is recorded only while there are streams that may run at the same
 * time. As in race.c only a part of the accesses to a word may be known, which hides races but never invents them.
 *
 * Flags: where one kernel wrote an atomic or a volatile that a second accesses likewise, and one of the two calls a
 * fence, the second is taken to be after the first.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "emulator/check/shadow.h"
#include "emulator/check/stream_race.h"
#include "emulator/run/hooks.h"
#include "emulator/run/setting.h"
#include "emulator/run/status.h"
#include "emulator/run/stream_order.h"

#define PAGE_WORDS     EMU_PAGE_CELLS
#define MOST_CONFLICTS 16

enum { READS = 0, WRITES = 1, FLAG = 2 }; /* how: an access, FLAG: atomic or volatile */

typedef struct word {
    uint32_t writer, reader, other;    /* index of an operation; 0: none */
    uint8_t written, read, other_read; /* which bytes */
    bool flag;                         /* written as a FLAG */
} word;

typedef struct conflict {
    uint32_t with;
    bool wrote; /* the other operation */
    int how;    /* this one */
    uintptr_t address, pc;
} conflict;

bool emu_stream_race_host;

static word **pages;
static emu_operation *operations;
static uint32_t operation_count = 1, operation_room;
static uint32_t current; /* index of emu_current_operation */
static const emu_clock *now;
static conflict conflicts[MOST_CONFLICTS];
static int conflict_count;
static size_t host_begins; /* positions of memory that the host may access begin here */

/* ---- the record -------------------------------------------------------------------------------------------------- */

static word *open_page(size_t page)
{
    if (!pages[page]) {
        pages[page] = mmap(NULL, PAGE_WORDS * sizeof(word), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (pages[page] == MAP_FAILED) {
            fprintf(stderr, "cuemu: no memory for the order of streams: set CUEMU_NORACE=1, or use smaller data\n");
            exit(2);
        }
    }
    return pages[page];
}

static bool watched(size_t page)
{
    return emu_streams_concurrent || page >= host_begins >> EMU_PAGE_SHIFT;
}

/* Gives the running operation an index. */
static void begin(void)
{
    const emu_operation *last = &operations[operation_count - 1];
    now = emu_timeline_clock(emu_current_operation.timeline);
    if (operation_count > 1 && last->timeline == emu_current_operation.timeline &&
        last->time == emu_current_operation.time) {
        current = operation_count - 1;
        return;
    }
    if (operation_count >= operation_room) {
        operation_room = operation_room ? 2 * operation_room : 1024;
        operations = realloc(operations, operation_room * sizeof *operations);
        if (!operations)
            abort();
    }
    current = operation_count++;
    operations[current] = emu_current_operation;
}

static inline bool after(uint32_t operation)
{
    return !operation || now->done[operations[operation].timeline] >= operations[operation].time;
}

static __attribute__((noinline)) void add_conflict(uint32_t with, bool wrote, int how, uintptr_t address, uintptr_t pc)
{
    for (int i = 0; i < conflict_count; i++)
        if (conflicts[i].with == with)
            return;
    if (conflict_count < MOST_CONFLICTS)
        conflicts[conflict_count++] = (conflict){ with, wrote, how, address, pc };
}

/* From now on `now` is after the operation. */
static void acquire(uint32_t operation)
{
    const emu_operation *o = &operations[operation];
    uint32_t *done = &((emu_clock *)(uintptr_t)now)->done[o->timeline];
    *done = *done > o->time ? *done : o->time;
}

static inline void check(const word *w, uint32_t bytes, int how, uintptr_t address, uintptr_t pc)
{
    if (EMU_UNLIKELY(!after(w->writer)) && w->written & bytes) {
        if (!(how & FLAG && w->flag))
            add_conflict(w->writer, true, how, address, pc);
        else if (!current || operations[w->writer].fenced || operations[current].fenced)
            acquire(w->writer);
    }
    if (!(how & WRITES))
        return;
    if (EMU_UNLIKELY(!after(w->reader)) && w->read & bytes)
        add_conflict(w->reader, false, how, address, pc);
    if (EMU_UNLIKELY(!after(w->other)) && w->other_read & bytes)
        add_conflict(w->other, false, how, address, pc);
}

static inline void mark(word *w, uint32_t bytes, int how)
{
    if (how & WRITES) {
        w->written = (uint8_t)(bytes | (w->writer == current ? w->written : 0));
        w->writer = current;
        w->flag = how & FLAG;
        if (bytes == 0xf)
            w->reader = w->other = 0;
    } else if (!(how & FLAG)) {
        if (w->reader != current && !after(w->reader)) {
            w->other = w->reader;
            w->other_read = w->read;
        }
        w->read = (uint8_t)(bytes | (w->reader == current ? w->read : 0));
        w->reader = current;
    }
}

/* ---- reports ----------------------------------------------------------------------------------------------------- */

static const char *verb(const emu_operation *o, bool writes)
{
    return !strcmp(o->name, "cudaFreeAsync") ? "frees" : writes ? "writes" : "reads";
}

/* "kernel scale", or with the place: "kernel scale, launched on another stream at unit.cu:30," */
static const char *name_operation(char text[300], const emu_operation *o, const char *where, bool place)
{
    const char *file = o->site.file;
    int line = o->site.line;
    int length = snprintf(text, 300, "%s%s", o->kernel ? "kernel " : "", o->name);
    if (place && (file || emu_source(o->site.pc, &file, &line)))
        snprintf(text + length, 300 - (size_t)length, ", %s%s at %s:%d,", o->kernel ? "launched" : "called", where,
                 strrchr(file, '/') ? strrchr(file, '/') + 1 : file, line);
    return text;
}

static void report(const conflict *c)
{
    char where[300], line[200], own[300], their[300];
    const emu_operation *mine = &emu_current_operation, *other = &operations[c->with];
    bool both = mine->in_graph && other->in_graph,
         default_stream = mine->timeline == EMU_LEGACY_STREAM || other->timeline == EMU_LEGACY_STREAM;
    emu_error(EMU_RACE, mine->site, "race between streams: %s%s %s %s\n%s %s it, and nothing orders the two\nhint: %s",
              name_operation(own, mine, "", false), c->pc ? emu_at_line(line, sizeof line, c->pc) : "",
              verb(mine, c->how & WRITES), emu_describe(where, sizeof where, c->address),
              name_operation(their, other, both ? " by a graph" : " on another stream", true), verb(other, c->wrote),
              both ? "add the other node to those that this one comes after; in a capture, call "
                     "cudaEventRecord on the first stream and cudaStreamWaitEvent on the second"
              : default_stream
                  ? "a stream with cudaStreamNonBlocking and the default stream do not wait for each other: "
                    "use one stream, or cudaEventRecord and cudaStreamWaitEvent"
                  : "call cudaEventRecord on the first stream and cudaStreamWaitEvent on the second, or use "
                    "one stream");
}

static void report_all(void)
{
    for (int i = 0; i < conflict_count; i++) {
        if (after(conflicts[i].with))
            continue; /* a flag orders it */
        report(&conflicts[i]);
        acquire(conflicts[i].with);
    }
    conflict_count = 0;
}

/* ---- operations -------------------------------------------------------------------------------------------------- */

/* A copy or library call, the running operation, reads or writes memory. */
static void touched(const void *address, size_t size, bool write)
{
    uintptr_t from = (uintptr_t)address, to = from + size;
    const emu_allocation *a = emu_find(address);
    if (!size || (!a && !emu_is_symbol(address, 1)))
        return;
    begin();
    emu_stream_race_host |= !a || a->home != EMU_DEVICE;
    while (from < to) {
        size_t position = emu_position(from), page = position >> EMU_PAGE_SHIFT;
        uint32_t skip = position & 3, bytes = (0xfu << skip) & 0xf;
        if (to - from < 4 - skip)
            bytes &= (1u << (skip + (to - from))) - 1;
        if (!watched(page)) {
            from += ((page + 1) << EMU_PAGE_SHIFT) - position;
            continue;
        }
        word *w = &open_page(page)[position / 4 % PAGE_WORDS];
        check(w, bytes, write ? WRITES : READS, from, 0);
        mark(w, bytes, write ? WRITES : READS);
        from += 4 - skip;
    }
    report_all();
}

/* What a launch did to one word, as a worker recorded it. */
static void add_cell(const emu_tracer *t, const emu_cell *c, word *w, uintptr_t address)
{
    uintptr_t base = (uintptr_t)__executable_start;
    uint32_t read = (c->reader >> READER_BYTES | c->reader >> OTHER_BLOCKS) & 0xf, written = c->writer >> WRITER_BYTES;
    if (c->read_tag >= t->launch_tag && c->lanes && read) {
        int how = READS | (c->reader & READER_FLAG ? FLAG : 0);
        check(w, read, how, address, base + c->read_pc);
        mark(w, read, how);
    }
    if (c->write_tag >= t->launch_tag && written & 0xf) {
        int how = WRITES | (c->writer & (ATOMIC | WRITER_FLAG) ? FLAG : 0);
        check(w, written & 0xf, how, address, base + c->write_pc);
        mark(w, written & 0xf, how);
    }
}

void emu_stream_race_launch(emu_tracer *const *tracers, int count)
{
    bool begun = false;
    for (int i = 0; i < count; i++)
        emu_current_operation.fenced |= tracers[i]->fenced;
    for (int i = 0; i < count; i++) {
        const emu_tracer *t = tracers[i];
        for (size_t k = 0; k < t->pages.count; k++) {
            size_t page = t->pages.list[k], position = page << EMU_PAGE_SHIFT;
            if (!watched(page))
                continue;
            if (!begun)
                begin();
            begun = true;
            emu_stream_race_host |= position + PAGE_WORDS * 4 > host_begins;
            word *words = open_page(page);
            for (size_t j = 0; j < PAGE_WORDS; j++)
                add_cell(t, &t->pages.live[page][j], &words[j], emu_address_at(position + 4 * j));
        }
    }
    report_all();
}

/* ---- host code --------------------------------------------------------------------------------------------------- */

void emu_stream_race_host_access(uintptr_t address, size_t size, bool write, bool flag, uintptr_t pc)
{
    const emu_allocation *a = emu_find((const void *)address);
    if (emu_current || !(a ? a->home != EMU_DEVICE : emu_is_managed((const void *)address)) || !emu_api_trylock())
        return;
    now = emu_host_clock();
    current = 0;
    for (uintptr_t at = address; at < address + size; at = (at & ~(uintptr_t)3) + 4) {
        size_t position = emu_position(at);
        const word *words = pages[position >> EMU_PAGE_SHIFT];
        uint32_t bytes = 0xfu << (at & 3) & 0xf, left = (uint32_t)(address + size - at);
        bytes &= left < 4 ? (1u << ((at & 3) + left)) - 1 : 0xf;
        if (words)
            check(&words[position / 4 % PAGE_WORDS], bytes, (write ? WRITES : READS) | (flag ? FLAG : 0), at, pc);
    }
    for (int i = 0; i < conflict_count; i++) {
        char where[300], name[300];
        const emu_operation *o = &operations[conflicts[i].with];
        if (flag || after(conflicts[i].with))
            continue;
        emu_error(EMU_RACE, (emu_site){ .pc = pc },
                  "race with the device: host code %s %s\n%s %s it and may not be complete\nhint: launches and "
                  "asynchronous copies return at once: call cudaDeviceSynchronize or cudaStreamSynchronize before",
                  write ? "writes" : "reads", emu_describe(where, sizeof where, conflicts[i].address),
                  name_operation(name, o, "", true), verb(o, conflicts[i].wrote));
        acquire(conflicts[i].with);
    }
    conflict_count = 0;
    emu_api_unlock();
}

void emu_stream_race_forget(const emu_allocation *a)
{
    for (size_t position = emu_position((uintptr_t)a->begin), end = position + a->span; position < end; position += 4) {
        word *words = pages[position >> EMU_PAGE_SHIFT];
        if (words)
            words[position / 4 % PAGE_WORDS] = (word){ 0 };
        else
            position = (((position >> EMU_PAGE_SHIFT) + 1) << EMU_PAGE_SHIFT) - 4;
    }
}

void emu_stream_race_open(void)
{
    size_t in_use;
    if (emu_setting("CUEMU_NORACE", 0))
        return;
    host_begins = emu_device_memory(&in_use);
    pages = mmap(NULL, ((emu_positions() >> EMU_PAGE_SHIFT) + 1) * sizeof *pages, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pages == MAP_FAILED) {
        perror("cuemu: no address space for the order of streams");
        exit(2);
    }
    emu_hook.touched = touched;
}
