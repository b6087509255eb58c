// Hillis-Steele scan with two shared buffers and a barrier per step.
#include "check.h"

__global__ void scan(int *out, const int *in, int n)
{
    extern __shared__ int buffer[];
    int t = threadIdx.x, from = 0, to = 1;
    buffer[t] = t < n ? in[t] : 0;
    __syncthreads();
    for (int step = 1; step < n; step *= 2) {
        int v = buffer[from * blockDim.x + t];
        if (t >= step)
            v += buffer[from * blockDim.x + t - step];
        buffer[to * blockDim.x + t] = v;
        __syncthreads();
        from = to, to = 1 - to;
    }
    if (t < n)
        out[t] = buffer[from * blockDim.x + t];
}

int main()
{
    const int n = 200;
    std::vector<int> x(n);
    for (int i = 0; i < n; i++)
        x[i] = i % 7 - 3;
    int *in = upload(x), *out = zeros<int>(n), sum = 0;
    scan<<<1, 224, 2 * 224 * sizeof(int)>>>(out, in, n);
    std::vector<int> got = take(out, n);
    for (int i = 0; i < n; i++)
        EXPECT(got[i] == (sum += x[i]));
    CUDA(cudaFree(in));
}
