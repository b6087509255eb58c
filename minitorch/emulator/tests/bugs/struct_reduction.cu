// A reduction over structs without barriers: what functions return is stored in shared memory.
#include <cstdio>

struct moments {
    float largest, sum;
    int count;
    double square;
};

__device__ moments of(float x)
{
    return { x, x, 1, (double)x * x };
}

__device__ moments merge(moments a, moments b)
{
    return { fmaxf(a.largest, b.largest), a.sum + b.sum, a.count + b.count, a.square + b.square };
}

__global__ void reduce(moments *out)
{
    __shared__ moments s[128];
    int t = threadIdx.x;
    s[t] = of(t);
    __syncthreads();
    for (int d = blockDim.x / 2; d > 0; d /= 2)
        if (t < d)
            s[t] = merge(s[t], s[t + d]); // BUG: race
    if (t == 0)
        *out = s[0];
}

int main()
{
    moments *out;
    cudaMalloc(&out, sizeof *out);
    reduce<<<1, 128>>>(out);
    cudaDeviceSynchronize();
    return 0;
}
