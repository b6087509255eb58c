/* embedding.cu -- rows of a table by id: forward out[n,:] = table[id[n],:], backward dtable[id[n],:] += dout[n,:].
 *
 * Threads and data: a warp for each n, its lanes along the row. The ids are data, but within a row lanes are
 * neighbours, so requests are whole sectors for any ids. Two warps may hold the same id and then add to the same row:
 * separate reads and writes could lose one of the two; an atomic addition does not. Its order is not fixed, so the last
 * bits of a sum of three or more may vary.
 * Bytes and FLOPs: 8NC B each way; backward NC additions. */
#include "cuda/launch.cuh"
#include "cuda/kernels_cuda.h"

#include <assert.h>

enum { WARPS = MT_THREADS / MT_WARP };

static __global__ void gather(float *out, const float *table, const int32_t *id, int64_t N, int64_t V, int64_t C)
{
    int64_t n = mt_thread() / MT_WARP;
    if (n >= N)
        return;
    int64_t row = id[n];
    assert(row >= 0 && row < V);
    /* LAB 06.14 BEGIN  Copy that row of the table to row n of out, by the lanes of this warp.
     * Hint: lane l takes elements l, l + 32, l + 64 ... */
    for (int64_t c = threadIdx.x % MT_WARP; c < C; c += MT_WARP)
        out[n * C + c] = table[row * C + c];
    /* LAB 06.14 END */
}

extern "C" void mt_gather_rows_fwd_cuda(float *out, const float *table, const int32_t *id, int64_t N, int64_t V,
                                        int64_t C)
{
    /* LAB 06.14 BEGIN  Launch gather with a warp for each n: WARPS of them in a block. */
    if (N == 0 || C == 0)
        return;
    gather<<<mt_blocks(N, WARPS), MT_THREADS, 0, mt_cuda_stream()>>>(out, table, id, N, V, C);
    MT_LAUNCHED("gather_rows_fwd");
    /* LAB 06.14 END */
}

static __global__ void scatter_add(float *dtable, const float *dout, const int32_t *id, int64_t N, int64_t V, int64_t C)
{
    int64_t n = mt_thread() / MT_WARP;
    if (n >= N)
        return;
    int64_t row = id[n];
    assert(row >= 0 && row < V);
    /* LAB 06.14 BEGIN  Add row n of dout to that row of dtable.
     * Hint: another warp may have the same id at the same time: atomicAdd(&element, value). */
    for (int64_t c = threadIdx.x % MT_WARP; c < C; c += MT_WARP)
        atomicAdd(&dtable[row * C + c], dout[n * C + c]);
    /* LAB 06.14 END */
}

extern "C" void mt_gather_rows_bwd_cuda(float *dtable, const float *dout, const int32_t *id, int64_t N, int64_t V,
                                        int64_t C)
{
    if (N == 0 || C == 0)
        return;
    scatter_add<<<mt_blocks(N, WARPS), MT_THREADS, 0, mt_cuda_stream()>>>(dtable, dout, id, N, V, C);
    MT_LAUNCHED("gather_rows_bwd");
}
