// api.cu -- the host API: return values and messages. A comment that begins with ERROR or WARNING contains words of the
// message expected for the next line.
#include <cublas_v2.h>
#include "expect.h"

__global__ void fill(float *p, float v)
{
    p[threadIdx.x] = v;
}

static float host[64];

static float *allocations_and_copies()
{
    float *d = nullptr, *none = host;
    EXPECT("malloc", cudaMalloc(&d, 256) == cudaSuccess && d);
    EXPECT("too much", cudaMalloc(&none, (size_t)1 << 50) == cudaErrorMemoryAllocation && !none);
    EXPECT("last error", cudaGetLastError() == cudaErrorMemoryAllocation && cudaGetLastError() == cudaSuccess);
    // ERROR direction says
    EXPECT("wrong direction", cudaMemcpy(d, host, 256, cudaMemcpyDeviceToHost) == cudaErrorInvalidValue);
    // ERROR has 256
    EXPECT("too long", cudaMemcpy(d, host, 260, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
    // ERROR null pointer
    EXPECT("null", cudaMemset(nullptr, 0, 4) == cudaErrorInvalidValue);
    EXPECT("default", cudaMemcpy(d, host, 256, cudaMemcpyDefault) == cudaSuccess);
    EXPECT("within", cudaMemcpy(d + 32, d, 128, cudaMemcpyDeviceToDevice) == cudaSuccess);
    return d;
}

static void memory_of_both_sides()
{
    float *managed, *pinned;
    EXPECT("managed", cudaMallocManaged(&managed, 256) == cudaSuccess);
    EXPECT("pinned", cudaMallocHost(&pinned, 256) == cudaSuccess);
    fill<<<1, 64>>>(managed, 3);
    fill<<<1, 64>>>(pinned, 4);
    EXPECT("host reads both", cudaDeviceSynchronize() == cudaSuccess && managed[63] == 3 && pinned[63] == 4);
    // ERROR cudaFreeHost
    EXPECT("wrong free", cudaFree(pinned) == cudaErrorInvalidValue);
    cudaFreeHost(pinned);
    cudaFree(managed);
}

static void one_device(float *d)
{
    int can = 1;
    // ERROR no device 1
    EXPECT("peer", cudaDeviceCanAccessPeer(&can, 0, 1) == cudaErrorInvalidDevice && !can);
    // ERROR not its own peer
    EXPECT("own peer", cudaDeviceEnablePeerAccess(0, 0) == cudaErrorInvalidDevice);
    EXPECT("not enabled", cudaDeviceDisablePeerAccess(0) == cudaErrorPeerAccessNotEnabled);
    // ERROR no device 1
    EXPECT("copy to a peer", cudaMemcpyPeer(d, 1, d, 0, 4) == cudaErrorInvalidDevice);
    // ERROR has 256
    EXPECT("long copy", cudaMemcpyPeerAsync(d, 0, d, 0, 260) == cudaErrorInvalidValue);
}

static void streams_and_events(float *d)
{
    cudaStream_t stream;
    cudaEvent_t start, end;
    float ms = -1;
    cudaStreamCreate(&stream);
    cudaEventCreate(&start);
    cudaEventCreate(&end);
    cudaEventRecord(start, stream);
    fill<<<1, 64, 0, stream>>>(d, 5);
    // ERROR never recorded
    EXPECT("not recorded", cudaEventElapsedTime(&ms, start, end) == cudaErrorInvalidResourceHandle);
    cudaEventRecord(end, stream);
    EXPECT("elapsed", cudaEventElapsedTime(&ms, start, end) == cudaSuccess && ms >= 0);
    cudaEventDestroy(start);
    // ERROR event does not exist
    EXPECT("dead event", cudaEventRecord(start, stream) == cudaErrorInvalidResourceHandle);
    cudaStreamDestroy(stream);
    // ERROR stream does not exist
    EXPECT("dead stream", cudaMemsetAsync(d, 0, 4, stream) == cudaErrorInvalidResourceHandle);
    // ERROR stream does not exist
    fill<<<1, 64, 0, stream>>>(d, 6);
    EXPECT("launch on it", cudaGetLastError() == cudaErrorInvalidResourceHandle);
    cudaEventDestroy(end);
}

static void device_and_frees(float *d)
{
    cudaDeviceProp properties;
    EXPECT("properties", cudaGetDeviceProperties(&properties, 0) == cudaSuccess && properties.major == 9 &&
                             properties.maxThreadsPerBlock == 1024 && !strcmp(properties.name, "CUDA emulator, sm_90"));
    // ERROR no device 1
    EXPECT("one device", cudaSetDevice(1) == cudaErrorInvalidDevice);
    size_t before, after, total;
    cudaMemGetInfo(&before, &total);
    // ERROR 4 bytes inside
    EXPECT("inside", cudaFree(d + 1) == cudaErrorInvalidValue);
    EXPECT("free", cudaFree(d) == cudaSuccess && cudaFree(nullptr) == cudaSuccess);
    cudaMemGetInfo(&after, &total);
    EXPECT("memory info", after == before + 256 && after == total);
    // ERROR freed twice
    EXPECT("freed twice", cudaFree(d) == cudaErrorInvalidValue);
    // ERROR was freed at
    EXPECT("after free", cudaMemcpy(host, d, 4, cudaMemcpyDeviceToHost) == cudaErrorInvalidValue);
    EXPECT("names", !strcmp(cudaGetErrorName(cudaErrorAssert), "cudaErrorAssert") &&
                        !strcmp(cudaGetErrorString(cudaErrorInvalidValue), "invalid argument"));
}

static void cublas()
{
    cublasHandle_t handle;
    const float one = 1;
    buffer<float> a(8), b(4), c(8);
    cublasCreate(&handle);
    cublasOperation_t n = CUBLAS_OP_N;
    // ERROR at least 4, not 2
    int row_major = cublasSgemm(handle, n, n, 4, 2, 2, &one, a.data, 2, b.data, 2, &one, c.data, 4);
    // ERROR A, 4 x 3
    int too_small = cublasSgemm(handle, n, n, 4, 2, 3, &one, a.data, 4, b.data, 3, &one, c.data, 4);
    // ERROR x, 1 x 9
    int short_x = cublasSgemv(handle, n, 2, 9, &one, c.data, 2, a.data, 1, &one, b.data, 1);
    EXPECT("cuBLAS", short_x && row_major == CUBLAS_STATUS_INVALID_VALUE && too_small == CUBLAS_STATUS_INVALID_VALUE);
    cublasDestroy(handle);
}

int main()
{
    float *d = allocations_and_copies(), *leaked;
    memory_of_both_sides();
    one_device(d);
    streams_and_events(d);
    device_and_frees(d);
    cublas();
    // WARNING 12 bytes allocated here
    cudaMalloc(&leaked, 12);
    return failures != 0;
}
