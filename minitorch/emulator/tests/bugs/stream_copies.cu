// Copies and kernels on streams that do not wait for each other.
// SAYS: kernel fill, launched on another stream at stream_copies.cu:27, writes it, and nothing orders the two
__global__ void fill(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = i;
}

__global__ void twice(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] *= 2;
}

int main()
{
    const int n = 1000, bytes = n * sizeof(float);
    float *x, *host, *later;
    cudaStream_t work, copy;
    cudaStreamCreateWithFlags(&work, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&copy, cudaStreamNonBlocking);
    cudaMalloc(&x, bytes);
    cudaMallocHost(&host, bytes);

    fill<<<4, 256, 0, work>>>(x, n);
    cudaMemcpyAsync(host, x, bytes, cudaMemcpyDeviceToHost, copy); // BUG: race
    cudaDeviceSynchronize();

    cudaMemcpyAsync(x, host, bytes, cudaMemcpyHostToDevice, copy);
    twice<<<4, 256, 0, work>>>(x, n); // BUG: race
    cudaDeviceSynchronize();

    cudaMemset(x, 0, bytes);          // on the default stream: the host does not wait for it either
    twice<<<4, 256, 0, work>>>(x, n); // BUG: race
    cudaDeviceSynchronize();

    cudaMallocAsync(&later, bytes, work);
    fill<<<4, 256, 0, work>>>(later, n);
    cudaFreeAsync(later, copy); // BUG: race
    cudaDeviceSynchronize();
    return 0;
}
