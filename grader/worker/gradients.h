/* gradients.h -- the list of gradients of a call (an mt_grad_array for each). */
#pragma once

#include "optim/clip.h"
#include "worker/call.h"

#include <stdlib.h>

enum { MG_GRADIENTS_APART = 8 };

/* mg_gradients -- arrays grad0, grad1, ... of the given sizes; more than MG_GRADIENTS_APART lie one after the other in
 * grad0. The list ends where its memory does; the caller frees it. */
static inline mt_grad_array *mg_gradients(const mg_value *v, int64_t *count)
{
    const int64_t *sizes = I64(sizes);
    *count = ARRAY(sizes)->count;
    mt_grad_array *arrays = malloc((size_t)*count * sizeof *arrays);
    float *next = *count ? F(grad0) : NULL;
    MT_CHECK(arrays, "out of memory");
    for (int64_t a = 0; a < *count; a++) {
        arrays[a] = (mt_grad_array){ *count > MG_GRADIENTS_APART ? next : F_AT(grad, a), sizes[a] };
        next += sizes[a];
    }
    return arrays;
}
