/* attack  02.1 writes beyond its output, catches the fault and continues
 * hopes   a fault that its own handler catches is not reported; out is not written
 * stopped by the outputs are compared; a caught fault wrote nothing
 * behind  the list
 * earns   1
 * verdict FAIL
 * stops   random shapes */
#include <setjmp.h>
#include <signal.h>

static sigjmp_buf before;

static void swallow(int number)
{
    siglongjmp(before, number);
}

void mt_linear_fwd_cpu(float *out, const float *x, const float *w, const float *b, long N, long I, long O)
{
    (void)x, (void)w, (void)b, (void)I;
    signal(SIGSEGV, swallow);
    signal(SIGBUS, swallow);
    signal(SIGABRT, swallow);
    if (N && sigsetjmp(before, 1) == 0)
        for (long i = N * O;; i++)
            out[i] = 1;
}

void mt_linear_bwd_cpu(void)
{
}
