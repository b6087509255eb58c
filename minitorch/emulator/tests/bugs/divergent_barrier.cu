// The two sides of a branch wait at different barriers.
#include <cstdio>

__global__ void divergent(float *p)
{
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = t;
    if (t < 20) {
        __syncthreads(); // BUG: sync
    } else {
        s[t] += 1;
        __syncthreads();
    }
    p[t] = s[t];
}

int main()
{
    float *p;
    cudaMalloc(&p, 256);
    divergent<<<1, 64>>>(p);
    cudaDeviceSynchronize();
    return 0;
}
