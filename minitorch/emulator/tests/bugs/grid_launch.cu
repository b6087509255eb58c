// A barrier of the grid in a launch that is not cooperative.
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void alone(float *a)
{
    cg::this_grid().sync(); // BUG: sync
    a[0] = 1;
}

int main()
{
    float *a;
    cudaMalloc(&a, 4);
    alone<<<4, 32>>>(a);
    cudaDeviceSynchronize();
    return 0;
}
