/* flash_backward.cu -- the gradients of causal self-attention on the device, without storing T x T numbers. Lab 11.
 *
 *     p[i,j] = exp(score[i,j] - lse_i)              delta_i = dout_i . out_i
 *     ds[i,j] = p[i,j] (dout_i . v_j - delta_i) / sqrt(D)
 *     dq_i = sum_j ds[i,j] k_j      dk_j = sum_i ds[i,j] q_i      dv_j = sum_i p[i,j] dout_i
 *
 * Threads and data: as in flash_forward.cu, in two launches. In the first a block owns ROWS queries and iterates over
 * keys, for dq; in the second it owns ROWS keys and iterates over the queries from its first key on, for dk and dv.
 * So every sum is computed by one warp in the order of the rows: no atomics, and the same bits every time.
 * Bytes: 8 rows of k and v, then 8 of q and dout, for each of T / ROWS / 2 tiles. ROWS is 32 in heads of up to 64
 * columns, half of forward's, because twice as many rows are in shared memory. Seven products where the CPU has five:
 * scores and dout . v are computed in both launches. The first launch leaves delta for the second.
 * Source: Dao 2023, arXiv:2307.08691, sec. 3.2; there in one launch, with atomics for dq. */
#include "cuda/heads.cuh"

template <int PARTS> struct sizes {
    enum { COLS = MT_WARP * PARTS, EACH = PARTS <= 2 ? 8 : PARTS == 3 ? 4 : 2, ROWS = MT_HEAD_WARPS * EACH };
    enum { WIDTH = COLS + MT_HEAD_PAD };
};

/* p: the product of query and key, becomes the probability; ds: that of dout and value, becomes the gradient of the
 * product before. */
static __device__ __forceinline__ void go_back(float *p, float *ds, bool visible, float lse, float delta, float scale)
{
    /* TODO 11.7: The probability again, and the gradient of its score.
     * Hint: p = e^(product * scale - lse), and 0 for a key that the query does not see. Softmax's backward is p * (ds -
     * delta); the product was multiplied by scale, so its gradient is too. */
    MT_TODO("11.7"); /* delete this line when yours stands here */
}

/* Row i of the head, += sum. */
template <int PARTS>
static __device__ __forceinline__ void add_row(float *to, const float (&sum)[PARTS], int64_t i, int64_t C, int D)
{
#pragma unroll
    for (int part = 0; part < PARTS; part++)
        if (part * MT_WARP + (int)threadIdx.x < D)
            to[i * 3 * C + part * MT_WARP + threadIdx.x] += sum[part];
}

/* ---- queries ------------------------------------------------------------------------------------------ */

template <int PARTS>
static __global__ void __launch_bounds__(MT_HEAD_THREADS, 2)
    backward_q(float *dqkv, const float *dout, const float *qkv, const float *out, const float *lse, float *deltas,
               int64_t T, int64_t C, int64_t H)
{
    enum { COLS = sizes<PARTS>::COLS, EACH = sizes<PARTS>::EACH, ROWS = sizes<PARTS>::ROWS };
    __shared__ __align__(16) float q[ROWS][COLS], g[ROWS][COLS], ds[ROWS][MT_HEAD_TILE];
    __shared__ __align__(16) float k[MT_HEAD_TILE][sizes<PARTS>::WIDTH], v[MT_HEAD_TILE][sizes<PARTS>::WIDTH];
    const mt_head_part s = mt_head_part_of(ROWS, T, C, H);
    const int own = threadIdx.y * EACH;
    const int64_t query = s.begin + own;
    float dq[EACH][PARTS] = {}, product[EACH], dp[EACH], l[EACH] = {}, delta[EACH] = {};
    mt_head_load<COLS>(q, qkv + s.qkv, 3 * C, s.begin, T, s.D);
    mt_head_load<COLS>(g, dout + s.out, C, s.begin, T, s.D);
    __syncthreads();
#pragma unroll
    for (int r = 0; r < EACH; r++) {
        int64_t i = query + r;
        if (i >= T)
            break;
        l[r] = lse[s.lse + i];
        /* TODO 11.7: delta[r], the sum of dout times out along row i, in all lanes; and in deltas for the second
         * launch.
         * Hint: row own + r of g is dout's. A lane has every 32nd column c < D; row i of out is at s.out + i * C.
         * mt_warp_sum adds over lanes, and is called by all of them. One lane writes deltas[s.lse + i]. */
        MT_TODO("11.7"); /* delete this line when yours stands here */
    }
    /* TODO 11.7: dq of this warp's queries, over all tiles of keys and values that the block sees.
     * Hint: as in forward: load both tiles, wait; products of q with keys, and of g with values, of which go_back makes
     * probabilities and gradients. dq is the sum of the gradients times the keys: ds is in shared memory for
     * mt_head_add. */
    MT_TODO("11.7"); /* delete this line when yours stands here */
#pragma unroll
    for (int r = 0; r < EACH; r++)
        if (query + r < T)
            add_row(dqkv + s.qkv, dq[r], query + r, C, s.D);
}

/* ---- keys and values ---------------------------------------------------------------------------------- */

template <int PARTS>
static __global__ void __launch_bounds__(MT_HEAD_THREADS, 2)
    backward_kv(float *dqkv, const float *dout, const float *qkv, const float *lse, const float *deltas, int64_t T,
                int64_t C, int64_t H)
{
    enum { COLS = sizes<PARTS>::COLS, EACH = sizes<PARTS>::EACH, ROWS = sizes<PARTS>::ROWS };
    __shared__ __align__(16) float k[ROWS][COLS], v[ROWS][COLS], p[ROWS][MT_HEAD_TILE], ds[ROWS][MT_HEAD_TILE];
    __shared__ __align__(16) float q[MT_HEAD_TILE][sizes<PARTS>::WIDTH], g[MT_HEAD_TILE][sizes<PARTS>::WIDTH];
    const mt_head_part s = mt_head_part_of(ROWS, T, C, H);
    const int own = threadIdx.y * EACH;
    const int64_t key = s.begin + own;
    float dk[EACH][PARTS] = {}, dv[EACH][PARTS] = {}, product[EACH], dp[EACH];
    mt_head_load<COLS>(k, qkv + s.qkv + C, 3 * C, s.begin, T, s.D);
    mt_head_load<COLS>(v, qkv + s.qkv + 2 * C, 3 * C, s.begin, T, s.D);
    /* TODO 11.7: dk and dv of this warp's keys, over all tiles of queries that see one of the block's keys.
     * Hint: the first such tile is the one with row s.begin. Lane l has query first + l, with its lse and delta, and
     * all of the warp's keys that it sees; a query that does not exist sees none. dv is the sum of the probabilities
     * times dout, dk that of the gradients times the queries. */
    MT_TODO("11.7"); /* delete this line when yours stands here */
#pragma unroll
    for (int r = 0; r < EACH; r++)
        if (key + r < T) {
            add_row(dqkv + s.qkv + C, dk[r], key + r, C, s.D);
            add_row(dqkv + s.qkv + 2 * C, dv[r], key + r, C, s.D);
        }
}

template <int PARTS>
static void launch(float *dqkv, const float *dout, const float *qkv, const float *out, float *lse, int64_t B, int64_t T,
                   int64_t C, int64_t H)
{
    const dim3 block(MT_WARP, MT_HEAD_WARPS);
    const unsigned blocks = mt_head_blocks(sizes<PARTS>::ROWS, B * H, T);
    float *deltas = lse + B * H * T;
    backward_q<PARTS><<<blocks, block, 0, mt_cuda_stream()>>>(dqkv, dout, qkv, out, lse, deltas, T, C, H);
    MT_LAUNCHED("attention_bwd of queries");
    backward_kv<PARTS><<<blocks, block, 0, mt_cuda_stream()>>>(dqkv, dout, qkv, lse, deltas, T, C, H);
    MT_LAUNCHED("attention_bwd of keys and values");
}

extern "C" void mt_attention_bwd_cuda(float *dqkv, const float *dout, const float *qkv, const float *out, float *saved,
                                      int64_t B, int64_t T, int64_t C, int64_t H)
{
    void (*const launches[MT_HEAD_PARTS])(float *, const float *, const float *, const float *, float *, int64_t,
                                          int64_t, int64_t, int64_t) = { launch<1>, launch<2>, launch<3>, launch<4> };
    int kernel = mt_head_kernel(C, H);
    if (B * T * C > 0)
        launches[kernel](dqkv, dout, qkv, out, saved, B, T, C, H);
}
