/* device.c -- which devices this build has. Only this file and the kernel tables (ops/tables.c) know. */
#include "core/device.h"

#include <string.h>

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
    return mt_fail(MT_ERR_UNAVAILABLE, "this build has no %s device: its kernels come with lab 06; use the cpu",
                   mt_device_name(device));
}
