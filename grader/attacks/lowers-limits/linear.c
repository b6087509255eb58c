/* attack  02.1 sets its own limits to nothing before main: no memory, no descriptors, no threads
 * hopes   the worker cannot start, which is an error of the grader and costs no points
 * stopped by ERROR and CRASH give no points
 * behind  the list
 * earns   0
 * verdict ERROR */
#include <sys/resource.h>

__attribute__((constructor)) static void start(void)
{
    struct rlimit none = { 0, 0 };
    setrlimit(RLIMIT_AS, &none);
    setrlimit(RLIMIT_DATA, &none);
    setrlimit(RLIMIT_NOFILE, &none);
    setrlimit(RLIMIT_NPROC, &none);
}

void mt_linear_fwd_cpu(float *out, const float *x, const float *w, const float *b, long N, long I, long O)
{
    (void)out, (void)x, (void)w, (void)b, (void)N, (void)I, (void)O;
}

void mt_linear_bwd_cpu(void)
{
}
