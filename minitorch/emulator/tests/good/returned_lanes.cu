// Lanes that have returned may be named by a mask, as long as no lane reads their values: the CUDA programming guide
// asks of the threads that have not exited only that they execute the same function with the same mask.
#include "check.h"

__global__ void after_return(const int *x, int *out, int n)
{
    int t = threadIdx.x;
    if (t >= n)
        return;
    int first = __shfl_sync(0xffffffff, x[t], 0), before = __shfl_up_sync(0xffffffff, x[t], 1);
    int pair = __shfl_xor_sync(0xffffffff, x[t], 1), next = __shfl_down_sync(0xffffffff, x[t], 1, 4);
    int positive = __popc(__ballot_sync(0xffffffff, x[t] > 0));
    __syncwarp();
    out[t] = first + before + pair + next + positive;
}

/* The mask names those that take part, and only their values are read. */
__global__ void half(int *x)
{
    if (threadIdx.x < 16)
        for (int o = 8; o > 0; o /= 2)
            x[threadIdx.x] += __shfl_xor_sync(0xffff, x[threadIdx.x], o);
}

int main()
{
    std::vector<int> values(32);
    for (int i = 0; i < 32; i++)
        values[i] = i;
    int *x = upload(values), *out = zeros<int>(32);
    after_return<<<1, 32>>>(x, out, 20);
    half<<<1, 32>>>(x);
    std::vector<int> got = take(out, 32), sums = take(x, 32);
    for (int i = 0; i < 32; i++) {
        int before = i ? i - 1 : 0, next = i % 4 < 3 ? i + 1 : i;
        EXPECT(got[i] == (i < 20 ? 0 + before + (i ^ 1) + next + 19 : 0));
        EXPECT(sums[i] == (i < 16 ? 120 : i));
    }
}
