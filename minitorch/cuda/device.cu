/* device.cu -- the device: whether there is one, its stream, memory and errors. */
#include "cuda/cuda.h"
#include "cuda/kernels.h"

#include <cstdlib>

/* ---- errors --------------------------------------------------------------------------------------- */

extern "C" void mt_cuda_check(int error, const char *file, int line, const char *call)
{
    if (error != cudaSuccess)
        mt_check_failed(file, line, call, "cuda: %s (%s)", cudaGetErrorString((cudaError_t)error),
                        cudaGetErrorName((cudaError_t)error));
}

static bool sync_launches(void)
{
    static const char *const wanted = getenv("MT_SYNC");
    return wanted && wanted[0] == '1';
}

extern "C" void mt_cuda_launched(const char *file, int line, const char *name)
{
    int error = cudaGetLastError();
    if (error == cudaSuccess && sync_launches())
        error = cudaStreamSynchronize(mt_cuda_stream());
    mt_cuda_check(error, file, line, name);
}

/* ---- the stream ------------------------------------------------------------------------------------- */

extern "C" cudaStream_t mt_cuda_stream(void)
{
    static cudaStream_t stream;
    if (!stream)
        MT_CUDA(cudaStreamCreate(&stream));
    return stream;
}

extern "C" bool mt_cuda_is_emulated(void)
{
#ifdef __CUEMU__
    return true;
#else
    return false;
#endif
}

extern "C" void mt_cuda_sync(void)
{
    MT_CUDA(cudaStreamSynchronize(mt_cuda_stream()));
}

/* ---- the driver (core/device.h) ----------------------------------------------------------------------- */

extern "C" mt_status mt_cuda_open(void)
{
    int count = 0;
    cudaError_t error = cudaGetDeviceCount(&count);
    if (error != cudaSuccess || count == 0) {
        (void)cudaGetLastError(); /* the error is reported here; later calls must not find it */
        return mt_fail(MT_ERR_UNAVAILABLE, "there is no cuda device here (%s): build with CUDA=emu, or use the cpu",
                       error != cudaSuccess ? cudaGetErrorString(error) : "none is visible");
    }
    return MT_OK;
}

extern "C" void *mt_cuda_alloc(int64_t bytes)
{
    void *data = NULL;
    cudaError_t error = cudaMalloc(&data, (size_t)bytes);
    if (error == cudaErrorMemoryAllocation) {
        (void)cudaGetLastError();
        return NULL;
    }
    MT_CUDA(error);
#ifdef MT_DEBUG
    MT_CUDA(cudaMemsetAsync(data, 0xff, (size_t)bytes, mt_cuda_stream())); /* NaN: reveals reads before a write */
#endif
    return data;
}

extern "C" void mt_cuda_free(void *data, int64_t bytes)
{
    (void)bytes;
    MT_CUDA(cudaFree(data));
}

static cudaMemcpyKind kind_of(mt_device to, mt_device from)
{
    if (to == from)
        return cudaMemcpyDeviceToDevice;
    return to == MT_CPU ? cudaMemcpyDeviceToHost : cudaMemcpyHostToDevice;
}

/* The host may change or free its memory when this returns, so it waits for copies from and to the host. */
extern "C" void mt_cuda_copy(void *to, mt_device to_device, const void *from, mt_device from_device, int64_t bytes)
{
    MT_CUDA(cudaMemcpyAsync(to, from, (size_t)bytes, kind_of(to_device, from_device), mt_cuda_stream()));
    if (to_device != from_device)
        mt_cuda_sync();
}

extern "C" void mt_cuda_clear(void *data, int64_t bytes)
{
    MT_CUDA(cudaMemsetAsync(data, 0, (size_t)bytes, mt_cuda_stream()));
}
