// A block returns before the barrier of the grid: the others wait for ever.
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void early(float *a)
{
    if (blockIdx.x == 2)
        return;
    cg::this_grid().sync(); // BUG: sync
    a[0] = 1;
}

int main()
{
    float *a;
    cudaMalloc(&a, 4);
    void *arguments[] = { &a };
    cudaLaunchCooperativeKernel(early, 4, 32, arguments);
    cudaDeviceSynchronize();
    return 0;
}
