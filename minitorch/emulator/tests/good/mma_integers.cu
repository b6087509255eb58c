// A product of tensor cores as public kernels write it: ldmatrix with .x4 before .m8n8, and the f32 sums of mma in
// integer registers. arch: 80
#include <cuda_fp16.h>

#include "check.h"

__device__ unsigned shared_address(const void *p)
{
    return (unsigned)__cvta_generic_to_shared(p);
}

__global__ void product(const half *a, const half *b, float *c)
{
    __shared__ alignas(16) half tile_a[16][16 + 8], tile_b[16][8];
    int lane = threadIdx.x;
    asm volatile(
        "cp.async.cg.shared.global.L2::128B [%0], [%1], %2;\n" ::"r"(shared_address(&tile_a[lane % 16][lane / 16 * 8])),
        "l"(a + lane % 16 * 16 + lane / 16 * 8), "n"(16));
    if (lane < 16)
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2;\n" ::"r"(shared_address(tile_b[lane])),
                     "l"(b + lane * 8), "n"(16));
    asm volatile("cp.async.commit_group;\n" ::);
    asm volatile("cp.async.wait_group %0;\n" ::"n"(0));
    __syncthreads();
    unsigned ra[4], rb[2], rc[4] = { 0, 0, 0, 0 };
    asm volatile("ldmatrix.sync.aligned.x4.m8n8.shared.b16 {%0, %1, %2, %3}, [%4];\n"
                 : "=r"(ra[0]), "=r"(ra[1]), "=r"(ra[2]), "=r"(ra[3])
                 : "r"(shared_address(&tile_a[lane % 16][lane / 16 * 8])));
    asm volatile("ldmatrix.sync.aligned.x2.trans.m8n8.shared.b16 {%0, %1}, [%2];\n"
                 : "=r"(rb[0]), "=r"(rb[1])
                 : "r"(shared_address(tile_b[lane % 16])));
    for (int i = 0; i < 2; i++)
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                     "{%10, %11, %12, %13};\n"
                     : "=r"(rc[0]), "=r"(rc[1]), "=r"(rc[2]), "=r"(rc[3])
                     : "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3]), "r"(rb[0]), "r"(rb[1]), "r"(rc[0]), "r"(rc[1]),
                       "r"(rc[2]), "r"(rc[3]));
    float *to = c + lane / 4 * 8 + lane % 4 * 2;
    to[0] = __uint_as_float(rc[0]), to[1] = __uint_as_float(rc[1]);
    to[64] = __uint_as_float(rc[2]), to[65] = __uint_as_float(rc[3]);
}

int main()
{
    std::vector<half> a(16 * 16), b(16 * 8);
    for (int i = 0; i < 256; i++)
        a[i] = __float2half((float)(i % 5) * 0.5f);
    for (int i = 0; i < 128; i++)
        b[i] = __float2half((float)(i % 3) - 1.0f);
    half *da = upload(a), *db = upload(b);
    float *dc = zeros<float>(128);
    product<<<1, 32>>>(da, db, dc);
    std::vector<float> c = take(dc, 128);
    for (int i = 0; i < 16; i++)
        for (int j = 0; j < 8; j++) {
            float sum = 0;
            for (int k = 0; k < 16; k++)
                sum += (float)((i * 16 + k) % 5) * 0.5f * ((float)((k * 8 + j) % 3) - 1.0f);
            EXPECT(c[i * 8 + j] == 2 * sum);
        }
    CUDA(cudaFree(da));
    CUDA(cudaFree(db));
}
