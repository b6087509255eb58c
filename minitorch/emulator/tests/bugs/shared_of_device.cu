// 112 KiB of shared memory for a block: an A100 and an H100 have them, an RTX 3090 does not.
#include <cstdio>
#include <cstdlib>

#ifdef __CUEMU__
__attribute__((constructor(101))) static void before_the_emulator()
{
    setenv("CUEMU_ARCH", "sm_86", 1);
}
#endif

__global__ void fill(float *out)
{
    extern __shared__ float s[];
    s[threadIdx.x] = 1;
    out[threadIdx.x] = s[threadIdx.x];
}

int main()
{
    float *out;
    const int bytes = 112 << 10;
    cudaMalloc(&out, 128);
    cudaFuncSetAttribute(fill, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes); // BUG: host-api
    fill<<<1, 32, bytes>>>(out);                                                    // BUG: limit
    cudaDeviceSynchronize();
    return 0;
}
// SAYS: too much dynamic shared memory for a block of this device (114688; 101376 allowed)
