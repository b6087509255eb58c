/* attack  02.2 loads by arguments of a call: a structure by value
 * hopes   an access that is no assignment is not reported
 * stopped by a counted unit passes no structure in memory by value: read in the compiler's last intermediate form
 * earns   12
 * verdict FAIL
 * stops   bytes moved for db
 * words   passes a structure in memory by value
 */
#include <stdint.h>

typedef union four {
    float x[1];
} four; /* by value: the load is an argument of the call */
__attribute__((noinline, noipa)) static float use(four f)
{
    return f.x[0];
}
static float load(const float *at, int64_t left)
{
    (void)left;
    return use(*(const four *)at);
}

#include "../hides-loads-in-arguments/columns.h"
#include "../hides-loads-in-arguments/linear.h"
