// arch: 80
// Tensor cores in inline PTX: ldmatrix in all its forms, mma with f16 and bf16, and the registers' documented layouts.
#include <cstdint>
#include <cstring>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include "check.h"

#define LDMATRIX_X4(r, row)                                                         \
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" \
                 : "=r"((r)[0]), "=r"((r)[1]), "=r"((r)[2]), "=r"((r)[3])           \
                 : "r"(row))

static __device__ unsigned shared_address(const void *pointer)
{
    return (unsigned)__cvta_generic_to_shared(pointer);
}

template <class T> __device__ void multiply(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]);
template <> __device__ void multiply<half>(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2])
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 \n" // d is c too
                 "    {%0, %1, %2, %3},\n"
                 "    {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};\n"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
template <> __device__ void multiply<__nv_bfloat16>(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2])
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%10, %11, %12, %13};"
                 : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "f"(d[0]), "f"(d[1]), "f"(d[2]),
                   "f"(d[3]));
}

enum { PAD = 8 };

/* One warp: 16 x 8 of C = A B, with B row-major (BT false) or stored as its transpose. Rows are padded by 16 bytes. */
template <class T, bool BT> __global__ void product(float *C, const T *A, const T *B, int N, int K)
{
    __shared__ __align__(16) T a[16][16 + PAD], b[16][16 + PAD];
    int lane = threadIdx.x, row = blockIdx.y * 16, column = blockIdx.x * 8;
    float d[4] = { 0, 0, 0, 0 };
    for (int k = 0; k < K; k += 16) {
        for (int i = lane; i < 256; i += 32)
            a[i / 16][i % 16] = A[(row + i / 16) * K + k + i % 16];
        for (int i = lane; i < 128; i += 32)
            if (BT)
                b[i / 16][i % 16] = B[(column + i / 16) * K + k + i % 16];
            else
                b[i / 8][i % 8] = B[(k + i / 8) * N + column + i % 8];
        __syncwarp();
        uint32_t ra[4], rb[2];
        LDMATRIX_X4(ra, shared_address(&a[lane % 16][lane / 16 * 8]));
        if (BT)
            asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                         : "=r"(rb[0]), "=r"(rb[1])
                         : "r"(shared_address(&b[lane % 8][lane / 8 % 2 * 8])));
        else
            asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                         : "=r"(rb[0]), "=r"(rb[1])
                         : "r"(shared_address(&b[lane % 16][0])));
        multiply<T>(d, ra, rb);
        __syncwarp();
    }
    int g = lane / 4, t = lane % 4 * 2;
    for (int e = 0; e < 4; e++)
        C[(row + g + e / 2 * 8) * N + column + t + e % 2] = d[e];
}

template <class T, bool BT> static void check_product(int M, int N, int K)
{
    std::vector<T> a(M * K), b(K * N);
    for (int i = 0; i < M * K; i++)
        a[i] = (T)((float)(i % 7) * 0.25f);
    for (int i = 0; i < K * N; i++)
        b[i] = (T)((float)(i % 5) * 0.5f - 1.0f);
    T *A = upload(a), *B = upload(b);
    float *C = zeros<float>(M * N);
    product<T, BT><<<dim3(N / 8, M / 16), 32>>>(C, A, B, N, K);
    std::vector<float> c = take(C, M * N);
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            float want = 0; // exact: sums of multiples of 1/8
            for (int k = 0; k < K; k++)
                want += (float)a[i * K + k] * (float)b[BT ? j * K + k : k * N + j];
            EXPECT(c[i * N + j] == want);
        }
    CUDA(cudaFree(A));
    CUDA(cudaFree(B));
}

/* Every register of every lane, of a matrix that holds its own indices. */
__global__ void layouts(uint32_t *out)
{
    __shared__ __align__(16) uint16_t s[4][8][8];
    int lane = threadIdx.x;
    for (int i = lane; i < 256; i += 32)
        (&s[0][0][0])[i] = (uint16_t)i;
    __syncwarp();
    unsigned row = shared_address(&s[lane / 8][lane % 8][0]);
    uint32_t r[4], x1, x1t;
    LDMATRIX_X4(r, row);
    for (int i = 0; i < 4; i++)
        out[i * 32 + lane] = r[i];
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(row));
    for (int i = 0; i < 4; i++)
        out[(4 + i) * 32 + lane] = r[i];
    /* Only the addresses of lanes 0 to 7 count. */
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(x1) : "r"(lane < 8 ? row : 1));
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%0}, [%1];" : "=r"(x1t) : "r"(lane < 8 ? row : 1));
    out[8 * 32 + lane] = x1;
    out[9 * 32 + lane] = x1t;
}

static void check_layouts()
{
    uint32_t *out = zeros<uint32_t>(320);
    layouts<<<1, 32>>>(out);
    std::vector<uint32_t> got = take(out, 320);
    for (int i = 0; i < 10; i++)
        for (int lane = 0; lane < 32; lane++) {
            bool trans = i == 9 || (i >= 4 && i < 8);
            int matrix = i < 8 ? i % 4 : 0, g = lane / 4, t = lane % 4 * 2;
            uint32_t low = matrix * 64 + (trans ? t * 8 + g : g * 8 + t), high = low + (trans ? 8 : 1);
            EXPECT(got[i * 32 + lane] == (low | high << 16));
        }
}

/* m16n8k8, and sums in f16: B selects one column of A after the other. */
__global__ void small(float *d, half *h)
{
    int lane = threadIdx.x, g = lane / 4, t = lane % 4 * 2;
    half2 a[2], b, wide[4], sums[2], zero = __floats2half2_rn(0, 0);
    for (int r = 0; r < 2; r++)
        a[r] = __floats2half2_rn((float)((g + r * 8) * 8 + t), (float)((g + r * 8) * 8 + t + 1));
    for (int r = 0; r < 4; r++)
        wide[r] = __floats2half2_rn((float)((g + r % 2 * 8) * 16 + t + r / 2 * 8),
                                    (float)((g + r % 2 * 8) * 16 + t + 1 + r / 2 * 8));
    b = __floats2half2_rn(t == g, t + 1 == g);
    float c[4];
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%7,%8,%9,%10};"
                 : "=f"(c[0]), "=f"(c[1]), "=f"(c[2]), "=f"(c[3])
                 : "r"(*(uint32_t *)&a[0]), "r"(*(uint32_t *)&a[1]), "r"(*(uint32_t *)&b), "f"(0.5f), "f"(0.5f),
                   "f"(0.5f), "f"(0.5f));
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%3,%4,%5}, {%6,%7}, {%8,%9};"
                 : "=r"(*(uint32_t *)&sums[0]), "=r"(*(uint32_t *)&sums[1])
                 : "r"(*(uint32_t *)&wide[0]), "r"(*(uint32_t *)&wide[1]), "r"(*(uint32_t *)&wide[2]),
                   "r"(*(uint32_t *)&wide[3]), "r"(*(uint32_t *)&zero), "r"(*(uint32_t *)&b), "r"(*(uint32_t *)&zero),
                   "r"(*(uint32_t *)&zero));
    for (int e = 0; e < 4; e++) {
        d[(g + e / 2 * 8) * 8 + t + e % 2] = c[e];
        h[(g + e / 2 * 8) * 8 + t + e % 2] = e % 2 ? sums[e / 2].y : sums[e / 2].x;
    }
}

static void check_small()
{
    float *d = zeros<float>(128);
    half *h = zeros<half>(128);
    small<<<1, 32>>>(d, h);
    std::vector<float> sums = take(d, 128);
    std::vector<half> halves = take(h, 128);
    for (int i = 0; i < 16; i++)
        for (int j = 0; j < 8; j++) {
            EXPECT(sums[i * 8 + j] == (float)(i * 8 + j) + 0.5f);
            EXPECT((float)halves[i * 8 + j] == (float)(i * 16 + 8 + j));
        }
}

int main()
{
    check_layouts();
    check_small();
    check_product<half, true>(16, 8, 16);
    check_product<half, false>(32, 24, 48);
    check_product<__nv_bfloat16, true>(32, 24, 48);
    check_product<__nv_bfloat16, false>(16, 16, 32);
}
