// The sum is read again after the lock was released.
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
        __threadfence();
        sum++; // BUG: race
        __threadfence();
        atomicExch(&lock, 0);
        out[threadIdx.x / 32] = sum;
    }
}
int main()
{
    int *out;
    cudaMalloc(&out, 4 * sizeof(int));
    count<<<1, 128>>>(out);
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
    return 0;
}
