/* table_16bit.c -- the device's kernels of mixed precision (amp/kernels_16bit.h): precision.cu, clip.cu. */
#include "amp/kernels_16bit.h"

const mt_16bit_table mt_16bit_cuda = { MT_16BIT_KERNELS(MT_KERNEL_CUDA) };
