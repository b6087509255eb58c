// A reduction inside a warp that assumes that the lanes run in lockstep.
#include <cstdio>

__global__ void warp_sum(const float *in, float *out)
{
    __shared__ volatile float s[32];
    int t = threadIdx.x;
    s[t] = in[t];
    __syncwarp();
    for (int o = 16; o > 0; o /= 2)
        if (t < o)
            s[t] = s[t] + s[t + o]; // BUG: race
    __syncwarp();
    out[t] = s[0];
}

int main()
{
    float *in, *out;
    cudaMalloc(&in, 128);
    cudaMalloc(&out, 128);
    cudaMemset(in, 0, 128);
    warp_sum<<<1, 32>>>(in, out);
    cudaDeviceSynchronize();
    return 0;
}
// SAYS: within a warp __syncwarp()
