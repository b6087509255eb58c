/* machine.h -- the peak arithmetic of this machine, measured now: what a FLOP/s figure is compared with. */
#pragma once

#include "core/base.h"

MT_C_BEGIN

/* mt_machine_flops -- FLOP/s of f32 multiply-adds (two FLOPs each) in registers, with this many threads; the best of
 * several rounds, about 0.1 s. */
double mt_machine_flops(int threads);

MT_C_END
