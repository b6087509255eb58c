// Shared structs, unions, arrays in one buffer of bytes, several arrays in one declaration.
#include "check.h"

struct pair {
    float value;
    int index;
};

extern __shared__ unsigned char arena[];

__global__ void argmax(pair *out, const float *in, int n)
{
    __shared__ pair best[64];
    __shared__ union {
        int as_int[64];
        float as_float[64];
    } scratch;
    __shared__ int first[64], second[64];
    float *copy = (float *)arena;
    int *where = (int *)(arena + 64 * sizeof(float)), t = threadIdx.x;
    copy[t] = t < n ? in[t] : -1e30f;
    where[t] = t;
    first[t] = t, second[t] = -t;
    scratch.as_float[t] = 1.0f;
    __syncthreads();
    best[t] = pair{ copy[t], where[t] + first[t] + second[t] + (scratch.as_int[t] == 0x3f800000 ? 0 : 1) };
    for (int step = 32; step > 0; step /= 2) {
        __syncthreads();
        if (t < step && best[t + step].value > best[t].value)
            best[t] = best[t + step];
    }
    if (t == 0)
        *out = best[0]; // by thread 0 alone, which wrote it
}

int main()
{
    std::vector<float> x = ramp(50, 50);
    x[23] = 100.0f;
    float *in = upload(x);
    pair *out = zeros<pair>(1);
    argmax<<<1, 64, 64 * (sizeof(float) + sizeof(int))>>>(out, in, 50);
    std::vector<pair> got = take(out, 1);
    EXPECT(got[0].index == 23 && got[0].value == 100.0f);
    CUDA(cudaFree(in));
}
