/* attack  02.1 opens sockets of all kinds
 * hopes   to send inputs to another machine, or to fetch the answers
 * stopped by seccomp: no sockets; a network namespace
 * behind  the list
 * earns   7
 * verdict PASS */
#include "core/base.h"

#include <sys/socket.h>
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

void mt_linear_fwd_cpu(float *out, const float *x, const float *w, const float *b, long N, long I, long O)
{
    int pair[2];
    for (int family = 1; family < 46; family++)
        for (int type = 1; type < 6; type++)
            if (socket(family, type, 0) != -1)
                MT_CHECK(0, "BREACH: a socket of family %d", family);
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != -1 || syscall(SYS_io_uring_setup, 8, (char[120]){ 0 }) != -1)
        MT_CHECK(0, "BREACH: a pair of sockets, or a ring");
    honest(out, x, w, b, N, I, O);
}

void mt_linear_bwd_cpu(void)
{
}
