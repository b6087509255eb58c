// Constructs from other people's programs: qualifiers in macros, an unused <cuda.h>, alignas, names that the emulator
// or the host also has, default arguments of a kernel, __shared__ at namespace scope, min and max of two types.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cublas_v2.h>
#include <cuda.h>
#include "check.h"

#ifdef NEVER_DEFINED
texture<float, 2> image;
__global__ void never()
{
    asm volatile("made.up %0;" ::"r"(tex2D(image, 0, 0)));
}
#endif

#define HD                __host__ __device__
#define KERNEL(name, ...) __global__ void name(__VA_ARGS__)

namespace cg = cooperative_groups;

struct alignas(16) vec {
    float x, y, z, w;
    HD float sum() const
    {
        return x + y + z + w;
    }
};

struct options {
    int size, rank;
    int reduce() const
    {
        return size - rank;
    }
};
static int rank = 7;

float reduce(const std::vector<float> &x) // the host's; cg::reduce is another
{
    float sum = 0;
    for (float v : x)
        sum += v;
    return sum;
}

__shared__ float block_sum, row[32];

template <class T> HD T twice(T x)
{
    return x + x;
}

KERNEL(sums, float *out, const vec *in, int n, float scale = 2.0f)
{
    cg::thread_group whole = cg::this_thread_block();
    cg::thread_block_tile<32> tile = cg::tiled_partition<32>(cg::this_thread_block());
    int i = whole.thread_rank();
    if (i == 0)
        block_sum = 0;
    row[i] = (unsigned)i < min(n, 32u) ? in[i].sum() : 0.0f;
    whole.sync();
    float sum = cg::reduce(tile, twice(row[i ^ 1]), cg::plus<float>());
    if (tile.thread_rank() == 0)
        block_sum = sum;
    cg::sync(whole);
    out[i] = block_sum * scale;
}

__global__ void fill(int *x, int value)
{
    x[threadIdx.x] = value;
}

static void fill(std::vector<int> &x, int value)
{
    for (int &v : x)
        v = value;
}

int main()
{
    cudaError_t cudaStat = cudaSuccess;
    cublasStatus_t cublasStat = CUBLAS_STATUS_SUCCESS;
    int cudaCores = 32;
    std::vector<vec> x(32, vec{ 1, 2, 3, 4 });
    std::vector<float> flat(32, 10.0f);
    vec *in = upload(x);
    float *out = zeros<float>(32);
    int *ints = zeros<int>(32);
    sums<<<1, cudaCores>>>(out, in, 32);
    fill<<<1, 32>>>(ints, rank);
    std::vector<int> expected(32);
    fill(expected, 7);
    std::vector<float> got = take(out, 32);
    EXPECT(take(ints, 32) == expected);
    EXPECT(got[5] == 4 * reduce(flat) && got[31] == got[5] && options({ 3, 1 }).reduce() == 2);
    EXPECT(cudaStat == cudaSuccess && cublasStat == CUBLAS_STATUS_SUCCESS && sizeof(vec) == 16);
    CUDA(cudaFree(in));
}
