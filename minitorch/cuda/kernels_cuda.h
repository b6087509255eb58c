/* kernels_cuda.h -- the CUDA kernels of lab 06: the launchers that a program calls.
 *
 * Those in a kernel table have the type and contract of the CPU kernel (kernels/kernels.h;
 * layernorm: models/kernels_gpt2.h). Differences on the device, for all of them:
 *   - pointers are to device memory, aligned as their type unless stated; the launch goes to mt_cuda_stream(), and the
 *     launcher returns before the kernel has ended;
 *   - a size of 0 launches nothing; any other size that fits in the device's memory is allowed;
 *   - values in the data (a label, an id out of range) are checked by an assert on the device, which ends the program
 *     with the source line. Sizes are checked on the host;
 *   - a launcher leaves no memory allocated; what a kernel needs beyond its operands, the caller gives (partial);
 *   - f32 sums run in f32, in an order fixed by the sizes: the same inputs give the same bits. Kernels that add by
 *     atomics say so: integer sums are exact, the last bits of float sums depend on the order of the blocks.
 *
 * "Moves" counts bytes between the kernel and memory or cache, each access of a warp in whole sectors of 32 bytes, like
 * the profiler's counter l1tex__t_sectors and the emulator.
 * Units: solutions/06-cuda-kernels/NAME.cu; the updates of optimizers: optim/updates_cuda.h. */
#pragma once

#include "kernels/kernels.h"

MT_C_BEGIN

/* MT_LADDER -- kernels of one signature: mt_KIND_ladder_cuda, from slowest to fastest; a NULL name ends it. */
#define MT_LADDER(kind)                       \
    typedef struct mt_##kind##_rung {         \
        const char *name; /* "scalar", ... */ \
        const char *step; /* "06.1", ... */   \
        mt_##kind##_fn *run;                  \
    } mt_##kind##_rung;                       \
    extern const mt_##kind##_rung mt_##kind##_ladder_cuda[];

/* ---- fill and saxpy: saxpy.cu ------------------------------------------------------------------- */

/* mt_fill_cuda -- out[i] = value.
 *   out [n] overwritten.   Moves: writes 4n B.   Lab 06.1 */
void mt_fill_cuda(float *out, int64_t n, float value);

/* mt_saxpy_... -- y += a x.
 *   y [n] updated;  x [n];  not aliased, each at any multiple of 4 bytes
 * Moves: reads 8n B, writes 4n B, for 2n FLOPs.
 * Source: the BLAS's saxpy, Lawson et al. 1979, ACM TOMS 5(3).   Lab 06.1, 06.2 */
typedef void mt_saxpy_fn(float *y, const float *x, int64_t n, float a);

mt_saxpy_fn mt_saxpy_scalar_cuda; /* Lab 06.1  a thread for each element */
mt_saxpy_fn mt_saxpy_vector_cuda; /* Lab 06.2  one thread per four elements: a quarter of the requests */

MT_LADDER(saxpy)

/* ---- one operand, element by element: unary.cu --------------------------------------------------- */

/* As mt_relu_fwd_cpu and mt_gelu_fwd_cpu (exact, by erf): out may alias x; backward adds; ReLU's may get out or x as
 * saved, GELU's x.   Moves: forward reads 4n B, writes 4n B; backward reads 12n B, writes 4n B.   Lab 06.3 */
mt_unary_fwd_fn mt_relu_fwd_cuda, mt_gelu_fwd_cuda;
mt_unary_bwd_fn mt_relu_bwd_cuda, mt_gelu_bwd_cuda;

/* ---- two operands with broadcasting: broadcast.cu ------------------------------------------------- */

/* mt_add_fwd_cuda, mt_sub_..., mt_mul_..., mt_div_... -- out = a + b, a - b, a * b, a / b over views of one shape;
 * stride 0 repeats.
 *   out dense, overwritten, aliases neither storage
 * Moves: writes 4n B; reads 4n B of each operand whose innermost stride is 1, less of one that repeats, up to 32n B of
 * one with a larger innermost stride.   Lab 06.4 */
mt_binary_fwd_fn mt_add_fwd_cuda, mt_sub_fwd_cuda, mt_mul_fwd_cuda, mt_div_fwd_cuda;

/* ---- transpose: transpose.cu ----------------------------------------------------------------------- */

/* mt_transpose_... -- out[c,n] = x[n,c].
 *   out [C,N] overwritten, must not alias x;  x [N,C]
 * Moves: reads 4NC B and writes 4NC B at best; naive: writes 32NC B.
 * Source: Ruetsch and Micikevicius 2009, "Optimizing Matrix Transpose in CUDA".   Lab 06.5, 06.6 */
typedef void mt_transpose_fn(float *out, const float *x, int64_t N, int64_t C);

mt_transpose_fn mt_transpose_naive_cuda; /* Lab 06.5  reads rows, writes columns: a sector for every element */
mt_transpose_fn mt_transpose_tiled_cuda; /* Lab 06.6  transposes a tile in shared memory: whole sectors both ways */

MT_LADDER(transpose)

/* ---- sums of everything, sums and maxima of rows: reduce.cu ------------------------------------------ */

/* mt_sum_... -- out[0] = the sum of x; 0 of no elements.
 *   out [1] overwritten;  partial [MT_SUM_BLOCKS] overwritten: each block's sum;  x [n]
 * Two launches: blocks store their sums in partial, then one block sums these. No atomics: the same bits every time.
 * Moves: reads 4n B, for n FLOPs.   Source: Harris 2007, "Optimizing Parallel Reduction in CUDA".   Lab 06.7 to 06.9 */
enum { MT_SUM_BLOCKS = 1024 };
typedef void mt_sum_fn(float *out, float *partial, const float *x, int64_t n);

mt_sum_fn mt_sum_interleaved_cuda; /* Lab 06.7  a tree in shared memory, adjacent ones first: bank conflicts */
mt_sum_fn mt_sum_sequential_cuda;  /* Lab 06.8  a tree over halves: no bank conflicts */
mt_sum_fn mt_sum_shuffle_cuda;     /* Lab 06.9  inside a warp by shuffles; shared memory only between warps */

MT_LADDER(sum)

/* mt_row_sum_cuda -- out[n] = the sum of row n; 0 of an empty one.
 * mt_row_max_cuda -- out[n] = the largest of row n; NaN counts as the largest.   Aborts: C < 1 with N > 0.
 *   out [N] overwritten;  x [N,C]
 * Moves: reads 4NC B, writes 4N B.   Lab 06.10 */
void mt_row_sum_cuda(float *out, const float *x, int64_t N, int64_t C);
void mt_row_max_cuda(float *out, const float *x, int64_t N, int64_t C);

/* ---- softmax: softmax.cu ------------------------------------------------------------------------------ */

/* mt_softmax_fwd_cuda, mt_softmax_bwd_cuda -- as mt_softmax_fwd_cpu (out may alias x) and mt_softmax_bwd_cpu.
 * Moves: forward reads 12NC B and writes 4NC B in three passes, backward reads 20NC B and writes 4NC B in two; if a row
 * fits in cache, all passes after the first read it from there.   Aborts: C < 1 with N > 0.   Lab 06.11 */
void mt_softmax_fwd_cuda(float *out, const float *x, int64_t N, int64_t C);
void mt_softmax_bwd_cuda(float *dx, const float *dout, const float *out, int64_t N, int64_t C);

/* ---- layernorm: layernorm.cu --------------------------------------------------------------------------- */

/* mt_layernorm_fwd_cuda -- as mt_layernorm_fwd_cpu (out may alias x).
 * Moves: reads 20NC B, gamma and beta among them, writes 4NC B.   Aborts: C < 1 with N > 0.   Lab 06.12 */
void mt_layernorm_fwd_cuda(float *out, float *mean, float *rstd, const float *x, const float *gamma, const float *beta,
                           int64_t N, int64_t C, float eps);

/* mt_layernorm_bwd_cuda -- as mt_layernorm_bwd_cpu; dx, dgamma, dbeta may each be NULL.
 * Moves: dx reads 28NC B and writes 4NC B; dgamma and dbeta read 10NC B, sums of columns in whole sectors.
 * Aborts: C < 1 with N > 0.   Lab 06.13 */
void mt_layernorm_bwd_cuda(float *dx, float *dgamma, float *dbeta, const float *dout, const float *x,
                           const float *gamma, const float *mean, const float *rstd, int64_t N, int64_t C);

/* ---- rows of a table: embedding.cu ----------------------------------------------------------------------- */

/* mt_gather_rows_fwd_cuda -- as mt_gather_rows_fwd_cpu: out[n,:] = table[id[n],:].
 * mt_gather_rows_bwd_cuda -- dtable[id[n],:] += dout[n,:], by atomics: rows of one id are added in no fixed order.
 * Moves: forward reads 4NC B and writes 4NC B; backward reads 4NC B and adds to 4NC B.   Asserts: 0 <= id[n] < V.
 * Lab 06.14 */
void mt_gather_rows_fwd_cuda(float *out, const float *table, const int32_t *id, int64_t N, int64_t V, int64_t C);
void mt_gather_rows_bwd_cuda(float *dtable, const float *dout, const int32_t *id, int64_t N, int64_t V, int64_t C);

/* ---- histogram: histogram.cu ------------------------------------------------------------------------------- */

/* mt_histogram_... -- count[v] += how many of x are v.
 *   count [256] i64  updated;  x [n] u8
 * Moves: reads n B; global: n atomics on 256 words; private: 256 of them per block at most.   Lab 06.15, 06.16 */
enum { MT_HISTOGRAM_BINS = 256 };
typedef void mt_histogram_fn(int64_t *count, const uint8_t *x, int64_t n);

mt_histogram_fn mt_histogram_global_cuda;  /* Lab 06.15  every element is an atomic addition to memory */
mt_histogram_fn mt_histogram_private_cuda; /* Lab 06.16  each block counts in its own shared memory */

MT_LADDER(histogram)

MT_C_END
