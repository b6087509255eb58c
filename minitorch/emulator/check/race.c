/* race.c -- data races: conflicting accesses that nothing orders.
 *
 * Emulated threads run one after another, so a race does not show in the values: it must be inferred. For each 4-byte
 * word the last write and the reads since the barrier are recorded. Two accesses to it, at least one of them a write
 * and not both atomic, race when they are by
 *   - threads of one block in the same barrier interval, unless the warp's synchronisation or a lock orders them
 *     (order.c);
 *   - different blocks of a launch, in global memory, unless the earlier one may have released it: emu_order_released.
 * Of accesses to parts of a word only the last part is recorded: two adjacent half-precision values may hide a race,
 * but never cause a false report. A plain read that races with an atomic is not reported at once: see emu_suspect. A
 * read through a volatile counts as an atomic one: it is how threads look at what others update by atomics.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "emulator/check/order.h"
#include "emulator/check/race.h"
#include "emulator/check/shadow.h"
#include "emulator/run/shared.h"

void emu_race_begin_block(emu_tracer *t)
{
    emu_order_next_interval(t);
    t->block_tag = t->tag;
    if (t->turn_count == t->turn_capacity) {
        t->turn_capacity = t->turn_capacity ? 2 * t->turn_capacity : 1024;
        t->turns = realloc(t->turns, t->turn_capacity * sizeof *t->turns);
    }
    t->turns[t->turn_count++] = (struct emu_turn){ .tag = t->tag, .block = t->worker->block_number };
}

/* ---- conflicts --------------------------------------------------------------------------------------------------- */

/* How this access (0, ATOMIC, BLOCK_ATOMIC or WRITER_FLAG) races with the cell's last write, of this launch. */
static emu_conflict with_write(const emu_tracer *t, const emu_cell *c, uint32_t bytes, uint32_t access)
{
    uint32_t rank = c->writer & RANK;
    bool atomics = access & c->writer & ATOMIC,
         narrow = (access & BLOCK_ATOMIC) == BLOCK_ATOMIC || (c->writer & BLOCK_ATOMIC) == BLOCK_ATOMIC;
    bool earlier_block = c->write_tag < t->block_tag;
    if (!(c->writer >> WRITER_BYTES & bytes) || (atomics && !(narrow && earlier_block)))
        return NONE;
    if (earlier_block)
        return emu_order_released(t, c->write_tag, rank / EMU_WARP_SIZE, c->writer >> STAMP,
                                  emu_is_flag(access) || emu_is_flag(c->writer))
                   ? NONE
               : atomics ? NARROW_ATOMIC
                         : BETWEEN_BLOCKS;
    const emu_thread *self = emu_self;
    if (c->write_tag != t->tag || rank == self->rank)
        return NONE;
    if (emu_order_after(t, rank, c->writer >> STAMP))
        return NONE;
    return rank / EMU_WARP_SIZE == self->rank / EMU_WARP_SIZE ? SAME_WARP : SAME_BLOCK;
}

/* How this write races with the cell's readers; *rank becomes the rank of one that it races with. */
static emu_conflict with_read(const emu_tracer *t, const emu_cell *c, uint32_t bytes, uint32_t access, uint32_t *rank)
{
    const emu_thread *self = emu_self;
    uint32_t warp = c->reader & WARP, lanes = c->lanes;
    *rank = warp * EMU_WARP_SIZE;
    if (c->reader & CONSTANT && c->reader >> READER_BYTES & bytes) {
        *rank += lanes ? (uint32_t)__builtin_ctz(lanes) : 0;
        return CONSTANT_LOAD;
    }
    if (access & ATOMIC && c->reader & READER_FLAG && (!(access & WRITER_FLAG) || c->read_tag >= t->block_tag))
        return NONE;
    if (c->reader >> OTHER_BLOCKS & bytes && !t->fenced) /* the time of their reads is not recorded */
        return BETWEEN_BLOCKS;
    if (!(c->reader >> READER_BYTES & bytes) || !lanes)
        return NONE;
    bool same_warp = warp == self->rank / EMU_WARP_SIZE;
    *rank = warp * EMU_WARP_SIZE + (uint32_t)__builtin_ctz(lanes);
    if (c->read_tag < t->block_tag &&
        !emu_order_released(t, c->read_tag, warp, c->reader >> STAMP, emu_is_flag(access) || c->reader & READER_FLAG))
        return BETWEEN_BLOCKS;
    if (c->read_tag != t->tag)
        return NONE;
    if (same_warp)
        lanes &= ~(1u << self->lane);
    if (lanes && (lanes = emu_order_unordered(t, warp, lanes, c->reader >> STAMP))) {
        *rank = warp * EMU_WARP_SIZE + (uint32_t)__builtin_ctz(lanes);
        return same_warp ? SAME_WARP : SAME_BLOCK;
    }
    return c->reader & OTHER_WARPS && !(access & ATOMIC) ? SAME_BLOCK : NONE;
}

/* ---- reports ----------------------------------------------------------------------------------------------------- */

/* "thread (3,0,0) of block (1,0,0) writes it at unit.cu:12" */
static void name_other(char *text, size_t size, const emu_worker *worker, const emu_other *other)
{
    char line[200];
    cuemu_uint3 index = worker->threads[other->rank].index, grid = worker->launch->config->grid;
    snprintf(text, size, "thread (%u,%u,%u) of block (%u,%u,%u) %s it%s", index.x, index.y, index.z,
             (unsigned)(other->block % grid.x), (unsigned)(other->block / grid.x % grid.y),
             (unsigned)(other->block / grid.x / grid.y), other->does, emu_at_line(line, sizeof line, other->pc));
}

void emu_race_report(emu_tracer *t, const emu_thread *thread, uintptr_t pc, const char *does, uintptr_t address,
                     const emu_other *other, emu_conflict how, bool harmless)
{
#define OWN    "is the index right? If several threads change one element, use an atomic"
#define NARROW "a function whose name ends in _block is atomic for the threads of its block only: use it without _block"
    static const char *const advice[2][CONSTANT_LOAD + 1] = {
        { [SAME_WARP] = "there is no barrier between the accesses, __syncthreads() or within a warp __syncwarp(): "
                        "lanes need not run in "
                        "lockstep; if several threads add to one element, use an atomic",
          [SAME_BLOCK] =
              "there is no __syncthreads() between the accesses: warps run in any order; if several threads add to one "
              "element, use an atomic" },
        { [SAME_WARP] = "lanes of a warp need not run in lockstep: " OWN,
          [SAME_BLOCK] = "warps run in any order: " OWN ", or a barrier",
          [BETWEEN_BLOCKS] = "blocks run at the same time and in any order: " OWN ", or a second kernel",
          [NARROW_ATOMIC] = "blocks run at the same time: " NARROW,
          [CONSTANT_LOAD] = "__ldg loads by a cache that does not see the stores of the same launch, even behind a "
                            "barrier: load what the kernel writes without it" },
    };
    char where[300], who[300];
    if (emu_reported(t, thread, EMU_RACE, pc, harmless))
        return;
    name_other(who, sizeof who, t->worker, other);
    emu_describe(where, sizeof where, address);
    bool global = address - (uintptr_t)t->worker->shared >= EMU_SHARED_SPAN;
    const char *space = global ? "global" : "shared";
    emu_site site = { .pc = pc, .other = other->pc };
    if (harmless)
        emu_warning_of(
            thread, EMU_RACE, site,
            "race: several threads write %s (%s memory), which is harmless as long as they write the same value\n%s\n"
            "hint: let one thread write it",
            where, space, who);
    else
        emu_error_of(thread, EMU_RACE, site, "race: this thread %s %s (%s memory)\n%s\nhint: %s", does, where, space,
                     who, advice[global][how]);
}

/* ---- plain reads of words that atomics update -------------------------------------------------------------------- */

static void report_suspect(emu_tracer *t, emu_suspect *s)
{
    emu_race_report(t, s->thread, s->pc, s->does, s->address, &s->other, s->how, false);
    s->thread = NULL;
    t->suspect_count--;
}

void emu_race_report_suspects(emu_tracer *t)
{
    for (int i = 0; i < EMU_MAX_THREADS && t->suspect_count; i++)
        if (t->suspects[i].thread)
            report_suspect(t, &t->suspects[i]);
}

static void add_suspect(emu_tracer *t, uint32_t reader, emu_suspect what)
{
    emu_suspect *s = &t->suspects[reader];
    if (s->thread && s->address / 8 != what.address / 8)
        report_suspect(t, s);
    if (!s->thread) {
        *s = what;
        t->suspect_count++;
    }
}

/* This thread updates the word by an atomic: its own earlier read of it was the first of a compare-and-swap loop. */
static void remove_suspect(emu_tracer *t, emu_cell *c, uintptr_t address)
{
    const emu_thread *self = emu_self;
    emu_suspect *s = &t->suspects[self->rank];
    if (c->read_tag == t->tag && (c->reader & WARP) == self->rank / EMU_WARP_SIZE)
        c->lanes &= ~(1u << self->lane);
    if (s->thread && s->address / 8 == address / 8) {
        s->thread = NULL;
        t->suspect_count--;
    }
}

static uintptr_t full_pc(uint32_t pc)
{
    return (uintptr_t)__executable_start + pc;
}

static __attribute__((noinline)) void report_read(emu_tracer *t, const emu_cell *c, uintptr_t address, uintptr_t pc,
                                                  emu_conflict how)
{
    emu_other writer = { emu_order_block(t, c->write_tag), c->writer & RANK, full_pc(c->write_pc), "writes" };
    if (c->writer & ATOMIC)
        add_suspect(t, emu_self->rank, (emu_suspect){ emu_self, pc, address, "reads", how, writer });
    else
        emu_race_report(t, emu_self, pc, "reads", address, &writer, how, false);
}

static __attribute__((noinline)) void report_write_after_read(emu_tracer *t, const emu_cell *c, uint32_t rank,
                                                              uintptr_t address, uintptr_t pc, emu_conflict how,
                                                              bool atomic)
{
    emu_other reader = { emu_order_block(t, c->read_tag), rank, full_pc(c->read_pc), "reads" };
    if (atomic && how < BETWEEN_BLOCKS) /* a block that has ended executes no further atomic */
        add_suspect(t, rank, (emu_suspect){ emu_self, pc, address, "writes", how, reader });
    else
        emu_race_report(t, emu_self, pc, "writes", address, &reader, how, false);
}

/* Two writes of the same value: every order gives the same result, so it is a warning. */
static __attribute__((noinline)) void report_clash(emu_tracer *t)
{
    const emu_clash *clash = &t->pending.clash;
    emu_other writer = { emu_order_block(t, clash->other_tag), clash->other_rank, full_pc(clash->other_pc), "writes" };
    uint32_t value, mask = 0;
    memcpy(&value, (void *)((clash->address & ~(uintptr_t)3) + 4 * (unsigned)clash->word), 4);
    for (int i = 0; i < 4; i++)
        mask |= clash->bytes >> i & 1 ? 0xffu << 8 * i : 0;
    bool harmless = !((value ^ clash->other_value) & mask) && !clash->atomic;
    emu_race_report(t, clash->thread, clash->pc, "writes", clash->address, &writer, clash->how, harmless);
}

/* ---- an access --------------------------------------------------------------------------------------------------- */

/* Records another reader, or the first of this interval. It replaces readers that it is ordered after, and readers of
 * other bytes of the word. */
static void add_reader(const emu_tracer *t, emu_cell *c, uint32_t bytes, uint32_t flag, uint32_t since)
{
    uint32_t warp = (uint32_t)emu_self->warp->index, bit = 1u << emu_self->lane, was = c->reader;
    uint32_t were = was >> READER_BYTES & 0xf, flags = 0, lanes = bit;
    if (c->read_tag >= since)
        flags = was & (0xfu << OTHER_BLOCKS | (were == bytes ? CONSTANT : 0));
    if (c->read_tag >= since && c->read_tag < t->block_tag && c->lanes)
        flags |= were << OTHER_BLOCKS;
    if (c->read_tag == t->tag && (were & bytes) == bytes) {
        uint32_t others = emu_order_unordered(t, was & WARP, c->lanes, was >> STAMP);
        flags |= was & (OTHER_WARPS | READER_FLAG);
        if ((was & WARP) == warp)
            lanes |= others;
        else if (others)
            flags |= OTHER_WARPS;
    }
    c->lanes = lanes;
    c->reader = flags | flag | warp | bytes << READER_BYTES | t->meetings[warp] << STAMP;
    c->read_tag = t->tag;
}

static inline void mark_read(const emu_tracer *t, emu_cell *c, uint32_t bytes, uint32_t pc, uint32_t flag,
                             uint32_t since)
{
    uint32_t warp = (uint32_t)emu_self->warp->index;
    uint32_t known = flag | warp | bytes << READER_BYTES | t->meetings[warp] << STAMP;
    uint32_t compared = READER_FLAG | WARP | 0xfu << READER_BYTES | 0xffffu << STAMP;
    if (EMU_LIKELY(c->read_tag == t->tag && (c->reader & compared) == known))
        c->lanes |= 1u << emu_self->lane;
    else
        add_reader(t, c, bytes, flag, since);
    c->read_pc = pc;
}

static inline void mark_write(const emu_tracer *t, emu_cell *c, uint32_t bytes, uint32_t pc, uint32_t how)
{
    const emu_thread *self = emu_self;
    uint32_t stamp = t->meetings[self->warp->index] << STAMP;
    uint32_t writer = self->rank | how | stamp;
    bool again = c->write_tag == t->tag && (c->writer & ~(0xfu << WRITER_BYTES)) == writer;
    c->writer = writer | bytes << WRITER_BYTES | (again ? c->writer & 0xfu << WRITER_BYTES : 0);
    c->write_tag = t->tag;
    c->write_pc = pc;
}

static __attribute__((noinline)) void remember_clash(emu_tracer *t, const emu_cell *c, uint32_t bytes,
                                                     uintptr_t address, int word, uintptr_t pc, bool atomic,
                                                     emu_conflict how)
{
    if (t->pending.clashed)
        return; /* an earlier word of this store has clashed */
    t->pending.clashed = true;
    t->pending.clash = (emu_clash){ .thread = emu_self,
                                    .pc = pc,
                                    .address = address,
                                    .word = word,
                                    .bytes = bytes,
                                    .how = how,
                                    .atomic = atomic || c->writer & ATOMIC,
                                    .other_tag = c->write_tag,
                                    .other_pc = c->write_pc,
                                    .other_rank = c->writer & RANK,
                                    .other_value = c->value };
}

/* `since`: accesses before this tag are of another launch, or of another block's shared memory. */
static inline __attribute__((always_inline)) void check(emu_tracer *t, emu_cell *cells, uintptr_t address, int size,
                                                        int kind, uintptr_t pc, uint32_t since)
{
    uint32_t bytes = size < 4 ? ((1u << size) - 1) << (address & 3) : 0xf,
             short_pc = (uint32_t)(pc - (uintptr_t)__executable_start);
    int words = size > 4 ? size / 4 : 1;
    bool atomic = kind == EMU_ATOMIC, flag = t->marked_pc == pc;
    uint32_t access = flag && kind == EMU_LOAD ? ATOMIC : (atomic ? ATOMIC : 0) | (flag ? WRITER_FLAG : 0);
    for (int i = 0; i < words; i++) {
        emu_cell *c = &cells[i];
        emu_conflict how = NONE;
        if (c->write_tag == t->tag || c->write_tag - since < t->block_tag - since)
            how = with_write(t, c, bytes, access);
        if (kind == EMU_LOAD) {
            if (EMU_UNLIKELY(how))
                report_read(t, c, address, pc, how);
            mark_read(t, c, bytes, short_pc, flag ? READER_FLAG : 0, since);
            continue;
        }
        if (EMU_UNLIKELY(how))
            remember_clash(t, c, bytes, address, i, pc, atomic, how);
        uint32_t reader = 0;
        how = c->read_tag < since ? NONE : with_read(t, c, bytes, access, &reader);
        if (EMU_UNLIKELY(how))
            report_write_after_read(t, c, reader, address, pc, how, atomic);
        if (atomic)
            remove_suspect(t, c, address);
        mark_write(t, c, bytes, short_pc, access);
    }
    if (kind != EMU_LOAD) {
        t->pending.cells = cells;
        t->pending.address = address;
        t->pending.words = words;
    }
}

/* The load itself has been checked and recorded. */
static void check_constant(emu_tracer *t, emu_cell *c, uintptr_t address, uint32_t bytes, uintptr_t pc)
{
    emu_other writer = { .block = emu_order_block(t, c->write_tag),
                         .rank = c->writer & RANK,
                         .pc = full_pc(c->write_pc),
                         .does = "writes" };
    if (c->write_tag >= t->turns[0].tag && c->writer >> WRITER_BYTES & bytes)
        emu_race_report(t, emu_self, pc, "reads", address, &writer, CONSTANT_LOAD, false);
    c->reader |= CONSTANT;
}

void emu_race_settle(emu_tracer *t)
{
    uintptr_t word = t->pending.address & ~(uintptr_t)3;
    for (int i = 0; i < t->pending.words; i++)
        memcpy(&t->pending.cells[i].value, (void *)(word + 4 * (unsigned)i), 4);
    t->pending.cells = NULL;
    if (EMU_UNLIKELY(t->pending.clashed)) {
        t->pending.clashed = false;
        report_clash(t);
    }
}

void emu_race_shared(emu_tracer *t, uintptr_t address, int size, int kind, uintptr_t pc)
{
    check(t, &t->shared_cells[(address - (uintptr_t)t->worker->shared) / 4], address, size, kind, pc, t->block_tag);
}

/* ---- the cells of global memory ---------------------------------------------------------------------------------- */

static __attribute__((noinline)) emu_cell *open_page(emu_pages *pages, size_t page)
{
    if (!pages->owned[page]) {
        pages->owned[page] =
            mmap(NULL, EMU_PAGE_CELLS * sizeof(emu_cell), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (pages->owned[page] == MAP_FAILED) {
            fprintf(stderr, "cuemu: no memory for the detection of races: set CUEMU_NORACE=1, or use smaller data\n");
            exit(2);
        }
    }
    if (pages->count == pages->capacity) {
        pages->capacity = pages->capacity ? 2 * pages->capacity : 256;
        pages->list = realloc(pages->list, pages->capacity * sizeof *pages->list);
    }
    pages->list[pages->count++] = (uint32_t)page;
    return pages->live[page] = pages->owned[page];
}

static inline emu_cell *global_cell(emu_tracer *t, uintptr_t address)
{
    size_t position = emu_position(address), page = position >> EMU_PAGE_SHIFT;
    emu_cell *cells = t->pages.live[page];
    if (EMU_UNLIKELY(!cells))
        cells = open_page(&t->pages, page);
    return cells + position / 4 % EMU_PAGE_CELLS;
}

void emu_race_global(emu_tracer *t, uintptr_t address, int size, int kind, uintptr_t pc)
{
    check(t, global_cell(t, address), address, size, kind, pc, t->launch_tag);
}

void emu_race_constant_load(emu_tracer *t, uintptr_t address, size_t size, uintptr_t pc)
{
    uint32_t bytes = size < 4 ? ((1u << size) - 1) << (address & 3) : 0xf;
    if (emu_position(address) >= emu_positions())
        return; /* shared or local memory */
    emu_cell *cells = global_cell(t, address);
    for (size_t i = 0; i < (size > 4 ? size / 4 : 1); i++)
        check_constant(t, &cells[i], address + 4 * i, bytes, pc);
}
