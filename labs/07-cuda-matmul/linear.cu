/* linear.cu -- the linear layer on the device: three products and two short passes for the bias.
 *
 * The bias: a thread for each output column, 32 of them a warp, so that every request is 4 whole sectors. */
#include "cuda/launch.cuh"
#include "cuda/matmul_cuda.h"

enum { ROWS = 8 }; /* warps of a block, each with every 8th row */

/* ---- forward ---------------------------------------------------------------------------------------- */

/* out[n,:] = b: the product is then added. */
static __global__ void repeat_bias(float *out, const float *b, int64_t N, int64_t O)
{
    /* TODO 07.9: Set every row of out to the bias.
     * Hint: element i of out is column i % O. Neighbouring threads access neighbouring elements. */
    MT_TODO("07.9"); /* delete this line when yours stands here */
}

extern "C" void mt_linear_fwd_cuda(float *out, const float *x, const float *w, const float *b, int64_t N, int64_t I,
                                   int64_t O)
{
    if (N * O == 0)
        return;
    if (b) {
        repeat_bias<<<mt_blocks(N * O, MT_THREADS), MT_THREADS, 0, mt_cuda_stream()>>>(out, b, N, O);
        MT_LAUNCHED("linear_fwd bias");
    }
    mt_matmul_cuda(out, x, w, N, O, I, MT_NO_TRANS, MT_NO_TRANS, b ? MT_ACCUMULATE : MT_OVERWRITE);
}

/* ---- backward ----------------------------------------------------------------------------------------- */

/* db[o] += the sum of column o: the warps of a block divide the rows, then the first warp adds their sums. */
static __global__ void add_columns(float *db, const float *dout, int64_t N, int64_t O)
{
    __shared__ float part[ROWS][MT_WARP];
    int64_t o = (int64_t)blockIdx.x * MT_WARP + threadIdx.x;
    float sum = 0;
    /* TODO 07.10: The sum of this thread's rows of column o, then of the block's.
     * Hint: a thread has row threadIdx.y and every ROWS-th after it. One beyond the last column adds nothing but must
     * reach the barrier, like all threads of a block. Gradients accumulate. */
    MT_TODO("07.10"); /* delete this line when yours stands here */
}

extern "C" void mt_linear_bwd_cuda(float *dx, float *dw, float *db, const float *dout, const float *x, const float *w,
                                   int64_t N, int64_t I, int64_t O)
{
    /* TODO 07.9: Two products.
     * Hint: the shapes determine them: dx [N,I] from dout [N,O] and w [I,O]; dw [I,O] from x [N,I] and dout. Both
     * accumulate. */
    MT_TODO("07.9"); /* delete this line when yours stands here */
    if (db && O > 0) {
        add_columns<<<mt_blocks(O, MT_WARP), dim3(MT_WARP, ROWS), 0, mt_cuda_stream()>>>(db, dout, N, O);
        MT_LAUNCHED("linear_bwd bias");
    }
}
