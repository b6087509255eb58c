__shared__ float outside[32]; // REFUSED: declare it in the kernel
__global__ void start(int *x)
{
    __shared__ int count = 0; // REFUSED: has an initialiser
    x[0] = count;
}
