// Rows of 20 elements of 16 bits, which are 40 bytes apart.
// SAYS: hint: a matrix begins at a multiple of 32 bytes
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

__global__ void load(float *out)
{
    __shared__ __align__(32) half tile[16][20];
    for (int i = threadIdx.x; i < 16 * 20; i += 32)
        (&tile[0][0])[i] = __float2half(1);
    __syncwarp();
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
    wmma::load_matrix_sync(a, &tile[0][0], 20); // BUG: misaligned
    out[threadIdx.x] = __half2float(a.x[0]);
}

int main()
{
    float *out;
    cudaMalloc(&out, 128);
    load<<<1, 32>>>(out);
    cudaDeviceSynchronize();
    return 0;
}
