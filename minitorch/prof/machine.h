/* machine.h -- the two roofs of this machine, measured now: arithmetic and memory.
 *
 * A figure means something beside what the machine could do at that moment; these cost about 0.1 s each. */
#ifndef MT_PROF_MACHINE_H
#define MT_PROF_MACHINE_H

#include "core/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* mt_machine_flops -- FLOP/s of f32 multiply-adds (two FLOPs each) in registers, with this many threads; the best of several
 * rounds. */
double mt_machine_flops(int threads);

/* mt_machine_bandwidth -- B/s of y[i] = a x[i] + y[i] over arrays far larger than the caches: 12 B an element (read x, read
 * y, write y); the best of several rounds. */
double mt_machine_bandwidth(int threads);

/* mt_machine_name -- "AMD EPYC, 2 cores, gcc 12.2.0"; lent. */
const char *mt_machine_name(void);

#ifdef __cplusplus
}
#endif
#endif
