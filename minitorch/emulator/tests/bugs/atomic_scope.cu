// An atomic whose scope is the block, of a word that several blocks update.
// SAYS: atomic for the threads of its block only
#include <cstdio>
#include <cuda/atomic>

__global__ void count(int *n, int *most, unsigned *owner)
{
    atomicAdd_block(&n[0], 1);                  // BUG: race
    atomicMax_block(most, (int)threadIdx.x);    // BUG: race
    atomicCAS_block(owner, 0u, blockIdx.x + 1); // BUG: race
    cuda::atomic_ref<int, cuda::thread_scope_block> m(n[1]);
    m.fetch_add(1, cuda::memory_order_relaxed); // BUG: race
}

/* It does not help that one block has the wider scope. */
__global__ void one_of_two(int *n)
{
    if (blockIdx.x == 0)
        atomicAdd_block(n, 1);
    else
        atomicAdd(n, 1); // BUG: race
}

int main()
{
    int *n;
    cudaMalloc(&n, 8 * sizeof(int));
    cudaMemset(n, 0, 8 * sizeof(int));
    count<<<4, 32>>>(n, n + 2, (unsigned *)n + 3);
    one_of_two<<<2, 32>>>(n + 4);
    cudaDeviceSynchronize();
    return 0;
}
