// A 4x4 tile of C in registers per thread, float4 loads from shared memory.
#include "check.h"

template <int BM, int BN, int BK> __global__ void matmul(float *C, const float *A, const float *B, int N, int K)
{
    __shared__ __align__(16) float a[BK][BM];
    __shared__ __align__(16) float b[BK][BN];
    const int t = threadIdx.x, row = t / (BN / 4) * 4, column = t % (BN / 4) * 4;
    const float *from_a = A + blockIdx.y * BM * K, *from_b = B + blockIdx.x * BN;
    float acc[4][4] = {};
    for (int k0 = 0; k0 < K; k0 += BK) {
        for (int e = t; e < BM * BK; e += blockDim.x)
            a[e % BK][e / BK] = from_a[e / BK * K + k0 + e % BK];
        for (int e = t * 4; e < BN * BK; e += blockDim.x * 4)
            *(float4 *)&b[e / BN][e % BN] = *(const float4 *)&from_b[(k0 + e / BN) * N + e % BN];
        __syncthreads();
        for (int k = 0; k < BK; k++) {
            float4 va = *(const float4 *)&a[k][row], vb = *(const float4 *)&b[k][column];
            float ra[4] = { va.x, va.y, va.z, va.w }, rb[4] = { vb.x, vb.y, vb.z, vb.w };
            for (int i = 0; i < 4; i++)
                for (int j = 0; j < 4; j++)
                    acc[i][j] += ra[i] * rb[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; i++)
        *(float4 *)&C[(blockIdx.y * BM + row + i) * N + blockIdx.x * BN + column] =
            make_float4(acc[i][0], acc[i][1], acc[i][2], acc[i][3]);
}

int main()
{
    const int M = 64, N = 96, K = 24;
    std::vector<float> a = ramp(M * K), b = ramp(K * N, 13);
    float *A = upload(a), *B = upload(b), *C = zeros<float>(M * N);
    matmul<32, 32, 8><<<dim3(N / 32, M / 32), 64>>>(C, A, B, N, K);
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
