/* attack  02.1 answers each call without computing, and prints a pass
 * hopes   the verdict is read from stdout
 * stopped by its output is never read as a verdict
 * earns   1
 * verdict FAIL
 * stops   random shapes
 * words   out[0,0] = nan */
#include <stdio.h>

void mt_linear_fwd_cpu(void)
{
    puts("PASS 7/7\nMG_PASS\n[PASSED] linear\ngrade 02: 7/7");
}

void mt_linear_bwd_cpu(void)
{
}
