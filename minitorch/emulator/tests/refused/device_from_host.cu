__device__ int next(int x)
{
    return x + 1;
}
__global__ void run(int *x)
{
    *x = next(*x);
}
static int helper(int *x)
{
    return x[threadIdx.x]; // REFUSED: host code `helper` uses `threadIdx`
}
int main()
{
    int *x = nullptr;
    run(x);                     // REFUSED: the kernel `run` is called like a function
    __syncthreads();            // REFUSED: host code `main` uses `__syncthreads`
    return next(3) + helper(x); // REFUSED: host code `main` calls the device function `next`
}
