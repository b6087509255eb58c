// Shared tiles; every thread reaches every barrier, whatever the sizes.
#include "check.h"

#define TILE 16

__global__ void __launch_bounds__(TILE *TILE) matmul(float *C, const float *A, const float *B, int M, int N, int K)
{
    __shared__ float a[TILE][TILE], b[TILE][TILE];
    int x = threadIdx.x, y = threadIdx.y, j = blockIdx.x * TILE + x, i = blockIdx.y * TILE + y;
    float sum = 0.0f;
    for (int k0 = 0; k0 < K; k0 += TILE) {
        a[y][x] = i < M && k0 + x < K ? A[i * K + k0 + x] : 0.0f;
        b[y][x] = j < N && k0 + y < K ? B[(k0 + y) * N + j] : 0.0f;
        __syncthreads();
#pragma unroll
        for (int k = 0; k < TILE; k++)
            sum = fmaf(a[y][k], b[k][x], sum);
        __syncthreads();
    }
    if (i < M && j < N)
        C[i * N + j] = sum;
}

int main()
{
    const int M = 50, N = 35, K = 41;
    std::vector<float> a = ramp(M * K), b = ramp(K * N, 13);
    float *A = upload(a), *B = upload(b), *C = zeros<float>(M * N);
    dim3 grid((N + TILE - 1) / TILE, (M + TILE - 1) / TILE), block(TILE, TILE);
    matmul<<<grid, block>>>(C, A, B, M, N, K);
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
