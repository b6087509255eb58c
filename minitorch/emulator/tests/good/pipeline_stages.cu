// cuda::pipeline: of a block, with all threads as both; of producers and consumers; of one thread. arch: 80
// And cooperative_groups::memcpy_async.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/pipeline>

#include "check.h"

#pragma nv_diag_suppress static_var_with_dynamic_init
namespace cg = cooperative_groups;

static const int STAGES = 3, BATCHES = 10, THREADS = 96;

__device__ float work(float x, int batch)
{
    return 2.0f * x + batch;
}

template <int S> __global__ void unified(const float *x, float *y)
{
    extern __shared__ float buffer[];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, S> state;
    auto block = cg::this_thread_block();
    auto pipe = cuda::make_pipeline(block, &state);
    for (int batch = 0, next = 0; batch < BATCHES; batch++) {
        for (; next < BATCHES && next < batch + S; next++) {
            pipe.producer_acquire();
            cuda::memcpy_async(block, buffer + next % S * THREADS, x + next * THREADS, sizeof(float) * THREADS, pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        int other = THREADS - 1 - threadIdx.x; // copied by another thread
        y[batch * THREADS + other] = work(buffer[batch % S * THREADS + other], batch);
        pipe.consumer_release();
    }
}

__global__ void roles(const float *x, float *y, bool by_role)
{
    __shared__ float buffer[STAGES][THREADS];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, STAGES> state;
    auto block = cg::this_thread_block();
    bool producer = threadIdx.x < 32;
    auto role = producer ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer;
    auto pipe = by_role ? cuda::make_pipeline(block, &state, role) : cuda::make_pipeline(block, &state, 32);
    for (int batch = 0; batch < BATCHES; batch++) {
        float *stage = buffer[batch % STAGES];
        if (producer) {
            pipe.producer_acquire();
            for (int i = threadIdx.x; i < THREADS; i += 32)
                cuda::memcpy_async(stage + i, x + batch * THREADS + i, sizeof(float), pipe);
            pipe.producer_commit();
        } else {
            pipe.consumer_wait();
            for (int i = threadIdx.x - 32; i < THREADS; i += THREADS - 32)
                y[batch * THREADS + i] = work(stage[i], batch);
            pipe.consumer_release();
        }
    }
}

__global__ void of_one_thread(const float *x, float *y)
{
    __shared__ float buffer[STAGES][THREADS];
    auto pipe = cuda::make_pipeline();
    int t = threadIdx.x;
    for (int batch = 0; batch < BATCHES + STAGES - 1; batch++) {
        pipe.producer_acquire();
        if (batch < BATCHES)
            cuda::memcpy_async(&buffer[batch % STAGES][t], &x[batch * THREADS + t], sizeof(float), pipe);
        pipe.producer_commit();
        int ready = batch - (STAGES - 1);
        if (ready < 0)
            continue;
        cuda::pipeline_consumer_wait_prior<STAGES - 1>(pipe);
        y[ready * THREADS + t] = work(buffer[ready % STAGES][t], ready);
        pipe.consumer_release();
    }
}

__global__ void of_a_group(const float *x, float *y)
{
    __shared__ alignas(16) float buffer[2][THREADS];
    auto block = cg::this_thread_block();
    cg::memcpy_async(block, buffer[0], x, sizeof(float) * THREADS);
    for (int batch = 0; batch < BATCHES; batch++) {
        if (batch + 1 < BATCHES) {
            cg::memcpy_async(block, buffer[(batch + 1) % 2], x + (batch + 1) * THREADS,
                             cuda::aligned_size_t<16>(sizeof(float) * THREADS));
            cg::wait_prior<1>(block);
        } else {
            cg::wait(block);
        }
        y[batch * THREADS + threadIdx.x] = work(buffer[batch % 2][THREADS - 1 - threadIdx.x], batch);
        block.sync();
    }
}

int main()
{
    const int n = BATCHES * THREADS;
    std::vector<float> x = ramp(n);
    float *in = upload(x);
    for (int way = 0; way < 6; way++) {
        float *y = zeros<float>(n);
        if (way == 0)
            unified<STAGES><<<1, THREADS, STAGES * THREADS * sizeof(float)>>>(in, y);
        else if (way == 1)
            unified<1><<<1, THREADS, THREADS * sizeof(float)>>>(in, y);
        else if (way < 4)
            roles<<<1, THREADS>>>(in, y, way == 2);
        else if (way == 4)
            of_one_thread<<<1, THREADS>>>(in, y);
        else
            of_a_group<<<1, THREADS>>>(in, y);
        std::vector<float> got = take(y, n);
        for (int i = 0; i < n; i++) {
            int from = way < 5 ? i : i / THREADS * THREADS + THREADS - 1 - i % THREADS;
            EXPECT(got[i] == 2.0f * x[from] + i / THREADS);
        }
    }
    CUDA(cudaFree(in));
}
