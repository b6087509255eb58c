/* device.h -- the devices that hold storage: MT_CPU always, MT_CUDA when built with CUDA=nvcc or CUDA=emu. */
#pragma once

#include "core/base.h"

MT_C_BEGIN

typedef enum mt_device { MT_CPU, MT_CUDA } mt_device;

#define MT_DEVICE_COUNT 2

const char *mt_device_name(mt_device device); /* "cpu", "cuda" */

/* mt_device_parse -- "cpu" or "cuda" from a command line. */
mt_status mt_device_parse(const char *name, mt_device *out);

/* mt_device_open -- make a device usable; MT_ERR_UNAVAILABLE, saying how to turn it on, when this build or this machine
 * has none. */
mt_status mt_device_open(mt_device device);

/* mt_copy -- copy bytes between two devices or within one; the ranges do not overlap. A copy to the CPU is complete on
 * return; other work on a device runs in the order of the calls.
 * mt_clear -- set bytes to zero. */
void mt_copy(void *to, mt_device to_device, const void *from, mt_device from_device, int64_t bytes);
void mt_clear(void *data, int64_t bytes, mt_device device);

/* ---- extension point: the driver of a device other than the CPU; cuda/device.cu ------------------- */
struct mt_view; /* core/view.h */

typedef struct mt_device_driver {
    mt_status (*open)(void);
    bool (*emulated)(void);        /* whether the CPU computes in its place */
    void *(*alloc)(int64_t bytes); /* as mt_allocator's (core/storage.h) */
    void (*free)(void *data, int64_t bytes);
    void (*copy)(void *to, mt_device to_device, const void *from, mt_device from_device,
                 int64_t bytes); /* bytes >= 1 */
    void (*clear)(void *data, int64_t bytes);
    void (*pack)(void *out, const void *storage, const struct mt_view *view, int64_t size); /* mt_copy_strided there */
} mt_device_driver;

/* All that a program has of a device besides the CPU. */
typedef struct mt_backend {
    const mt_device_driver *driver;
    const struct mt_optim_kernels *optim; /* optim/rules.h */
} mt_backend;

/* NULL in a program that is linked without cuda/table.c: a weak symbol. */
extern const mt_backend *mt_cuda;

MT_C_END
