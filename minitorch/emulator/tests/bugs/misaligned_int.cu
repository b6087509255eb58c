// Integers behind a header of two bytes, in shared memory.
// SAYS: an int or a float starts at a multiple of 4 bytes
#include <cstdio>

__global__ void unpack(int *out)
{
    __shared__ char packet[2 + 32 * sizeof(int)];
    int *numbers = reinterpret_cast<int *>(packet + 2);
    numbers[threadIdx.x] = threadIdx.x; // BUG: misaligned
    out[threadIdx.x] = numbers[threadIdx.x];
}

int main()
{
    int *out;
    cudaMalloc(&out, 32 * sizeof(int));
    unpack<<<1, 32>>>(out);
    cudaDeviceSynchronize();
    return 0;
}
