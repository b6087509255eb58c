/* server.h -- what the worker and the checks of steps 13.23 and 13.24 share: the gradient that a worker computes. */
#pragma once

#include <stdint.h>
#include <string.h>

/* mg_server_gradient -- multiples of a half that depend on all bits of the parameters, so that no other weights have
 * this gradient; `salt` [n] makes those of the workers different. None is 0. */
static inline void mg_server_gradient(float *grad, const float *params, const float *salt, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        uint32_t bits, more;
        memcpy(&bits, &params[i], sizeof bits);
        memcpy(&more, &salt[i], sizeof more);
        grad[i] = (float)((bits % 17 * 5 + more % 17) % 17) - 8.5F;
    }
}
