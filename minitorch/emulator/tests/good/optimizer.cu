// A fused Adam step, arguments in a struct, state updated in place.
#include "check.h"

struct adam {
    float rate, beta1, beta2, eps;
    int step;
};

__global__ void adam_step(float *w, float *m, float *v, const float *g, int n, const adam a)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    m[i] = a.beta1 * m[i] + (1.0f - a.beta1) * g[i];
    v[i] = a.beta2 * v[i] + (1.0f - a.beta2) * g[i] * g[i];
    float mean = m[i] / (1.0f - powf(a.beta1, (float)a.step)), square = v[i] / (1.0f - powf(a.beta2, (float)a.step));
    w[i] -= a.rate * mean / (sqrtf(square) + a.eps);
}

int main()
{
    const int n = 100;
    std::vector<float> g = ramp(n), w0(n, 1.0f);
    float *w = upload(w0), *m = zeros<float>(n), *v = zeros<float>(n), *dg = upload(g);
    for (int step = 1; step <= 3; step++)
        adam_step<<<2, 64>>>(w, m, v, dg, n, adam{ 0.1f, 0.9f, 0.999f, 1e-8f, step });
    std::vector<float> got = take(w, n);
    for (int i = 0; i < n; i++) // a constant gradient moves every weight by the rate, against its sign
        EXPECT(near(got[i], 1.0f - 0.3f * (float)((g[i] > 0) - (g[i] < 0)), 1e-4f));
    CUDA(cudaFree(m));
    CUDA(cudaFree(v));
    CUDA(cudaFree(dg));
}
