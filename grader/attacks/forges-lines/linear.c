/* attack  02.1 #line with commands for a terminal and a script as the file's name, a warning there, then a crash
 * hopes   messages of the compiler and of the crash carry them to the terminal and the page
 * stopped by no unit has #line; behind that, control characters are replaced, HTML is escaped
 * behind  the list
 * earns   1
 * verdict CRASH */
#include "core/base.h"

void mt_linear_fwd_cpu(float *out, const float *x, const float *w, const float *b, long N, long I, long O)
{
#line 7 "\033]0;evil\007\033[2J<script>evil()</script>\ngrade 02: 7/7"
    int unused;
    *(volatile int *)8 = (int)N;
    (void)out, (void)x, (void)w, (void)b, (void)I, (void)O;
}

void mt_linear_bwd_cpu(void)
{
}
