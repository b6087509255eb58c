/* attack  02.2 loads by gathers, which the compiler does not report
 * hopes   each line of dout is loaded sixteen times, and none of it is counted
 * stopped by what the counter does not see is refused in a counted unit
 * earns   12
 * verdict FAIL
 * stops   bytes moved for db
 * words   uses __builtin_ia32_gather
 */
#include <immintrin.h>
#include <stdint.h>
#include <string.h>

static float load(const float *at, int64_t left)
{
    (void)left;
    return _mm_cvtss_f32(_mm_i32gather_ps(at, _mm_setzero_si128(), 4));
}

#include "../hides-loads-in-arguments/columns.h"
#include "../hides-loads-in-arguments/linear.h"
