/* attack  02.2 a block of fixed size by __builtin_memcpy, which gcc expands without a call
 * hopes   each line of dout is loaded sixteen times, and none of it is counted
 * stopped by what the counter does not see is refused in a counted unit
 * earns   12
 * verdict FAIL
 * stops   bytes moved for db
 * words   uses __builtin_memcpy
 */
#include <immintrin.h>
#include <stdint.h>
#include <string.h>

static float load(const float *at, int64_t left)
{
    float x[48];
    if (left < 48)
        return *at;
    __builtin_memcpy(x, at, sizeof x);
    return x[0];
}

#include "../hides-loads-in-arguments/columns.h"
#include "../hides-loads-in-arguments/linear.h"
