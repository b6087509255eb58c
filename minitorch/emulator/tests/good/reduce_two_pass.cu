// Two launches: the second reads what the first wrote.
#include "check.h"

template <typename T> __global__ void maximum(T *out, const T *in, int n)
{
    extern __shared__ unsigned char bytes[];
    T *part = reinterpret_cast<T *>(bytes);
    int t = threadIdx.x;
    T best = in[0];
    for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x)
        best = max(best, in[i]);
    part[t] = best;
    __syncthreads();
    for (unsigned step = blockDim.x / 2; step > 0; step >>= 1) {
        if (t < (int)step)
            part[t] = max(part[t], part[t + step]);
        __syncthreads();
    }
    if (t == 0)
        out[blockIdx.x] = part[0];
}

template <typename T> void run(const std::vector<T> &x, T want)
{
    const int n = (int)x.size();
    T *in = upload(x), *middle = zeros<T>(5), *out = zeros<T>(1);
    maximum<<<5, 64, 64 * sizeof(T)>>>(middle, in, n);
    maximum<T><<<1, 64, 64 * sizeof(T)>>>(out, middle, 5);
    EXPECT(take(out, 1)[0] == want);
    CUDA(cudaFree(in));
    CUDA(cudaFree(middle));
}

int main()
{
    std::vector<float> x = ramp(999, 1000);
    std::vector<int> y(778);
    for (int i = 0; i < 778; i++)
        y[i] = (i * 37) % 778;
    run(x, x[998]);
    run(y, 777);
}
