/* reduce.h -- the elementwise reduction of two arrays, for the collectives of every engine. */
#pragma once

#include "dist/comm.h"

MT_C_BEGIN

/* mt_reduce_into -- into [n] becomes into + from, or the larger of both. Sums of 16-bit floats are rounded once;
 * integers wrap. Sum and maximum do not depend on which of the two is into: ranks that swap them get the same bits. */
void mt_reduce_into(void *into, const void *from, int64_t n, mt_dtype dtype, mt_reduce op);

MT_C_END
