/* arch.h -- the limits of the emulated device (arch.c), chosen by CUEMU_ARCH: that of sm_90 by default. */
#ifndef EMU_ARCH_H
#define EMU_ARCH_H

/* Memory in KiB, clocks in kHz. 65,536 registers, 1,024 threads a block and 48 KiB of static shared memory are the same
 * everywhere. */
typedef struct emu_arch {
    int number;                                 /* 86: compute capability 8.6 */
    int shared_block, shared_multiprocessor;    /* the most that a block may opt in to; of a multiprocessor */
    int shared_reserved;                        /* of each block, by the system */
    int threads, blocks;                        /* that are resident on a multiprocessor, at most */
    int multiprocessors, per_double;            /* float operations in the time of one in double */
    int l2, bus_bits, clock_rate, memory_clock; /* only told to programs */
} emu_arch;

extern const emu_arch *emu_device;

#endif
