/* workers.h -- the blocks of a grid: how they are run (workers.c, cooperative.c), ended in time (fault.c), and what
 * they print (output.c).
 */
#ifndef EMU_WORKERS_H
#define EMU_WORKERS_H

#include "emulator/run/worker.h"

/* Runs the kernel of a launch that is possible; it has ended when this returns. */
void emu_run(const cuemu_launch_config *config);

emu_worker *emu_worker_new(int index);
void emu_take_block(emu_worker *worker, emu_launch *launch, uint64_t order); /* the worker's next block */
void emu_become(emu_worker *worker); /* this OS thread runs the worker's block from now on */
void emu_run_cooperative(emu_launch *launch);
void emu_report_two_barriers(emu_worker *block); /* some threads wait for the grid, some for the block */

/* ---- fault.c ---- */
void emu_watch_begin(void); /* from here to the end this OS thread runs blocks, and its CPU time is limited */
void emu_watch_end(void);

/* ---- output.c ---- */
void emu_output_flush(uint64_t last_block); /* writes the launch's output, in the order of blocks */

#endif
