/* attack  02.2 loads each byte by a comparison of strings
 * hopes   functions that only look at memory are not counted
 * stopped by a call of such a function is noted, and then the count is worth nothing
 * earns   12
 * verdict FAIL
 * stops   bytes moved for db
 * words   calls a function of the C library that looks at memory
 */
#include <stdint.h>
#include <string.h>

static unsigned byte(const char *at)
{
    static const char *volatile nothing = "";
    static volatile size_t one = 1;
    return (unsigned)strncmp(at, nothing, one) & 255;
}
static float load(const float *at, int64_t left)
{
    (void)left;
    const char *c = (const char *)at;
    union {
        unsigned u;
        float f;
    } x = { byte(c) | byte(c + 1) << 8 | byte(c + 2) << 16 | byte(c + 3) << 24 };
    return x.f;
}

#include "../hides-loads-in-arguments/columns.h"
#include "../hides-loads-in-arguments/linear.h"
