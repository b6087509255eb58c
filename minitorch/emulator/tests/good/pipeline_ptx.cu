// arch: 80
// Double buffering with asynchronous copies in inline PTX, inside macros.
#include "check.h"

#define COPY_16(to, from) \
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;\n" ::"r"((unsigned)__cvta_generic_to_shared(to)), "l"(from))
#define COMMIT() asm volatile("cp.async.commit_group;\n" ::)
#define WAIT(n)  asm volatile("cp.async.wait_group %0;\n" ::"n"(n) : "memory")

__global__ void reverse(float *out, const float *in)
{
    extern __shared__ __align__(16) float shared[];
    int t = threadIdx.x;
    unsigned lane;
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
    COPY_16(shared + t * 4, in + t * 4);
    COMMIT();
    WAIT(0);
    __syncthreads();
    float4 v = *(const float4 *)&shared[(blockDim.x - 1 - t) * 4];
    v.x += (float)lane;
    *(float4 *)&out[t * 4] = v;
}

int main()
{
    std::vector<float> x = ramp(256, 61);
    float *in = upload(x), *out = zeros<float>(256);
    reverse<<<1, 64, 1024>>>(out, in);
    std::vector<float> got = take(out, 256);
    for (int i = 0; i < 256; i++)
        EXPECT(got[i] == x[(63 - i / 4) * 4 + i % 4] + (i % 4 == 0 ? i / 4 % 32 : 0));
    CUDA(cudaFree(in));
}
