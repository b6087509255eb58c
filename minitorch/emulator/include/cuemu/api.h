/* api.h -- the C++ half of the host API: cuda_runtime_api.h without casts, and symbols and kernels by name. */
#ifndef CUEMU_API_H
#define CUEMU_API_H

template <class T> CUEMU_INLINE cudaError_t cudaMalloc(T **pointer, size_t size)
{
    return cudaMalloc((void **)pointer, size);
}
template <class T>
CUEMU_INLINE cudaError_t cudaMallocManaged(T **pointer, size_t size, unsigned flags = cudaMemAttachGlobal)
{
    return cudaMallocManaged((void **)pointer, size, flags);
}
template <class T> CUEMU_INLINE cudaError_t cudaMallocHost(T **pointer, size_t size)
{
    return cudaMallocHost((void **)pointer, size);
}
template <class T> CUEMU_INLINE cudaError_t cudaHostAlloc(T **pointer, size_t size, unsigned flags)
{
    return cudaHostAlloc((void **)pointer, size, flags);
}
template <class T> CUEMU_INLINE cudaError_t cudaMallocAsync(T **pointer, size_t size, cudaStream_t stream)
{
    return cudaMallocAsync((void **)pointer, size, stream);
}

template <class T> CUEMU_INLINE cudaError_t cudaMallocPitch(T **pointer, size_t *pitch, size_t width, size_t height)
{
    return cudaMallocPitch((void **)pointer, pitch, width, height);
}
template <class T> CUEMU_INLINE cudaError_t cudaHostGetDevicePointer(T **device, void *host, unsigned flags)
{
    return cudaHostGetDevicePointer((void **)device, host, flags);
}
template <class T>
CUEMU_INLINE cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, T *pointer, size_t size = 0,
                                                  unsigned flags = cudaMemAttachSingle)
{
    return cudaStreamAttachMemAsync(stream, (void *)pointer, size, flags);
}

/* Removed in CUDA 13; older programs still call them. */
__attribute__((deprecated("CUDA 13 has removed it: use cudaDeviceSynchronize()"))) CUEMU_INLINE cudaError_t
cudaThreadSynchronize()
{
    return cudaDeviceSynchronize();
}
__attribute__((deprecated("CUDA 13 has removed it: use cudaDeviceReset()"))) CUEMU_INLINE cudaError_t cudaThreadExit()
{
    return cudaDeviceReset();
}

CUEMU_INLINE cudaError_t cudaEventCreate(cudaEvent_t *event, unsigned flags)
{
    return cudaEventCreateWithFlags(event, flags);
}

/* ---- symbols: __device__ and __constant__ variables. `&variable` compiles, as with nvcc, and is an error of the call.
 * ---- */
template <class T>
CUEMU_INLINE cudaError_t cudaMemcpyToSymbol(const T &symbol, const void *from, size_t size, size_t offset = 0,
                                            cudaMemcpyKind kind = cudaMemcpyHostToDevice)
{
    return cuemu_copy_to_symbol((const void *)&symbol, from, size, offset, kind, 0, 1);
}
template <class T>
CUEMU_INLINE cudaError_t cudaMemcpyFromSymbol(void *to, const T &symbol, size_t size, size_t offset = 0,
                                              cudaMemcpyKind kind = cudaMemcpyDeviceToHost)
{
    return cuemu_copy_from_symbol(to, (const void *)&symbol, size, offset, kind, 0, 1);
}
template <class T>
CUEMU_INLINE cudaError_t cudaMemcpyToSymbolAsync(const T &symbol, const void *from, size_t size, size_t offset,
                                                 cudaMemcpyKind kind, cudaStream_t stream = 0)
{
    return cuemu_copy_to_symbol((const void *)&symbol, from, size, offset, kind, stream, 0);
}
template <class T>
CUEMU_INLINE cudaError_t cudaMemcpyFromSymbolAsync(void *to, const T &symbol, size_t size, size_t offset,
                                                   cudaMemcpyKind kind, cudaStream_t stream = 0)
{
    return cuemu_copy_from_symbol(to, (const void *)&symbol, size, offset, kind, stream, 0);
}
template <class T> CUEMU_INLINE cudaError_t cudaGetSymbolAddress(void **pointer, const T &symbol)
{
    return cuemu_symbol_address(pointer, (const void *)&symbol);
}
template <class T> CUEMU_INLINE cudaError_t cudaGetSymbolSize(size_t *size, const T &symbol)
{
    *size = sizeof symbol;
    return cudaSuccess;
}

/* ---- kernels ---- */
template <class T> CUEMU_INLINE cudaError_t cudaFuncSetAttribute(T *entry, cudaFuncAttribute attribute, int value)
{
    return cuemu_function_attribute((const void *)entry, attribute, value);
}
template <class T> CUEMU_INLINE cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes, T *entry)
{
    return cuemu_function_attributes(attributes, (const void *)entry);
}
template <class T> CUEMU_INLINE cudaError_t cudaFuncSetCacheConfig(T *, cudaFuncCache)
{
    return cudaSuccess;
}
template <class T>
CUEMU_INLINE cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, T *entry, int threads,
                                                                       size_t dynamic_shared)
{
    return cuemu_occupancy(blocks, (const void *)entry, threads, dynamic_shared);
}
template <class T>
CUEMU_INLINE cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, T *entry, int threads,
                                                                                size_t dynamic_shared, unsigned)
{
    return cuemu_occupancy(blocks, (const void *)entry, threads, dynamic_shared);
}
/* What each of `blocks` blocks on one multiprocessor may have. */
template <class T>
CUEMU_INLINE cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, T *entry, int blocks, int threads)
{
    int fit = 0, most = 0;
    cudaError_t error = cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0);
    for (*bytes = (size_t)most; *bytes > 0; *bytes -= 1024)
        if ((error = cuemu_occupancy(&fit, (const void *)entry, threads, *bytes)) != cudaSuccess || fit >= blocks)
            break;
    return error;
}
/* Suggests the largest block: register pressure is not modelled. */
template <class T>
CUEMU_INLINE cudaError_t cudaOccupancyMaxPotentialBlockSize(int *min_grid, int *block, T *entry,
                                                            size_t dynamic_shared = 0, int limit = 0)
{
    int per_processor = 0, processors = 0;
    int most = cuemu_bound_of((const void *)entry);
    *block = limit > 0 && limit < most ? limit : most;
    cudaError_t error = cuemu_occupancy(&per_processor, (const void *)entry, *block, dynamic_shared);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0);
    *min_grid = per_processor * processors;
    return error;
}
/* shared(threads): the dynamic shared memory of a block of that size. */
template <class T, class F>
CUEMU_INLINE cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(int *min_grid, int *block, T *entry, F shared,
                                                                        int limit = 0)
{
    return cudaOccupancyMaxPotentialBlockSize(min_grid, block, entry, shared(limit > 0 && limit < 1024 ? limit : 1024),
                                              limit);
}

#endif
