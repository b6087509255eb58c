// Threads of different warps and blocks own adjacent bytes and halves of one word, which they read and then write.
#include "check.h"

__global__ void add_one(unsigned char *bytes, short *halves, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    bytes[i] = (unsigned char)(bytes[i] + 1);
    halves[i] = (short)(halves[i] + 1);
}

__global__ void first_word(unsigned char *bytes)
{
    __shared__ unsigned char s[8];
    if (threadIdx.x < 8)
        s[threadIdx.x] = bytes[threadIdx.x];
    __syncthreads();
    int own = threadIdx.x / 32; // one thread of each warp
    if (threadIdx.x % 32 == 0) {
        s[4 + own] += s[own];
        s[own] = s[4 + own];
    }
    __syncthreads();
    if (threadIdx.x < 4)
        bytes[threadIdx.x] = s[threadIdx.x];
}

int main()
{
    const int n = 1000;
    unsigned char *bytes = zeros<unsigned char>(n);
    short *halves = zeros<short>(n);
    add_one<<<34, 30>>>(bytes, halves, n);
    add_one<<<1000, 1>>>(bytes, halves, n);
    first_word<<<1, 128>>>(bytes);
    std::vector<unsigned char> b = take(bytes, n);
    std::vector<short> h = take(halves, n);
    for (int i = 0; i < n; i++)
        EXPECT(b[i] == (i < 4 ? 4 : 2) && h[i] == 2);
}
