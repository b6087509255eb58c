// Flags inside a block: a producer that runs ahead of its consumer; one lane signals, or waits, for its warp.
#include "check.h"

static const int N = 40, WIDTH = 32;

__device__ int get(volatile int *flag)
{
    return atomicAdd((int *)flag, 0);
}

__global__ void ahead(int *out)
{
    __shared__ int data[N][WIDTH], ready;
    if (threadIdx.x == 0)
        ready = 0;
    __syncthreads();
    int lane = threadIdx.x % 32;
    if (threadIdx.x < 32) {
        for (int i = 0; i < N; i++) {
            data[i][lane] = i * lane;
            __syncwarp(); // lane 0 releases what all lanes have written
            if (lane == 0) {
                __threadfence_block();
                atomicAdd(&ready, 1);
            }
        }
        return;
    }
    for (int i = 0; i < N; i++) {
        if (lane == 0) {
            while (get(&ready) <= i)
                ;
            __threadfence_block();
        }
        __syncwarp(); // lane 0 has acquired for all lanes
        out[i * WIDTH + lane] = data[i][WIDTH - 1 - lane];
    }
}

int main()
{
    int *out = zeros<int>(N * WIDTH);
    ahead<<<1, 64>>>(out);
    std::vector<int> got = take(out, N * WIDTH);
    for (int i = 0; i < N * WIDTH; i++)
        EXPECT(got[i] == i / WIDTH * (WIDTH - 1 - i % WIDTH));
}
