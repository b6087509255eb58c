// float functions against double ones.
#include "check.h"

#include <math_constants.h>

__global__ void functions(float *out, float x)
{
    float sine, cosine;
    sincosf(x, &sine, &cosine);
    float values[] = { expf(x),        logf(x),   sqrtf(x),      rsqrtf(x),
                       tanhf(x),       erff(x),   powf(x, 1.5f), fmaf(x, x, 1.0f),
                       sine,           cosine,    floorf(x),     fabsf(-x),
                       fminf(x, 1.0f), __expf(x), __logf(x),     __fdividef(1.0f, x) };
    for (int i = 0; i < 16; i++)
        out[i] = values[i];
}

int main()
{
    const double x = 0.7321;
    const double want[] = { exp(x), log(x), sqrt(x), 1 / sqrt(x), tanh(x), erf(x), pow(x, 1.5), x * x + 1,
                            sin(x), cos(x), 0,       x,           x,       exp(x), log(x),      1 / x };
    float *out = zeros<float>(16);
    EXPECT(isinf(CUDART_INF_F) && isnan(CUDART_NAN_F) && isinf(CUDART_INF) && isnan(CUDART_NAN));
    EXPECT(near(CUDART_PI_F, 2 * asinf(1), 3e-7f) && near((float)CUDART_PI, CUDART_PI_F, 1e-7f));
    functions<<<1, 1>>>(out, 0.7321f);
    std::vector<float> got = take(out, 16);
    for (int i = 0; i < 16; i++)
        EXPECT(near(got[i], (float)want[i], 1e-6f + 2e-6f * (float)fabs(want[i])));
}
