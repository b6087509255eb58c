/* pipelined.cu -- two buffers: while one pair of tiles is multiplied, cp.async loads the next from memory.
 *
 * Threads and data: tiles and results as in register.cu, with two buffers for each tile. An asynchronous copy goes from
 * global to shared memory without registers, in pieces of 4, 8 or 16 contiguous bytes, so it cannot transpose a tile.
 * An operand that is contiguous along the result is copied 16 bytes at a time; one that is contiguous along K by single
 * floats, 8 lanes for a row: a sector each, and in shared memory 32 different banks. Before sm_80 the same calls copy
 * at once.
 * Bytes and FLOPs: as register.cu's; one barrier for each step of K instead of two, and loads overlap with
 * arithmetic. */
#include "cuda/matmul.cuh"

#include <cuda_pipeline_primitives.h>

enum {
    TILE = 128,
    HALF = TILE / 2,
    ROW = TILE + 4,
    DEPTH = 8,
    EACH = 8,
    ACROSS = TILE / EACH,
    THREADS = ACROSS * ACROSS,
};

/* ---- from global to shared memory ---------------------------------------------------------------- */

/* Starts the copy *to = element (r,k) of m; 0 beyond the edges. */
static __device__ void send_one(float *to, const mt_operand &m, int64_t r, int64_t k)
{
    if (r < m.rows && k < m.cols)
        __pipeline_memcpy_async(to, &m.at[r * m.down + k * m.along], sizeof *to);
    else
        *to = 0;
}

/* tile[k][r] = element (r0 + r, k0 + k) of m, whose rows go along the result and whose columns along K. */
static __device__ void send(float (*tile)[ROW], const mt_operand &m, int64_t r0, int64_t k0)
{
    if (m.along == 1) {
        /* LAB 07.6 BEGIN  Neighbours in k: TILE x DEPTH single floats, by THREADS threads.
         * Hint: send_one(&tile[k][r], m, r0 + r, k0 + k). Choose k and r of the e-th iteration so that neighbouring
         * threads read neighbours. There are DEPTH of them along K. */
        for (int e = threadIdx.x; e < TILE * DEPTH; e += THREADS)
            send_one(&tile[e % DEPTH][e / DEPTH], m, r0 + e / DEPTH, k0 + e % DEPTH);
        /* LAB 07.6 END */
        return;
    }
    int r = threadIdx.x % MT_WARP * 4, k = threadIdx.x / MT_WARP; /* neighbours in r: a warp for each k */
    const float *x = m.at + (k0 + k) * m.along + r0 + r;
    if (k0 + k < m.cols && r0 + r + 4 <= m.rows && mt_aligned4(x))
        __pipeline_memcpy_async(&tile[k][r], x, sizeof(float4));
    else
        for (int q = 0; q < 4; q++)
            send_one(&tile[k][r + q], m, r0 + r + q, k0 + k);
}

/* ---- from shared memory to registers --------------------------------------------------------------- */

/* Four neighbours of shared memory, and four more half a tile further. */
static __device__ __forceinline__ void eight(float *out, const float *in)
{
    float4 low = *reinterpret_cast<const float4 *>(in), high = *reinterpret_cast<const float4 *>(in + HALF);
    out[0] = low.x, out[1] = low.y, out[2] = low.z, out[3] = low.w;
    out[4] = high.x, out[5] = high.y, out[6] = high.z, out[7] = high.w;
}

static __device__ __forceinline__ void multiply(float (*sum)[EACH], float (*a)[ROW], float (*b)[ROW], int row, int col)
{
    /* LAB 07.6 BEGIN  The products are those of 07.5. */
    float x[EACH], y[EACH];
#pragma unroll
    for (int k = 0; k < DEPTH; k++) {
        eight(x, &a[k][row]);
        eight(y, &b[k][col]);
#pragma unroll
        for (int r = 0; r < EACH; r++)
#pragma unroll
            for (int c = 0; c < EACH; c++)
                sum[r][c] += x[r] * y[c];
    }
    /* LAB 07.6 END */
}

static __global__ void __launch_bounds__(THREADS, 2) pipelined(mt_product p)
{
    __shared__ __align__(16) float a[2][DEPTH][ROW], b[2][DEPTH][ROW];
    float sum[EACH][EACH] = {};
    int row = threadIdx.x / ACROSS * 4, col = threadIdx.x % ACROSS * 4, now = 0;
    int64_t i, j;
    mt_tile_begin(p, TILE, TILE, &i, &j);
    send(a[0], p.a, i, 0);
    send(b[0], mt_transposed(p.b), j, 0);
    __pipeline_commit();
    for (int64_t k0 = 0; k0 < p.K; k0 += DEPTH, now = 1 - now) {
        /* LAB 07.6 BEGIN  Wait for this pair, start the copies of the next, multiply.
         * Hint: __pipeline_wait_prior(0) waits for this thread's own copies; after a barrier the copies of all threads
         * are visible, and all threads have finished with the other buffers, 1 - now, into which the next pair is
         * copied. There may be no next pair. */
        __pipeline_wait_prior(0);
        __syncthreads();
        if (k0 + DEPTH < p.K) {
            send(a[1 - now], p.a, i, k0 + DEPTH);
            send(b[1 - now], mt_transposed(p.b), j, k0 + DEPTH);
        }
        __pipeline_commit();
        multiply(sum, a[now], b[now], row, col);
        /* LAB 07.6 END */
    }
#pragma unroll
    for (int r = 0; r < EACH; r++) {
        mt_four_results_at(p, i + row + r / 4 * HALF + r % 4, j + col, &sum[r][0]);
        mt_four_results_at(p, i + row + r / 4 * HALF + r % 4, j + col + HALF, &sum[r][4]);
    }
}

extern "C" void mt_matmul_pipelined_cuda(float *c, const float *a, const float *b, const mt_matmul_dims *d)
{
    mt_matmul_dims_check("pipelined matmul", d);
    if (d->M * d->N == 0)
        return;
    mt_product p = mt_product_of(c, a, b, d);
    pipelined<<<mt_tiles(p, TILE, TILE), THREADS, 0, mt_cuda_stream()>>>(p);
    MT_LAUNCHED("matmul pipelined");
}
