// Each atomic, for each type for which compute capability 7.5 has it.
#include "check.h"

__global__ void updates(int *i, unsigned *u, unsigned long long *l, float *f, double *d)
{
    int t = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    atomicAdd(&i[0], t);
    atomicSub(&i[1], 1);
    atomicMax(&i[2], t);
    atomicMin(&i[3], -t);
    atomicAdd(&u[0], 2u);
    atomicOr(&u[1], 1u << (t % 32));
    atomicAnd(&u[2], ~(1u << (t % 16)));
    atomicXor(&u[3], 1u << (t % 8));
    atomicInc(&u[4], 9u);
    atomicAdd(&l[0], 1ull << 33);
    atomicMax(&l[1], (unsigned long long)t);
    atomicAdd(&f[0], 0.5f);
    atomicExch(&f[1], 7.0f);
    atomicAdd(&d[0], 0.25);
    atomicCAS(&i[4], 0, 5);
}

// An exchange gives shared memory its first value.
__global__ void count_threads(int *count)
{
    __shared__ int here;
    if (threadIdx.x == 0)
        atomicExch(&here, 0);
    __syncthreads();
    atomicAdd(&here, 1);
    __syncthreads();
    if (threadIdx.x == 0)
        *count = here;
}

int main()
{
    const int n = 128;
    int *i = zeros<int>(5);
    unsigned *u = upload(std::vector<unsigned>{ 0, 0, ~0u, 0, 0 });
    unsigned long long *l = zeros<unsigned long long>(2);
    float *f = zeros<float>(2);
    double *d = zeros<double>(1);
    updates<<<2, 64>>>(i, u, l, f, d);
    EXPECT(take(i, 5) == (std::vector<int>{ n * (n - 1) / 2, -n, n - 1, 1 - n, 5 }));
    EXPECT(take(u, 5) == (std::vector<unsigned>{ 2 * n, ~0u, ~0xffffu, 0, n % 10 }));
    EXPECT(take(l, 2) == (std::vector<unsigned long long>{ (unsigned long long)n << 33, n - 1 }));
    EXPECT(take(f, 2) == (std::vector<float>{ 0.5f * n, 7.0f }));
    EXPECT(take(d, 1)[0] == 0.25 * n);
    int *count = zeros<int>(1);
    count_threads<<<1, 64>>>(count);
    EXPECT(take(count, 1)[0] == 64);
}
