// cuBLAS reads a matrix that was never written, and C with beta = 1.
#include <cublas_v2.h>

int main()
{
    float *a, *b, *c, one = 1, zero = 0;
    cudaMalloc(&a, 256);
    cudaMalloc(&b, 256);
    cudaMalloc(&c, 256);
    cudaMemset(a, 0, 256);
    cublasHandle_t handle;
    cublasCreate(&handle);
    cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 8, 8, 8, &one, a, 8, a, 8, &one, c, 8);  // BUG: uninitialised
    cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 8, 8, 8, &one, a, 8, b, 8, &zero, c, 8); // BUG: uninitialised
    cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 8, 8, 8, &one, a, 8, a, 8, &zero, c, 8);
    cublasDestroy(handle);
    return 0;
}
