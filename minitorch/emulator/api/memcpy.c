/* memcpy.c -- every kind of copy and memset.
 *
 * A copy must give the correct direction, and its device side must lie inside one live allocation. Both are checked
 * before anything is copied; the error message names the allocation.
 */
#include <string.h>
#include "emulator/api/pending.h"
#include "emulator/api/stream.h"
#include "emulator/run/hooks.h"

static bool synchronous, in_graph; /* the copy that is being made */

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
    if (!emu_within(address, size, a->begin, a->begin + a->size))
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

static cudaError_t no_stream(uintptr_t pc, const char *what)
{
    return emu_misuse(cudaErrorInvalidResourceHandle, pc, "%s: the stream does not exist (was it destroyed?)", what);
}

/* The host waits until a synchronous copy is complete, unless both sides are on the device; for an asynchronous one if
 * the destination is not pinned. */
static void wait_for_copy(const void *to, const void *from)
{
    if (in_graph)
        return;
    bool pageable = !emu_find(to) && !emu_is_symbol(to, 1);
    if (synchronous ? !lives_on_device(to) || !lives_on_device(from) : pageable)
        emu_host_waits(emu_current_operation.timeline);
}

static cudaError_t copy_row(void *to, const void *from, size_t size, cudaMemcpyKind kind, uintptr_t pc,
                            const char *what)
{
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

static cudaError_t set_row(void *to, int value, size_t size, uintptr_t pc, const char *what)
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

/* All rows; the operation has begun. */
static cudaError_t copy_all(const emu_copy *c, uintptr_t pc, const char *what)
{
    cudaError_t error = cudaSuccess;
    for (size_t z = 0; z < c->depth; z++)
        for (size_t y = 0; y < c->height && error == cudaSuccess; y++)
            error = copy_row(c->to + z * c->to_slice + y * c->to_pitch, c->from + z * c->from_slice + y * c->from_pitch,
                             c->width, c->kind, pc, what);
    return error;
}

static cudaError_t set_all(const cudaMemsetParams *s, uintptr_t pc, const char *what)
{
    cudaError_t error = cudaSuccess;
    for (size_t y = 0; y < s->height && error == cudaSuccess; y++) {
        char *row = (char *)s->dst + y * s->pitch;
        error = set_row(row, (int)s->value, s->width * s->elementSize, pc, what);
        emu_allocation *a = emu_find(row);
        emu_open(a);
        for (size_t x = 0; x < s->width && s->elementSize > 1 && error == cudaSuccess; x++)
            memcpy(row + x * s->elementSize, &s->value, s->elementSize);
        emu_close(a);
    }
    return error;
}

cudaError_t emu_run_copy(const emu_copy *copy, cudaStream_t stream, uintptr_t pc, const char *what)
{
    emu_operate(stream, false, what, (emu_site){ .pc = pc });
    in_graph = true;
    cudaError_t error = copy_all(copy, pc, what);
    in_graph = false;
    return error;
}

cudaError_t emu_run_set(const cudaMemsetParams *set, cudaStream_t stream, uintptr_t pc, const char *what)
{
    emu_operate(stream, false, what, (emu_site){ .pc = pc });
    in_graph = true;
    cudaError_t error = set_all(set, pc, what);
    in_graph = false;
    return error;
}

/* ---- calls: executed now, or captured ---------------------------------------------------------------------------- */

cudaError_t emu_issue_copy(const emu_copy *c, const void *stream, bool waits, uintptr_t pc, const char *what)
{
    cudaError_t error;
    if (!emu_stream_valid(stream))
        return no_stream(pc, what);
    if ((unsigned)c->kind > cudaMemcpyDefault)
        return emu_misuse(cudaErrorInvalidMemcpyDirection, pc, "%s: %d is not a direction of a copy", what,
                          (int)c->kind);
    if ((c->height > 1 || c->depth > 1) && (c->width > c->to_pitch || c->width > c->from_pitch))
        return emu_misuse(cudaErrorInvalidValue, pc, "%s: rows of %zu bytes do not fit into the pitches %zu and %zu",
                          what, c->width, c->to_pitch, c->from_pitch);
    cudaGraphNode_t node = emu_capture_node(stream, cudaGraphNodeTypeMemcpy, (emu_site){ .pc = pc }, what, &error);
    if (node)
        node->copy = *c;
    if (node || error != cudaSuccess)
        return error;
    emu_operate(stream, false, what, (emu_site){ .pc = pc });
    synchronous = waits;
    return copy_all(c, pc, what);
}

static cudaError_t issue_set(const cudaMemsetParams *s, const void *stream, bool waits, uintptr_t pc, const char *what)
{
    cudaError_t error;
    if (!emu_stream_valid(stream))
        return no_stream(pc, what);
    if (s->height > 1 && s->width > s->pitch)
        return emu_misuse(cudaErrorInvalidValue, pc, "%s: rows of %zu bytes do not fit into the pitch %zu", what,
                          s->width, s->pitch);
    cudaGraphNode_t node = emu_capture_node(stream, cudaGraphNodeTypeMemset, (emu_site){ .pc = pc }, what, &error);
    if (node)
        node->set = *s;
    if (node || error != cudaSuccess)
        return error;
    emu_operate(stream, false, what, (emu_site){ .pc = pc });
    synchronous = waits;
    return set_all(s, pc, what);
}

static emu_copy rows(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                     cudaMemcpyKind kind)
{
    return (emu_copy){ .to = to,
                       .from = from,
                       .to_pitch = to_pitch,
                       .from_pitch = from_pitch,
                       .width = width,
                       .height = height,
                       .depth = 1,
                       .kind = kind };
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t size, cudaMemcpyKind kind)
{
    API_BEGIN();
    emu_copy c = rows(to, size, from, size, size, 1, kind);
    API_END(emu_issue_copy(&c, NULL, true, HERE, __func__));
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t size, cudaMemcpyKind kind, cudaStream_t stream)
{
    API_BEGIN();
    emu_copy c = rows(to, size, from, size, size, 1, kind);
    API_END(emu_issue_copy(&c, stream, false, HERE, __func__));
}

static cudaError_t copy_peer(void *to, int to_device, const void *from, int from_device, size_t size,
                             const void *stream, uintptr_t pc, const char *what)
{
    emu_copy c = rows(to, size, from, size, size, 1, cudaMemcpyDeviceToDevice);
    cudaError_t error = emu_check_device(to_device, pc, what);
    error = error != cudaSuccess ? error : emu_check_device(from_device, pc, what);
    return error != cudaSuccess ? error : emu_issue_copy(&c, stream, false, pc, what);
}

cudaError_t cudaMemcpyPeer(void *to, int to_device, const void *from, int from_device, size_t size)
{
    API_BEGIN();
    API_END(copy_peer(to, to_device, from, from_device, size, NULL, HERE, __func__));
}

cudaError_t cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device, size_t size,
                                cudaStream_t stream)
{
    API_BEGIN();
    API_END(copy_peer(to, to_device, from, from_device, size, stream, HERE, __func__));
}

cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                         cudaMemcpyKind kind)
{
    API_BEGIN();
    emu_copy c = rows(to, to_pitch, from, from_pitch, width, height, kind);
    API_END(emu_issue_copy(&c, NULL, true, HERE, __func__));
}

cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                              size_t height, cudaMemcpyKind kind, cudaStream_t stream)
{
    API_BEGIN();
    emu_copy c = rows(to, to_pitch, from, from_pitch, width, height, kind);
    API_END(emu_issue_copy(&c, stream, false, HERE, __func__));
}

cudaError_t emu_copy_of(emu_copy *c, const cudaMemcpy3DParms *p, uintptr_t pc, const char *what)
{
    if (!p)
        return cudaErrorInvalidValue;
    if (p->srcArray || p->dstArray)
        return emu_misuse(cudaErrorNotSupported, pc,
                          "%s: of arrays only cudaMemcpy2DToArray is emulated: give srcPtr and dstPtr, of cudaMalloc3D",
                          what);
    cudaPitchedPtr from = p->srcPtr, to = p->dstPtr;
    *c = rows((char *)to.ptr + p->dstPos.x, to.pitch, (char *)from.ptr + p->srcPos.x, from.pitch, p->extent.width,
              p->extent.height, p->kind);
    c->depth = p->extent.depth;
    c->to_slice = to.pitch * to.ysize;
    c->from_slice = from.pitch * from.ysize;
    c->to += p->dstPos.y * to.pitch + p->dstPos.z * c->to_slice;
    c->from += p->srcPos.y * from.pitch + p->srcPos.z * c->from_slice;
    if (c->depth > 1 && (c->height > to.ysize || c->height > from.ysize))
        return emu_misuse(cudaErrorInvalidValue, pc, "%s: %zu rows do not fit into planes of %zu and %zu rows (ysize)",
                          what, c->height, to.ysize, from.ysize);
    return cudaSuccess;
}

cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms *params)
{
    API_BEGIN();
    emu_copy c;
    cudaError_t error = emu_copy_of(&c, params, HERE, __func__);
    API_END(error != cudaSuccess ? error : emu_issue_copy(&c, NULL, true, HERE, __func__));
}

cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms *params, cudaStream_t stream)
{
    API_BEGIN();
    emu_copy c;
    cudaError_t error = emu_copy_of(&c, params, HERE, __func__);
    API_END(error != cudaSuccess ? error : emu_issue_copy(&c, stream, false, HERE, __func__));
}

static cudaMemsetParams bytes(void *to, size_t pitch, int value, size_t width, size_t height)
{
    return (cudaMemsetParams){
        .dst = to, .pitch = pitch, .value = (unsigned)value, .elementSize = 1, .width = width, .height = height
    };
}

cudaError_t cudaMemset(void *to, int value, size_t size)
{
    API_BEGIN();
    cudaMemsetParams s = bytes(to, size, value, size, 1);
    API_END(issue_set(&s, NULL, true, HERE, __func__));
}

cudaError_t cudaMemsetAsync(void *to, int value, size_t size, cudaStream_t stream)
{
    API_BEGIN();
    cudaMemsetParams s = bytes(to, size, value, size, 1);
    API_END(issue_set(&s, stream, false, HERE, __func__));
}

cudaError_t cudaMemset2D(void *to, size_t pitch, int value, size_t width, size_t height)
{
    API_BEGIN();
    cudaMemsetParams s = bytes(to, pitch, value, width, height);
    API_END(issue_set(&s, NULL, true, HERE, __func__));
}

cudaError_t cudaMemset2DAsync(void *to, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream)
{
    API_BEGIN();
    cudaMemsetParams s = bytes(to, pitch, value, width, height);
    API_END(issue_set(&s, stream, false, HERE, __func__));
}

cudaError_t cudaMemset3D(cudaPitchedPtr to, int value, cudaExtent extent)
{
    API_BEGIN();
    cudaError_t error = extent.depth > 1 && extent.height > to.ysize ? cudaErrorInvalidValue : cudaSuccess;
    for (size_t z = 0; z < extent.depth && error == cudaSuccess; z++) {
        cudaMemsetParams s =
            bytes((char *)to.ptr + z * to.pitch * to.ysize, to.pitch, value, extent.width, extent.height);
        error = issue_set(&s, NULL, true, HERE, __func__);
    }
    API_END(error);
}

cudaError_t cudaMemPrefetchAsync(const void *pointer, size_t size, int device, cudaStream_t stream)
{
    API_BEGIN();
    (void)size, (void)device;
    const emu_allocation *a = emu_find(pointer);
    if (!a || a->home != EMU_MANAGED)
        API_END(emu_misuse(cudaErrorInvalidValue, HERE, "cudaMemPrefetchAsync: this is not managed memory"));
    if (!emu_stream_valid(stream))
        API_END(no_stream(HERE, __func__));
    cudaError_t error = emu_not_captured(stream, EMU_HERE, __func__);
    if (error == cudaSuccess)
        emu_operate(stream, false, __func__, (emu_site){ .pc = HERE });
    API_END(error);
}

/* ---- symbols ----------------------------------------------------------------------------------------------------- */

static cudaError_t no_symbol(uintptr_t pc, const char *what)
{
    return emu_misuse(cudaErrorInvalidSymbol, pc,
                      "%s: this is not a __device__ or __constant__ variable\n"
                      "hint: give the variable by its name, without & and without quotation marks",
                      what);
}

cudaError_t cuemu_copy_to_symbol(const void *symbol, const void *from, size_t size, size_t offset, cudaMemcpyKind kind,
                                 cudaStream_t stream, int waits)
{
    API_BEGIN();
    if (!emu_is_symbol((const char *)symbol + offset, size))
        API_END(no_symbol(HERE, "cudaMemcpyToSymbol"));
    emu_copy c = rows((char *)(uintptr_t)symbol + offset, size, from, size, size, 1, kind);
    API_END(emu_issue_copy(&c, stream, waits, HERE, "cudaMemcpyToSymbol"));
}

cudaError_t cuemu_copy_from_symbol(void *to, const void *symbol, size_t size, size_t offset, cudaMemcpyKind kind,
                                   cudaStream_t stream, int waits)
{
    API_BEGIN();
    if (!emu_is_symbol((const char *)symbol + offset, size))
        API_END(no_symbol(HERE, "cudaMemcpyFromSymbol"));
    emu_copy c = rows(to, size, (const char *)symbol + offset, size, size, 1, kind);
    API_END(emu_issue_copy(&c, stream, waits, HERE, "cudaMemcpyFromSymbol"));
}

cudaError_t cuemu_symbol_address(void **pointer, const void *symbol)
{
    API_BEGIN();
    if (!emu_is_symbol(symbol, 1))
        API_END(no_symbol(HERE, "cudaGetSymbolAddress"));
    *pointer = (void *)(uintptr_t)symbol;
    API_END(cudaSuccess);
}
