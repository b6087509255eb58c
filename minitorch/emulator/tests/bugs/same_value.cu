// All threads set the flag: harmless as long as they write the same value, reported as a warning.
#include <cstdio>

__global__ void raise_flag(int *flag)
{
    *flag = 1; // BUG: warning-race
}

int main()
{
    int *flag;
    cudaMalloc(&flag, sizeof(int));
    raise_flag<<<2, 32>>>(flag);
    cudaDeviceSynchronize();
    return 0;
}
