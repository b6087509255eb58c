/* pipelined.cu -- two buffers: while one pair of tiles is multiplied, cp.async brings the next from memory.
 *
 * Threads and data: 256 threads, a tile of 64 x 64 results, 4 x 4 a thread, K in steps of 16. An asynchronous copy goes from
 * global to shared memory past the registers, so tiles keep their own order: a thread brings one float at a time, along
 * whichever dimension its neighbours are neighbours in. Before sm_80 the same calls copy at once.
 * Bytes and FLOPs: as register.cu's, a tile half as wide: 8K / 64 bytes from memory for each result. */
#include "cuda/matmul.cuh"

#include <cuda_pipeline_primitives.h>

enum { TILE = 64, DEPTH = 16, EACH = 4, ACROSS = TILE / EACH, THREADS = ACROSS * ACROSS };

/* tile[k][r] = element (r0 + r, k0 + k) of m, on its way when this returns; rows padded against bank conflicts. */
static __device__ void send(float (*tile)[TILE + 1], const mt_operand &m, int64_t r0, int64_t k0)
{
    for (int e = threadIdx.x; e < TILE * DEPTH; e += THREADS) {
        int r = m.along == 1 ? e / DEPTH : e % TILE, k = m.along == 1 ? e % DEPTH : e / TILE;
        if (r0 + r < m.rows && k0 + k < m.cols)
            __pipeline_memcpy_async(&tile[k][r], &m.at[(r0 + r) * m.down + (k0 + k) * m.along], sizeof(float));
        else
            tile[k][r] = 0;
    }
}

static __device__ void multiply(float (*sum)[EACH], float (*a)[TILE + 1], float (*b)[TILE + 1], int row, int col)
{
#pragma unroll
    for (int k = 0; k < DEPTH; k++)
#pragma unroll
        for (int r = 0; r < EACH; r++)
#pragma unroll
            for (int c = 0; c < EACH; c++)
                sum[r][c] += a[k][row + r * ACROSS] * b[k][col + c * ACROSS];
}

static __global__ void __launch_bounds__(THREADS) pipelined(mt_product p)
{
    __shared__ float a[2][DEPTH][TILE + 1], b[2][DEPTH][TILE + 1];
    mt_operand turned = { p.b.at, p.b.cols, p.b.rows, p.b.along, p.b.down }; /* B [N,K], as send wants it */
    float sum[EACH][EACH] = {};
    int row = threadIdx.x / ACROSS, col = threadIdx.x % ACROSS, now = 0;
    int64_t i, j;
    mt_tile_begin(p, TILE, TILE, &i, &j);
    send(a[0], p.a, i, 0);
    send(b[0], turned, j, 0);
    __pipeline_commit();
    for (int64_t k0 = 0; k0 < p.K; k0 += DEPTH, now = 1 - now) {
        /* LAB 07.6 BEGIN  Send for the next pair, wait for this one, multiply.
         * Hint: the next goes into buffers 1 - now; __pipeline_commit() ends a batch of copies (an empty one too), and
         * __pipeline_wait_prior(1) waits for all but the latest. A thread waits for its own copies only: a barrier makes them
         * everyone's. A second keeps the next round from overwriting what is still read. */
        if (k0 + DEPTH < p.K) {
            send(a[1 - now], p.a, i, k0 + DEPTH);
            send(b[1 - now], turned, j, k0 + DEPTH);
        }
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        multiply(sum, a[now], b[now], row, col);
        __syncthreads();
        /* LAB 07.6 END */
    }
    for (int r = 0; r < EACH; r++)
        for (int c = 0; c < EACH; c++)
            mt_result_at(p, i + row + r * ACROSS, j + col + c * ACROSS, sum[r][c]);
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
