// Results of asynchronous copies that are used without waiting for them, and a stage that is reused too early.
#include <cooperative_groups.h>
#include <cuda/pipeline>

#pragma nv_diag_suppress static_var_with_dynamic_init
namespace cg = cooperative_groups;

__global__ void no_wait(const float *x, float *y)
{
    __shared__ float tile[64];
    __shared__ cuda::barrier<cuda::thread_scope_block> ready;
    if (threadIdx.x == 0)
        init(&ready, blockDim.x);
    __syncthreads();
    cuda::memcpy_async(&tile[threadIdx.x], &x[threadIdx.x], sizeof(float), ready); // BUG: race
    (void)ready.arrive();
    y[threadIdx.x] = tile[63 - threadIdx.x]; // BUG: uninitialised
}

__global__ void no_release(const float *x, float *y)
{
    __shared__ float tile[2][64];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    auto block = cg::this_thread_block();
    auto pipe = cuda::make_pipeline(block, &state);
    for (int i = 0; i < 3; i++) { // without consumer_release(), each turn waits for the first stage
        // SAYS: threads wait for a phase of a cuda::barrier or pipeline that never ends
        pipe.producer_acquire();                                                  // BUG: sync
        cuda::memcpy_async(block, tile[i % 2], x + 64 * i, sizeof tile[0], pipe); // BUG: race
        pipe.producer_commit();
        pipe.consumer_wait();
        y[64 * i + threadIdx.x] = tile[i % 2][63 - threadIdx.x]; // BUG: uninitialised
    }
}

int main()
{
    float *x, *y;
    cudaMalloc(&x, 192 * sizeof(float));
    cudaMalloc(&y, 192 * sizeof(float));
    cudaMemset(x, 0, 192 * sizeof(float));
    no_wait<<<1, 64>>>(x, y);
    no_release<<<1, 64>>>(x, y);
    cudaDeviceSynchronize();
}
