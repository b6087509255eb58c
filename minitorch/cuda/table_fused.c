/* table_fused.c -- the device's fused kernels: the table of fused/kernels_fused.h, and attention. */
#include "fused/kernels_cuda.h"

const mt_fused_table mt_fused_cuda = { .bias_gelu_fwd = mt_bias_gelu_fwd_cuda,
                                       .bias_gelu_bwd = mt_bias_gelu_bwd_cuda }; /* chunks: on the CPU */

int64_t mt_attention_saved_cuda(int64_t B, int64_t T, int64_t H)
{
    return 2 * B * H * T;
}
