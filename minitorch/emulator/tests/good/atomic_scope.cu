// Atomics whose scope is the block: of shared memory, of a word that one block has for itself, of one word by block
// after block in several launches. Counts of all blocks have the scope of the device.
#include "check.h"

#include <cuda/atomic>

__global__ void histogram(const int *x, int n, int *counts, int *all)
{
    __shared__ int mine[8];
    if (threadIdx.x < 8)
        mine[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        atomicAdd_block(&mine[x[i]], 1);
        atomicAdd_block(&counts[8 * blockIdx.x + x[i]], 1);
    }
    __syncthreads();
    if (threadIdx.x < 8)
        atomicAdd(&all[threadIdx.x], mine[threadIdx.x]);
}

__global__ void count(int *n)
{
    cuda::atomic_ref<int, cuda::thread_scope_block> m(*n);
    if (m.load() >= 0)
        m.fetch_add(1);
}

__global__ void look(int *n, int *seen)
{
    cuda::atomic_ref<int, cuda::thread_scope_block> m(*n);
    seen[blockIdx.x] = m.load();
}

int main()
{
    std::vector<int> values(999);
    for (int i = 0; i < 999; i++)
        values[i] = i % 7;
    int *x = upload(values), *counts = zeros<int>(4 * 8), *all = zeros<int>(8), *n = zeros<int>(4);
    histogram<<<4, 64>>>(x, 999, counts, all);
    for (int launch = 0; launch < 3; launch++)
        count<<<1, 64>>>(n);
    look<<<3, 1>>>(n, n + 1);
    std::vector<int> of_blocks = take(counts, 4 * 8), sum = take(all, 8);
    for (int i = 0; i < 8; i++) {
        EXPECT(sum[i] == (i < 5 ? 143 : i < 7 ? 142 : 0));
        EXPECT(of_blocks[i] + of_blocks[8 + i] + of_blocks[16 + i] + of_blocks[24 + i] == sum[i]);
    }
    EXPECT(take(n, 4) == std::vector<int>({ 192, 192, 192, 192 }));
    take(x, 1);
}
