/* attention.cu -- causal multi-head self-attention, forward and backward, without storing the T x T scores.
 *
 *     score[i,j] = q_i . k_j / sqrt(D) for j <= i,   p = softmax of each row,   out_i = sum_j p[i,j] v_j
 *     delta_i = dout_i . out_i,   ds[i,j] = p[i,j] (dout_i . v_j - delta_i) / sqrt(D)
 *     dq_i = sum_j ds[i,j] k_j,   dk_j = sum_i ds[i,j] q_i,   dv_j = sum_i p[i,j] dout_i
 *
 * Threads and data: a block owns a few rows of one head, EACH of them per warp, and iterates over the rows of the other
 * operand in tiles of 32 in shared memory. For a product of rows a lane has a row of the tile; for a sum of rows it has
 * a column and gets the weights by shuffles. Forward and dq own queries and iterate over keys; dk and dv own keys and
 * iterate over queries. So every sum is computed by one warp, in the order of the rows: no atomics, the same bits every
 * time. Forward keeps a running maximum and sum per query and rescales the partial sums when the maximum grows (online
 * softmax); backward recomputes p from the log-sum-exp that forward saved.
 *
 * Rows of a tile are padded by one float, so that 32 lanes that read one column access 32 banks. Loads are along rows.
 * Bytes: with R rows per block keys and values are read T/R/2 times, in backward also queries, dout and out. FLOPs: two
 * products forward, seven backward: the scores and dout . v are computed for dq and again for dk and dv.
 * Source: Dao et al. 2022, arXiv:2205.14135, sec. 3.1, without its optimisations, which are in lab 11. */
#include "cuda/kernels.h"
#include "cuda/launch.cuh"
#include "cuda/reduce.cuh"

enum {
    WARPS = 4,
    TILE = MT_WARP,
    PARTS_MOST = MT_HEAD_COLUMNS / MT_WARP, /* of 32 columns, in a head */
};

/* Sizes for heads of up to 32 * PARTS columns; columns beyond D are 0. The widest heads have half as many rows, because
 * of the limit of shared memory. ROWS divides TILE, so one tile contains all rows of a block. */
template <int PARTS> struct sizes {
    enum { COLS = MT_WARP * PARTS, EACH = PARTS < PARTS_MOST ? 4 : 2, ROWS = WARPS * EACH };
};

/* The work of a block: rows begin, begin + 1, ... of one head; offsets of the head in each array. */
struct share {
    int64_t begin, qkv, out, lse;
    int D;
    float scale; /* of the scores: 1 / sqrt(D) */
};

template <int PARTS> static __device__ __forceinline__ share share_of(int64_t T, int64_t C, int64_t H)
{
    int64_t blocks = (T + sizes<PARTS>::ROWS - 1) / sizes<PARTS>::ROWS, head = blockIdx.x / blocks;
    int64_t sample = head / H, column = head % H * (C / H);
    return { blockIdx.x % blocks * sizes<PARTS>::ROWS,
             sample * T * 3 * C + column,
             sample * T * C + column,
             head * T,
             (int)(C / H),
             1 / sqrtf((float)(C / H)) };
}

/* ---- rows -------------------------------------------------------------------------------------------- */

/* Rows first .. first+N-1 of an array whose rows begin `step` apart; 0 for rows from T on and columns from D on. */
template <int PARTS, int N, int WIDTH>
static __device__ void load(float (&to)[N][WIDTH], const float *from, int64_t step, int64_t first, int64_t T, int D)
{
    for (int row = threadIdx.y; row < N; row += WARPS)
        for (int c = threadIdx.x; c < MT_WARP * PARTS; c += MT_WARP)
            to[row][c] = first + row < T && c < D ? from[(first + row) * step + c] : 0;
}

/* product[r] = row r of own . this lane's row of a tile. */
template <int EACH, int COLS>
static __device__ __forceinline__ void multiply(float (&product)[EACH], const float (*own)[COLS],
                                                const float (&row)[COLS + 1])
{
    for (int r = 0; r < EACH; r++)
        product[r] = 0;
    for (int c = 0; c < COLS; c++)
        for (int r = 0; r < EACH; r++)
            product[r] += own[r][c] * row[c];
}

/* sum[r] += the rows of the tile, row i times the weight[r] of lane i. A lane has every 32nd column. */
template <int EACH, int PARTS>
static __device__ __forceinline__ void add_rows(float (&sum)[EACH][PARTS], const float (&weight)[EACH],
                                                const float (&tile)[TILE][MT_WARP * PARTS + 1])
{
    for (int row = 0; row < TILE; row++)
        for (int r = 0; r < EACH; r++) {
            float w = __shfl_sync(0xffffffffu, weight[r], row);
            for (int part = 0; part < PARTS; part++)
                sum[r][part] += w * tile[row][part * MT_WARP + threadIdx.x];
        }
}

template <int PARTS> static __device__ __forceinline__ void add_to(float *to, const float (&sum)[PARTS], int D)
{
    for (int part = 0; part < PARTS; part++)
        if (part * MT_WARP + (int)threadIdx.x < D)
            to[part * MT_WARP + threadIdx.x] += sum[part];
}

/* The sum of dout times out along one row; called by all lanes of a warp. */
static __device__ __forceinline__ float delta_of(const float *dout, const float *out, int D)
{
    float sum = 0;
    for (int c = threadIdx.x; c < D; c += MT_WARP)
        sum += dout[c] * out[c];
    return mt_warp_sum(sum);
}

/* ---- forward ------------------------------------------------------------------------------------------ */

/* The running maximum and sum of a query's softmax, the same in all lanes. */
struct running {
    float max, sum;
};

/* One step of the online softmax: a lane's score becomes its unnormalised probability. Returns the factor by which
 * earlier sums must be multiplied. */
static __device__ __forceinline__ float softmax_step(running *so_far, float *score)
{
    float max = mt_larger()(so_far->max, mt_warp_max(*score)), shrink = expf(so_far->max - max);
    *score = expf(*score - max);
    *so_far = { max, so_far->sum * shrink + mt_warp_sum(*score) };
    return shrink;
}

template <int PARTS>
static __global__ void forward(float *out, float *lse, const float *qkv, int64_t T, int64_t C, int64_t H)
{
    enum { COLS = sizes<PARTS>::COLS, EACH = sizes<PARTS>::EACH, ROWS = sizes<PARTS>::ROWS };
    __shared__ float q[ROWS][COLS], k[TILE][COLS + 1], v[TILE][COLS + 1];
    const share s = share_of<PARTS>(T, C, H);
    const int own = threadIdx.y * EACH; /* this warp's first row, in the block */
    float sum[EACH][PARTS] = {}, p[EACH];
    running so_far[EACH];
    for (int r = 0; r < EACH; r++)
        so_far[r] = { -INFINITY, 0 };
    load<PARTS>(q, qkv + s.qkv, 3 * C, s.begin, T, s.D);
    for (int64_t first = 0; first <= s.begin; first += TILE) {
        load<PARTS>(k, qkv + s.qkv + C, 3 * C, first, T, s.D);
        load<PARTS>(v, qkv + s.qkv + 2 * C, 3 * C, first, T, s.D);
        __syncthreads();
        multiply(p, q + own, k[threadIdx.x]);
        for (int r = 0; r < EACH; r++) {
            p[r] = first + threadIdx.x <= s.begin + own + r ? p[r] * s.scale : -INFINITY;
            float shrink = softmax_step(&so_far[r], &p[r]);
            for (int part = 0; part < PARTS; part++)
                sum[r][part] *= shrink;
        }
        add_rows(sum, p, v);
        __syncthreads();
    }
    for (int r = 0; r < EACH && s.begin + own + r < T; r++) {
        int64_t i = s.begin + own + r;
        for (int part = 0, c = threadIdx.x; part < PARTS; part++, c += MT_WARP)
            if (c < s.D)
                out[s.out + i * C + c] = sum[r][part] / so_far[r].sum;
        if (threadIdx.x == 0)
            lse[s.lse + i] = so_far[r].max + logf(so_far[r].sum);
    }
}

/* ---- backward ----------------------------------------------------------------------------------------- */

/* p: score before scaling, becomes the probability; ds: dout . v, becomes the gradient of that score. */
static __device__ __forceinline__ void go_back(float *p, float *ds, bool seen, float lse, float delta, float scale)
{
    *p = seen ? expf(*p * scale - lse) : 0;
    *ds = *p * (*ds - delta) * scale;
}

template <int PARTS>
static __global__ void backward_q(float *dqkv, const float *dout, const float *qkv, const float *out, const float *lse,
                                  int64_t T, int64_t C, int64_t H)
{
    enum { COLS = sizes<PARTS>::COLS, EACH = sizes<PARTS>::EACH, ROWS = sizes<PARTS>::ROWS };
    __shared__ float q[ROWS][COLS], g[ROWS][COLS], k[TILE][COLS + 1], v[TILE][COLS + 1];
    const share s = share_of<PARTS>(T, C, H);
    const int own = threadIdx.y * EACH;
    float dq[EACH][PARTS] = {}, p[EACH], ds[EACH], l[EACH] = {}, delta[EACH] = {};
    for (int r = 0; r < EACH && s.begin + own + r < T; r++) {
        int64_t i = s.begin + own + r;
        l[r] = lse[s.lse + i];
        delta[r] = delta_of(dout + s.out + i * C, out + s.out + i * C, s.D);
    }
    load<PARTS>(q, qkv + s.qkv, 3 * C, s.begin, T, s.D);
    load<PARTS>(g, dout + s.out, C, s.begin, T, s.D);
    for (int64_t first = 0; first <= s.begin; first += TILE) {
        load<PARTS>(k, qkv + s.qkv + C, 3 * C, first, T, s.D);
        load<PARTS>(v, qkv + s.qkv + 2 * C, 3 * C, first, T, s.D);
        __syncthreads();
        multiply(p, q + own, k[threadIdx.x]);
        multiply(ds, g + own, v[threadIdx.x]);
        for (int r = 0; r < EACH; r++)
            go_back(&p[r], &ds[r], first + threadIdx.x <= s.begin + own + r, l[r], delta[r], s.scale);
        add_rows(dq, ds, k);
        __syncthreads();
    }
    for (int r = 0; r < EACH && s.begin + own + r < T; r++)
        add_to(dqkv + s.qkv + (s.begin + own + r) * 3 * C, dq[r], s.D);
}

/* delta is recomputed for each tile: storing it would take memory, which a kernel may not allocate. */
template <int PARTS>
static __global__ void backward_kv(float *dqkv, const float *dout, const float *qkv, const float *out, const float *lse,
                                   int64_t T, int64_t C, int64_t H)
{
    enum { COLS = sizes<PARTS>::COLS, EACH = sizes<PARTS>::EACH, ROWS = sizes<PARTS>::ROWS };
    __shared__ float k[ROWS][COLS], v[ROWS][COLS], q[TILE][COLS + 1], g[TILE][COLS + 1], delta[TILE];
    const share s = share_of<PARTS>(T, C, H);
    const int own = threadIdx.y * EACH;
    float dk[EACH][PARTS] = {}, dv[EACH][PARTS] = {}, p[EACH], ds[EACH];
    load<PARTS>(k, qkv + s.qkv + C, 3 * C, s.begin, T, s.D);
    load<PARTS>(v, qkv + s.qkv + 2 * C, 3 * C, s.begin, T, s.D);
    for (int64_t first = s.begin / TILE * TILE; first < T; first += TILE) {
        load<PARTS>(q, qkv + s.qkv, 3 * C, first, T, s.D);
        load<PARTS>(g, dout + s.out, C, first, T, s.D);
        for (int row = threadIdx.y; row < TILE && first + row < T; row += WARPS) {
            int64_t at = s.out + (first + row) * C;
            float sum = delta_of(dout + at, out + at, s.D);
            if (threadIdx.x == 0)
                delta[row] = sum;
        }
        __syncthreads();
        multiply(p, k + own, q[threadIdx.x]);
        multiply(ds, v + own, g[threadIdx.x]);
        int64_t i = first + threadIdx.x;
        for (int r = 0; r < EACH; r++)
            go_back(&p[r], &ds[r], i < T && i >= s.begin + own + r, i < T ? lse[s.lse + i] : 0,
                    i < T ? delta[threadIdx.x] : 0, s.scale);
        add_rows(dv, p, g);
        add_rows(dk, ds, q);
        __syncthreads();
    }
    for (int r = 0; r < EACH && s.begin + own + r < T; r++) {
        add_to(dqkv + s.qkv + (s.begin + own + r) * 3 * C + C, dk[r], s.D);
        add_to(dqkv + s.qkv + (s.begin + own + r) * 3 * C + 2 * C, dv[r], s.D);
    }
}

/* ---- launching ------------------------------------------------------------------------------------------ */

/* Index of the kernel for heads of C / H columns: the number of parts they fill, minus 1. */
static int kernel_of(int64_t C, int64_t H)
{
    MT_CHECK(H >= 1 && C % H == 0, "attention: %lld columns cannot be split between %lld heads", (long long)C,
             (long long)H);
    MT_CHECK(C / H <= MT_HEAD_COLUMNS, "attention: heads of %lld columns; on cuda they have %d at most",
             (long long)(C / H), MT_HEAD_COLUMNS);
    return (int)((C / H + MT_WARP - 1) / MT_WARP) - 1;
}

template <int PARTS> static unsigned blocks(int64_t heads, int64_t T)
{
    return mt_blocks(heads * ((T + sizes<PARTS>::ROWS - 1) / sizes<PARTS>::ROWS), 1);
}

template <int PARTS>
static void launch_forward(float *out, float *lse, const float *qkv, int64_t B, int64_t T, int64_t C, int64_t H)
{
    forward<PARTS><<<blocks<PARTS>(B * H, T), dim3(MT_WARP, WARPS), 0, mt_cuda_stream()>>>(out, lse, qkv, T, C, H);
    MT_LAUNCHED("attention_fwd");
}

extern "C" int64_t mt_attention_saved_cuda(int64_t B, int64_t T, int64_t H)
{
    return B * H * T;
}

extern "C" void mt_attention_fwd_cuda(float *out, float *lse, const float *qkv, int64_t B, int64_t T, int64_t C,
                                      int64_t H)
{
    void (*const launch[PARTS_MOST])(float *, float *, const float *, int64_t, int64_t, int64_t,
                                     int64_t) = { launch_forward<1>, launch_forward<2>, launch_forward<3>,
                                                  launch_forward<4> };
    int kernel = kernel_of(C, H);
    if (B * T * C > 0)
        launch[kernel](out, lse, qkv, B, T, C, H);
}

template <int PARTS>
static void launch_backward(float *dqkv, const float *dout, const float *qkv, const float *out, const float *lse,
                            int64_t B, int64_t T, int64_t C, int64_t H)
{
    const dim3 block(MT_WARP, WARPS);
    backward_q<PARTS><<<blocks<PARTS>(B * H, T), block, 0, mt_cuda_stream()>>>(dqkv, dout, qkv, out, lse, T, C, H);
    MT_LAUNCHED("attention_bwd of queries");
    backward_kv<PARTS><<<blocks<PARTS>(B * H, T), block, 0, mt_cuda_stream()>>>(dqkv, dout, qkv, out, lse, T, C, H);
    MT_LAUNCHED("attention_bwd of keys and values");
}

extern "C" void mt_attention_bwd_cuda(float *dqkv, const float *dout, const float *qkv, const float *out, float *lse,
                                      int64_t B, int64_t T, int64_t C, int64_t H)
{
    void (*const launch[PARTS_MOST])(float *, const float *, const float *, const float *, const float *, int64_t,
                                     int64_t, int64_t, int64_t) = { launch_backward<1>, launch_backward<2>,
                                                                    launch_backward<3>, launch_backward<4> };
    int kernel = kernel_of(C, H);
    if (B * T * C > 0)
        launch[kernel](dqkv, dout, qkv, out, lse, B, T, C, H);
}
