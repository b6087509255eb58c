// Rows of 9 words: every second one begins in the middle of 16 bytes.
// SAYS: hint: pad the rows by 8 elements of 16 bits
#include <cuda_fp16.h>

__global__ void read(unsigned *out)
{
    __shared__ half s[8][18];
    for (int i = threadIdx.x; i < 8 * 18; i += 32)
        (&s[0][0])[i] = __float2half(1);
    __syncwarp();
    unsigned r, row = (unsigned)__cvta_generic_to_shared(&s[threadIdx.x % 8][0]);
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(r) : "r"(row)); // BUG: misaligned
    out[threadIdx.x] = r;
}

int main()
{
    unsigned *out;
    cudaMalloc(&out, 128);
    read<<<1, 32>>>(out);
    cudaDeviceSynchronize();
    return 0;
}
