/* api_memory.c -- cudaMalloc, cudaFree and every kind of copy.
 *
 * A copy must give the correct direction, and its device side must lie inside one live allocation. Both are checked
 * before anything is copied; the error message names the allocation.
 */
#include <stdlib.h>
#include <string.h>
#include "api.h"
#include "stream_order.h"

extern char __start_cuemu_device[] __attribute__((weak)), __stop_cuemu_device[] __attribute__((weak));
extern char __start_cuemu_constant[] __attribute__((weak)), __stop_cuemu_constant[] __attribute__((weak));
extern char __start_cuemu_managed[] __attribute__((weak)), __stop_cuemu_managed[] __attribute__((weak));

/* ---- allocation -------------------------------------------------------------------------------------------------- */

static cudaError_t allocate(void **pointer, size_t size, emu_home home, uintptr_t pc, const char *what)
{
    if (!pointer)
        return emu_misuse(cudaErrorInvalidValue, pc, "%s: the address of the pointer is null", what);
    *pointer = NULL;
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
    API_END(allocate(pointer, size, EMU_DEVICE, HERE, __func__));
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

cudaError_t cudaHostGetDevicePointer(void **device, void *host, unsigned flags)
{
    API_BEGIN();
    (void)flags;
    const emu_allocation *a = emu_find(host);
    *device = host;
    API_END(a && a->home == EMU_PINNED
                ? cudaSuccess
                : emu_misuse(cudaErrorInvalidValue, HERE, "cudaHostGetDevicePointer: %p is not pinned memory", host));
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
    emu_all_work();
    emu_host_waits(-1);
    API_END(release(pointer, false, HERE, __func__));
}

cudaError_t cudaFreeAsync(void *pointer, cudaStream_t stream)
{
    API_BEGIN();
    if (!emu_stream_valid(stream))
        API_END(emu_misuse(cudaErrorInvalidResourceHandle, HERE, "cudaFreeAsync: the stream does not exist"));
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

/* Only checks its arguments: kernels may use pinned memory of cudaMallocHost and cudaHostAlloc, not registered memory.
 * */
cudaError_t cudaHostRegister(void *pointer, size_t size, unsigned flags)
{
    API_BEGIN();
    (void)flags;
    API_END(pointer && size ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t cudaHostUnregister(void *pointer)
{
    API_BEGIN();
    API_END(pointer ? cudaSuccess : cudaErrorInvalidValue);
}

/* ---- copies ------------------------------------------------------------------------------------------------------ */

static bool synchronous; /* the copy that is being made */

static bool within(const void *address, size_t size, const char *begin, const char *end)
{
    return begin && (const char *)address >= begin && (const char *)address < end &&
           size <= (size_t)(end - (const char *)address);
}

bool emu_is_managed(const void *address)
{
    return within(address, 1, __start_cuemu_managed, __stop_cuemu_managed);
}

bool emu_is_symbol(const void *address, size_t size)
{
    return within(address, size, __start_cuemu_device, __stop_cuemu_device) ||
           within(address, size, __start_cuemu_constant, __stop_cuemu_constant) ||
           within(address, size, __start_cuemu_managed, __stop_cuemu_managed);
}

/* `device`: the direction says that it is device memory. */
cudaError_t emu_check_side(const void *address, size_t size, bool device, const char *side, uintptr_t pc,
                           const char *what)
{
    const emu_allocation *a = emu_find(address);
    const char *file = "?";
    int line = 0;
    if (!address)
        return emu_misuse(cudaErrorInvalidValue, pc, "%s: the %s is a null pointer", what, side);
    if (!a)
        a = emu_nearest(address);
    if (!a && device && !emu_is_symbol(address, size))
        return emu_misuse(cudaErrorInvalidValue, pc,
                          "%s: the direction says that the %s is device memory, but it is host memory", what, side);
    if (!a)
        return cudaSuccess;
    emu_source(a->freed ? a->released : a->made, &file, &line);
    if (a->freed)
        return emu_misuse(cudaErrorInvalidValue, pc, "%s: the %s was freed at %s:%d", what, side, file, line);
    if (!device && a->home == EMU_DEVICE)
        return emu_misuse(cudaErrorInvalidValue, pc,
                          "%s: the direction says that the %s is host memory, but it is device memory", what, side);
    if (!within(address, size, a->begin, a->begin + a->size))
        return emu_misuse(cudaErrorInvalidValue, pc,
                          "%s: %zu bytes from byte %td of the %s, which has %zu bytes (allocated at %s:%d)", what, size,
                          (const char *)address - a->begin, side, a->size, file, line);
    return cudaSuccess;
}

static bool lives_on_device(const void *address)
{
    const emu_allocation *a = emu_find(address);
    return a ? a->home == EMU_DEVICE : emu_is_symbol(address, 1);
}

/* A copy begins on the stream. `waits`: the call is a synchronous one. */
static cudaError_t begin(const void *stream, bool waits, uintptr_t pc, const char *what)
{
    if (!emu_stream_valid(stream))
        return emu_misuse(cudaErrorInvalidResourceHandle, pc, "%s: the stream does not exist (was it destroyed?)",
                          what);
    emu_operate(stream, false, what, (emu_site){ .pc = pc });
    synchronous = waits;
    return cudaSuccess;
}

/* The host waits until a synchronous copy is complete, unless both sides are on the device; for an asynchronous one if
 * the destination is not pinned. */
static void wait_for_copy(const void *to, const void *from)
{
    bool pageable = !emu_find(to) && !emu_is_symbol(to, 1);
    if (synchronous ? !lives_on_device(to) || !lives_on_device(from) : pageable)
        emu_host_waits(emu_current_operation.timeline);
}

static cudaError_t copy(void *to, const void *from, size_t size, cudaMemcpyKind kind, uintptr_t pc, const char *what)
{
    if ((unsigned)kind > cudaMemcpyDefault)
        return emu_misuse(cudaErrorInvalidMemcpyDirection, pc, "%s: %d is not a direction of a copy", what, (int)kind);
    if (!size)
        return cudaSuccess;
    bool to_device = kind == cudaMemcpyDefault ? lives_on_device(to)
                                               : kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
    bool from_device = kind == cudaMemcpyDefault ? lives_on_device(from)
                                                 : kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
    cudaError_t error = emu_check_side(to, size, to_device, "destination", pc, what);
    if (error == cudaSuccess)
        error = emu_check_side(from, size, from_device, "source", pc, what);
    if (error != cudaSuccess)
        return error;
    emu_allocation *a = emu_find(to), *b = emu_find(from);
    if (!emu_hook.touched)
        emu_undelivered(from, size, pc, what);
    EMU_CALL(touched, from, size, false);
    EMU_CALL(touched, to, size, true);
    emu_open(a);
    emu_open(b);
    memmove(to, from, size);
    if (a)
        EMU_CALL(host_write, to, size);
    emu_close(a);
    emu_close(b);
    wait_for_copy(to, from);
    return cudaSuccess;
}

static cudaError_t set(void *to, int value, size_t size, uintptr_t pc, const char *what)
{
    if (!size)
        return cudaSuccess;
    cudaError_t error = emu_check_side(to, size, true, "destination", pc, what);
    if (error != cudaSuccess)
        return error;
    emu_allocation *a = emu_find(to);
    EMU_CALL(touched, to, size, true);
    emu_open(a);
    memset(to, value, size);
    if (a)
        EMU_CALL(host_write, to, size);
    emu_close(a);
    wait_for_copy(to, to);
    return cudaSuccess;
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t size, cudaMemcpyKind kind)
{
    API_BEGIN();
    cudaError_t error = begin(NULL, true, HERE, __func__);
    API_END(error != cudaSuccess ? error : copy(to, from, size, kind, HERE, __func__));
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t size, cudaMemcpyKind kind, cudaStream_t stream)
{
    API_BEGIN();
    cudaError_t error = begin(stream, false, HERE, __func__);
    API_END(error != cudaSuccess ? error : copy(to, from, size, kind, HERE, __func__));
}

static cudaError_t copy_rows(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                             size_t height, cudaMemcpyKind kind, uintptr_t pc)
{
    if (width > to_pitch || width > from_pitch)
        return emu_misuse(cudaErrorInvalidValue, pc,
                          "cudaMemcpy2D: rows of %zu bytes do not fit into the pitches %zu and %zu", width, to_pitch,
                          from_pitch);
    cudaError_t error = cudaSuccess;
    for (size_t row = 0; row < height && error == cudaSuccess; row++)
        error =
            copy((char *)to + row * to_pitch, (const char *)from + row * from_pitch, width, kind, pc, "cudaMemcpy2D");
    return error;
}

cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                         cudaMemcpyKind kind)
{
    API_BEGIN();
    cudaError_t error = begin(NULL, true, HERE, __func__);
    API_END(error != cudaSuccess ? error : copy_rows(to, to_pitch, from, from_pitch, width, height, kind, HERE));
}

cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                              size_t height, cudaMemcpyKind kind, cudaStream_t stream)
{
    API_BEGIN();
    cudaError_t error = begin(stream, false, HERE, __func__);
    API_END(error != cudaSuccess ? error : copy_rows(to, to_pitch, from, from_pitch, width, height, kind, HERE));
}

cudaError_t cudaMemset(void *to, int value, size_t size)
{
    API_BEGIN();
    cudaError_t error = begin(NULL, true, HERE, __func__);
    API_END(error != cudaSuccess ? error : set(to, value, size, HERE, __func__));
}

cudaError_t cudaMemsetAsync(void *to, int value, size_t size, cudaStream_t stream)
{
    API_BEGIN();
    cudaError_t error = begin(stream, false, HERE, __func__);
    API_END(error != cudaSuccess ? error : set(to, value, size, HERE, __func__));
}

cudaError_t cudaMemset2D(void *to, size_t pitch, int value, size_t width, size_t height)
{
    API_BEGIN();
    cudaError_t error = width <= pitch ? begin(NULL, true, HERE, __func__) : cudaErrorInvalidValue;
    for (size_t row = 0; row < height && error == cudaSuccess; row++)
        error = set((char *)to + row * pitch, value, width, HERE, __func__);
    API_END(error);
}

cudaError_t cudaMemPrefetchAsync(const void *pointer, size_t size, int device, cudaStream_t stream)
{
    API_BEGIN();
    (void)size, (void)device;
    const emu_allocation *a = emu_find(pointer);
    if (!a || a->home != EMU_MANAGED)
        API_END(emu_misuse(cudaErrorInvalidValue, HERE, "cudaMemPrefetchAsync: this is not managed memory"));
    API_END(begin(stream, false, HERE, __func__));
}

/* ---- symbols ----------------------------------------------------------------------------------------------------- */

cudaError_t cuemu_copy_to_symbol(const void *symbol, const void *from, size_t size, size_t offset, cudaMemcpyKind kind,
                                 cudaStream_t stream, int waits)
{
    API_BEGIN();
    if (!emu_is_symbol((const char *)symbol + offset, size))
        API_END(emu_misuse(cudaErrorInvalidSymbol, HERE,
                           "cudaMemcpyToSymbol: this is not a __device__ or __constant__ variable"));
    cudaError_t error = begin(stream, waits, HERE, "cudaMemcpyToSymbol");
    void *to = (char *)(uintptr_t)symbol + offset;
    API_END(error != cudaSuccess ? error : copy(to, from, size, kind, HERE, "cudaMemcpyToSymbol"));
}

cudaError_t cuemu_copy_from_symbol(void *to, const void *symbol, size_t size, size_t offset, cudaMemcpyKind kind,
                                   cudaStream_t stream, int waits)
{
    API_BEGIN();
    if (!emu_is_symbol((const char *)symbol + offset, size))
        API_END(emu_misuse(cudaErrorInvalidSymbol, HERE,
                           "cudaMemcpyFromSymbol: this is not a __device__ or __constant__ variable"));
    cudaError_t error = begin(stream, waits, HERE, "cudaMemcpyFromSymbol");
    const void *from = (const char *)symbol + offset;
    API_END(error != cudaSuccess ? error : copy(to, from, size, kind, HERE, "cudaMemcpyFromSymbol"));
}

cudaError_t cuemu_symbol_address(void **pointer, const void *symbol)
{
    API_BEGIN();
    if (!emu_is_symbol(symbol, 1))
        API_END(emu_misuse(cudaErrorInvalidSymbol, HERE,
                           "cudaGetSymbolAddress: this is not a __device__ or __constant__ variable"));
    *pointer = (void *)(uintptr_t)symbol;
    API_END(cudaSuccess);
}
