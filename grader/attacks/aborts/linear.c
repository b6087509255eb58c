/* attack  02.1 abort, with words that look like a pass
 * hopes   a deliberate abort does not count as a crash
 * stopped by the signal is seen by the checker: CRASH
 * earns   1
 * verdict CRASH
 * words   SIGABRT */
#include <stdio.h>
#include <stdlib.h>

void mt_linear_fwd_cpu(float *out, const float *x, const float *w, const float *b, long N, long I, long O)
{
    (void)out, (void)x, (void)w, (void)b, (void)I, (void)O;
    fputs("[PASSED] all tests\n", stderr);
    if (N)
        abort();
}

void mt_linear_bwd_cpu(void)
{
}
