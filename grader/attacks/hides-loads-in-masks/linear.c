/* attack  02.2 loads by masked intrinsics, which the compiler does not report
 * hopes   each line of dout is loaded sixteen times, and none of it is counted
 * stopped by they are loops in a counted unit
 * earns   12
 * verdict FAIL
 * stops   bytes moved for db
 */
#include <immintrin.h>
#include <stdint.h>
#include <string.h>

static float load(const float *at, int64_t left)
{
    (void)left;
    return _mm_cvtss_f32(_mm_maskload_ps(at, _mm_setr_epi32(-1, 0, 0, 0)));
}

#include "../hides-loads-in-arguments/columns.h"
#include "../hides-loads-in-arguments/linear.h"
