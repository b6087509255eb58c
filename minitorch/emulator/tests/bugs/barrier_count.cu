// A cuda::barrier at which more threads arrive than it expects.
#include <cuda/barrier>

#pragma nv_diag_suppress static_var_with_dynamic_init

__global__ void too_many(float *y)
{
    __shared__ cuda::barrier<cuda::thread_scope_block> b;
    if (threadIdx.x == 0)
        init(&b, 3);
    __syncthreads();
    // SAYS: 2 arrive at a cuda::barrier that expects 1 more in this phase
    (void)b.arrive(2); // BUG: sync
    y[threadIdx.x] = 1.0f;
}

int main()
{
    float *y;
    cudaMalloc(&y, 64 * sizeof(float));
    too_many<<<1, 64>>>(y);
    cudaDeviceSynchronize();
}
