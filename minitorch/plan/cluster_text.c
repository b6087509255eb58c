/* cluster_text.c -- a cluster from "8xA100" or a JSON file; see files.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan/files.h"
#include "plan/keys.h"

enum { MOST_DEVICES = 1 << 20 };

/* A cluster as its file describes it. Its device is one of the table; figures in the file replace the table's. */
typedef struct cluster {
    const char *name;
    int64_t devices;
    double memory; /* bytes */
    mt_plan_device device;
} cluster;

static const mt_key keys[] = {
    MT_KEY_TEXT(cluster, "device", name, true),
    MT_KEY_WHOLE(cluster, "devices", devices, 1, MOST_DEVICES, true),
    MT_KEY_POSITIVE(cluster, "half_tflops", device.half, 1e12, 1e9),
    MT_KEY_POSITIVE(cluster, "single_tflops", device.single, 1e12, 1e9),
    MT_KEY_POSITIVE(cluster, "memory_gb", memory, 1e9, 1e9),
    MT_KEY_POSITIVE(cluster, "link_gb_s", device.link, 1e9, 1e9),
    MT_KEY_POSITIVE(cluster, "network_gb_s", device.network, 1e9, 1e9),
    MT_KEY_RANGE(cluster, "latency_us", device.latency, 1e-6, 0, 1e9),
    MT_KEY_WHOLE(cluster, "machine", device.machine, 1, MOST_DEVICES, false),
    MT_KEY_RANGE(cluster, "dollars_hour", device.dollars, 1, 0, 1e9),
    MT_KEY_RANGE(cluster, "watts", device.watts, 1, 0, 1e9),
    MT_KEY_POSITIVE(cluster, "memory_gb_s", device.bandwidth, 1e9, 1e9),
    { 0 },
};

mt_status mt_plan_cluster_json(mt_plan_problem *problem, const cJSON *json, const char *path)
{
    cluster c = { 0 };
    char why[512];
    const char *name = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, "device"));
    const mt_plan_device *known = name ? mt_plan_device_named(name) : NULL;
    snprintf(why, sizeof why, "%s", name ? mt_last_error() : "");
    if (known)
        c.device = *known, c.memory = (double)known->memory;
    mt_status status = mt_keys_read(&c, keys, json, path);
    if (status != MT_OK)
        return status;
    if (!known)
        return mt_fail(MT_ERR_ARGUMENT, "%s: %s", path, why);
    c.device.memory = (int64_t)c.memory;
    problem->device = c.device, problem->devices = c.devices;
    return MT_OK;
}

static mt_status read_file(mt_plan_problem *problem, const char *path)
{
    cJSON *json = NULL;
    char *text = NULL, why[512];
    mt_status status = mt_keys_open(&json, &text, path);
    snprintf(why, sizeof why, "%s", mt_last_error());
    if (status != MT_OK && status != MT_ERR_ARGUMENT)
        return mt_fail(MT_ERR_ARGUMENT, "--cluster %s: write NxDEVICE, as in 8xA100, or the path of a JSON file (%s)",
                       path, why);
    if (status == MT_OK)
        status = mt_plan_cluster_json(problem, json, path);
    cJSON_Delete(json);
    free(text);
    return status;
}

mt_status mt_plan_cluster(mt_plan_problem *problem, const char *text)
{
    char *end;
    double count = strtod(text, &end); /* it would take 0x for a prefix */
    if (text[0] == '0' && text[1] == 'x')
        count = 0, end = (char *)text + 1;
    if (end == text || *end != 'x')
        return read_file(problem, text);
    const mt_plan_device *device = mt_plan_device_named(end + 1);
    if (!device)
        return MT_ERR_ARGUMENT;
    if (!(count >= 1 && count <= MOST_DEVICES) || count != (double)(int64_t)count)
        return mt_fail(MT_ERR_ARGUMENT, "--cluster: devices: write a whole number from 1 to %d", MOST_DEVICES);
    problem->device = *device, problem->devices = (int64_t)count;
    return MT_OK;
}
