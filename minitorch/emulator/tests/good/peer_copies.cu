// Copies between devices in a program that has only one, and the question whether it has a peer.
#include "check.h"

__global__ void twice(int *x)
{
    x[threadIdx.x] *= 2;
}

int main()
{
    const int n = 64;
    int can = 1;
    std::vector<int> x(n);
    for (int i = 0; i < n; i++)
        x[i] = i;
    int *from = upload(x), *to = zeros<int>(n);
    cudaStream_t stream;
    CUDA(cudaStreamCreate(&stream));
    CUDA(cudaDeviceCanAccessPeer(&can, 0, 0));
    EXPECT(!can);
    EXPECT(cudaDeviceDisablePeerAccess(0) != cudaSuccess && cudaGetLastError() != cudaSuccess);
    CUDA(cudaMemcpyPeer(to, 0, from, 0, n / 2 * sizeof(int)));
    CUDA(cudaDeviceSynchronize());
    CUDA(cudaMemcpyPeerAsync(to + n / 2, 0, from + n / 2, 0, n / 2 * sizeof(int), stream));
    twice<<<1, n, 0, stream>>>(to);
    CUDA(cudaStreamSynchronize(stream));
    std::vector<int> got = take(to, n);
    for (int i = 0; i < n; i++)
        EXPECT(got[i] == 2 * i);
    CUDA(cudaStreamDestroy(stream));
    CUDA(cudaFree(from));
}
