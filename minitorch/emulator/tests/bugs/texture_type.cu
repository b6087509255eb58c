// A texture of single floats, read as if it had four channels.
#include <cstdio>
#include <cstring>

__global__ void read(float4 *out, cudaTextureObject_t t)
{
    out[threadIdx.x] = tex2D<float4>(t, threadIdx.x, 0); // BUG: host-api
}

int main()
{
    float4 *out;
    cudaArray_t array;
    cudaResourceDesc resource;
    cudaTextureDesc desc;
    cudaTextureObject_t t;
    cudaChannelFormatDesc channels = cudaCreateChannelDesc<float>();
    memset(&resource, 0, sizeof resource);
    memset(&desc, 0, sizeof desc);
    cudaMalloc(&out, 512);
    cudaMallocArray(&array, &channels, 32, 8);
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaCreateTextureObject(&t, &resource, &desc, nullptr);
    read<<<1, 32>>>(out, t);
    cudaDeviceSynchronize();
    return 0;
}
// SAYS: the type that is read has 16 bytes, but a texel of this texture has 4
