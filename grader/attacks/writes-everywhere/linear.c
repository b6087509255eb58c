/* attack  02.1 writes to all descriptors it may have inherited
 * hopes   one is the grader's terminal, report or pipe
 * stopped by all other descriptors are closed; what is written to the reply pipe must be an answer
 * behind  the list
 * earns   0
 * verdict CRASH
 * words   something other than the worker wrote to its reply pipe */
#include "core/base.h"

#include <unistd.h>

void mt_linear_fwd_cpu(void)
{
    for (int fd = 7; fd < 256; fd++)
        if (write(fd, "PASS", 4) == 4)
            MT_CHECK(0, "BREACH: descriptor %d is open", fd);
    for (int fd = 0; fd < 7; fd++)
        if (write(fd, "PASS 7/7 PASS 7/7 PASS 7/7 PASS 7/7", 24) < 0)
            continue;
}

void mt_linear_bwd_cpu(void)
{
}
