// Each half of a warp reduces independently, through shared memory and with __syncwarp of its 16 lanes.
#include "check.h"

__global__ void halves(int *out, const int *in)
{
    __shared__ int s[64];
    int t = threadIdx.x, lane = t % 16;
    unsigned half = 0xffffu << (t & 16);
    s[t] = in[t];
    __syncwarp(half);
    for (int step = 8; step > 0; step /= 2) {
        int other = s[t ^ step];
        __syncwarp(half);
        s[t] += other;
        __syncwarp(half);
    }
    if (lane == 0)
        out[t / 16] = s[t];
}

// Neighbours read an element in turn, then its owner writes it.
__global__ void in_turn(int *out)
{
    __shared__ int s[32];
    int t = threadIdx.x;
    unsigned half = 0xffffu << (t & 16);
    s[t] = t;
    __syncwarp(half);
    int next = s[t ^ 1];
    __syncwarp(half);
    next += s[t];
    s[t] = next;
    out[t] = next;
}

int main()
{
    std::vector<int> x(64);
    for (int i = 0; i < 64; i++)
        x[i] = i * i;
    int *in = upload(x), *out = zeros<int>(4), *sums = zeros<int>(32);
    halves<<<1, 64>>>(out, in);
    in_turn<<<1, 32>>>(sums);
    std::vector<int> got = take(out, 4), pairs = take(sums, 32);
    for (int h = 0; h < 4; h++) {
        int want = 0;
        for (int i = 0; i < 16; i++)
            want += x[16 * h + i];
        EXPECT(got[h] == want);
    }
    for (int i = 0; i < 32; i++)
        EXPECT(pairs[i] == i + (i ^ 1));
    CUDA(cudaFree(in));
}
