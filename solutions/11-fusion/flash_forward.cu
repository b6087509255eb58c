/* flash_forward.cu -- causal self-attention of many heads on the device, forward, without storing T x T scores. Lab 11.
 *
 * Threads and data: a block owns ROWS queries of one head, 16 per warp in heads of up to 64 columns, and iterates over
 * the keys and values up to its last query in tiles of 32. A lane computes the scores of its warp's queries with one
 * key; for the sum of values it has every 32nd column, and reads the weights of four keys at once. Weights go from
 * lane to lane through shared memory, of which a warp reads its own rows only.
 * Bytes: keys and values are read T / ROWS / 2 times, which is nearly all traffic: 4 T^2 D / ROWS bytes a head in f32.
 * FLOPs: 4 for each pair and column; tiles after a warp's last query are skipped.
 * Shared memory: below 48 KiB; therefore heads of more than 64 columns have fewer rows.
 * Source: Dao 2023, arXiv:2307.08691, sec. 3.1: queries outside, keys inside. */
#include "cuda/heads.cuh"

template <int PARTS> struct sizes {
    enum { COLS = MT_WARP * PARTS, EACH = PARTS <= 2 ? 16 : PARTS == 3 ? 8 : 4, ROWS = MT_HEAD_WARPS * EACH };
};

/* The softmax of a query over the keys so far: the largest score, and this lane's part of the sum of e^(score - max).
 */
struct running {
    float max, sum;
};

/* score: of the warp's query i and this lane's key, which it sees if `visible`. Returns the key's weight, and in
 * *shrink the factor for all that was summed before. */
static __device__ __forceinline__ float add_score(running *r, float score, bool visible, float scale, float *shrink)
{
    float weight = 0;
    /* LAB 11.6 BEGIN  The scores of one more tile, one in each lane.
     * Hint: a score that is not visible is -INFINITY: its weight e^-inf is 0. mt_warp_max gives all lanes the largest
     * score of the tile, mt_larger()(a, b) the larger of two, NaN if one is. Sums of the tiles before shrink by
     * e^(before - max). The sum over lanes is needed at the end only: here each lane adds its own weight. */
    score = visible ? score * scale : -INFINITY;
    float before = r->max;
    r->max = mt_larger()(before, mt_warp_max(score));
    weight = expf(score - r->max);
    *shrink = expf(before - r->max);
    r->sum = r->sum * *shrink + weight;
    /* LAB 11.6 END */
    return weight;
}

/* The rows of a warp, from row i of the head on, as far as they exist. */
template <int EACH, int PARTS>
static __device__ __forceinline__ void write(float *out, float *lse, const float (&sum)[EACH][PARTS],
                                             const running (&so_far)[EACH], int64_t i, int64_t T, int64_t C, int D)
{
    /* LAB 11.6 BEGIN  out = sum / (sum of the weights), lse = max + log(sum of the weights).
     * Hint: mt_warp_sum adds what the lanes have, and all 32 must call it: rows that do not exist are the same for all
     * lanes. Column c of a row is part c / 32 of lane c % 32. Row i of out begins at i * C. One lane writes lse. */
#pragma unroll
    for (int r = 0; r < EACH; r++) {
        if (i + r >= T)
            break;
        float all = mt_warp_sum(so_far[r].sum);
        for (int part = 0, c = threadIdx.x; part < PARTS; part++, c += MT_WARP)
            if (c < D)
                out[(i + r) * C + c] = sum[r][part] / all;
        if (threadIdx.x == 0)
            lse[i + r] = so_far[r].max + logf(all);
    }
    /* LAB 11.6 END */
}

template <int PARTS>
static __global__ void __launch_bounds__(MT_HEAD_THREADS, 2)
    forward(float *out, float *lse, const float *qkv, int64_t T, int64_t C, int64_t H)
{
    enum { COLS = sizes<PARTS>::COLS, EACH = sizes<PARTS>::EACH, ROWS = sizes<PARTS>::ROWS };
    __shared__ __align__(16) float q[ROWS][COLS], k[MT_HEAD_TILE][COLS + MT_HEAD_PAD], v[MT_HEAD_TILE][COLS];
    __shared__ __align__(16) float weight[ROWS][MT_HEAD_TILE];
    const mt_head_part s = mt_head_part_of(ROWS, T, C, H);
    const int own = threadIdx.y * EACH;  /* this warp's first row, in the block */
    const int64_t query = s.begin + own; /* and in the head */
    float sum[EACH][PARTS] = {}, score[EACH], shrink = 0;
    running so_far[EACH];
    for (int r = 0; r < EACH; r++)
        so_far[r] = { -INFINITY, 0 };
    mt_head_load<COLS>(q, qkv + s.qkv, 3 * C, s.begin, T, s.D);
    /* LAB 11.6 BEGIN  All tiles of keys and values that a query of this block sees.
     * Hint: mt_head_load brings keys first .. first+31, which begin at qkv + s.qkv + C, and values, C further. After a
     * barrier mt_head_products gives this lane's scores; key `first + lane` is visible for queries from there on. A
     * warp writes the weights of its rows, calls __syncwarp(), and mt_head_add adds the values. A warp whose queries
     * are all before the tile has nothing to add, but every thread must reach both barriers. */
    for (int64_t first = 0; first < T && first < s.begin + ROWS; first += MT_HEAD_TILE) {
        mt_head_load<COLS>(k, qkv + s.qkv + C, 3 * C, first, T, s.D);
        mt_head_load<COLS>(v, qkv + s.qkv + 2 * C, 3 * C, first, T, s.D);
        __syncthreads();
        if (first < query + EACH) {
            mt_head_products(score, q + own, k[threadIdx.x]);
#pragma unroll
            for (int r = 0; r < EACH; r++) {
                bool visible = first + threadIdx.x <= query + r;
                weight[own + r][threadIdx.x] = add_score(&so_far[r], score[r], visible, s.scale, &shrink);
#pragma unroll
                for (int part = 0; part < PARTS; part++)
                    sum[r][part] *= shrink;
            }
            __syncwarp();
            mt_head_add(sum, weight + own, v);
        }
        __syncthreads();
    }
    /* LAB 11.6 END */
    write(out + s.out, lse + s.lse, sum, so_far, query, T, C, s.D);
}

template <int PARTS>
static void launch(float *out, float *lse, const float *qkv, int64_t B, int64_t T, int64_t C, int64_t H)
{
    const unsigned blocks = mt_head_blocks(sizes<PARTS>::ROWS, B * H, T);
    forward<PARTS><<<blocks, dim3(MT_WARP, MT_HEAD_WARPS), 0, mt_cuda_stream()>>>(out, lse, qkv, T, C, H);
    MT_LAUNCHED("attention_fwd");
}

extern "C" void mt_attention_fwd_cuda(float *out, float *lse, const float *qkv, int64_t B, int64_t T, int64_t C,
                                      int64_t H)
{
    void (*const launches[MT_HEAD_PARTS])(float *, float *, const float *, int64_t, int64_t, int64_t,
                                          int64_t) = { launch<1>, launch<2>, launch<3>, launch<4> };
    int kernel = mt_head_kernel(C, H);
    if (B * T * C > 0)
        launches[kernel](out, lse, qkv, B, T, C, H);
}
