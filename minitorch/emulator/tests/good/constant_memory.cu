// __constant__ arrays, set by the host; a const one with an initialiser; a struct.
#include "check.h"

struct settings {
    int n;
    float shift;
};
__constant__ float weight[4];
__constant__ settings config;
__constant__ const int order[4] = { 3, 1, 0, 2 };

__global__ void apply(float *x)
{
    int i = threadIdx.x;
    if (i < config.n)
        x[i] = x[i] * weight[order[i % 4]] + config.shift;
}

int main()
{
    const float host_weight[4] = { 1, 2, 3, 4 };
    const int host_order[4] = { 3, 1, 0, 2 };
    settings s = { 50, 0.5f };
    CUDA(cudaMemcpyToSymbol(weight, host_weight, sizeof host_weight));
    CUDA(cudaMemcpyToSymbol(config, &s, sizeof s));
    std::vector<float> x = ramp(64);
    float *dx = upload(x);
    apply<<<1, 64>>>(dx);
    std::vector<float> got = take(dx, 64);
    for (int i = 0; i < 50; i++)
        EXPECT(got[i] == x[i] * host_weight[host_order[i % 4]] + 0.5f);
    EXPECT(got[60] == x[60]);
}
