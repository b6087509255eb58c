__global__ void start(int *x)
{
    __shared__ int count = 0; // REFUSED: has an initialiser
    x[0] = count;
}
