// Kernels on two streams, and nothing or too little that orders them.
// SAYS: hint: call cudaEventRecord on the first stream and cudaStreamWaitEvent on the second, or use one stream
__global__ void fill(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = i;
}

__global__ void twice(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = 2 * x[i];
}

int main()
{
    const int n = 1000;
    float *x, *y;
    cudaStream_t first, second, third;
    cudaEvent_t ready;
    cudaStreamCreate(&first);
    cudaStreamCreate(&second);
    cudaStreamCreateWithFlags(&third, cudaStreamNonBlocking);
    cudaEventCreate(&ready);
    cudaMalloc(&x, n * sizeof(float));
    cudaMalloc(&y, n * sizeof(float));
    cudaMemset(x, 0, n * sizeof(float));

    twice<<<4, 256, 0, first>>>(x, y, n);
    fill<<<4, 256, 0, second>>>(x, n); // BUG: race
    cudaDeviceSynchronize();

    cudaEventRecord(ready, first); // too early: the launch comes after it
    fill<<<4, 256, 0, first>>>(x, n);
    cudaStreamWaitEvent(second, ready);
    twice<<<4, 256, 0, second>>>(x, y, n); // BUG: race
    cudaStreamSynchronize(second);         // not the first

    fill<<<4, 256, 0, third>>>(x, n);
    twice<<<4, 256>>>(x, y, n); // BUG: race
    cudaDeviceSynchronize();
    return 0;
}
