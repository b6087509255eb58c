// Threads beyond the end return before the barrier that the others wait at.
#include <cstdio>

__global__ void early_return(float *p, int n)
{
    __shared__ float s[64];
    int t = threadIdx.x;
    if (t >= n)
        return;
    s[t] = t;
    __syncthreads(); // BUG: warning-sync
    p[t] = s[n - 1 - t];
}

int main()
{
    float *p;
    cudaMalloc(&p, 256);
    early_return<<<1, 64>>>(p, 40);
    cudaDeviceSynchronize();
    return 0;
}
