__global__ void grow(float **x)
{
    cudaMalloc(x, 16); // REFUSED: calls `cudaMalloc`, which is the host's API
}
