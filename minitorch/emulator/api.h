/* api.h -- how a call of the host API begins and ends. */
#ifndef EMU_API_H
#define EMU_API_H

#include "core.h"
#include "include/cuda_runtime_api.h"

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

#endif
