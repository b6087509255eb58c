/* attack  02.2 loads by mempcpy, which was not counted
 * hopes   each line of dout is loaded sixteen times, and none of it is counted
 * stopped by functions that move data are counted
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
    float x;
    static volatile size_t size = sizeof x;
    mempcpy(&x, at, size);
    return x;
}

#include "../hides-loads-in-arguments/columns.h"
#include "../hides-loads-in-arguments/linear.h"
