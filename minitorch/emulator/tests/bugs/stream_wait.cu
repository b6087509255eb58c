// The second stream does not wait for the first.
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
    cudaStream_t first, second;
    cudaStreamCreate(&first);
    cudaStreamCreate(&second);
    cudaMalloc(&x, n * sizeof(float));
    cudaMalloc(&y, n * sizeof(float));
    fill<<<4, 256, 0, first>>>(x, n);
    twice<<<4, 256, 0, second>>>(x, y, n); // BUG: race
    cudaDeviceSynchronize();
    return 0;
}
