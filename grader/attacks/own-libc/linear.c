/* attack  02.1 brings its own memcmp, memcpy, strcmp, getrandom and clocks
 * hopes   the static link takes them for the checker's comparisons too
 * stopped by the comparison is in another program
 * earns   1
 * verdict FAIL
 * stops   random shapes */
#include <time.h>

int memcmp(const void *a, const void *b, unsigned long n)
{
    (void)a, (void)b, (void)n;
    return 0;
}

int clock_gettime(clockid_t clock, struct timespec *t)
{
    (void)clock;
    *t = (struct timespec){ 0 };
    return 0;
}

double fabs(double x)
{
    return 0 * x;
}

void mt_linear_fwd_cpu(float *out, const float *x, const float *w, const float *b, long N, long I, long O)
{
    (void)x, (void)w, (void)b, (void)I;
    for (long i = 0; i < N * O; i++)
        out[i] = 1;
}

void mt_linear_bwd_cpu(void)
{
}
