#include <cub/cub.cuh>

__global__ void sort(int *x)
{
    typedef cub::BlockRadixSort<int, 32, 1> sorting; // REFUSED: of CUB, <cub/cub.cuh>, WarpReduce, WarpScan
}
