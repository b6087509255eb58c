// cuda::barrier: arrive and wait apart, producers and consumers with two barriers, drops, memcpy_async; arch: 80.
#include <cooperative_groups.h>
#include <cuda/atomic>
#include <cuda/barrier>

#include "check.h"

#pragma nv_diag_suppress static_var_with_dynamic_init
using block_barrier = cuda::barrier<cuda::thread_scope_block>;
namespace cg = cooperative_groups;

static const int N = 256, TILES = 9;

// A reduction whose steps are separated by phases.
__global__ void reduce(const float *x, float *sum)
{
    __shared__ block_barrier steps;
    __shared__ float part[N];
    int t = threadIdx.x;
    if (t == 0)
        init(&steps, blockDim.x);
    __syncthreads();
    part[t] = x[t];
    for (int half = N / 2; half > 0; half /= 2) {
        block_barrier::arrival_token token = steps.arrive();
        steps.wait(std::move(token));
        if (t >= half) {
            steps.arrive_and_drop();
            return;
        }
        part[t] += part[t + half];
    }
    *sum = part[0];
}

// The first warp copies tiles, the others use them; each of two buffers has a barrier for full and one for empty.
__global__ void tiles(const float *x, float *y)
{
    __shared__ float buffer[2][N];
    __shared__ block_barrier full[2], empty[2];
    cg::thread_block block = cg::this_thread_block();
    if (block.thread_rank() < 4)
        init(&(block.thread_rank() < 2 ? full : empty)[block.thread_rank() % 2], block.size());
    block.sync();
    if (threadIdx.x < 32) {
        for (int i = 0; i < TILES; i++) {
            empty[i % 2].arrive_and_wait();
            for (int k = threadIdx.x; k < N; k += 32)
                buffer[i % 2][k] = x[i * N + k];
            (void)full[i % 2].arrive();
        }
        return;
    }
    (void)empty[0].arrive(); // both are empty at first
    (void)empty[1].arrive();
    float sum[N / 32] = {};
    for (int i = 0; i < TILES; i++) {
        full[i % 2].arrive_and_wait();
        for (int k = threadIdx.x - 32; k < N; k += blockDim.x - 32)
            sum[k / (blockDim.x - 32)] += buffer[i % 2][k];
        (void)empty[i % 2].arrive();
    }
    for (int k = threadIdx.x - 32; k < N; k += blockDim.x - 32)
        y[k] = sum[k / (blockDim.x - 32)];
}

// Asynchronous copies: by one thread, and by the block with a promised alignment.
__global__ void copies(const float *x, float *y)
{
    __shared__ alignas(16) float first[N], second[N];
    __shared__ block_barrier ready;
    cg::thread_block block = cg::this_thread_block();
    if (threadIdx.x == 0)
        init(&ready, blockDim.x);
    block.sync();
    if (threadIdx.x == 0)
        cuda::memcpy_async(first, x, cuda::aligned_size_t<16>(sizeof first), ready);
    cuda::memcpy_async(block, second, x + N, sizeof second, ready);
    ready.arrive_and_wait();
    for (int i = threadIdx.x; i < N; i += blockDim.x)
        y[i] = first[N - 1 - i] + second[i];
}

// The operators of cuda::atomic: each of 64 threads clears, sets and flips a bit of its own, and counts down and up.
__global__ void operators(unsigned *out)
{
    __shared__ cuda::atomic<unsigned, cuda::thread_scope_block> cleared[2], set[2], flipped[2], count;
    if (threadIdx.x < 2)
        cleared[threadIdx.x] = ~0u, set[threadIdx.x] = 0, flipped[threadIdx.x] = 0xff;
    if (threadIdx.x == 0)
        count = 1000;
    __syncthreads();
    unsigned word = threadIdx.x / 32, bit = 1u << threadIdx.x % 32;
    bool own = !((cleared[word] &= ~bit) & bit) && ((set[word] |= bit) & bit) && (flipped[word] ^= bit) != 0xff;
    own &= --count < 1000 && count.is_lock_free();
    __syncthreads();
    if (threadIdx.x < 10)
        own &= ++count > 1000 - 64;
    own &= (count += 3) >= 1000 - 64 + 3 && (count -= 3) <= 1000 - 64 + 10 + 63 * 3;
    __syncthreads();
    if (threadIdx.x < 2)
        out[threadIdx.x] = cleared[threadIdx.x] | ~set[threadIdx.x] | ~(flipped[threadIdx.x] ^ 0xff);
    if (threadIdx.x == 0)
        out[2] = count;
    if (!own)
        atomicAdd(&out[3], 1u);
}

// cuda::atomic: a flag with release and acquire between two warps; a counter and a maximum by atomic_ref.
__global__ void flags(int *out)
{
    __shared__ cuda::atomic<int, cuda::thread_scope_block> flag;
    __shared__ int data;
    if (threadIdx.x == 0)
        flag.store(0, cuda::memory_order_relaxed);
    __syncthreads();
    if (threadIdx.x == 0) {
        data = 42;
        flag.store(1, cuda::std::memory_order_release);
    } else if (threadIdx.x == 32) {
        while (flag.load(cuda::std::memory_order_acquire) == 0)
            ;
        out[0] = data;
    }
    cuda::atomic_ref<int, cuda::thread_scope_device> counter(out[1]), most(out[2]);
    counter.fetch_add(1, cuda::memory_order_relaxed);
    most.fetch_max((int)(threadIdx.x * 7 % 64), cuda::memory_order_relaxed);
}

int main()
{
    std::vector<float> x = ramp(N * TILES);
    float *in = upload(x), *sum = zeros<float>(1), *a = zeros<float>(N), *b = zeros<float>(N);
    int *out = zeros<int>(3);
    reduce<<<1, N>>>(in, sum);
    tiles<<<1, 96>>>(in, a);
    copies<<<1, 64>>>(in, b);
    flags<<<1, 64>>>(out);
    unsigned *bits = zeros<unsigned>(4);
    operators<<<1, 64>>>(bits);
    EXPECT(take(bits, 4) == (std::vector<unsigned>{ 0, 0, 1000 - 64 + 10, 0 }));
    float want = 0;
    for (int i = 0; i < N; i++)
        want += x[i];
    EXPECT(take(sum, 1)[0] == want);
    std::vector<float> got = take(a, N), both = take(b, N);
    for (int i = 0; i < N; i++) {
        float all = 0;
        for (int k = 0; k < TILES; k++)
            all += x[k * N + i];
        EXPECT(got[i] == all);
        EXPECT(both[i] == x[N - 1 - i] + x[N + i]);
    }
    std::vector<int> counts = take(out, 3);
    EXPECT(counts[0] == 42 && counts[1] == 64 && counts[2] == 63);
    CUDA(cudaFree(in));
}
