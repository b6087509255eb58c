/* attack  02.1 sends DONE itself before it computes, by its own write()
 * hopes   the time is measured up to there; the worker's later DONE is suppressed
 * stopped by the answer only says when to look: the outputs, poisoned with NaN, are compared in the checker after the worker is stopped
 * behind  the list
 * earns   1
 * verdict FAIL
 * stops   random shapes
 * words   out[0,0] = nan */
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

static void honest(float *out, const float *x, const float *w, const float *b, long N, long I, long O)
{
    for (long n = 0; n < N; n++)
        for (long o = 0; o < O; o++) {
            float sum = b ? b[o] : 0;
            for (long i = 0; i < I; i++)
                sum += x[n * I + i] * w[i * O + o];
            out[n * O + o] = sum;
        }
}

static struct {
    uint64_t nonce;
    uint32_t what;
    int32_t value;
    int64_t distance;
} last;

ssize_t write(int fd, const void *bytes, size_t count)
{
    if (fd == 4 && ((const uint32_t *)bytes)[2] == 0x5eed02)
        return (ssize_t)count; /* DONE has been sent already */
    if (fd == 4)
        __builtin_memcpy(&last, bytes, sizeof last);
    return syscall(SYS_write, fd, bytes, count);
}

void mt_linear_fwd_cpu(float *out, const float *x, const float *w, const float *b, long N, long I, long O)
{
    last.what = 0x5eed02;
    syscall(SYS_write, 4, &last, sizeof last);
    if (N)
        usleep(20000); /* a longer computation */
    honest(out, x, w, b, N, I, O);
}

void mt_linear_bwd_cpu(void)
{
}
