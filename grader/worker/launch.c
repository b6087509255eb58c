/* launch.c -- limit the number of threads, then become the worker. A separate program inside the sandbox: the limit
 * counts per user and user namespace, so it cannot be set before; and the first instructions of the worker may be the
 * student's.
 *
 * launch MOST WORKER      MOST = 0: no limit (where there is no namespace, it would count all of the user's
 * processes) */
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    long most = argc == 3 ? strtol(argv[1], NULL, 10) : -1;
    struct rlimit r = { .rlim_cur = (rlim_t)most, .rlim_max = (rlim_t)most };
    if (most < 0 || (most > 0 && setrlimit(RLIMIT_NPROC, &r)))
        return 126;
    /* Waiting threads sleep: on a busy machine, spinning made a training run 3 times slower. */
    static char *const environment[] = { "OMP_WAIT_POLICY=passive", NULL };
    execve(argv[2], argv + 2, environment);
    return 126;
}
