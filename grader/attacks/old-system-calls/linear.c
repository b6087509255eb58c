/* attack  02.1 fork by the 32-bit gate, whose system calls have other numbers
 * hopes   the filter knows 64-bit numbers only
 * stopped by seccomp: another architecture ends the process; some kernels have no such gate
 * behind  the list
 * earns   0
 * verdict CRASH */
void mt_linear_fwd_cpu(void)
{
    int result;
    __asm__ volatile("int $0x80" : "=a"(result) : "a"(2) : "memory");
}

void mt_linear_bwd_cpu(void)
{
}
