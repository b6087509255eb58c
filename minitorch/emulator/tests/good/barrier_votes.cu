// __syncthreads_count, _and, _or.
#include "check.h"

__global__ void count(int *out, const int *in, int n)
{
    int i = threadIdx.x;
    int many = __syncthreads_count(i < n && in[i] > 2);
    int all = __syncthreads_and(i >= n || in[i] >= 0), any = __syncthreads_or(i < n && in[i] == 5);
    if (i == 0)
        out[0] = many, out[1] = all != 0, out[2] = any != 0;
}

int main()
{
    std::vector<int> x = { 1, 2, 3, 4, 1, 9, 0 };
    int *in = upload(x), *out = zeros<int>(3);
    count<<<1, 70>>>(out, in, (int)x.size());
    EXPECT(take(out, 3) == (std::vector<int>{ 3, 1, 0 }));
    CUDA(cudaFree(in));
}
