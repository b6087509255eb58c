// A kernel gets a pointer to a local variable of the host.
#include <cstdio>

struct settings {
    float scale;
};

__global__ void scale(float *p, const settings *s)
{
    p[threadIdx.x] *= s->scale; // BUG: bad-pointer
}

int main()
{
    settings s = { 2 };
    float *p;
    cudaMalloc(&p, 128);
    cudaMemset(p, 0, 128);
    scale<<<1, 32>>>(p, &s);
    cudaDeviceSynchronize();
    return 0;
}
// SAYS: a host pointer
