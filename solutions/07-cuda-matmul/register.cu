/* register.cu -- 8 x 8 results in the registers of each thread, fetched 16 bytes at a time.
 *
 * Threads and data: 256 threads make a tile of 128 x 128 and walk along K in steps of 8. Both tiles lie in shared memory with
 * k outermost, A's [8][128] and B's [8][128], so that what a thread needs of one k is 8 neighbours of each: two float4.
 * A thread brings four neighbours of each operand, along whichever dimension they are neighbours in.
 * Bytes and FLOPs: for each k a thread reads 16 floats of shared memory for 128 FLOPs; the block reads 1024 bytes of global
 * memory for 32768 FLOPs. */
#include "cuda/matmul.cuh"
#include "cuda/vector.cuh"

enum { TILE = 128, DEPTH = 8, EACH = 8, ACROSS = TILE / EACH };

/* Four elements of m along its dense dimension, from (i,j) on; 0 beyond the edges. */
static __device__ float4 four(const mt_operand &m, int64_t i, int64_t j)
{
    bool along = m.along == 1;
    int64_t left = along ? (i < m.rows ? m.cols - j : 0) : (j < m.cols ? m.rows - i : 0);
    const float *x = m.at + i * m.down + j * m.along;
    float4 v = make_float4(0, 0, 0, 0);
    /* LAB 07.4 BEGIN  One access of 16 bytes where that is allowed, else as many floats as are left.
     * Hint: x[0] .. x[3] are the four; left of them exist (it may be negative). A float4 must lie at a multiple of 16 bytes:
     * mt_aligned4(x) says whether this one does. */
    if (left >= 4 && mt_aligned4(x))
        return *reinterpret_cast<const float4 *>(x);
    if (left > 0)
        v.x = x[0];
    if (left > 1)
        v.y = x[1];
    if (left > 2)
        v.z = x[2];
    if (left > 3)
        v.w = x[3];
    /* LAB 07.4 END */
    return v;
}

/* tile[k][r] = element (r0 + r, k0 + k) of m, rows along the result, columns along K. */
static __device__ void bring(float (*tile)[TILE], const mt_operand &m, int64_t r0, int64_t k0)
{
    int t = threadIdx.x;
    if (m.along == 1) { /* neighbours in k: two threads a row */
        int r = t / 2, k = t % 2 * 4;
        float4 v = four(m, r0 + r, k0 + k);
        tile[k][r] = v.x;
        tile[k + 1][r] = v.y;
        tile[k + 2][r] = v.z;
        tile[k + 3][r] = v.w;
    } else { /* neighbours in r: a warp for each k */
        int r = t % MT_WARP * 4, k = t / MT_WARP;
        *reinterpret_cast<float4 *>(&tile[k][r]) = four(m, r0 + r, k0 + k);
    }
}

/* Eight neighbours of shared memory. */
static __device__ __forceinline__ void eight(float *out, const float *in)
{
    float4 low = *reinterpret_cast<const float4 *>(in), high = *reinterpret_cast<const float4 *>(in + 4);
    out[0] = low.x, out[1] = low.y, out[2] = low.z, out[3] = low.w;
    out[4] = high.x, out[5] = high.y, out[6] = high.z, out[7] = high.w;
}

static __global__ void __launch_bounds__(256) registers(mt_product p)
{
    __shared__ __align__(16) float a[DEPTH][TILE], b[DEPTH][TILE];
    mt_operand turned = { p.b.at, p.b.cols, p.b.rows, p.b.along, p.b.down }; /* B [N,K], as bring wants it */
    float sum[EACH][EACH] = {}, x[EACH], y[EACH];
    int row = threadIdx.x / ACROSS * EACH, col = threadIdx.x % ACROSS * EACH;
    int64_t i, j;
    mt_tile_begin(p, TILE, TILE, &i, &j);
    for (int64_t k0 = 0; k0 < p.K; k0 += DEPTH) {
        bring(a, p.a, i, k0);
        bring(b, turned, j, k0);
        __syncthreads();
        /* LAB 07.5 BEGIN  64 products for every 16 numbers read.
         * Hint: for each k of the tile, eight of A from `row` on into x, eight of B from `col` on into y, then sum[r][c] +=
         * x[r] * y[c] for all of them. Loops that are unrolled keep sum in registers; `#pragma unroll` asks for it. */
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
        /* LAB 07.5 END */
        __syncthreads();
    }
#pragma unroll
    for (int r = 0; r < EACH; r++)
#pragma unroll
        for (int c = 0; c < EACH; c++)
            mt_result_at(p, i + row + r, j + col + c, sum[r][c]);
}

extern "C" void mt_matmul_register_cuda(float *c, const float *a, const float *b, const mt_matmul_dims *d)
{
    mt_matmul_dims_check("register matmul", d);
    if (d->M * d->N == 0)
        return;
    mt_product p = mt_product_of(c, a, b, d);
    registers<<<mt_tiles(p, TILE, TILE), 256, 0, mt_cuda_stream()>>>(p);
    MT_LAUNCHED("matmul register");
}
