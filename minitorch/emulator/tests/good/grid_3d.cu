// All three dimensions of grid and block, a 3D stencil.
#include "check.h"

__global__ void blur(float *out, const float *in, int nx, int ny, int nz)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x >= nx || y >= ny || z >= nz)
        return;
    int at = (z * ny + y) * nx + x;
    float sum = in[at];
    sum += x > 0 ? in[at - 1] : 0.0f;
    sum += y > 0 ? in[at - nx] : 0.0f;
    sum += z > 0 ? in[at - nx * ny] : 0.0f;
    out[at] = sum;
}

int main()
{
    const int nx = 11, ny = 7, nz = 5, n = nx * ny * nz;
    std::vector<float> v = ramp(n, 29);
    float *in = upload(v), *out = zeros<float>(n);
    blur<<<dim3(3, 2, 3), dim3(4, 4, 2)>>>(out, in, nx, ny, nz);
    std::vector<float> got = take(out, n);
    for (int i = 0; i < n; i++) {
        int x = i % nx, y = i / nx % ny, z = i / nx / ny;
        float want = v[i] + (x ? v[i - 1] : 0) + (y ? v[i - nx] : 0) + (z ? v[i - nx * ny] : 0);
        EXPECT(got[i] == want);
    }
    CUDA(cudaFree(in));
}
