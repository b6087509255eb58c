/* device.c -- which devices this program has. Only this file and the kernel tables (kernels/tables.c) know. */
#include "core/device.h"

#include <string.h>

/* Weak: cuda/table.c, where it is linked, defines it. (Not const: GCC would fold the NULL.) */
__attribute__((weak)) const mt_backend *mt_cuda = NULL;

enum { CHUNK = 1 << 16 }; /* bytes cleared at a time */

static const char *const names[MT_DEVICE_COUNT] = { [MT_CPU] = "cpu", [MT_CUDA] = "cuda" };

const char *mt_device_name(mt_device device)
{
    MT_CHECK((int)device >= 0 && (int)device < MT_DEVICE_COUNT, "there is no device number %d", (int)device);
    return names[device];
}

mt_status mt_device_parse(const char *name, mt_device *out)
{
    for (int i = 0; i < MT_DEVICE_COUNT; i++)
        if (strcmp(name, names[i]) == 0) {
            *out = (mt_device)i;
            return MT_OK;
        }
    return mt_fail(MT_ERR_ARGUMENT, "there is no device \"%s\": say cpu or cuda", name);
}

mt_status mt_device_open(mt_device device)
{
    if (device == MT_CPU)
        return MT_OK;
    if (!mt_cuda)
        return mt_fail(MT_ERR_UNAVAILABLE,
                       "this program has no cuda device: build it with CUDA=nvcc where there is a GPU, with CUDA=emu "
                       "where there is none, or use the cpu");
    return mt_cuda->driver->open();
}

/* Threads divide large blocks as kernels do, so that the data is then in the cache of the core that uses it. */
static void clear_here(char *data, int64_t bytes)
{
#pragma omp parallel for schedule(static) if (bytes > 2 * CHUNK)
    for (int64_t at = 0; at < bytes; at += CHUNK)
        memset(data + at, 0, (size_t)mt_min(CHUNK, bytes - at));
}

void mt_copy(void *to, mt_device to_device, const void *from, mt_device from_device, int64_t bytes)
{
    if (bytes == 0)
        return;
    if (to_device == MT_CPU && from_device == MT_CPU)
        memcpy(to, from, (size_t)bytes);
    else
        mt_cuda->driver->copy(to, to_device, from, from_device, bytes);
}

void mt_clear(void *data, int64_t bytes, mt_device device)
{
    if (device == MT_CPU)
        clear_here(data, bytes);
    else if (bytes > 0)
        mt_cuda->driver->clear(data, bytes);
}
