/* cache.cu -- attention of one new token over cached keys and values of the tokens before it.
 *
 * One block per head, whose warps divide the keys; a lane has every 32nd column. Each warp computes the maximum score,
 * the sum and the weighted values of its own keys (online softmax); at the end they are rescaled to the common maximum
 * and added. Rows are read along the lanes: 8C B per earlier token, once, for 4C FLOPs: memory-bound. */
#include "cuda/kernels.h"
#include "cuda/launch.cuh"
#include "cuda/reduce.cuh"
#include "models/kernels_gpt2.h"

enum { WARPS = 8, PARTS = MT_HEAD_COLUMNS / MT_WARP };

/* The running softmax of a warp's keys; out has D columns, the first of them at lane 0. */
struct running {
    float max, sum, out[PARTS];
};

static __device__ __forceinline__ void add_key(running *m, const float *q, const float *k, const float *v, int D,
                                               float scale)
{
    float score = 0;
    for (int c = threadIdx.x; c < D; c += MT_WARP)
        score += q[c] * k[c];
    score = mt_warp_sum(score) * scale;
    float max = mt_larger()(m->max, score), shrink = expf(m->max - max), weight = expf(score - max);
    m->max = max;
    m->sum = m->sum * shrink + weight;
    for (int part = 0, c = threadIdx.x; part < PARTS; part++, c += MT_WARP)
        m->out[part] = m->out[part] * shrink + (c < D ? weight * v[c] : 0);
}

/* The new token's key and value are read from qkv, not from the row of the cache that other threads write. */
static __global__ void attend(float *out, float *cache, const float *qkv, int64_t position, int64_t C, int D,
                              float scale)
{
    __shared__ float max[WARPS], sum[WARPS], part_of[WARPS][MT_HEAD_COLUMNS];
    const float *q = qkv + blockIdx.x * D, *k = q + C, *v = k + C;
    float *rows = cache + blockIdx.x * D, *last = rows + position * 2 * C;
    running m = { -INFINITY, 0, {} };
    for (int64_t j = threadIdx.y; j < position; j += WARPS)
        add_key(&m, q, rows + j * 2 * C, rows + j * 2 * C + C, D, scale);
    if (threadIdx.y == position % WARPS)
        add_key(&m, q, k, v, D, scale);
    if (threadIdx.x == 0) {
        max[threadIdx.y] = m.max;
        sum[threadIdx.y] = m.sum;
    }
    for (int part = 0; part < PARTS; part++)
        part_of[threadIdx.y][part * MT_WARP + threadIdx.x] = m.out[part];
    __syncthreads();
    float largest = -INFINITY, all = 0;
    for (int w = 0; w < WARPS; w++)
        largest = mt_larger()(largest, max[w]);
    for (int w = 0; w < WARPS; w++)
        all += sum[w] * expf(max[w] - largest);
    for (int c = threadIdx.y * MT_WARP + threadIdx.x; c < D; c += WARPS * MT_WARP) {
        float o = 0;
        for (int w = 0; w < WARPS; w++)
            o += part_of[w][c] * expf(max[w] - largest);
        out[blockIdx.x * D + c] = o / all;
        last[c] = k[c];
        last[C + c] = v[c];
    }
}

extern "C" void mt_attention_cached_cuda(float *out, float *cache, const float *qkv, int64_t position, int64_t C,
                                         int64_t H)
{
    MT_CHECK(H >= 1 && C % H == 0 && position >= 0, "attention: %lld heads of %lld columns at %lld", (long long)H,
             (long long)C, (long long)position);
    MT_CHECK(C / H <= MT_HEAD_COLUMNS, "attention: heads of %lld columns; on cuda they have %d at most",
             (long long)(C / H), MT_HEAD_COLUMNS);
    if (C == 0)
        return;
    MT_LAUNCH("attention_cached", attend, mt_blocks(H, 1), dim3(MT_WARP, WARPS), out, cache, qkv, position, C,
              (int)(C / H), 1 / sqrtf((float)(C / H)));
}
