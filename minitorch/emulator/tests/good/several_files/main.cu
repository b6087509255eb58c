// Two .cu files, a header that launches a kernel, a .c file: a program of several units.
#include "../check.h"
#include "scale.cuh"

extern "C" void host_fill(float *x, int n);
void launch_add(float *x, float v, int n);

int main()
{
    const int n = 300;
    std::vector<float> x(n);
    host_fill(x.data(), n);
    float *dx = upload(x);
    scale_by<3>(dx, n);
    launch_add(dx, 1.0f, n);
    std::vector<float> got = take(dx, n);
    for (int i = 0; i < n; i++)
        EXPECT(got[i] == 3.0f * (float)i + 1.0f);
}
