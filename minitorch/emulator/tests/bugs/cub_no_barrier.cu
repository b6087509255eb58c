// The storage of a reduction is used a second time, before all threads are done with the first.
#include <cstdio>
#include <cub/cub.cuh>

__global__ void mean_and_square(float *out, const float *in)
{
    typedef cub::BlockReduce<float, 128> reduction;
    __shared__ reduction::TempStorage temp;
    float x = in[threadIdx.x];
    float sum = reduction(temp).Sum(x);
    float square = reduction(temp).Sum(x * x); // BUG: race
    if (threadIdx.x == 0) {
        out[0] = sum;
        out[1] = square;
    }
}

int main()
{
    float *in, *out;
    cudaMalloc(&in, 512);
    cudaMalloc(&out, 8);
    cudaMemset(in, 0, 512);
    mean_and_square<<<1, 128>>>(out, in);
    cudaDeviceSynchronize();
    return 0;
}
