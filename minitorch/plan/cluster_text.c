/* cluster_text.c -- a cluster from "8xA100" or a JSON file; see files.h. */
#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

#include "core/io.h"
#include "plan/files.h"
#include "prof/cli.h"

enum { MOST_DEVICES = 1 << 20 };

static mt_status count_of(int64_t *out, double value, const char *where)
{
    if (!(value >= 1 && value <= MOST_DEVICES) || value != (double)(int64_t)value)
        return mt_fail(MT_ERR_ARGUMENT, "%s: write a whole number from 1 to %d", where, MOST_DEVICES);
    *out = (int64_t)value;
    return MT_OK;
}

/* What may be written in the place of the table's value; figures are in these units. */
typedef struct figure {
    const char *key;
    double *value;
    double unit;
    bool zero; /* may be 0 */
} figure;

static mt_status read_item(mt_plan_device *d, double *memory, double *machine, const cJSON *item, const char *path)
{
    const figure figures[] = {
        { "half_tflops", &d->half, 1e12, false },
        { "single_tflops", &d->single, 1e12, false },
        { "memory_gb", memory, 1e9, false },
        { "link_gb_s", &d->link, 1e9, false },
        { "network_gb_s", &d->network, 1e9, false },
        { "latency_us", &d->latency, 1e-6, true },
        { "machine", machine, 1, false },
        { "dollars_hour", &d->dollars, 1, true },
    };
    for (int i = 0; i < MT_COUNT(figures); i++) {
        const figure *f = &figures[i];
        double value = cJSON_IsNumber(item) ? item->valuedouble : -1;
        if (strcmp(item->string, f->key) != 0)
            continue;
        if (!(value > 0 || (f->zero && value == 0)) || !(value <= 1e9))
            return mt_fail(MT_ERR_ARGUMENT, "%s: \"%s\": write a number %s", path, f->key,
                           f->zero ? "from 0 to 1e9" : "above 0, of at most 1e9");
        *f->value = value * f->unit;
        return MT_OK;
    }
    return mt_fail(MT_ERR_ARGUMENT,
                   "%s: there is no key \"%s\": use device, devices, half_tflops, single_tflops, memory_gb, "
                   "link_gb_s, network_gb_s, latency_us, machine or dollars_hour",
                   path, item->string);
}

static mt_status read_json(mt_plan_problem *problem, const cJSON *json, const char *path)
{
    const cJSON *devices = cJSON_GetObjectItemCaseSensitive(json, "devices");
    const char *name = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, "device"));
    const mt_plan_device *known = name ? mt_plan_device_named(name) : NULL;
    int64_t count = 0, machine_count = 0;
    char where[4200];
    if (!cJSON_IsObject(json))
        return mt_fail(MT_ERR_ARGUMENT, "%s: this is no JSON object: write { \"device\": \"A100\", \"devices\": 8 }",
                       path);
    if (!name || !devices)
        return mt_fail(MT_ERR_ARGUMENT, "%s: \"%s\" is missing: write { \"device\": \"A100\", \"devices\": 8 }", path,
                       name ? "devices" : "device");
    if (!known) {
        snprintf(where, sizeof where, "%s", mt_last_error());
        return mt_fail(MT_ERR_ARGUMENT, "%s: %s", path, where);
    }
    mt_plan_device device = *known;
    double memory = (double)device.memory, machine = (double)device.machine;
    snprintf(where, sizeof where, "%s: \"devices\"", path);
    mt_status status = count_of(&count, cJSON_IsNumber(devices) ? devices->valuedouble : 0, where);
    for (const cJSON *item = json->child; item && status == MT_OK; item = item->next)
        if (strcmp(item->string, "device") != 0 && item != devices)
            status = read_item(&device, &memory, &machine, item, path);
    snprintf(where, sizeof where, "%s: \"machine\"", path);
    if (status == MT_OK)
        status = count_of(&machine_count, machine, where);
    if (status != MT_OK)
        return status;
    device.memory = (int64_t)memory, device.machine = machine_count;
    problem->device = device, problem->devices = count;
    return MT_OK;
}

static mt_status read_file(mt_plan_problem *problem, const char *path)
{
    uint8_t *bytes;
    int64_t size;
    if (mt_file_read(&bytes, &size, path) != MT_OK) {
        char why[512];
        snprintf(why, sizeof why, "%s", mt_last_error());
        return mt_fail(MT_ERR_ARGUMENT, "--cluster %s: write NxDEVICE, as in 8xA100, or the path of a JSON file (%s)",
                       path, why);
    }
    cJSON *json = cJSON_ParseWithLength((const char *)bytes, (size_t)size);
    free(bytes);
    mt_status status = read_json(problem, json, path);
    cJSON_Delete(json);
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
    mt_status status = device ? count_of(&problem->devices, count, "--cluster: devices") : MT_ERR_ARGUMENT;
    if (status == MT_OK)
        problem->device = *device;
    return status;
}
