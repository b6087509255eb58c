// All threads draw from one state.
#include <cstdio>
#include <curand_kernel.h>

__global__ void draw(float *out, curandState *state)
{
    out[threadIdx.x] = curand_uniform(state); // BUG: race
}

__global__ void init(curandState *state)
{
    curand_init(1, 0, 0, state);
}

int main()
{
    float *out;
    curandState *state;
    cudaMalloc(&out, 256);
    cudaMalloc(&state, sizeof *state);
    init<<<1, 1>>>(state);
    draw<<<1, 64>>>(out, state);
    cudaDeviceSynchronize();
    return 0;
}
