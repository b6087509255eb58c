/* kernels_16bit.c -- the CPU's table of the kernels for 16-bit floats. */
#include "ops/kernels_16bit.h"

const mt_16bit_table mt_16bit_cpu = { MT_16BIT_KERNELS(MT_KERNEL_CPU) };
