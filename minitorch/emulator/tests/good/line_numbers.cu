// The translator keeps line numbers: messages and __LINE__ are those of the file.
#include "check.h"

// clang-format off
__device__ int
    counter /* on
               two lines */
    = 0;

__global__ void lines(int *out)
{
    __shared__ int
        first[32], // over
        second[32];
    extern __shared__ int
        dynamic[];
    static_assert(__LINE__ == 17, "shared variables");
    unsigned lane;
    asm volatile("mov.u32 %0, %%laneid;"
                 : "=r"(lane)
                 :
                 : "memory");
    static_assert(__LINE__ == 23, "assembly");
    first[threadIdx.x] = second[threadIdx.x] = dynamic[threadIdx.x] = (int)lane;
    if (lane == 0)
        out[0] = first[0] + second[0] + dynamic[0] + counter + __LINE__;
}

int main()
{
    int *out = zeros<int>(1);
    dim3 gridDim(1), blockDim(32); // names that are the device's are the host's own here
    lines<<<
        gridDim, blockDim,
        32 * sizeof(int)>>>
        /* the arguments */
        (out);
    static_assert(__LINE__ == 38, "launch");
    EXPECT(take(out, 1)[0] == 26);
    static_assert(__LINE__ == 40, "the end");
}
