// limits.cu N -- case N exceeds a limit of the GPU: it must get CUDA's error code and a message with its line.
#include <cstdlib>
#include "expect.h"

__global__ void nothing(int *)
{
}
template <int N> __global__ void __launch_bounds__(2 * N, 1) bounded(int *)
{
}
__global__ void much_static(int *p)
{
    __shared__ char big[50 * 1024]; // STATIC
    big[threadIdx.x] = 1;
    p[0] = big[0];
}
extern __shared__ char dynamic[];
__global__ void both(int *p)
{
    __shared__ char some[40 * 1024]; // BOTH
    some[threadIdx.x] = dynamic[threadIdx.x] = 1;
    p[0] = some[0];
}

int main(int, char **argument)
{
    buffer<int> p(1);
    cudaError_t want = cudaErrorInvalidConfiguration;
    switch (atoi(argument[1])) {
    case 1:
        nothing<<<1, 1025>>>(p.data); // LIMIT 1
        break;
    case 2:
        nothing<<<1, dim3(1, 1, 65)>>>(p.data); // LIMIT 2
        break;
    case 3:
        nothing<<<0, 32>>>(p.data); // LIMIT 3
        break;
    case 4:
        nothing<<<dim3(1, 65536), 32>>>(p.data); // LIMIT 4
        break;
    case 5:
        want = cudaErrorInvalidValue;
        nothing<<<1, 32, 48 * 1024 + 4>>>(p.data); // LIMIT 5
        break;
    case 6:
        want = cudaErrorInvalidValue;
        cudaFuncSetAttribute(nothing, cudaFuncAttributeMaxDynamicSharedMemorySize, 227 * 1024);
        nothing<<<1, 32, 227 * 1024>>>(p.data);
        EXPECT("227 KB", cudaGetLastError() == cudaSuccess);
        nothing<<<1, 32, 1024 * 1024>>>(p.data); // LIMIT 6
        break;
    case 7:
        want = cudaErrorInvalidValue;
        much_static<<<1, 32>>>(p.data);
        break;
    case 8:
        want = cudaErrorInvalidValue;
        both<<<1, 32, 40 * 1024>>>(p.data);
        break;
    case 9:
        want = cudaErrorInvalidValue;
        bounded<32><<<3, dim3(16, 4)>>>(p.data);
        EXPECT("as many as promised", cudaDeviceSynchronize() == cudaSuccess);
        bounded<32><<<3, 65>>>(p.data); // LIMIT 9
        break;
    }
    EXPECT("code", cudaGetLastError() == want);
    return failures != 0;
}
