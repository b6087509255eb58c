/* attack  02.2 loads by __builtin_memcpy of a variable size, which the compiler expands where a function asks for it
 * hopes   the call is wrapped, its expansion is not
 * stopped by GCC's own forms of functions that move data are refused in a counted unit
 * earns   0
 * verdict FAIL
 * words   uses __builtin_memcpy
 */
#include <stdint.h>
#include <string.h>

__attribute__((target("inline-all-stringops"))) static void copy(void *to, const void *from, size_t n)
{
    __builtin_memcpy(to, from, n);
}
static float load(const float *at, int64_t left)
{
    (void)left;
    float x;
    static volatile size_t size = sizeof x;
    copy(&x, at, size);
    return x;
}

#include "../hides-loads-in-arguments/columns.h"
#include "../hides-loads-in-arguments/linear.h"
