/* histogram.cu -- how often each byte occurs: atomic additions to memory, or to a private copy in each block.
 *
 * Threads and data: thread t counts element t (global), or every (threads of the grid)-th from t on (private). All
 * threads add to the same 256 counters. The hardware does atomics where the data are, one at a time for each address:
 * in the L2 cache for memory, and in the multiprocessor, which is much faster, for shared memory. So each block counts
 * in shared memory and adds its 256 counts to memory at the end.
 * Bytes and FLOPs: reads n B. Atomics on memory: n of them, or at most 256 for each block, one for 32 elements. */
#include "cuda/launch.cuh"
#include "cuda/kernels_cuda.h"

enum {
    EACH = 32,     /* elements of a thread, so that the final additions of a block are few in comparison */
    BLOCKS = 1024, /* at most: enough to fill a GPU */
};

/* CUDA has 64-bit atomics for this type alone. */
typedef unsigned long long counter;

/* ---- in memory ---------------------------------------------------------------------------------- */

static __global__ void count_global(counter *count, const uint8_t *x, int64_t n)
{
    /* LAB 06.15 BEGIN  Count one element.
     * Hint: count[x[i]]++ reads, adds, writes; if two threads do it at once, one count is lost. atomicAdd(&place,
     * counter(1)). */
    int64_t i = mt_thread();
    if (i < n)
        atomicAdd(&count[x[i]], counter(1));
    /* LAB 06.15 END */
}

extern "C" void mt_histogram_global_cuda(int64_t *count, const uint8_t *x, int64_t n)
{
    if (n == 0)
        return;
    count_global<<<mt_blocks(n, MT_THREADS), MT_THREADS, 0, mt_cuda_stream()>>>(reinterpret_cast<counter *>(count), x,
                                                                                n);
    MT_LAUNCHED("histogram_global");
}

/* ---- in shared memory first ------------------------------------------------------------------------ */

static __global__ void count_private(counter *count, const uint8_t *x, int64_t n)
{
    /* LAB 06.16 BEGIN  Count in shared memory, then add the counts to memory.
     * Hint: shared memory is not initialised: clear it, and let all threads wait. Count this thread's elements with
     * atomics there, wait again, and add each bin that is not empty. A block has at most n elements, each bin of a
     * block fits 32 bits while n / gridDim.x does. */
    __shared__ unsigned bin[MT_HISTOGRAM_BINS];
    for (int b = threadIdx.x; b < MT_HISTOGRAM_BINS; b += blockDim.x)
        bin[b] = 0;
    __syncthreads();
    for (int64_t i = mt_thread(); i < n; i += mt_grid_threads())
        atomicAdd(&bin[x[i]], 1u);
    __syncthreads();
    for (int b = threadIdx.x; b < MT_HISTOGRAM_BINS; b += blockDim.x)
        if (bin[b] > 0)
            atomicAdd(&count[b], counter(bin[b]));
    /* LAB 06.16 END */
}

extern "C" void mt_histogram_private_cuda(int64_t *count, const uint8_t *x, int64_t n)
{
    /* LAB 06.16 BEGIN  Launch count_private with EACH elements for a thread, and BLOCKS blocks at most.
     * Hint: with few elements per block there would be as many atomics on memory as elements. */
    if (n == 0)
        return;
    int64_t blocks = mt_min(mt_blocks(n, EACH * MT_THREADS), BLOCKS);
    count_private<<<(unsigned)blocks, MT_THREADS, 0, mt_cuda_stream()>>>(reinterpret_cast<counter *>(count), x, n);
    MT_LAUNCHED("histogram_private");
    /* LAB 06.16 END */
}

extern "C" const mt_histogram_rung mt_histogram_ladder_cuda[] = {
    { "global", "06.15", mt_histogram_global_cuda },
    { "private", "06.16", mt_histogram_private_cuda },
    { NULL, NULL, NULL },
};
