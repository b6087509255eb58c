// memcpy and memset in kernels.
#include "check.h"
#include <cstring>

struct row {
    float v[5];
};

__global__ void copy_rows(row *out, const row *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    row mine;
    memcpy(&mine, &in[i], sizeof mine);
    mine.v[1] += 1.0f;
    memcpy(&out[i], &mine, sizeof mine);
    memset(&out[i].v[2], 0, sizeof(float));
}

int main()
{
    const int n = 100;
    std::vector<row> rows(n);
    for (int i = 0; i < n; i++)
        rows[i] = { { (float)i, 2, 3, 4, 5 } };
    row *in = upload(rows), *out;
    CUDA(cudaMalloc(&out, n * sizeof(row)));
    copy_rows<<<4, 32>>>(out, in, n);
    std::vector<row> got = take(out, n);
    for (int i = 0; i < n; i++)
        EXPECT(got[i].v[0] == i && got[i].v[1] == 3 && got[i].v[2] == 0 && got[i].v[4] == 5);
    CUDA(cudaFree(in));
}
