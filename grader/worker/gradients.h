/* gradients.h -- the list of gradients of a call (an mt_grad_array for each). */
#pragma once

#include "optim/clip.h"
#include "worker/call.h"

#include <stdlib.h>

enum { MG_GRADIENTS_APART = 8 };

/* mg_gradients -- arrays of the sizes in v[0], from v[1], v[2], ...; more than MG_GRADIENTS_APART lie one after the
 * other in v[1]. The list ends where its memory does; the caller frees it. */
static inline mt_grad_array *mg_gradients(const mg_value *v, int64_t *count)
{
    mt_grad_array *arrays = malloc((size_t)v[0].count * sizeof *arrays);
    float *next = v[1].f32;
    *count = v[0].count;
    MT_CHECK(arrays, "out of memory");
    for (int64_t a = 0; a < *count; a++) {
        arrays[a] = (mt_grad_array){ *count > MG_GRADIENTS_APART ? next : v[1 + a].f32, v[0].i64s[a] };
        next += v[0].i64s[a];
    }
    return arrays;
}
