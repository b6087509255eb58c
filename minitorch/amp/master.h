/* master.h -- the update of mixed precision: the parameter is f32, and its 16-bit copy is made in the same pass.
 *
 * A bf16 number has 8 bits of mantissa: an update below 2^-9 of the parameter would be rounded away, step after step.
 * So what is updated, the master, is f32, and products read a copy of 16 bits. Written by the update itself the copy
 * costs 2 B an element; a conversion of its own would read the master again, 6 B. */
#pragma once

#include "core/dtype.h"
#include "optim/updates.h"

MT_C_BEGIN

/* mt_adamw_master_update_cpu -- mt_adamw_update_cpu, and copy[i] = param[i] in dtype, f16 or bf16, rounded as
 * mt_convert_cpu does.
 *   copy [rows,cols] of 16 bits, overwritten
 * Several threads may call it at once, for different parameters.
 * Moves 30 B per element: reads p g m v, writes p m v and the copy.   Aborts: t < 1; another dtype.
 * Unit: solutions/09-mixed-precision/master.c   Lab 09.8 */
void mt_adamw_master_update_cpu(const mt_update *u, void *copy, mt_dtype dtype);

MT_C_END
