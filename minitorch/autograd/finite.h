/* finite.h -- the debug flavour remembers the first op that made a number which is not finite, so that a training
 * program can say where a NaN came from and not only that there is one. In other flavours this is nothing.
 *
 * Watched are results as they are recorded, and gradients as backward passes them on; per thread. */
#pragma once

#include "core/tensor.h"

/* mt_finite_culprit -- "linear [64,256]", "backward of exp to input 0 [8]": the first since mt_finite_reset; NULL when
 * all was finite, or outside the debug flavour. Lent until the next op. */
#ifdef MT_DEBUG
const char *mt_finite_culprit(void);
void mt_finite_reset(void);
void mt_finite_watch(const char *op, const mt_tensor *result);
void mt_finite_watch_grad(const char *op, int input, const mt_tensor *grad); /* NULL is allowed */
#else
static inline const char *mt_finite_culprit(void)
{
    return NULL;
}

static inline void mt_finite_reset(void)
{
}

static inline void mt_finite_watch(const char *op, const mt_tensor *result)
{
    (void)op, (void)result;
}

static inline void mt_finite_watch_grad(const char *op, int input, const mt_tensor *grad)
{
    (void)op, (void)input, (void)grad;
}
#endif
