// Nested branches and loops of different lengths, which reconverge before the barrier.
#include "check.h"
#include <algorithm>

__device__ int collatz(int n)
{
    int steps = 0;
    while (n != 1) {
        if (n % 2)
            n = 3 * n + 1;
        else
            n /= 2;
        steps++;
    }
    return steps;
}

__global__ void lengths(int *out, int n)
{
    __shared__ int longest;
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t, steps = 0;
    if (t == 0)
        longest = 0;
    __syncthreads();
    for (int start = 1; start <= i % 5 + 1; start++) {
        if (start == 3)
            continue;
        for (int j = 0; j < t % 3; j++)
            steps += collatz(i + start + j);
    }
    atomicMax(&longest, steps);
    __syncthreads();
    if (i < n)
        out[i] = longest;
}

static int host_collatz(int n)
{
    int steps = 0;
    for (; n != 1; steps++)
        n = n % 2 ? 3 * n + 1 : n / 2;
    return steps;
}

int main()
{
    const int n = 100;
    int *out = zeros<int>(n);
    lengths<<<2, 64>>>(out, n);
    std::vector<int> got = take(out, n);
    for (int b = 0; b < 2; b++) {
        int longest = 0;
        for (int t = 0; t < 64; t++) {
            int i = b * 64 + t, steps = 0;
            for (int start = 1; start <= i % 5 + 1; start++)
                for (int j = 0; start != 3 && j < t % 3; j++)
                    steps += host_collatz(i + start + j);
            longest = std::max(longest, steps);
        }
        EXPECT(got[b * 64] == longest);
    }
}
