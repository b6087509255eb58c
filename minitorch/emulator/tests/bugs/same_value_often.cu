// All threads write the same flags: harmless, but told, also when a thread has to wait between the moment in which a
// store is seen and the store itself.
#include <cstdio>

__global__ void raise(int *flag)
{
    for (int i = 1; i < 3000; i++)
        flag[i] = i; // BUG: warning-race
}

int main()
{
    int *flag;
    cudaMalloc(&flag, 3000 * sizeof(int));
    cudaMemset(flag, 0, 3000 * sizeof(int));
    raise<<<1, 32>>>(flag);
    cudaDeviceSynchronize();
    return 0;
}
