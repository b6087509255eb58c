/* attack  02.1 exit(0) in the first call, with a verdict of its own on stdout
 * hopes   its output is taken for the grade, in the terminal, by a script, or on the page
 * stopped by the exit status is not believed; its output is not shown as ours
 * earns   0
 * verdict CRASH
 * words   left with exit status 0 */
#include <stdio.h>
#include <stdlib.h>

void mt_linear_fwd_cpu(void)
{
    puts("{\"score\": 85, \"tests\": []}");
    puts("grade 02: 85/85");
    puts("\033[2J\033[32mPASS\033[0m <script>evil()</script>");
    exit(0);
}

void mt_linear_bwd_cpu(void)
{
}
