// All threads write the same flags: reported as a warning, also when a thread waits between a store's hook and the
// store itself.
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
