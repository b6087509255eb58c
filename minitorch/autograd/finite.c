/* finite.c -- see finite.h. Empty unless MT_DEBUG is defined. */
#include "autograd/finite.h"

#ifdef MT_DEBUG

#include <math.h>
#include <stdio.h>

static _Thread_local char culprit[160];

const char *mt_finite_culprit(void)
{
    return culprit[0] ? culprit : NULL;
}

void mt_finite_reset(void)
{
    culprit[0] = 0;
}

/* Views show what someone else made, and lie anyhow; what cannot be read from here is not looked at. */
static bool all_finite(const mt_tensor *t)
{
    if (t->dtype != MT_F32 || mt_device_of(t) != MT_CPU || !mt_view_is_contiguous(&t->view))
        return true;
    const float *data = mt_f32(t);
    for (int64_t i = 0, n = mt_numel(t); i < n; i++)
        if (!isfinite(data[i]))
            return false;
    return true;
}

void mt_finite_watch(const char *op, const mt_tensor *result)
{
    if (!culprit[0] && !all_finite(result))
        snprintf(culprit, sizeof culprit, "%s %s", op, mt_text_of(result));
}

void mt_finite_watch_grad(const char *op, int input, const mt_tensor *grad)
{
    if (!culprit[0] && grad && !all_finite(grad))
        snprintf(culprit, sizeof culprit, "backward of %s to input %d %s", op, input, mt_text_of(grad));
}

#endif
