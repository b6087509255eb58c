/* denormals.h -- numbers nearer to 0 than 2^-126, 1.2e-38: kept as IEEE 754 has them, or flushed to 0. The mode is the
 * thread's, and a new thread begins with that of the thread that starts it: OpenMP's teams, loaders, ranks. */
#pragma once

#include "core/base.h"

/* mt_flush_denormals -- from now on such numbers are 0, as operands and as results (or kept again), in this thread and
 * in those that it starts. A program that trains calls it first: an operation on such a number takes some processors a
 * hundred cycles, and averages become such numbers when what is averaged has become 0. For programs only: the library
 * computes in the mode of its caller. */
static inline void mt_flush_denormals(bool flush)
{
    (void)flush; /* there is no mode on other processors */
#if defined __x86_64__
    unsigned mode = __builtin_ia32_stmxcsr(), bits = 1u << 15 | 1u << 6; /* FTZ, results; DAZ, operands */
    __builtin_ia32_ldmxcsr(flush ? mode | bits : mode & ~bits);
#elif defined __aarch64__
    uint64_t mode, bits = 1u << 24; /* FZ, both */
    __asm__ volatile("mrs %0, fpcr" : "=r"(mode));
    __asm__ volatile("msr fpcr, %0" : : "r"(flush ? mode | bits : mode & ~bits));
#endif
}

/* mt_denormals_flushed -- whether they are 0 in this thread. */
static inline bool mt_denormals_flushed(void)
{
    volatile float least = 0x1p-126f; /* read when the program runs: a compiler's own division keeps them */
    return least / 2 == 0;
}
