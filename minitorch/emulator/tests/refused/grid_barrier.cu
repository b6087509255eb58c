#include <cooperative_groups.h>
__global__ void phases(float *x)
{
    cooperative_groups::this_grid().sync(); // REFUSED: end the kernel and launch a second one
    x[0] = 1;
}
