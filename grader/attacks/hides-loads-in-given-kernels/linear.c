/* attack  02.2 loads each number by a kernel of given code, the residual sum with 0
 * hopes   given code is not instrumented
 * stopped by a call of such a kernel is noted, and then the count is worth nothing
 * earns   12
 * verdict FAIL
 * stops   bytes moved for db
 * words   or a given kernel
 */
#include <stdint.h>

void mt_residual_fwd_cpu(float *out, const float *x, const float *part, int64_t n);

static float load(const float *at, int64_t left)
{
    (void)left;
#ifndef __SANITIZE_THREAD__ /* nothing is counted: large arrays need not be slow */
    return *at;
#endif
    static _Thread_local float zero;
    float x = 0;
    mt_residual_fwd_cpu(&x, at, &zero, 1);
    return x;
}

#include "../hides-loads-in-arguments/columns.h"
#include "../hides-loads-in-arguments/linear.h"
