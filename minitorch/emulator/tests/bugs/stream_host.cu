// Host code uses memory while the device still does.
// SAYS: hint: launches and asynchronous copies return at once
#include <cstdio>

__global__ void fill(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = i;
}

int main()
{
    const int n = 1000, bytes = n * sizeof(float);
    float *x, *host, *managed;
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    cudaMalloc(&x, bytes);
    cudaMallocHost(&host, bytes);
    cudaMallocManaged(&managed, bytes);

    fill<<<4, 256>>>(managed, n);
    printf("%g\n", managed[1]); // BUG: race

    fill<<<4, 256, 0, stream>>>(x, n);
    cudaMemcpyAsync(host, x, bytes, cudaMemcpyDeviceToHost, stream);
    printf("%g\n", host[n - 1]); // BUG: race
    cudaStreamSynchronize(stream);

    cudaMemcpyAsync(x, host, bytes, cudaMemcpyHostToDevice, stream);
    for (int i = 0; i < n; i++)
        host[i] = 0; // BUG: race
    cudaStreamSynchronize(stream);
    return 0;
}
