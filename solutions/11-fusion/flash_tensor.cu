/* flash_tensor.cu -- attention of flash_forward.cu on tensor cores: queries, keys and values are bf16, sums and softmax
 * f32. Lab 11.
 *
 * Threads and data: a block owns ROWS = 64 queries of one head, 16 per warp, and iterates over the keys and values up
 * to its last query in tiles of KEYS = 64. A warp's products are fragments of 16 x 16 (lab 07.7): four of scores, which
 * go to shared memory, where each lane has two keys of a row and makes their weights; then one for each 16 columns.
 * Which elements of a fragment a lane has is not documented, so a row of sums cannot be multiplied there: sums stay in
 * shared memory, too, and a fragment is loaded, added to and stored for each tile.
 * Bytes: as flash_forward.cu's with ROWS = 64 for heads of any width, and 2 bytes for each number of q, k and v.
 * Shared memory: 72 KiB in heads of up to 64 columns, 92 KiB up to 96, 112 KiB up to 128: more than the 48 that a block
 * gets unasked, and the last more than the 99 of sm_86, sm_89 and sm_120.
 * Rows are padded by 8 elements, so that those of a fragment lie in different banks. */
#include "cuda/heads.cuh"

#include <cuda_bf16.h>
#include <mma.h>

using namespace nvcuda;
typedef __nv_bfloat16 bf16;

enum { ROWS = 64, KEYS = 64, PART = 16, PAD = 8, LANES = MT_WARP };

/* The shared memory of a block. */
template <int PARTS> struct tiles {
    enum { COLS = MT_WARP * PARTS };
    __align__(32) bf16 q[ROWS][COLS + PAD], k[KEYS][COLS + PAD], v[KEYS][COLS + PAD], weight[ROWS][KEYS + PAD];
    float score[ROWS][KEYS + PAD], sum[ROWS][COLS + PAD];
};

typedef wmma::fragment<wmma::matrix_a, PART, PART, PART, bf16, wmma::row_major> rows_of;
typedef wmma::fragment<wmma::accumulator, PART, PART, PART, float> sums;

/* The softmax of a query over the keys so far: the largest score, and this lane's part of the sum of e^(score - max).
 */
struct running {
    float max, sum;
};

/* The scores of queries own .. own+15 and all keys of the tile, not scaled. */
template <int PARTS> static __device__ __forceinline__ void multiply(tiles<PARTS> &s, int own)
{
    enum { COLS = tiles<PARTS>::COLS };
    /* LAB 11.13 BEGIN  Four fragments of scores, each a sum over the columns of a head, 16 at a time.
     * Hint: as in 07.7. A fragment of queries (rows_of) serves all four. Keys are the second operand, transposed: load
     * 16 keys as wmma::col_major, with the distance of rows in memory, COLS + PAD. wmma::store_matrix_sync(to, sum,
     * distance, wmma::mem_row_major). */
    sums score[KEYS / PART];
    rows_of x;
    wmma::fragment<wmma::matrix_b, PART, PART, PART, bf16, wmma::col_major> y;
#pragma unroll
    for (int n = 0; n < KEYS / PART; n++)
        wmma::fill_fragment(score[n], 0.0f);
    for (int c = 0; c < COLS; c += PART) {
        wmma::load_matrix_sync(x, &s.q[own][c], COLS + PAD);
#pragma unroll
        for (int n = 0; n < KEYS / PART; n++) {
            wmma::load_matrix_sync(y, &s.k[n * PART][c], COLS + PAD);
            wmma::mma_sync(score[n], x, y, score[n]);
        }
    }
#pragma unroll
    for (int n = 0; n < KEYS / PART; n++)
        wmma::store_matrix_sync(&s.score[own][n * PART], score[n], KEYS + PAD, wmma::mem_row_major);
    /* LAB 11.13 END */
}

/* One row: 64 scores, of which those of keys 0 .. last count, become weights. Returns the factor for all that was
 * summed before. */
template <class T>
static __device__ __forceinline__ float add_scores(running *r, T *weight, const float *score, int64_t last, float scale)
{
    float shrink = 0;
    /* LAB 11.13 BEGIN  The scores of one more tile, two in each lane.
     * Hint: as in 11.6, with keys `lane` and `lane + 32`. Only what is stored for the product is rounded. */
    const int lane = threadIdx.x;
    float a = lane <= last ? score[lane] * scale : -INFINITY;
    float b = lane + LANES <= last ? score[lane + LANES] * scale : -INFINITY;
    float before = r->max;
    r->max = mt_larger()(before, mt_warp_max(mt_larger()(a, b)));
    a = expf(a - r->max), b = expf(b - r->max);
    weight[lane] = T(a);
    weight[lane + LANES] = T(b);
    shrink = expf(before - r->max);
    r->sum = r->sum * shrink + a + b;
    /* LAB 11.13 END */
    return shrink;
}

/* sum += the weights of rows own .. own+15 times the values of the tile. */
template <int PARTS> static __device__ __forceinline__ void add_values(tiles<PARTS> &s, int own)
{
    enum { COLS = tiles<PARTS>::COLS };
    /* LAB 11.13 BEGIN  For each 16 columns: the fragment of sums from shared memory, four products, and back.
     * Hint: load the weights' fragments once, sums with wmma::mem_row_major as last argument; values are row_major. */
    rows_of x[KEYS / PART];
    wmma::fragment<wmma::matrix_b, PART, PART, PART, bf16, wmma::row_major> y;
    sums sum;
#pragma unroll
    for (int n = 0; n < KEYS / PART; n++)
        wmma::load_matrix_sync(x[n], &s.weight[own][n * PART], KEYS + PAD);
    for (int c = 0; c < COLS; c += PART) {
        wmma::load_matrix_sync(sum, &s.sum[own][c], COLS + PAD, wmma::mem_row_major);
#pragma unroll
        for (int n = 0; n < KEYS / PART; n++) {
            wmma::load_matrix_sync(y, &s.v[n * PART][c], COLS + PAD);
            wmma::mma_sync(sum, x[n], y, sum);
        }
        wmma::store_matrix_sync(&s.sum[own][c], sum, COLS + PAD, wmma::mem_row_major);
    }
    /* LAB 11.13 END */
}

/* Tensor cores support bf16 since sm_80: older devices stop here. */
template <int PARTS>
static __global__ void __launch_bounds__(MT_HEAD_THREADS)
    forward(float *out, float *lse, const bf16 *qkv, int64_t T, int64_t C, int64_t H)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
    __trap();
#else
    enum { COLS = tiles<PARTS>::COLS };
    extern __shared__ __align__(32) unsigned char memory[];
    tiles<PARTS> &s = *reinterpret_cast<tiles<PARTS> *>(memory);
    const mt_head_part h = mt_head_part_of(ROWS, T, C, H);
    const int own = threadIdx.y * PART;
    const int64_t query = h.begin + own;
    running so_far[PART];
#pragma unroll
    for (int r = 0; r < PART; r++) {
        so_far[r] = { -INFINITY, 0 };
        for (int c = threadIdx.x; c < COLS; c += LANES)
            s.sum[own + r][c] = 0;
    }
    mt_head_load<COLS>(s.q, qkv + h.qkv, 3 * C, h.begin, T, h.D);
    /* LAB 11.13 BEGIN  All tiles of keys and values that a query of this block sees.
     * Hint: as in 11.6: mt_head_load, a barrier, this warp's part, a barrier. Its part: the scores; add_scores for each
     * row, of which query + r sees keys 0 .. query + r - first, and the row of s.sum shrinks in all columns; then the
     * values. Scores and products read what other lanes have stored: __syncwarp() before each. */
    for (int64_t first = 0; first < T && first < h.begin + ROWS; first += KEYS) {
        mt_head_load<COLS>(s.k, qkv + h.qkv + C, 3 * C, first, T, h.D);
        mt_head_load<COLS>(s.v, qkv + h.qkv + 2 * C, 3 * C, first, T, h.D);
        __syncthreads();
        multiply(s, own);
        __syncwarp();
#pragma unroll
        for (int r = 0; r < PART; r++) {
            float shrink = add_scores(&so_far[r], s.weight[own + r], s.score[own + r], query + r - first, h.scale);
            for (int c = threadIdx.x; c < COLS; c += LANES)
                s.sum[own + r][c] *= shrink;
        }
        __syncwarp();
        add_values(s, own);
        __syncthreads();
    }
    /* LAB 11.13 END */
#pragma unroll
    for (int r = 0; r < PART; r++) {
        if (query + r >= T)
            break;
        float all = mt_warp_sum(so_far[r].sum);
        for (int c = threadIdx.x; c < h.D; c += LANES)
            out[h.out + (query + r) * C + c] = s.sum[own + r][c] / all;
        if (threadIdx.x == 0)
            lse[h.lse + query + r] = so_far[r].max + logf(all);
    }
#endif
}

template <int PARTS>
static void launch(float *out, float *lse, const bf16 *qkv, int64_t B, int64_t T, int64_t C, int64_t H)
{
    void (*const kernel)(float *, float *, const bf16 *, int64_t, int64_t, int64_t) = forward<PARTS>;
    const unsigned blocks = mt_head_blocks(ROWS, B * H, T);
    int bytes = 0;
    /* LAB 11.13 BEGIN  How many bytes of shared memory a block needs, and the permission for as many.
     * Hint: cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes), in MT_CUDA. */
    bytes = (int)sizeof(tiles<PARTS>);
    MT_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    /* LAB 11.13 END */
    kernel<<<blocks, dim3(MT_WARP, MT_HEAD_WARPS), (size_t)bytes, mt_cuda_stream()>>>(out, lse, qkv, T, C, H);
    MT_LAUNCHED("attention_bf16_fwd");
}

extern "C" void mt_attention_bf16_fwd_cuda(float *out, float *lse, const mt_bf16 *qkv, int64_t B, int64_t T, int64_t C,
                                           int64_t H)
{
    void (*const launches[MT_HEAD_PARTS])(float *, float *, const bf16 *, int64_t, int64_t, int64_t,
                                          int64_t) = { launch<1>, launch<2>, launch<3>, launch<4> };
    int kernel = mt_head_kernel(C, H);
    if (B * T * C > 0)
        launches[kernel](out, lse, reinterpret_cast<const bf16 *>(qkv), B, T, C, H);
}

extern "C" bool mt_attention_bf16_pays_cuda(int64_t C, int64_t H)
{
    static const size_t needed[MT_HEAD_PARTS] = { sizeof(tiles<1>), sizeof(tiles<2>), sizeof(tiles<3>),
                                                  sizeof(tiles<4>) };
    int major = 0, bytes = 0, device = 0;
    MT_CUDA(cudaGetDevice(&device));
    MT_CUDA(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
    MT_CUDA(cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
    return major >= 8 && C <= H * MT_HEAD_COLUMNS && needed[mt_head_kernel(C, H)] <= (size_t)bytes;
}
