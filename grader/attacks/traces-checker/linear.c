/* attack  02.1 ptrace, process_vm_readv, pidfd_getfd, kcmp, perf events on every process
 * hopes   to read the expected values, or to write a verdict
 * stopped by seccomp: no ptrace, process_vm_*, pidfd_*, perf events
 * behind  the list
 * earns   7
 * verdict PASS */
#include "core/base.h"

#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
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
    char byte;
    struct iovec mine = { &byte, 1 }, theirs = { (void *)0x400000, 1 };
    for (int pid = 0; pid < 4000; pid++)
        if (ptrace(PTRACE_ATTACH, pid, 0, 0) != -1 || process_vm_readv(pid, &mine, 1, &theirs, 1, 0) != -1 ||
            process_vm_writev(pid, &mine, 1, &theirs, 1, 0) != -1 || syscall(SYS_pidfd_open, pid, 0) != -1)
            MT_CHECK(0, "BREACH: reached process %d", pid);
    if (ptrace(PTRACE_TRACEME, 0, 0, 0) != -1 || syscall(SYS_perf_event_open, (char[128]){ 0 }, 0, -1, -1, 0) != -1)
        MT_CHECK(0, "BREACH: traced itself");
    honest(out, x, w, b, N, I, O);
}

void mt_linear_bwd_cpu(void)
{
}
