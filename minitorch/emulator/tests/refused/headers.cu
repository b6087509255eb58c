#include <cub/device/device_radix_sort.cuh>
#include <cuda_fp8.h>
#include <curand.h>
#include <thrust/sort.h>

#include <cuda/barrier>
#include <cuda/latch>

__global__ void all(float *x)
{
    __nv_fp8_e4m3 small;       // REFUSED: 8-bit floats
    thrust::sort(x, x + 32);   // REFUSED: write the algorithm yourself
    cuda::latch<0> count_down; // REFUSED: of libcu++
}

int main()
{
    curandGenerator_t generator; // REFUSED: of cuRAND the device's Philox4_32_10 and XORWOW are emulated
    cub::DeviceRadixSort::SortKeys(0, 0, 0, 0, 0); // REFUSED: `cub` is not supported by the emulator: of CUB
}
