// Two buffers, one barrier per step, but the index is not switched: the buffer being read is refilled.
#include <cstdio>

__global__ void pipeline(const float *in, float *out, int tiles)
{
    __shared__ float s[2][64];
    int t = threadIdx.x, now = 0;
    float sum = 0;
    s[0][t] = in[t];
    __syncthreads();
    for (int k = 0; k < tiles; k++) {
        if (k + 1 < tiles)
            s[now][t] = in[(k + 1) * 64 + t]; // BUG: race
        for (int i = 0; i < 64; i++)
            sum += s[now][i]; // BUG: race
        __syncthreads();
    }
    out[t] = sum;
}

int main()
{
    float *in, *out;
    cudaMalloc(&in, 4 * 256);
    cudaMalloc(&out, 256);
    cudaMemset(in, 0, 4 * 256);
    pipeline<<<1, 64>>>(in, out, 4);
    cudaDeviceSynchronize();
    return 0;
}
