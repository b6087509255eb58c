// NULL for a pointer that a kernel may do without: a function, a template, a kernel with a default argument.
#include "check.h"

__global__ void plain(float *x, const int *index, int n)
{
    x[index ? index[threadIdx.x] : threadIdx.x] = (float)n;
}

template <class T> __global__ void shaped(T *x, const T *bias, const int *index)
{
    x[index ? index[threadIdx.x] : threadIdx.x] += bias ? bias[threadIdx.x] : 1;
}

__global__ void usual(float *x, const float *scale, float more = 0.5f)
{
    x[threadIdx.x] = x[threadIdx.x] * (scale ? *scale : 2) + more;
}

int main()
{
    float *x = zeros<float>(32);
    plain<<<1, 32>>>(x, NULL, 3);
    shaped<float><<<1, 32>>>(x, NULL, NULL);
    shaped<<<1, 32>>>(x, (const float *)NULL, NULL);
    usual<<<1, 32>>>(x, NULL);
    for (float v : take(x, 32))
        EXPECT(v == (3 + 1 + 1) * 2 + 0.5f);
}
