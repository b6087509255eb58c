/* call.h -- what calls of the host API have in common: how they begin and end, and what they say about misuse. */
#ifndef EMU_CALL_H
#define EMU_CALL_H

#include "emulator/include/cuda_runtime_api.h"
#include "emulator/run/findings.h"
#include "emulator/run/status.h"

#define HERE ((uintptr_t)__builtin_return_address(0))

/* For host code only; after a kernel's error every call returns it. API_END unlocks. */
#define API_BEGIN()                \
    emu_host_only(__func__, HERE); \
    if (emu_sticky())              \
        return emu_sticky();       \
    emu_api_lock()
#define API_END(result)                         \
    do {                                        \
        cudaError_t result_ = emu_fail(result); \
        emu_api_unlock();                       \
        return result_;                         \
    } while (0)

void emu_host_only(const char *what, uintptr_t pc);

/* error.c: a mistake in a call is reported there, and stored as the last error, which is returned. */
cudaError_t emu_misuse(cudaError_t error, uintptr_t pc, const char *format, ...) __attribute__((format(printf, 3, 4)));

cudaError_t emu_misuse_at(cudaError_t error, emu_site site, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* memcpy.c */
/* `size` bytes at `address` are the `side` ("source") of what; reports what is wrong. */
cudaError_t emu_check_side(const void *address, size_t size, bool device, const char *side, uintptr_t pc,
                           const char *what);

/* device.c */
/* Whether the device is device 0, the only one. */
cudaError_t emu_check_device(int device, uintptr_t pc, const char *what);
int emu_resident_blocks(int threads, size_t dynamic_shared); /* on one multiprocessor */

#endif
