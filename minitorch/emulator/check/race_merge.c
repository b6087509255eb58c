/* race_merge.c -- races between blocks that ran on different workers, found when the launch has ended.
 *
 * Each worker records its own blocks only. Where two workers touched the same page of global memory, their cells are
 * compared: a word that one wrote and the other read or wrote is a race, reported at the access of the later block, as
 * if the blocks had run one after another. Which access came first is not known, so nothing is reported if either of
 * them may have been released.
 */
#include <stdio.h>
#include "emulator/check/order.h"
#include "emulator/check/race.h"
#include "emulator/check/shadow.h"

/* One side of a conflict. */
typedef struct side {
    emu_tracer *tracer;
    const char *does;
    uintptr_t pc;
    uint64_t block;
    uint32_t rank, tag, stamp;
    bool flag; /* an atomic, or through a volatile */
} side;

static side writer_of(emu_tracer *t, const emu_cell *c)
{
    return (side){ .tracer = t,
                   .does = "writes",
                   .pc = (uintptr_t)__executable_start + c->write_pc,
                   .block = emu_order_block(t, c->write_tag),
                   .tag = c->write_tag,
                   .stamp = c->writer >> STAMP,
                   .rank = c->writer & RANK,
                   .flag = emu_is_flag(c->writer) };
}

static side reader_of(emu_tracer *t, const emu_cell *c)
{
    return (side){ .tracer = t,
                   .does = "reads",
                   .pc = (uintptr_t)__executable_start + c->read_pc,
                   .block = emu_order_block(t, c->read_tag),
                   .tag = c->read_tag,
                   .stamp = c->reader >> STAMP,
                   .rank = (c->reader & WARP) * EMU_WARP_SIZE + (uint32_t)__builtin_ctz(c->lanes),
                   .flag = c->reader & READER_FLAG };
}

/* The thread for which to report. Its block has ended: the worker is set to that block again. */
static const emu_thread *thread_of(const side *s)
{
    emu_worker *worker = s->tracer->worker;
    cuemu_uint3 grid = worker->launch->config->grid;
    worker->block_number = s->block;
    worker->order = emu_reversed ? worker->launch->block_count - 1 - s->block : s->block;
    worker->block = (cuemu_uint3){ (unsigned)(s->block % grid.x), (unsigned)(s->block / grid.x % grid.y),
                                   (unsigned)(s->block / grid.x / grid.y) };
    return &worker->threads[s->rank];
}

static bool released(const side *s, bool flag)
{
    return emu_order_released(s->tracer, s->tag, s->rank / EMU_WARP_SIZE, s->stamp, flag);
}

static void tell(side a, side b, uintptr_t address, emu_conflict how, bool harmless)
{
    side first = a.block < b.block ? a : b, later = a.block < b.block ? b : a;
    bool flag = a.flag || b.flag;
    if (released(&a, flag) || released(&b, flag))
        return;
    emu_race_report(later.tracer, thread_of(&later), later.pc, later.does, address,
                    &(emu_other){ first.block, first.rank, first.pc, first.does }, how, harmless);
}

/* Has this worker read what another has written, by a plain read if that was by an atomic? */
static bool read_races(const emu_tracer *t, const emu_cell *c, const emu_cell *written)
{
    return c->read_tag >= t->launch_tag && c->lanes &&
           (written->writer >> WRITER_BYTES & c->reader >> READER_BYTES & 0xf) &&
           !((written->writer & BLOCK_ATOMIC) == ATOMIC && c->reader & READER_FLAG);
}

static void compare(emu_tracer *ta, emu_tracer *tb, const emu_cell *a, const emu_cell *b, uintptr_t address)
{
    bool a_wrote = a->write_tag >= ta->launch_tag, b_wrote = b->write_tag >= tb->launch_tag;
    uint32_t a_bytes = a->writer >> WRITER_BYTES & 0xf, b_bytes = b->writer >> WRITER_BYTES & 0xf;
    bool both_atomic = a->writer & b->writer & ATOMIC, one_atomic = (a->writer | b->writer) & ATOMIC;
    bool narrow = both_atomic && (a->writer | b->writer) & WRITER_FLAG;
    if (a_wrote && b_wrote && (a_bytes & b_bytes) && (!both_atomic || narrow))
        tell(writer_of(ta, a), writer_of(tb, b), address, narrow ? NARROW_ATOMIC : BETWEEN_BLOCKS,
             a->value == b->value && !one_atomic);
    if (a_wrote && read_races(tb, b, a))
        tell(writer_of(ta, a), reader_of(tb, b), address, BETWEEN_BLOCKS, false);
    if (b_wrote && read_races(ta, a, b))
        tell(writer_of(tb, b), reader_of(ta, a), address, BETWEEN_BLOCKS, false);
}

static void compare_page(emu_tracer *a, emu_tracer *b, size_t page)
{
    const emu_cell *x = a->pages.live[page], *y = b->pages.live[page];
    for (size_t i = 0; i < EMU_PAGE_CELLS; i++)
        if (x[i].write_tag >= a->launch_tag || y[i].write_tag >= b->launch_tag)
            compare(a, b, &x[i], &y[i], emu_address_at((page << EMU_PAGE_SHIFT) + 4 * i));
}

void emu_race_between_workers(emu_tracer *const *tracers, int count)
{
    for (int i = 0; i < count; i++)
        for (size_t k = 0; k < tracers[i]->pages.count; k++) {
            size_t page = tracers[i]->pages.list[k];
            for (int j = i + 1; j < count; j++)
                if (tracers[j]->pages.live[page])
                    compare_page(tracers[i], tracers[j], page);
        }
}
