// Reductions and scans of CUB.
#include "check.h"
#include <cub/cub.cuh>
#include <cuda/functional>

enum { THREADS = 96, ITEMS = 3 };

__global__ void of_warps(int *out)
{
    typedef cub::WarpReduce<int> whole;
    typedef cub::WarpReduce<int, 8> part;
    typedef cub::WarpScan<int, 16> scan;
    __shared__ whole::TempStorage a[THREADS / 32];
    __shared__ typename part::TempStorage b[THREADS / 8];
    __shared__ scan::TempStorage c[THREADS / 16];
    const int t = threadIdx.x;
    int sum = whole(a[t / 32]).Sum(t);
    int largest = whole(a[t / 32]).Reduce(t, cuda::maximum<>(), 20);
    int eighth = part(b[t / 8]).Sum(t);
    int inclusive, exclusive, all;
    scan(c[t / 16]).InclusiveSum(1, inclusive);
    scan(c[t / 16]).ExclusiveSum(t, exclusive, all);
    out[t] = (t % 32 == 0 ? sum + 1000 * largest : t % 8 == 0 ? eighth : 0) + inclusive + exclusive + all;
}

template <int X, int Y> __global__ void of_blocks(float *out, const float *in, int n)
{
    typedef cub::BlockReduce<float, X, cub::BLOCK_REDUCE_WARP_REDUCTIONS, Y> reduction;
    typedef cub::BlockScan<float, X, cub::BLOCK_SCAN_RAKING, Y> scan;
    __shared__ union {
        typename reduction::TempStorage sums;
        typename scan::TempStorage places;
    } temp;
    const int t = threadIdx.y * X + threadIdx.x, threads = X * Y;
    float sum = reduction(temp.sums).Sum(in[t]);
    __syncthreads();
    float some = reduction(temp.sums).Sum(in[t], n);
    __syncthreads();
    float least = reduction(temp.sums).Reduce(in[t], cuda::minimum<>());
    __syncthreads();
    float before, until, all, item[ITEMS], rank[ITEMS];
    scan(temp.places).ExclusiveSum(in[t], before);
    __syncthreads();
    scan(temp.places).InclusiveSum(in[t], until, all);
    __syncthreads();
    for (int i = 0; i < ITEMS; i++)
        item[i] = in[(ITEMS * t + i) % threads];
    scan(temp.places).ExclusiveSum(item, rank);
    __syncthreads();
    float items = reduction(temp.sums).Sum(item);
    out[t] = before, out[threads + t] = until, out[2 * threads + t] = all;
    for (int i = 0; i < ITEMS; i++)
        out[3 * threads + ITEMS * t + i] = rank[i];
    if (t == 0)
        out[6 * threads] = sum, out[6 * threads + 1] = some, out[6 * threads + 2] = least, out[6 * threads + 3] = items;
}

template <int X, int Y> static void check_blocks(int some)
{
    const int n = X * Y;
    std::vector<float> x = ramp(n);
    float *in = upload(x), *out = zeros<float>(6 * n + 4);
    of_blocks<X, Y><<<1, dim3(X, Y)>>>(out, in, some);
    std::vector<float> got = take(out, 6 * n + 4);
    float sum = 0, part = 0, least = x[0], total = 0;
    for (int i = 0; i < n; i++)
        total += x[i];
    for (int i = 0; i < n; i++) {
        EXPECT(got[i] == sum && got[n + i] == sum + x[i] && got[2 * n + i] == total);
        sum += x[i], part += i < some ? x[i] : 0, least = fminf(least, x[i]);
    }
    float rank = 0;
    for (int i = 0; i < ITEMS * n; i++) {
        EXPECT(got[3 * n + i] == rank);
        rank += x[i % n];
    }
    EXPECT(got[6 * n] == total && got[6 * n + 1] == part && got[6 * n + 2] == least && got[6 * n + 3] == rank);
    CUDA(cudaFree(in));
}

int main()
{
    int *warps = zeros<int>(THREADS);
    of_warps<<<1, THREADS>>>(warps);
    std::vector<int> w = take(warps, THREADS);
    for (int t = 0; t < THREADS; t++) {
        const int warp = t / 32 * 32, eight = t / 8 * 8, sixteen = t / 16 * 16, l = t - sixteen;
        int want = l + 1 + sixteen * l + l * (l - 1) / 2 + 16 * sixteen + 120;
        want += t % 32 == 0 ? 32 * warp + 496 + 1000 * (warp + 19) : t % 8 == 0 ? 8 * eight + 28 : 0;
        EXPECT(w[t] == want);
    }
#ifdef __CUEMU__ // and CUDA before 13
    EXPECT(cub::Max()(1, 2) == 2 && cub::Min()(1, 2) == 1 && cub::Sum()(1, 2) == 3);
#endif
    check_blocks<128, 1>(50);
    check_blocks<8, 9>(64);
    check_blocks<20, 1>(1);
    for (int n : { 0, 1, 255, 256, 1000, 100000 }) {
        std::vector<float> x = ramp(n + 1);
        float *in = upload(x), *out = zeros<float>(1), want = 0;
        void *temp = nullptr;
        size_t bytes = 0;
        for (int i = 0; i < n; i++)
            want += x[i];
        CUDA(cub::DeviceReduce::Sum(temp, bytes, in, out, n));
        CUDA(cudaMalloc(&temp, bytes));
        CUDA(cub::DeviceReduce::Sum(temp, bytes, in, out, n));
        EXPECT(take(out, 1)[0] == want);
        CUDA(cudaFree(temp));
        CUDA(cudaFree(in));
    }
}
