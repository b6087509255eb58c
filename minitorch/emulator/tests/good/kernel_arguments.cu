// A class with a destructor as a kernel's argument: the host destroys its copies, the threads copy and destroy nothing.
#include "check.h"

static int alive, destroyed;

struct buffer {
    float *data;
    int tag[3];
    explicit buffer(float *p) : data(p), tag{ 1, 2, 3 }
    {
        alive++;
    }
    buffer(const buffer &other) : data(other.data), tag{ 4, 5, 6 }
    {
        alive++;
    }
    ~buffer()
    {
        alive--;
        destroyed++;
    }
};

__global__ void fill(buffer b, float value)
{
    b.tag[0] += threadIdx.x; // each thread's own
    b.data[threadIdx.x] = value + b.tag[0];
}

int main()
{
    float *out = zeros<float>(64);
    {
        buffer b(out);
        fill<<<1, 64>>>(b, 0.5f);
        CUDA(cudaDeviceSynchronize());
    }
    EXPECT(alive == 0 && destroyed < 10);
    std::vector<float> y = take(out, 64);
    for (int i = 0; i < 64; i++)
        EXPECT(y[i] == i + 4.5f);
}
