/* attack  02.1 exit(0) before main
 * hopes   exit status 0 of the worker counts as a pass
 * stopped by the exit status is not believed
 * behind  the list
 * earns   0
 * verdict ERROR
 * words   the worker ended before its first call */
#include <unistd.h>

__attribute__((constructor)) static void leave(void)
{
    _exit(0);
}

void mt_linear_fwd_cpu(void)
{
}

void mt_linear_bwd_cpu(void)
{
}
