/* register.cu -- 8 x 8 results in the registers of each thread, and loads of 16 bytes.
 *
 * Threads and data: 256 threads compute a tile of 128 x 128 and advance along K in steps of 8. Both tiles are in shared
 * memory with k outermost, so that a thread needs 4 neighbours of one k, and 4 more half a tile further: two float4,
 * and those of neighbouring threads are neighbours, in different banks. (With 8 neighbours, threads would read every
 * second float4, and two threads one bank.) Rows of 128 + 4 distribute writes by columns over the banks. A thread loads
 * four neighbours of each operand, along the dimension in which it is contiguous.
 * Bytes and FLOPs: for each k a thread reads 16 floats of shared memory for 128 FLOPs, a warp 16 wavefronts for 4096;
 * the block reads 1024 bytes of global memory for 32768 FLOPs. */
#include "cuda/matmul.cuh"

enum {
    TILE = 128,
    HALF = TILE / 2,
    ROW = TILE + 4, /* of a tile in shared memory: whole float4, and 4 banks after the row above */
    DEPTH = 8,
    EACH = 8,
    ACROSS = TILE / EACH,
    THREADS = ACROSS * ACROSS,
};

/* ---- from global to shared memory ---------------------------------------------------------------- */

/* x[0] .. x[3], of which `left` exist (it may be negative); 0 for the others. */
static __device__ float4 four(const float *x, int64_t left)
{
    float4 v = make_float4(0, 0, 0, 0);
    /* TODO 07.4: One access of 16 bytes if that is allowed, else as many floats as exist.
     * Hint: a float4 must start at a multiple of 16 bytes, which mt_aligned4(x) tests;
     * *reinterpret_cast<const float4 *>(x) reads it. All four must exist. */
    MT_TODO("07.4"); /* delete this line when yours stands here */
    return v;
}

/* tile[k][r] = element (r0 + r, k0 + k) of m, whose rows go along the result and whose columns along K. */
static __device__ void bring(float (*tile)[ROW], const mt_operand &m, int64_t r0, int64_t k0)
{
    int t = threadIdx.x;
    if (m.along == 1) { /* neighbours in k: two threads a row */
        int r = t / 2, k = t % 2 * 4;
        float4 v = four(m.at + (r0 + r) * m.down + k0 + k, r0 + r < m.rows ? m.cols - k0 - k : 0);
        tile[k][r] = v.x;
        tile[k + 1][r] = v.y;
        tile[k + 2][r] = v.z;
        tile[k + 3][r] = v.w;
    } else { /* neighbours in r: a warp for each k */
        int r = t % MT_WARP * 4, k = t / MT_WARP;
        float4 v = four(m.at + (k0 + k) * m.along + r0 + r, k0 + k < m.cols ? m.rows - r0 - r : 0);
        *reinterpret_cast<float4 *>(&tile[k][r]) = v;
    }
}

/* ---- from shared memory to registers --------------------------------------------------------------- */

/* Four neighbours of shared memory, and four more half a tile further. */
static __device__ __forceinline__ void eight(float *out, const float *in)
{
    float4 low = *reinterpret_cast<const float4 *>(in), high = *reinterpret_cast<const float4 *>(in + HALF);
    out[0] = low.x, out[1] = low.y, out[2] = low.z, out[3] = low.w;
    out[4] = high.x, out[5] = high.y, out[6] = high.z, out[7] = high.w;
}

/* Adds the tile's products to this thread's results: sum[r][c] belongs to its r-th row and c-th column. */
static __device__ __forceinline__ void multiply(float (*sum)[EACH], float (*a)[ROW], float (*b)[ROW], int row, int col)
{
    /* TODO 07.5: 64 products from 16 loaded numbers.
     * Hint: for each k of the tile, eight of A from `row` on into x, eight of B from `col` on into y, then sum[r][c] +=
     * x[r] * y[c] for all of them. `#pragma unroll` before each loop keeps sum in registers. */
    MT_TODO("07.5"); /* delete this line when yours stands here */
}

static __global__ void __launch_bounds__(THREADS, 2) registers(mt_product p)
{
    __shared__ __align__(16) float a[DEPTH][ROW], b[DEPTH][ROW];
    float sum[EACH][EACH] = {};
    int row = threadIdx.x / ACROSS * 4, col = threadIdx.x % ACROSS * 4;
    int64_t i, j;
    mt_tile_begin(p, TILE, TILE, &i, &j);
    for (int64_t k0 = 0; k0 < p.K; k0 += DEPTH) {
        bring(a, p.a, i, k0);
        bring(b, mt_transposed(p.b), j, k0);
        __syncthreads();
        multiply(sum, a, b, row, col);
        __syncthreads();
    }
#pragma unroll
    for (int r = 0; r < EACH; r++) {
        mt_four_results_at(p, i + row + r / 4 * HALF + r % 4, j + col, &sum[r][0]);
        mt_four_results_at(p, i + row + r / 4 * HALF + r % 4, j + col + HALF, &sum[r][4]);
    }
}

extern "C" void mt_matmul_register_cuda(float *c, const float *a, const float *b, const mt_matmul_dims *d)
{
    mt_matmul_dims_check("register matmul", d);
    if (d->M * d->N == 0)
        return;
    mt_product p = mt_product_of(c, a, b, d);
    registers<<<mt_tiles(p, TILE, TILE), THREADS, 0, mt_cuda_stream()>>>(p);
    MT_LAUNCHED("matmul register");
}
