/* matmul_cuda.h -- the matrix product on the device: one signature, one ladder with cuBLAS, and the linear layer.
 *
 * Every rung is an mt_matmul_fn and keeps the whole contract of kernels/matmul.h (any M, N, K >= 0, leading dimensions,
 * transposes, += or =), with pointers into the device's memory; launches go to mt_cuda_stream(). The rungs differ in
 * how the operands are loaded. Counted per result, for n x n matrices, n a multiple of the tile, not transposed:
 *
 *               global memory      sectors per request    shared memory: wavefronts for 32 multiply-adds
 *   naive       2n floats          A 32, B 1              -        lanes down a column: each reads another row of A
 *   coalesced   2n floats          A 1, B 4               -        lanes along a row
 *   shared      2n / 32 floats     4                      2        a tile is read once for 32 threads
 *   register    2n / 128 floats    16 (float4)            1 / 4    8 x 8 results per thread
 *   pipelined   as register        16, along K 4          1 / 4    the next tiles are loaded while these are used
 *   tensor      2n / 64 floats     4                      < 1 / 8  16-bit elements, 16 x 16 x 16 per step
 *
 * Units: solutions/07-cuda-matmul/.   Lab 07 */
#pragma once

#include "kernels/matmul.h"

MT_C_BEGIN

mt_matmul_fn mt_matmul_naive_cuda; /* Lab 07.1  naive.cu: a thread for each result, columns along the warp's lanes */
mt_matmul_fn mt_matmul_coalesced_cuda; /* Lab 07.2  naive.cu: rows along the lanes */
mt_matmul_fn mt_matmul_shared_cuda;    /* Lab 07.3  shared.cu: tiles of 32 x 32 in shared memory */
mt_matmul_fn mt_matmul_register_cuda;  /* Lab 07.4-5  register.cu: 8 x 8 results in registers, 16 bytes at a time */
mt_matmul_fn mt_matmul_pipelined_cuda; /* Lab 07.6  pipelined.cu: two buffers, filled by cp.async */

/* mt_matmul_tensor_f16_cuda, mt_matmul_tensor_bf16_cuda -- operands rounded to 16 bits on the way to the tensor cores,
 * sums in f32: off by at most (2 u + K eps) |A||B| with u = 2^-11 or 2^-8. An f16 overflows beyond 65504.   Lab 07.7 */
mt_matmul_fn mt_matmul_tensor_f16_cuda;
mt_matmul_fn mt_matmul_tensor_bf16_cuda;

/* mt_matmul_cublas -- the same through cuBLAS, which is column-major. In f32, no TF32.   Lab 07.8, cublas.cu */
mt_matmul_fn mt_matmul_cublas;

/* mt_matmul_cuda -- as mt_matmul_cpu, through the device's kernel table. */
void mt_matmul_cuda(float *c, const float *a, const float *b, int64_t M, int64_t N, int64_t K, mt_trans trans_a,
                    mt_trans trans_b, mt_write write);

/* mt_linear_fwd_cuda, mt_linear_bwd_cuda -- as mt_linear_fwd_cpu and mt_linear_bwd_cpu (kernels/kernels.h).
 * Lab 07.9-10, linear.cu */
void mt_linear_fwd_cuda(float *out, const float *x, const float *w, const float *b, int64_t N, int64_t I, int64_t O);
void mt_linear_bwd_cuda(float *dx, float *dw, float *db, const float *dout, const float *x, const float *w, int64_t N,
                        int64_t I, int64_t O);

MT_C_END
