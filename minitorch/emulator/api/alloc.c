/* alloc.c -- cudaMalloc, cudaFree and their relatives. */
#include <stdlib.h>
#include <string.h>
#include "emulator/api/pending.h"
#include "emulator/api/stream.h"
#include "emulator/run/hooks.h"

/* ---- allocation -------------------------------------------------------------------------------------------------- */

static cudaError_t allocate(void **pointer, size_t size, emu_home home, uintptr_t pc, const char *what)
{
    if (!pointer)
        return emu_misuse(cudaErrorInvalidValue, pc, "%s: the address of the pointer is null", what);
    *pointer = NULL;
    cudaError_t error = emu_unsafe_in_capture(pc, what, false);
    if (error != cudaSuccess)
        return error;
    if (!size)
        return home == EMU_DEVICE ? cudaSuccess : cudaErrorInvalidValue;
    emu_allocation *a = emu_allocate(size, home, pc);
    if (!a)
        return cudaErrorMemoryAllocation;
    *pointer = a->begin;
    return cudaSuccess;
}

cudaError_t cudaMalloc(void **pointer, size_t size)
{
    API_BEGIN();
    API_END(allocate(pointer, size, EMU_DEVICE, HERE, __func__));
}

cudaError_t cudaMallocAsync(void **pointer, size_t size, cudaStream_t stream)
{
    API_BEGIN();
    if (!emu_stream_valid(stream))
        API_END(emu_misuse(cudaErrorInvalidResourceHandle, HERE, "cudaMallocAsync: the stream does not exist"));
    cudaError_t error = emu_not_captured(stream, EMU_HERE, __func__);
    API_END(error != cudaSuccess ? error : allocate(pointer, size, EMU_DEVICE, HERE, __func__));
}

cudaError_t cudaMallocManaged(void **pointer, size_t size, unsigned flags)
{
    API_BEGIN();
    if (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost)
        API_END(emu_misuse(cudaErrorInvalidValue, HERE, "cudaMallocManaged: unknown flags %u", flags));
    API_END(allocate(pointer, size, EMU_MANAGED, HERE, __func__));
}

cudaError_t cudaMallocHost(void **pointer, size_t size)
{
    API_BEGIN();
    API_END(allocate(pointer, size, EMU_PINNED, HERE, __func__));
}

cudaError_t cudaHostAlloc(void **pointer, size_t size, unsigned flags)
{
    API_BEGIN();
    if (flags & ~(cudaHostAllocPortable | cudaHostAllocMapped | 4u))
        API_END(emu_misuse(cudaErrorInvalidValue, HERE, "cudaHostAlloc: unknown flags %u", flags));
    API_END(allocate(pointer, size, EMU_PINNED, HERE, __func__));
}

cudaError_t cudaMallocPitch(void **pointer, size_t *pitch, size_t width, size_t height)
{
    API_BEGIN();
    *pitch = (width + 511) / 512 * 512;
    API_END(allocate(pointer, *pitch * height, EMU_DEVICE, HERE, __func__));
}

cudaError_t cudaMalloc3D(cudaPitchedPtr *made, cudaExtent extent)
{
    API_BEGIN();
    size_t pitch = (extent.width + 511) / 512 * 512;
    *made = make_cudaPitchedPtr(NULL, pitch, extent.width, extent.height);
    API_END(allocate(&made->ptr, pitch * extent.height * extent.depth, EMU_DEVICE, HERE, __func__));
}

cudaError_t cudaHostGetDevicePointer(void **device, void *host, unsigned flags)
{
    API_BEGIN();
    (void)flags;
    const emu_allocation *a = emu_find(host);
    *device = host;
    API_END((a && a->home == EMU_PINNED) || emu_is_registered(host, 1)
                ? cudaSuccess
                : emu_misuse(cudaErrorInvalidValue, HERE, "cudaHostGetDevicePointer: %p is not pinned memory", host));
}

cudaError_t cudaHostGetFlags(unsigned *flags, void *host)
{
    API_BEGIN();
    const emu_allocation *a = emu_find(host);
    *flags = cudaHostAllocMapped;
    API_END((a && a->home == EMU_PINNED) || emu_is_registered(host, 1) ? cudaSuccess : cudaErrorInvalidValue);
}

static cudaError_t release(void *pointer, bool pinned, uintptr_t pc, const char *what)
{
    if (!pointer)
        return cudaSuccess;
    emu_allocation *a = emu_find(pointer);
    const char *file = "?";
    int line = 0;
    if (!a)
        return emu_misuse(cudaErrorInvalidValue, pc, "%s(%p): this is not a device pointer", what, pointer);
    emu_source(a->freed ? a->released : a->made, &file, &line);
    if (a->freed)
        return emu_misuse(cudaErrorInvalidValue, pc, "%s: freed twice, the first time at %s:%d", what, file, line);
    if (pointer != a->begin)
        return emu_misuse(cudaErrorInvalidValue, pc, "%s: the pointer is %td bytes inside the allocation made at %s:%d",
                          what, (char *)pointer - a->begin, file, line);
    if ((a->home == EMU_PINNED) != pinned)
        return emu_misuse(cudaErrorInvalidValue, pc, "%s: the allocation made at %s:%d is %s memory, free it with %s",
                          what, file, line, pinned ? "device" : "pinned host", pinned ? "cudaFree" : "cudaFreeHost");
    emu_release(a, pc);
    return cudaSuccess;
}

cudaError_t cudaFree(void *pointer)
{
    API_BEGIN();
    cudaError_t error = pointer ? emu_unsafe_in_capture(HERE, __func__, false) : cudaSuccess;
    if (error != cudaSuccess)
        API_END(error);
    emu_all_work();
    emu_host_waits(-1);
    API_END(release(pointer, false, HERE, __func__));
}

cudaError_t cudaFreeAsync(void *pointer, cudaStream_t stream)
{
    API_BEGIN();
    if (!emu_stream_valid(stream))
        API_END(emu_misuse(cudaErrorInvalidResourceHandle, HERE, "cudaFreeAsync: the stream does not exist"));
    cudaError_t error = emu_not_captured(stream, EMU_HERE, __func__);
    if (error != cudaSuccess)
        API_END(error);
    const emu_allocation *a = emu_find(pointer);
    emu_operate(stream, false, __func__, (emu_site){ .pc = HERE });
    if (a && !a->freed)
        EMU_CALL(touched, a->begin, a->size, true);
    API_END(release(pointer, false, HERE, __func__));
}

cudaError_t cudaFreeHost(void *pointer)
{
    API_BEGIN();
    emu_all_work();
    emu_host_waits(-1);
    API_END(release(pointer, true, HERE, __func__));
}

/* ---- registered memory of the host: kernels may use it; their accesses are not traced ------------------------- */

cudaError_t cudaHostRegister(void *pointer, size_t size, unsigned flags)
{
    API_BEGIN();
    (void)flags;
    if (!pointer || !size)
        API_END(cudaErrorInvalidValue);
    if (emu_is_registered(pointer, 1))
        API_END(cudaErrorHostMemoryAlreadyRegistered);
    API_END(emu_register(pointer, size) ? cudaSuccess : cudaErrorMemoryAllocation);
}

cudaError_t cudaHostUnregister(void *pointer)
{
    API_BEGIN();
    API_END(emu_unregister(pointer) ? cudaSuccess : cudaErrorHostMemoryNotRegistered);
}
