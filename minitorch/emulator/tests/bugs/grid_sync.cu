// A second barrier of the grid is missing; and a grid that is too large.
// SAYS: too many blocks for a cooperative launch: all of them must be resident at the same time
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void shift(float *a, float *b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    b[i] = a[(i + 1) % n];
    cg::this_grid().sync();
    a[i] = b[i];            // BUG: race
    b[i] = a[(i + 32) % n]; // BUG: race
}

int main()
{
    int n = 128;
    float *a, *b;
    cudaMalloc(&a, n * sizeof(float));
    cudaMalloc(&b, n * sizeof(float));
    cudaMemset(a, 0, n * sizeof(float));
    void *arguments[] = { &a, &b, &n };
    cudaLaunchCooperativeKernel((void *)shift, n / 32, 32, arguments);
    cudaLaunchCooperativeKernel((void *)shift, 132 * 32 + 1, 32, arguments); // BUG: limit
    return 0;
}
