/* shared.cu -- tiles of A and B in shared memory: each element is loaded once and used by 32 threads.
 *
 * Threads and data: a block of 32 x 32 results advances along K in steps of 32. Each thread loads one element of each
 * tile; the lanes of a warp load 32 neighbours in memory (4 sectors), which are a column of the tile if the operand is
 * transposed. Rows of 33 put the elements of a column into different banks.
 * Bytes and FLOPs: 8K / 32 bytes from memory for each result of 2K FLOPs; all others from shared memory, where a warp
 * reads one element of A's tile (a broadcast) and 32 neighbours of B's: two wavefronts for 64 FLOPs. */
#include "cuda/matmul.cuh"

enum { SIDE = 32 };

/* tile[r][c] = element (i + r, j + c) of m, 0 beyond the edges. */
static __device__ void bring(float (*tile)[SIDE + 1], const mt_operand &m, int64_t i, int64_t j)
{
    int x = threadIdx.x, y = threadIdx.y;
    /* TODO 07.3: This thread's element of the tile.
     * Hint: x is the lane of a warp, and lanes should read neighbours. These are along a row of m if m.along is 1, else
     * along a column: then this thread's element is (x, y). mt_element is 0 beyond the edges. */
    MT_TODO("07.3"); /* delete this line when yours stands here */
}

static __global__ void tiled(mt_product p)
{
    __shared__ float a[SIDE][SIDE + 1], b[SIDE][SIDE + 1];
    int64_t i, j;
    int x = threadIdx.x, y = threadIdx.y;
    float sum = 0;
    mt_tile_begin(p, SIDE, SIDE, &i, &j);
    /* TODO 07.3: The sum of result (i + y, j + x): for each tile along K: load both, wait, use them, wait.
     * Hint: row y of A's tile times column x of B's. Without the second barrier fast threads would overwrite what slow
     * ones still read. Every thread must reach both, even one without a result. */
    MT_TODO("07.3"); /* delete this line when yours stands here */
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
