/* finite.h -- the debug flavour records the first op that computed a number which is not finite, so that a training
 * program can say where a NaN came from. In other flavours these functions do nothing.
 *
 * Results are tested when they are recorded, gradients when backward passes them on; per thread. */
#pragma once

#include "core/tensor.h"

MT_C_BEGIN

/* mt_finite_culprit -- "linear [64,256]", "backward of exp to input 0 [8]": the first since mt_finite_reset; NULL when
 * all was finite, or outside the debug flavour. Lent until the next op. */
#ifdef MT_DEBUG
const char *mt_finite_culprit(void);
void mt_finite_reset(void);
void mt_finite_watch(const char *op, const mt_tensor *result);
void mt_finite_watch_grad(const char *op, int input, const mt_tensor *grad); /* NULL is allowed */
#else
#define mt_finite_culprit()                   ((const char *)NULL)
#define mt_finite_reset()                     ((void)0)
#define mt_finite_watch(op, result)           ((void)(result))
#define mt_finite_watch_grad(op, input, grad) ((void)(grad))
#endif

MT_C_END
