// Texture objects: linear memory, rows with a pitch, arrays; points, linear filtering, and what lies outside.
#include "check.h"
#include <cstring>

__global__ void fetch(int *out, cudaTextureObject_t t, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = tex1Dfetch<int>(t, n - 1 - i);
}

template <class T> __global__ void sample(T *out, cudaTextureObject_t t, const float2 *at)
{
    out[threadIdx.x] = tex2D<T>(t, at[threadIdx.x].x, at[threadIdx.x].y);
}

enum { WIDTH = 5, HEIGHT = 3 };

static cudaTextureObject_t texture_of(const cudaResourceDesc &resource, cudaTextureAddressMode mode,
                                      cudaTextureFilterMode filter, bool normalized = false)
{
    cudaTextureDesc desc;
    cudaTextureObject_t made;
    memset(&desc, 0, sizeof desc);
    desc.addressMode[0] = desc.addressMode[1] = mode;
    desc.filterMode = filter;
    desc.readMode = cudaReadModeElementType;
    desc.normalizedCoords = normalized;
    CUDA(cudaCreateTextureObject(&made, &resource, &desc, nullptr));
    return made;
}

template <class T>
static std::vector<T> samples(const cudaResourceDesc &resource, cudaTextureAddressMode mode,
                              cudaTextureFilterMode filter, const std::vector<float2> &places, bool normalized = false)
{
    cudaTextureObject_t t = texture_of(resource, mode, filter, normalized);
    float2 *at = upload(places);
    T *out = zeros<T>(places.size());
    sample<<<1, places.size()>>>(out, t, at);
    std::vector<T> got = take(out, places.size());
    CUDA(cudaFree(at));
    CUDA(cudaDestroyTextureObject(t));
    return got;
}

static void check_linear_memory()
{
    const int n = 100;
    std::vector<int> x(n);
    for (int i = 0; i < n; i++)
        x[i] = i * i;
    int *in = upload(x), *out = zeros<int>(n);
    cudaResourceDesc resource;
    memset(&resource, 0, sizeof resource);
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = in;
    resource.res.linear.desc = cudaCreateChannelDesc<int>();
    resource.res.linear.sizeInBytes = n * sizeof(int);
    cudaTextureObject_t t = texture_of(resource, cudaAddressModeClamp, cudaFilterModePoint);
    fetch<<<4, 32>>>(out, t, n);
    std::vector<int> got = take(out, n);
    for (int i = 0; i < n; i++)
        EXPECT(got[i] == x[n - 1 - i]);
    CUDA(cudaDestroyTextureObject(t));
    CUDA(cudaFree(in));
}

static void check_points(const cudaResourceDesc &r)
{
    // element (i, j) is 10 j + i; outside: the nearest, or 0
    std::vector<float> in = samples<float>(r, cudaAddressModeClamp, cudaFilterModePoint,
                                           { { 0, 0 }, { 4.9f, 2.9f }, { 2.5f, 1.5f }, { -3, 1 }, { 9, 5 } });
    EXPECT(in[0] == 0 && in[1] == 24 && in[2] == 12 && in[3] == 10 && in[4] == 24);
    std::vector<float> out =
        samples<float>(r, cudaAddressModeBorder, cudaFilterModePoint, { { 1, 2 }, { -0.1f, 1 }, { 5, 1 }, { 2, 3 } });
    EXPECT(out[0] == 21 && out[1] == 0 && out[2] == 0 && out[3] == 0);
}

static void check_filter(const cudaResourceDesc &r)
{
    // Texels are at i + 1/2: the function is x - 1/2 + 10 (y - 1/2) between them, with weights of 8 bits.
    std::vector<float> in =
        samples<float>(r, cudaAddressModeClamp, cudaFilterModeLinear,
                       { { 0.5f, 0.5f }, { 1, 1 }, { 2.75f, 1.5f }, { 0, 0 }, { 8, 2.5f }, { 1.501f, 1.5f } });
    EXPECT(in[0] == 0 && in[1] == 5.5f && in[2] == 12.25f && in[3] == 0 && in[4] == 24 && in[5] == 11);
    std::vector<float> out = samples<float>(r, cudaAddressModeBorder, cudaFilterModeLinear,
                                            { { 0, 1.5f }, { 5, 2.5f }, { 2.5f, 3 }, { 7, 7 } });
    EXPECT(out[0] == 5 && out[1] == 12 && out[2] == 11 && out[3] == 0);
    std::vector<float> wrapped = samples<float>(r, cudaAddressModeWrap, cudaFilterModePoint,
                                                { { 0.3f, 0.5f }, { 1.3f, -0.5f }, { -0.1f, 1.9f } }, true);
    EXPECT(wrapped[0] == 11 && wrapped[1] == 11 && wrapped[2] == 24);
}

int main()
{
    check_linear_memory();
    std::vector<float> image(WIDTH * HEIGHT);
    for (int i = 0; i < WIDTH * HEIGHT; i++)
        image[i] = (float)(10 * (i / WIDTH) + i % WIDTH);
    cudaResourceDesc rows, array;
    memset(&rows, 0, sizeof rows);
    memset(&array, 0, sizeof array);
    cudaChannelFormatDesc channels = cudaCreateChannelDesc<float>();
    rows.resType = cudaResourceTypePitch2D;
    rows.res.pitch2D.desc = channels;
    rows.res.pitch2D.width = WIDTH;
    rows.res.pitch2D.height = HEIGHT;
    CUDA(cudaMallocPitch(&rows.res.pitch2D.devPtr, &rows.res.pitch2D.pitchInBytes, WIDTH * sizeof(float), HEIGHT));
    CUDA(cudaMemcpy2D(rows.res.pitch2D.devPtr, rows.res.pitch2D.pitchInBytes, image.data(), WIDTH * sizeof(float),
                      WIDTH * sizeof(float), HEIGHT, cudaMemcpyHostToDevice));
    array.resType = cudaResourceTypeArray;
    CUDA(cudaMallocArray(&array.res.array.array, &channels, WIDTH, HEIGHT));
    CUDA(cudaMemcpy2DToArray(array.res.array.array, 0, 0, image.data(), WIDTH * sizeof(float), WIDTH * sizeof(float),
                             HEIGHT, cudaMemcpyHostToDevice));
    check_points(rows);
    check_filter(array);
    CUDA(cudaFree(rows.res.pitch2D.devPtr));
    CUDA(cudaFreeArray(array.res.array.array));

    channels = cudaCreateChannelDesc<float4>();
    std::vector<float4> pixels = { { 0, 1, 2, 3 }, { 4, 3, 2, 1 } };
    CUDA(cudaMallocArray(&array.res.array.array, &channels, 2, 1));
    CUDA(cudaMemcpy2DToArray(array.res.array.array, 0, 0, pixels.data(), 32, 32, 1, cudaMemcpyHostToDevice));
    std::vector<float4> mean = samples<float4>(array, cudaAddressModeClamp, cudaFilterModeLinear, { { 1, 0.5f } });
    EXPECT(mean[0].x == 2 && mean[0].y == 2 && mean[0].z == 2 && mean[0].w == 2);
    CUDA(cudaFreeArray(array.res.array.array));
}
