// A cuda::barrier that nobody initialised.
#include <cuda/barrier>

#pragma nv_diag_suppress static_var_with_dynamic_init

__global__ void no_init(float *y)
{
    __shared__ cuda::barrier<cuda::thread_scope_block> b;
    b.arrive_and_wait(); // BUG: uninitialised sync
    y[threadIdx.x] = 1.0f;
}

int main()
{
    float *y;
    cudaMalloc(&y, 64 * sizeof(float));
    no_init<<<1, 64>>>(y);
    cudaDeviceSynchronize();
}
