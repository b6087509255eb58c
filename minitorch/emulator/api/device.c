/* device.c -- the one device: "CUDA emulator, sm_90", with the limits of run/arch.h. */
#include <stdio.h>
#include "emulator/api/pending.h"
#include "emulator/api/stream.h"
#include "emulator/run/memory.h"
#include "emulator/run/shared.h"

cudaError_t cudaGetDeviceCount(int *count)
{
    API_BEGIN();
    *count = 1;
    API_END(cudaSuccess);
}

cudaError_t cudaGetDevice(int *device)
{
    API_BEGIN();
    *device = 0;
    API_END(cudaSuccess);
}

cudaError_t emu_check_device(int device, uintptr_t pc, const char *what)
{
    return device == 0
               ? cudaSuccess
               : emu_misuse(cudaErrorInvalidDevice, pc, "%s: there is no device %d, only device 0", what, device);
}

cudaError_t cudaSetDevice(int device)
{
    API_BEGIN();
    API_END(emu_check_device(device, HERE, __func__));
}

cudaError_t cudaChooseDevice(int *device, const cudaDeviceProp *wanted)
{
    (void)wanted;
    return cudaGetDevice(device);
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int device)
{
    API_BEGIN();
    const emu_arch *d = emu_device;
    size_t in_use;
    *properties = (cudaDeviceProp){
        .totalGlobalMem = emu_device_memory(&in_use),
        .sharedMemPerBlock = EMU_SHARED_STATIC,
        .sharedMemPerBlockOptin = (size_t)EMU_SHARED_LIMIT,
        .sharedMemPerMultiprocessor = (size_t)d->shared_multiprocessor << 10,
        .totalConstMem = 64 << 10,
        .regsPerBlock = 65536,
        .warpSize = EMU_WARP_SIZE,
        .maxThreadsPerBlock = EMU_MAX_THREADS,
        .maxThreadsDim = { 1024, 1024, 64 },
        .maxGridSize = { 0x7fffffff, 65535, 65535 },
        .major = d->number / 10,
        .minor = d->number % 10,
        .multiProcessorCount = d->multiprocessors,
        .cooperativeLaunch = 1,
        .maxThreadsPerMultiProcessor = d->threads,
        .maxBlocksPerMultiProcessor = d->blocks,
        .memoryBusWidth = d->bus_bits,
        .l2CacheSize = d->l2 << 10,
        .canMapHostMemory = 1,
        .unifiedAddressing = 1,
        .managedMemory = 1,
        .concurrentManagedAccess = 1,
        .concurrentKernels = 1,
        .asyncEngineCount = 3,
        .deviceOverlap = 1,
        .regsPerMultiprocessor = 65536,
        .clockRate = d->clock_rate,
        .memoryClockRate = d->memory_clock,
        .streamPrioritiesSupported = 1,
        .globalL1CacheSupported = 1,
        .localL1CacheSupported = 1,
        .singleToDoublePrecisionPerfRatio = d->per_double,
        .textureAlignment = 512,
        .surfaceAlignment = 512,
        .memPitch = 0x7fffffff,
        .memoryPoolsSupported = 1,
        .reservedSharedMemPerBlock = (size_t)d->shared_reserved << 10,
    };
    snprintf(properties->name, sizeof properties->name, "CUDA emulator, sm_%d", d->number);
    API_END(emu_check_device(device, HERE, __func__));
}

cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int device)
{
    API_BEGIN();
    const emu_arch *d = emu_device;
    const struct {
        cudaDeviceAttr attribute;
        int value;
    } known[] = {
        { cudaDevAttrMaxThreadsPerBlock, EMU_MAX_THREADS },
        { cudaDevAttrMaxBlockDimX, 1024 },
        { cudaDevAttrMaxBlockDimY, 1024 },
        { cudaDevAttrMaxBlockDimZ, 64 },
        { cudaDevAttrMaxGridDimX, 0x7fffffff },
        { cudaDevAttrMaxGridDimY, 65535 },
        { cudaDevAttrMaxGridDimZ, 65535 },
        { cudaDevAttrMaxSharedMemoryPerBlock, EMU_SHARED_STATIC },
        { cudaDevAttrWarpSize, EMU_WARP_SIZE },
        { cudaDevAttrClockRate, d->clock_rate },
        { cudaDevAttrGpuOverlap, 1 },
        { cudaDevAttrIntegrated, 0 },
        { cudaDevAttrCanMapHostMemory, 1 },
        { cudaDevAttrComputeMode, cudaComputeModeDefault },
        { cudaDevAttrConcurrentKernels, 1 },
        { cudaDevAttrMemoryClockRate, d->memory_clock },
        { cudaDevAttrGlobalMemoryBusWidth, d->bus_bits },
        { cudaDevAttrL2CacheSize, d->l2 << 10 },
        { cudaDevAttrManagedMemory, 1 },
        { cudaDevAttrConcurrentManagedAccess, 1 },
        { cudaDevAttrMultiProcessorCount, d->multiprocessors },
        { cudaDevAttrMaxThreadsPerMultiProcessor, d->threads },
        { cudaDevAttrComputeCapabilityMajor, d->number / 10 },
        { cudaDevAttrComputeCapabilityMinor, d->number % 10 },
        { cudaDevAttrMaxSharedMemoryPerMultiprocessor, d->shared_multiprocessor << 10 },
        { cudaDevAttrTotalConstantMemory, 64 << 10 },
        { cudaDevAttrMaxPitch, 0x7fffffff },
        { cudaDevAttrMaxRegistersPerBlock, 65536 },
        { cudaDevAttrMaxRegistersPerMultiprocessor, 65536 },
        { cudaDevAttrStreamPrioritiesSupported, 1 },
        { cudaDevAttrUnifiedAddressing, 1 },
        { cudaDevAttrAsyncEngineCount, 3 },
        { cudaDevAttrMaxBlocksPerMultiprocessor, d->blocks },
        { cudaDevAttrMemoryPoolsSupported, 1 },
        { cudaDevAttrCooperativeLaunch, 1 },
        { cudaDevAttrMaxSharedMemoryPerBlockOptin, EMU_SHARED_LIMIT },
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (known[i].attribute == attribute) {
            *value = known[i].value;
            API_END(emu_check_device(device, HERE, __func__));
        }
    }
    API_END(emu_misuse(cudaErrorInvalidValue, HERE,
                       "cudaDeviceGetAttribute: attribute %d is not supported by the emulator", (int)attribute));
}

cudaError_t cudaDeviceGetPCIBusId(char *text, int room, int device)
{
    API_BEGIN();
    snprintf(text, (size_t)room, "0000:00:00.0");
    API_END(emu_check_device(device, HERE, __func__));
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int device)
{
    API_BEGIN();
    static char the_pool;
    *pool = (cudaMemPool_t)&the_pool;
    API_END(emu_check_device(device, HERE, __func__));
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void *value)
{
    API_BEGIN();
    (void)value;
    API_END(pool && attribute == cudaMemPoolAttrReleaseThreshold ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t cudaDeviceSynchronize(void)
{
    API_BEGIN();
    cudaError_t error = emu_unsafe_in_capture(HERE, __func__, true);
    error = error != cudaSuccess ? error : emu_all_work();
    emu_host_waits(-1);
    API_END(error);
}

cudaError_t cudaDeviceReset(void)
{
    API_BEGIN();
    emu_host_waits(-1);
    API_END(cudaSuccess);
}

cudaError_t cudaDriverGetVersion(int *version)
{
    API_BEGIN();
    *version = CUDART_VERSION;
    API_END(cudaSuccess);
}

cudaError_t cudaRuntimeGetVersion(int *version)
{
    API_BEGIN();
    *version = CUDART_VERSION;
    API_END(cudaSuccess);
}

cudaError_t cudaSetDeviceFlags(unsigned flags)
{
    API_BEGIN();
    (void)flags;
    API_END(cudaSuccess);
}

cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t value)
{
    API_BEGIN();
    (void)limit, (void)value;
    API_END(cudaSuccess);
}

cudaError_t cudaDeviceGetLimit(size_t *value, cudaLimit limit)
{
    API_BEGIN();
    *value = limit == cudaLimitStackSize ? 1024 : limit == cudaLimitPrintfFifoSize ? 1 << 20 : 8 << 20;
    API_END(cudaSuccess);
}

cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache config)
{
    API_BEGIN();
    (void)config;
    API_END(cudaSuccess);
}

cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
    API_BEGIN();
    *least = 0, *greatest = -5;
    API_END(cudaSuccess);
}

/* ---- other devices: there are none, and a device is not its own peer --------------------------------------------- */

cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer)
{
    API_BEGIN();
    *can = 0;
    cudaError_t error = emu_check_device(device, HERE, __func__);
    API_END(error != cudaSuccess ? error : emu_check_device(peer, HERE, __func__));
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags)
{
    API_BEGIN();
    cudaError_t error = flags ? cudaErrorInvalidValue : emu_check_device(peer, HERE, __func__);
    API_END(error != cudaSuccess
                ? error
                : emu_misuse(cudaErrorInvalidDevice, HERE,
                             "%s: device %d is the current device, which is not its own peer", __func__, peer));
}

cudaError_t cudaDeviceDisablePeerAccess(int peer)
{
    API_BEGIN();
    cudaError_t error = emu_check_device(peer, HERE, __func__);
    API_END(error != cudaSuccess ? error : cudaErrorPeerAccessNotEnabled);
}

/* ---- kernels ----------------------------------------------------------------------------------------------------- */

cudaError_t cuemu_function_attributes(cudaFuncAttributes *attributes, const void *entry)
{
    API_BEGIN();
    *attributes = (cudaFuncAttributes){ .maxThreadsPerBlock = cuemu_bound_of(entry),
                                        .ptxVersion = emu_device->number,
                                        .binaryVersion = emu_device->number,
                                        .maxDynamicSharedSizeBytes = (int)emu_shared_allowed(entry) };
    API_END(cudaSuccess);
}

cudaError_t cuemu_function_attribute(const void *entry, cudaFuncAttribute attribute, int value)
{
    API_BEGIN();
    if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize)
        API_END(cudaSuccess); /* the others are hints */
    if (value < 0 || value > EMU_SHARED_LIMIT)
        API_END(emu_misuse(cudaErrorInvalidValue, HERE,
                           "cudaFuncSetAttribute: %d bytes of shared memory, but at most %d are possible", value,
                           EMU_SHARED_LIMIT));
    API_END(emu_allow_shared(entry, (size_t)value) ? cudaSuccess : cudaErrorMemoryAllocation);
}

/* Limited by threads and shared memory. Registers, which the emulator does not model, may allow fewer blocks. */
int emu_resident_blocks(int threads, size_t dynamic_shared)
{
    const emu_arch *d = emu_device;
    size_t shared = dynamic_shared + ((size_t)d->shared_reserved << 10);
    int blocks = d->blocks, by_threads = d->threads / ((threads + 31) / 32 * 32);
    if (shared * (size_t)blocks > (size_t)d->shared_multiprocessor << 10)
        blocks = (int)(((size_t)d->shared_multiprocessor << 10) / shared);
    return blocks < by_threads ? blocks : by_threads;
}

cudaError_t cuemu_occupancy(int *blocks, const void *entry, int threads, size_t dynamic_shared)
{
    API_BEGIN();
    (void)entry;
    if (threads < 1 || threads > EMU_MAX_THREADS)
        API_END(emu_misuse(cudaErrorInvalidValue, HERE, "occupancy: a block cannot have %d threads", threads));
    *blocks = emu_resident_blocks(threads, dynamic_shared);
    API_END(cudaSuccess);
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

cudaError_t cudaMemAdvise(const void *pointer, size_t size, cudaMemoryAdvise advice, int device)
{
    API_BEGIN();
    (void)pointer, (void)size, (void)advice, (void)device;
    API_END(cudaSuccess);
}

cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total)
{
    API_BEGIN();
    size_t in_use;
    *total = emu_device_memory(&in_use);
    *free_bytes = *total - in_use;
    API_END(cudaSuccess);
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *attributes, const void *pointer)
{
    API_BEGIN();
    const emu_allocation *a = emu_find(pointer);
    *attributes =
        (cudaPointerAttributes){ .type = cudaMemoryTypeUnregistered, .hostPointer = (void *)(uintptr_t)pointer };
    if (a && !a->freed) {
        static const cudaMemoryType type[] = { cudaMemoryTypeDevice, cudaMemoryTypeManaged, cudaMemoryTypeHost };
        attributes->type = type[a->home];
        attributes->devicePointer = (void *)(uintptr_t)pointer;
        if (a->home == EMU_DEVICE)
            attributes->hostPointer = NULL;
    }
    API_END(cudaSuccess);
}
