/* shared.cu -- tiles of A and B in shared memory: what a block reads once, 32 of its threads use.
 *
 * Threads and data: a block of 32 x 32 results walks along K in steps of 32. Each thread brings one element of each tile;
 * the lanes of a warp bring a row of 32 neighbours (4 sectors), or a column where the operand is transposed.
 * Bytes and FLOPs: 8K / 32 bytes from memory for each result of 2K FLOPs; all others from shared memory, where a warp reads
 * one element of A's tile (a broadcast) and 32 neighbours of B's: no conflicts. */
#include "cuda/matmul.cuh"

enum { SIDE = 32 };

static __global__ void tiled(mt_product p)
{
    __shared__ float a[SIDE][SIDE], b[SIDE][SIDE];
    int64_t i, j;
    int x = threadIdx.x, y = threadIdx.y;
    float sum = 0;
    mt_tile_begin(p, SIDE, SIDE, &i, &j);
    for (int64_t k0 = 0; k0 < p.K; k0 += SIDE) {
        /* LAB 07.3 BEGIN  Bring both tiles, wait, use them, wait.
         * Hint: this thread brings elements (y, x) of both: mt_element gives 0 beyond the edges. The second barrier keeps
         * the fast threads from overwriting what the slow ones still read. */
        a[y][x] = mt_element(p.a, i + y, k0 + x);
        b[y][x] = mt_element(p.b, k0 + y, j + x);
        __syncthreads();
        for (int k = 0; k < SIDE; k++)
            sum += a[y][k] * b[k][x];
        __syncthreads();
        /* LAB 07.3 END */
    }
    mt_result_at(p, i + y, j + x, sum);
}

extern "C" void mt_matmul_shared_cuda(float *c, const float *a, const float *b, const mt_matmul_dims *d)
{
    mt_matmul_dims_check("shared matmul", d);
    if (d->M * d->N == 0)
        return;
    mt_product p = mt_product_of(c, a, b, d);
    tiled<<<mt_tiles(p, SIDE, SIDE), dim3(SIDE, SIDE), 0, mt_cuda_stream()>>>(p);
    MT_LAUNCHED("matmul shared");
}
