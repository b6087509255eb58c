// A lock without fences: one thread's writes need not be visible to the next owner of the lock.
#include <cstdio>

__global__ void count(int *out)
{
    __shared__ int lock;
    __shared__ int sum;
    if (threadIdx.x == 0)
        lock = sum = 0;
    __syncthreads();
    if (threadIdx.x % 32 == 0) {
        while (atomicCAS(&lock, 0, 1) != 0)
            __nanosleep(20);
        sum++; // BUG: race
        atomicExch(&lock, 0);
    }
    __syncthreads();
    if (threadIdx.x == 0)
        *out = sum;
}
int main()
{
    int *out;
    cudaMalloc(&out, sizeof(int));
    count<<<1, 128>>>(out);
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
    return 0;
}
