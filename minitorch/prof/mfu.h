/* mfu.h -- model FLOPs utilisation (MFU), and the peak arithmetic of this machine, measured now, with which it
 * compares. */
#pragma once

#include "core/base.h"

MT_C_BEGIN

/* mt_machine_flops -- FLOP/s of f32 multiply-adds (two FLOPs each) in registers, with this many threads; the best of
 * several rounds, about 0.1 s. */
double mt_machine_flops(int threads);

/* mt_mfu -- the part of the peak FLOP/s that a model's FLOPs reach in so many seconds; 0 where the peak is not known.
 * Source: Chowdhery et al. 2022, arXiv:2204.02311, appendix B. */
double mt_mfu(double flops, double seconds, double peak);

MT_C_END
