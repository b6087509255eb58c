__device__ int counter;
__constant__ float factor;
__global__ void add()
{
    counter += (int)factor;
}
int main()
{
    float f = 2;
    cudaMemcpyToSymbol(factor, &f, sizeof factor);
    add<<<1, 1>>>();
    return counter; // REFUSED: host code `main` uses the device variable `counter`
}
