// A tree in shared memory with a barrier per level.
#include "check.h"

__global__ void reduce(float *out, const float *in, int n)
{
    __shared__ float part[256];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    part[t] = i < n ? in[i] : 0.0f;
    __syncthreads();
    for (int step = blockDim.x / 2; step > 0; step /= 2) {
        if (t < step)
            part[t] += part[t + step];
        __syncthreads();
    }
    if (t == 0)
        out[blockIdx.x] = part[0];
}

int main()
{
    const int n = 1500, blocks = 6;
    std::vector<float> x = ramp(n);
    float *in = upload(x), *out = zeros<float>(blocks), sum = 0, want = 0;
    reduce<<<blocks, 256>>>(out, in, n);
    for (float v : take(out, blocks))
        sum += v;
    for (float v : x)
        want += v;
    EXPECT(sum == want);
    CUDA(cudaFree(in));
}
