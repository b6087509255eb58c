/* ptxas.h -- what a real GPU would get: the units of a CUDA lab compiled by nvcc for sm_80 and sm_90, where there is
 * one. No GPU is needed, and nothing is run. */
#pragma once

#include "check.h"

typedef enum mg_fact {
    MG_WIDE_LOADS,   /* some kernel loads 16 bytes of global memory at once */
    MG_LOCAL_MEMORY, /* no thread has indexed arrays of more than 32 bytes, or 128 bytes of spilled registers */
    MG_TWO_BLOCKS,   /* two blocks of each kernel fit on a multiprocessor */
    MG_ASYNC_COPIES, /* some kernel copies to shared memory by cp.async */
    MG_TENSOR_CORES, /* some kernel multiplies on tensor cores */
} mg_fact;

/* mg_compiled_fact -- after a call that returned right values: FAIL if the unit ("register.cu") does not have this,
 * else a note with the figures. Without nvcc the row passes and says "not compiled for a GPU: there is no nvcc". */
void mg_compiled_fact(mg_run *run, const char *unit, mg_fact fact);
