/* tensor.cu -- tensor cores: a warp multiplies 16 x 16 by 16 x 16 in one step, 16-bit operands, sums in f32.
 *
 * Threads and data: 4 warps compute a tile of 64 x 64, each 32 x 32 as 2 x 2 fragments, K in steps of 16. Operands are
 * rounded when they are stored in shared memory; rows there are padded by 8 elements, so that those of a fragment lie
 * in different banks.
 * Bytes and FLOPs: 8K / 64 bytes from memory for each result, and 2 bytes an element from shared memory. */
#include "cuda/matmul.cuh"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

enum { TILE = 64, DEPTH = 16, PART = 16, PAD = 8, THREADS = 128 };

/* a[r][k] and b[k][c], rounded; 0 beyond the edges. Lanes are along the dimension in which elements are neighbours. */
template <class T>
static __device__ void bring(T (*a)[DEPTH + PAD], T (*b)[TILE + PAD], const mt_product &p, int64_t i, int64_t j,
                             int64_t k0)
{
    for (int e = threadIdx.x; e < TILE * DEPTH; e += THREADS) {
        int r = p.a.along == 1 ? e / DEPTH : e % TILE, k = p.a.along == 1 ? e % DEPTH : e / TILE;
        a[r][k] = T(mt_element(p.a, i + r, k0 + k));
        int c = p.b.along == 1 ? e % TILE : e / DEPTH, l = p.b.along == 1 ? e / TILE : e % DEPTH;
        b[l][c] = T(mt_element(p.b, k0 + l, j + c));
    }
}

template <class T> static __device__ void tensor(const mt_product &p)
{
    __shared__ __align__(32) T a[TILE][DEPTH + PAD], b[DEPTH][TILE + PAD];
    __shared__ __align__(32) float c[TILE][TILE + PAD];
    wmma::fragment<wmma::matrix_a, PART, PART, PART, T, wmma::row_major> x[2];
    wmma::fragment<wmma::matrix_b, PART, PART, PART, T, wmma::row_major> y[2];
    wmma::fragment<wmma::accumulator, PART, PART, PART, float> sum[2][2];
    int warp = threadIdx.x / MT_WARP, row = warp / 2 * 2 * PART, col = warp % 2 * 2 * PART;
    int64_t i, j;
    mt_tile_begin(p, TILE, TILE, &i, &j);
    for (int r = 0; r < 4; r++)
        wmma::fill_fragment(sum[r / 2][r % 2], 0.0f);
    for (int64_t k0 = 0; k0 < p.K; k0 += DEPTH) {
        bring(a, b, p, i, j, k0);
        __syncthreads();
        /* TODO 07.7: Two fragments of each operand, four products.
         * Hint: wmma::load_matrix_sync(x[r], &a[...][0], leading dimension) loads 16 x 16 elements of shared memory
         * into all lanes of the warp; wmma::mma_sync(d, x, y, d) is d += x y. */
        MT_TODO("07.7"); /* delete this line when yours stands here */
        __syncthreads();
    }
    for (int r = 0; r < 2; r++)
        for (int s = 0; s < 2; s++)
            wmma::store_matrix_sync(&c[row + r * PART][col + s * PART], sum[r][s], TILE + PAD, wmma::mem_row_major);
    __syncthreads();
    for (int e = threadIdx.x; e < TILE * TILE; e += THREADS)
        mt_result_at(p, i + e / TILE, j + e % TILE, c[e / TILE][e % TILE]);
}

static __global__ void __launch_bounds__(THREADS) tensor_f16(mt_product p)
{
    tensor<half>(p);
}

/* Tensor cores support bf16 since sm_80: older devices stop here. */
static __global__ void __launch_bounds__(THREADS) tensor_bf16(mt_product p)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
    (void)p;
    __trap();
#else
    tensor<__nv_bfloat16>(p);
#endif
}

extern "C" void mt_matmul_tensor_f16_cuda(float *c, const float *a, const float *b, const mt_matmul_dims *d)
{
    mt_matmul_dims_check("tensor f16 matmul", d);
    if (d->M * d->N == 0)
        return;
    mt_product p = mt_product_of(c, a, b, d);
    tensor_f16<<<mt_tiles(p, TILE, TILE), THREADS, 0, mt_cuda_stream()>>>(p);
    MT_LAUNCHED("matmul tensor f16");
}

extern "C" void mt_matmul_tensor_bf16_cuda(float *c, const float *a, const float *b, const mt_matmul_dims *d)
{
    mt_matmul_dims_check("tensor bf16 matmul", d);
    if (d->M * d->N == 0)
        return;
    mt_product p = mt_product_of(c, a, b, d);
    tensor_bf16<<<mt_tiles(p, TILE, TILE), THREADS, 0, mt_cuda_stream()>>>(p);
    MT_LAUNCHED("matmul tensor bf16");
}
