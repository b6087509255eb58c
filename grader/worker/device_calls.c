/* device_calls.c -- see device_calls.h: the functions of cuda/cuda.h, and those of the CUDA runtime that the linker
 * leads here (grader/build/link.c). */
#include "worker/device_calls.h"
#include "emulator/include/cuemu/runtime.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

mg_device_calls mg_seen;
jmp_buf mg_after_error;

cudaStream_t mt_cuda_stream(void); /* cuda/cuda.h has it for C++ only */

/* The linker leads calls of cudaNAME to __wrap_cudaNAME, and these to the emulator's by __real_cudaNAME. */
#define WRAPPED(type, name, ...)     \
    type __real_##name(__VA_ARGS__); \
    type __wrap_##name(__VA_ARGS__)

/* ---- what is noted ---------------------------------------------------------------------------------- */

static void note_stream(const void *stream, emu_site site)
{
    if (!mg_seen.unit_runs || stream == (void *)mt_cuda_stream())
        return;
    mg_seen.strayed = true;
    mg_seen.astray = site;
}

static void note_wait(const void *caller)
{
    if (mg_seen.unit_runs && !mg_seen.waited)
        mg_seen.waited = (uintptr_t)caller;
}

/* ---- copies, launches, products ------------------------------------------------------------------- */

/* As a kernel would move these bytes whose lanes move 4 each: whole sectors, and a request at least. */
static void note_bytes(emu_traffic *sum, const void *at, size_t bytes)
{
    uintptr_t first = (uintptr_t)at;
    if (!mg_seen.unit_runs || bytes == 0)
        return;
    sum->requests += (bytes + 127) / 128;
    sum->lanes += (bytes + 3) / 4;
    sum->passes += (first + bytes - 1) / 32 - first / 32 + 1;
    sum->ideal += (bytes + 31) / 32;
}

/* Whether this copy or memset is one too many. */
static bool is_crowded(void)
{
    return mg_seen.unit_runs && ++mg_seen.copies > MG_MOST_COPIES;
}

static bool is_refused(void *to, const void *from, size_t size, cudaMemcpyKind kind)
{
    bool inside = kind == cudaMemcpyDeviceToDevice,
         back = mg_seen.unit_runs && !inside && kind != cudaMemcpyHostToDevice;
    mg_seen.copied_back = mg_seen.copied_back || back;
    note_bytes(&mg_seen.copied[0], from, inside ? size : 0);
    note_bytes(&mg_seen.copied[1], to, size);
    return back || is_crowded();
}

WRAPPED(cudaError_t, cudaMemcpy, void *to, const void *from, size_t size, cudaMemcpyKind kind)
{
    return is_refused(to, from, size, kind) ? cudaErrorNotSupported : __real_cudaMemcpy(to, from, size, kind);
}

WRAPPED(cudaError_t, cudaMemcpyAsync, void *to, const void *from, size_t size, cudaMemcpyKind kind, cudaStream_t stream)
{
    return is_refused(to, from, size, kind) ? cudaErrorNotSupported
                                            : __real_cudaMemcpyAsync(to, from, size, kind, stream);
}

WRAPPED(cudaError_t, cudaMemset, void *to, int value, size_t size)
{
    note_bytes(&mg_seen.copied[1], to, size);
    return is_crowded() ? cudaErrorNotSupported : __real_cudaMemset(to, value, size);
}

WRAPPED(cudaError_t, cudaMemsetAsync, void *to, int value, size_t size, cudaStream_t stream)
{
    note_bytes(&mg_seen.copied[1], to, size);
    return is_crowded() ? cudaErrorNotSupported : __real_cudaMemsetAsync(to, value, size, stream);
}

WRAPPED(int, cuemu_launch, const cuemu_launch_config *config)
{
    emu_site site = { .file = config->file, .line = config->line };
    note_stream(config->stream, site);
    mg_seen.unchecked = true;
    mg_seen.launched = site;
    bool valid = config->grid.y <= 65535 && config->grid.z <= 65535;
    return mg_seen.grids_only && valid ? 0 : __real_cuemu_launch(config);
}

/* Products of cuBLAS, with any handle, are among the emulator's operations. */
WRAPPED(void, emu_operate, const void *stream, bool kernel, const char *name, emu_site site)
{
    if (!kernel && strstr(name, "cuBLAS")) {
        mg_seen.library++;
        note_stream(stream, site);
    }
    __real_emu_operate(stream, kernel, name, site);
}

/* ---- errors and waiting ----------------------------------------------------------------------------- */

WRAPPED(cudaError_t, cudaGetLastError, void)
{
    mg_seen.unchecked = false;
    return __real_cudaGetLastError();
}

WRAPPED(cudaError_t, cudaPeekAtLastError, void)
{
    mg_seen.unchecked = false;
    return __real_cudaPeekAtLastError();
}

WRAPPED(cudaError_t, cudaDeviceSynchronize, void)
{
    note_wait(__builtin_return_address(0));
    return __real_cudaDeviceSynchronize();
}

WRAPPED(cudaError_t, cudaStreamSynchronize, cudaStream_t stream)
{
    note_wait(__builtin_return_address(0));
    return __real_cudaStreamSynchronize(stream);
}

/* ---- the device, as units see it (cuda/cuda.h) ---------------------------------------------------- */

void mt_cuda_check(int error, const char *file, int line, const char *call)
{
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "%s:%d: %s: %s\n", file, line, call, cudaGetErrorString((cudaError_t)error));
    longjmp(mg_after_error, 1);
}

void mt_cuda_launched(const char *file, int line, const char *name)
{
    mt_cuda_check((int)cudaGetLastError(), file, line, name);
}

void mt_cuda_sync(void)
{
    note_wait(__builtin_return_address(0));
    mt_cuda_check((int)cudaDeviceSynchronize(), __FILE__, __LINE__, "sync");
}

void mg_need(cudaError_t error, const char *what)
{
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
    abort();
}

cudaStream_t mt_cuda_stream(void)
{
    static cudaStream_t stream; /* as in cuda/device.cu: a blocking one, not the default stream */
    if (!stream)
        mg_need(cudaStreamCreate(&stream), "cudaStreamCreate");
    return stream;
}
