/* launch.c -- limit the number of threads and of signals, then become the worker. A separate program inside the
 * sandbox: these limits count per user and user namespace, so they cannot be set before; and the first instructions of
 * the worker may be the student's.
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
    /* Timers and queued signals count per user like processes: one worker's would be missing in another's. */
    struct rlimit signals = { .rlim_cur = 64, .rlim_max = 64 };
    if (most < 0 || (most > 0 && (setrlimit(RLIMIT_NPROC, &r) || setrlimit(RLIMIT_SIGPENDING, &signals))))
        return 126;
    /* Waiting threads sleep: on a busy machine, spinning made a training run 3 times slower. */
    static char *const environment[] = { "OMP_WAIT_POLICY=passive", NULL };
    execve(argv[2], argv + 2, environment);
    return 126;
}
