// Two streams, events between them, pinned memory, timing.
#include "check.h"

__global__ void add(float *x, float v, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] += v;
}

int main()
{
    const int n = 1000;
    float *host, *device, ms = -1.0f;
    cudaStream_t copy, work;
    cudaEvent_t ready, start, stop;
    CUDA(cudaMallocHost(&host, n * sizeof(float)));
    CUDA(cudaMalloc(&device, n * sizeof(float)));
    CUDA(cudaStreamCreate(&copy));
    CUDA(cudaStreamCreateWithFlags(&work, cudaStreamNonBlocking));
    CUDA(cudaEventCreateWithFlags(&ready, cudaEventDisableTiming));
    CUDA(cudaEventCreate(&start));
    CUDA(cudaEventCreate(&stop));
    for (int i = 0; i < n; i++)
        host[i] = (float)i;
    CUDA(cudaMemcpyAsync(device, host, n * sizeof(float), cudaMemcpyHostToDevice, copy));
    CUDA(cudaEventRecord(ready, copy));
    CUDA(cudaStreamWaitEvent(work, ready, 0));
    CUDA(cudaEventRecord(start, work));
    add<<<4, 256, 0, work>>>(device, 1.0f, n);
    CUDA(cudaEventRecord(stop, work));
    CUDA(cudaMemcpyAsync(host, device, n * sizeof(float), cudaMemcpyDeviceToHost, work));
    CUDA(cudaStreamSynchronize(work));
    CUDA(cudaEventElapsedTime(&ms, start, stop));
    EXPECT(ms >= 0.0f);
    for (int i = 0; i < n; i++)
        EXPECT(host[i] == (float)i + 1.0f);
    CUDA(cudaEventDestroy(ready));
    CUDA(cudaEventDestroy(start));
    CUDA(cudaEventDestroy(stop));
    CUDA(cudaStreamDestroy(copy));
    CUDA(cudaStreamDestroy(work));
    CUDA(cudaFree(device));
    CUDA(cudaFreeHost(host));
}
