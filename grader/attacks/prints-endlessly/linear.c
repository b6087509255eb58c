/* attack  02.1 prints without end
 * hopes   to fill the disk, or the grader's memory
 * stopped by output limit of the row
 * earns   1
 * verdict TIMEOUT
 * words   printed more than 64 KiB */
#include <stdio.h>

void mt_linear_fwd_cpu(float *out, const float *x, const float *w, const float *b, long N, long I, long O)
{
    (void)out, (void)x, (void)w, (void)b, (void)I, (void)O;
    while (N)
        puts("and another thing: \033]0;evil\007 \377\376 <script>evil()</script>");
}

void mt_linear_bwd_cpu(void)
{
}
