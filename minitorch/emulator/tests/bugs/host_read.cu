// Host code dereferences a device pointer.
#include <cstdio>

int main()
{
    float *p;
    cudaMalloc(&p, 128);
    cudaMemset(p, 0, 128);
    printf("%f\n", p[0]); // BUG: bad-pointer
    return 0;
}
// SAYS: read it in a kernel, or copy it with cudaMemcpy
