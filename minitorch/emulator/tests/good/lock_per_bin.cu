// Locks within a block and between blocks: atomicCAS and a fence acquire, a fence and atomicExch release.
#include "check.h"

const int bins = 4;

struct bin {
    int lock, count;
    float sum;
};

__device__ void add(bin *b, float value)
{
    while (atomicCAS(&b->lock, 0, 1) != 0)
        __nanosleep(20);
    __threadfence();
    b->count++;
    b->sum += value;
    __threadfence();
    atomicExch(&b->lock, 0);
}

__global__ void by_bin(bin *out, const float *in, int n)
{
    __shared__ bin mine[bins];
    if (threadIdx.x < bins)
        mine[threadIdx.x] = bin();
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        add(&mine[i % bins], in[i]);
    __syncthreads();
    if (threadIdx.x < bins)
        add(&out[threadIdx.x], mine[threadIdx.x].sum);
}

// A flag: what is written before it is read after it, by another warp.
__global__ void hand_over(int *out)
{
    __shared__ int box, full;
    if (threadIdx.x == 0)
        full = 0;
    __syncthreads();
    if (threadIdx.x == 32) {
        box = 42;
        __threadfence_block();
        atomicExch(&full, 1);
    } else if (threadIdx.x == 0) {
        while (atomicAdd(&full, 0) == 0)
            __nanosleep(20);
        __threadfence_block();
        *out = box;
    }
}

int main()
{
    const int n = 300;
    std::vector<float> x = ramp(n);
    float *in = upload(x), want[bins] = {};
    bin *out = zeros<bin>(bins);
    int *handed = zeros<int>(1);
    for (int i = 0; i < n; i++)
        want[i % bins] += x[i];
    by_bin<<<3, 128>>>(out, in, n);
    hand_over<<<1, 64>>>(handed);
    std::vector<bin> got = take(out, bins);
    for (int b = 0; b < bins; b++)
        EXPECT(got[b].count == 3 && got[b].sum == want[b]);
    EXPECT(take(handed, 1)[0] == 42);
    CUDA(cudaFree(in));
}
