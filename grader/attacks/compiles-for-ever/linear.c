/* attack  02.1 includes itself twice, to a depth that is never reached
 * hopes   the compiler runs for ever: its own limit on depth does not help
 * stopped by 512 KiB of messages
 * slow    it takes the compiler's limit of a minute: run it by name
 * earns   0
 * verdict FAIL
 * words   does not build */
#if __INCLUDE_LEVEL__ < 60
#include "linear.c"
#include "linear.c"
#else

void mt_linear_fwd_cpu(float *out, const float *x, const float *w, const float *b, long N, long I, long O)
{
    (void)out, (void)x, (void)w, (void)b, (void)N, (void)I, (void)O;
}

void mt_linear_bwd_cpu(void)
{
}
#endif
