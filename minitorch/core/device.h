/* device.h -- where storage lives. MT_CPU always; MT_CUDA is nvcc's or the emulator's build (CUDA=nvcc|emu|off). */
#ifndef MT_CORE_DEVICE_H
#define MT_CORE_DEVICE_H

#include "core/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum mt_device { MT_CPU, MT_CUDA } mt_device;

#define MT_DEVICE_COUNT 2

const char *mt_device_name(mt_device device); /* "cpu", "cuda" */

/* mt_device_parse -- "cpu" or "cuda" from a command line. */
mt_status mt_device_parse(const char *name, mt_device *out);

/* mt_device_open -- make a device usable; MT_ERR_UNAVAILABLE, saying how to turn it on, when this build has none. */
mt_status mt_device_open(mt_device device);

#ifdef __cplusplus
}
#endif
#endif
