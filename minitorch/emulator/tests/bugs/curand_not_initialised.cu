// A state that curand_init has not made.
#include <cstdio>
#include <curand_kernel.h>

__global__ void draw(float *out, curandState *state)
{
    out[threadIdx.x] = curand_uniform(&state[threadIdx.x]); // BUG: uninitialised
}

int main()
{
    float *out;
    curandState *state;
    cudaMalloc(&out, 128);
    cudaMalloc(&state, 32 * sizeof *state);
    draw<<<1, 32>>>(out, state);
    cudaDeviceSynchronize();
    return 0;
}
