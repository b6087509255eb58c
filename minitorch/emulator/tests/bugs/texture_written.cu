// A kernel writes to the memory of a texture that it reads.
#include <cstdio>
#include <cstring>

__global__ void smooth(cudaTextureObject_t t, float *x)
{
    int i = threadIdx.x;
    float sum = tex1Dfetch<float>(t, i);
    x[i] = sum / 2; // BUG: race
}

int main()
{
    float *x;
    cudaResourceDesc resource;
    cudaTextureDesc desc;
    cudaTextureObject_t t;
    memset(&resource, 0, sizeof resource);
    memset(&desc, 0, sizeof desc);
    cudaMalloc(&x, 128);
    cudaMemset(x, 0, 128);
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = x;
    resource.res.linear.desc = cudaCreateChannelDesc<float>();
    resource.res.linear.sizeInBytes = 128;
    cudaCreateTextureObject(&t, &resource, &desc, nullptr);
    smooth<<<1, 32>>>(t, x);
    cudaDeviceSynchronize();
    return 0;
}
