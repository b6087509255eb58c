// The sum of more elements than the array has: the launch is CUB's, at the line of the call.
#include <cub/cub.cuh>

int main()
{
    float *in, *out;
    void *temp = nullptr;
    size_t bytes = 0;
    cudaMalloc(&in, 400);
    cudaMalloc(&out, 4);
    cudaMemset(in, 0, 400);
    cub::DeviceReduce::Sum(temp, bytes, in, out, 128);
    cudaMalloc(&temp, bytes);
    cub::DeviceReduce::Sum(temp, bytes, in, out, 128); // BUG: out-of-bounds
    cudaDeviceSynchronize();
    return 0;
}
