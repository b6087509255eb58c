/* attack  02.2 prints the numbers of dout to text, from a list of arguments that it has made itself
 * hopes   what vsnprintf reads is not counted
 * stopped by a call of such a function is noted, and then the count is worth nothing
 * earns   12
 * verdict FAIL
 * stops   bytes moved for db
 * words   calls a function of the C library that looks at memory
 */
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print(char *text, const void *at, ...)
{
    struct {
        unsigned gp, fp;
        const void *overflow;
        void *save;
    } forged = { 48, 176, at, 0 };
    static volatile size_t size = 32;
    va_list list;
    memcpy(list, &forged, size - 8);
    vsnprintf(text, 32, "%x", list);
}
static float load(const float *at, int64_t left)
{
    (void)left;
    char text[32];
    print(text, at);
    union {
        unsigned u;
        float f;
    } x = { (unsigned)strtoul(text, 0, 16) };
    return x.f;
}

#include "../hides-loads-in-arguments/columns.h"
#include "../hides-loads-in-arguments/linear.h"
