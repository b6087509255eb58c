// Shared structs, unions, arrays in one buffer of bytes, several arrays in one declaration, alignments.
#include "check.h"

struct pair {
    float value;
    int index;
};

extern __shared__ unsigned char arena[];
__align__(64) __shared__ float of_unit[3];

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

// Alignments in bytes and of a type; an object that is constructed in shared memory.
template <class T> __global__ void aligned(unsigned long long *out, T value)
{
    __shared__ alignas(float4) T of_type[5];
    __shared__ __align__(64) char in_bytes[3];
    alignas(16) alignas(double) __shared__ T both[3];
    __shared__ alignas(pair) unsigned char room[sizeof(pair)];
    if (threadIdx.x == 0) {
        pair *made = new (room) pair{ (float)value, 7 };
        pair *again = ::new (static_cast<void *>(made)) pair(*made);
        *reinterpret_cast<float4 *>(of_type) = make_float4(1, 2, 3, 4);
        in_bytes[0] = 1;
        both[0] = value;
        out[0] = (unsigned long long)again->value + again->index;
        out[1] = ((size_t)of_type % sizeof(float4)) | ((size_t)in_bytes % 64) | ((size_t)both % 16);
        out[1] |= (size_t)&of_unit % 64;
    }
}

int main()
{
    unsigned long long *where = zeros<unsigned long long>(2);
    aligned<<<1, 32>>>(where, 3.0f);
    EXPECT(take(where, 2) == (std::vector<unsigned long long>{ 10, 0 }));
    std::vector<float> x = ramp(50, 50);
    x[23] = 100.0f;
    float *in = upload(x);
    pair *out = zeros<pair>(1);
    argmax<<<1, 64, 64 * (sizeof(float) + sizeof(int))>>>(out, in, 50);
    std::vector<pair> got = take(out, 1);
    EXPECT(got[0].index == 23 && got[0].value == 100.0f);
    CUDA(cudaFree(in));
}
