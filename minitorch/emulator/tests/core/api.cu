// api.cu -- the host API: what it returns, and (lines marked ERROR, in run_core.sh) what it says.
#include <cublas_v2.h>
#include "expect.h"

__global__ void fill(float *p, float v)
{
    p[threadIdx.x] = v;
}

int main()
{
    float *d = nullptr, *m = nullptr, *pinned = nullptr, host[64] = { 0 };
    EXPECT("malloc", cudaMalloc(&d, 256) == cudaSuccess && d);
    EXPECT("too much", cudaMalloc(&m, (size_t)1 << 50) == cudaErrorMemoryAllocation && !m);
    EXPECT("last error", cudaGetLastError() == cudaErrorMemoryAllocation && cudaGetLastError() == cudaSuccess);
    EXPECT("wrong direction", cudaMemcpy(d, host, 256, cudaMemcpyDeviceToHost) == cudaErrorInvalidValue); // ERROR direction says
    EXPECT("too long", cudaMemcpy(d, host, 260, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);        // ERROR has 256
    EXPECT("null", cudaMemset(nullptr, 0, 4) == cudaErrorInvalidValue);                                   // ERROR null pointer
    EXPECT("default", cudaMemcpy(d, host, 256, cudaMemcpyDefault) == cudaSuccess);
    EXPECT("within", cudaMemcpy(d + 32, d, 128, cudaMemcpyDeviceToDevice) == cudaSuccess);

    EXPECT("managed", cudaMallocManaged(&m, 256) == cudaSuccess);
    EXPECT("pinned", cudaMallocHost(&pinned, 256) == cudaSuccess);
    fill<<<1, 64>>>(m, 3);
    fill<<<1, 64>>>(pinned, 4);
    EXPECT("host reads both", cudaDeviceSynchronize() == cudaSuccess && m[63] == 3 && pinned[63] == 4);
    EXPECT("wrong free", cudaFree(pinned) == cudaErrorInvalidValue); // ERROR cudaFreeHost
    cudaFreeHost(pinned);
    cudaFree(m);

    cudaStream_t stream;
    cudaEvent_t start, end;
    float ms = -1;
    cudaStreamCreate(&stream);
    cudaEventCreate(&start);
    cudaEventCreate(&end);
    cudaEventRecord(start, stream);
    fill<<<1, 64, 0, stream>>>(d, 5);
    EXPECT("not recorded", cudaEventElapsedTime(&ms, start, end) == cudaErrorInvalidResourceHandle); // ERROR never recorded
    cudaEventRecord(end, stream);
    EXPECT("elapsed", cudaEventElapsedTime(&ms, start, end) == cudaSuccess && ms >= 0);
    cudaEventDestroy(start);
    EXPECT("dead event", cudaEventRecord(start, stream) == cudaErrorInvalidResourceHandle); // ERROR event does not exist
    cudaStreamDestroy(stream);
    EXPECT("dead stream", cudaMemsetAsync(d, 0, 4, stream) == cudaErrorInvalidResourceHandle); // ERROR stream does not exist
    fill<<<1, 64, 0, stream>>>(d, 6); // ERROR stream does not exist
    EXPECT("launch on it", cudaGetLastError() == cudaErrorInvalidResourceHandle);
    cudaEventDestroy(end);

    cudaDeviceProp properties;
    EXPECT("properties", cudaGetDeviceProperties(&properties, 0) == cudaSuccess && properties.major == 9 &&
                             properties.maxThreadsPerBlock == 1024 && !strcmp(properties.name, "CUDA emulator, sm_90"));
    EXPECT("one device", cudaSetDevice(1) == cudaErrorInvalidDevice); // ERROR no device 1
    size_t free_before, free_after, total;
    cudaMemGetInfo(&free_before, &total);
    EXPECT("inside", cudaFree(d + 1) == cudaErrorInvalidValue); // ERROR 4 bytes inside
    EXPECT("free", cudaFree(d) == cudaSuccess && cudaFree(nullptr) == cudaSuccess);
    cudaMemGetInfo(&free_after, &total);
    EXPECT("memory info", free_after == free_before + 256 && free_after == total);
    EXPECT("freed twice", cudaFree(d) == cudaErrorInvalidValue);                                       // ERROR freed twice
    EXPECT("after free", cudaMemcpy(host, d, 4, cudaMemcpyDeviceToHost) == cudaErrorInvalidValue);     // ERROR was freed at
    EXPECT("names", !strcmp(cudaGetErrorName(cudaErrorAssert), "cudaErrorAssert") &&
                        !strcmp(cudaGetErrorString(cudaErrorInvalidValue), "invalid argument"));

    cublasHandle_t handle;
    const float one = 1;
    buffer<float> a(8), b(4), c(8);
    cublasCreate(&handle);
    cublasStatus_t row_major = cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 4, 2, 2, &one, a.data, 2, b.data, 2, &one, c.data, 4); // ERROR at least 4, not 2
    cublasStatus_t too_small = cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 4, 2, 3, &one, a.data, 4, b.data, 3, &one, c.data, 4); // ERROR A, 4 x 3
    EXPECT("cuBLAS", row_major == CUBLAS_STATUS_INVALID_VALUE && too_small == CUBLAS_STATUS_INVALID_VALUE);
    cublasDestroy(handle);
    float *leaked;
    cudaMalloc(&leaked, 12); // WARNING 12 bytes allocated here
    return failures != 0;
}
