// One thread per element of C.
#include "check.h"

__global__ void matmul(float *C, const float *A, const float *B, int M, int N, int K)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= M || j >= N)
        return;
    float sum = 0;
    for (int k = 0; k < K; k++)
        sum += A[i * K + k] * B[k * N + j];
    C[i * N + j] = sum;
}

int main()
{
    const int M = 33, N = 29, K = 40;
    std::vector<float> a = ramp(M * K), b = ramp(K * N, 13);
    float *A = upload(a), *B = upload(b), *C = zeros<float>(M * N);
    matmul<<<dim3(2, 3), dim3(16, 16)>>>(C, A, B, M, N, K);
    std::vector<float> c = take(C, M * N);
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            float want = 0;
            for (int k = 0; k < K; k++)
                want += a[i * K + k] * b[k * N + j];
            EXPECT(near(c[i * N + j], want, 1e-4f));
        }
    CUDA(cudaFree(A));
    CUDA(cudaFree(B));
}
