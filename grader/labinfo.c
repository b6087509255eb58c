/* labinfo.c -- lab.json, read with cJSON. */
#include "labinfo.h"
#include "json.h"
#include "sandbox/scratch.h"
#include "text.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const mg_limits defaults = {
    .cpu_s = 20,
    .wall_s = 30,
    .calls_s = 60,
    .memory_mib = 2048,
    .file_mib = 1,
    .output_kib = 256,
    .processes = 64,
};

static cJSON *parse(const char *path)
{
    char *text = mg_read_text(path);
    cJSON *json = text ? cJSON_Parse(text) : NULL;
    if (!text)
        mt_fail(MT_ERR_IO, "%s: %s", path, strerror(errno));
    else if (!json)
        mt_fail(MT_ERR_FORMAT, "%s: not JSON near \"%.20s\"", path, cJSON_GetErrorPtr() ? cJSON_GetErrorPtr() : "");
    free(text);
    return json;
}

/* A file name of ours: letters, digits, '_' and '-', then .c or .cu. */
static bool is_unit_name(const char *name)
{
    size_t stem = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
    return stem > 0 && (strcmp(name + stem, ".c") == 0 || strcmp(name + stem, ".cu") == 0);
}

static mt_status read_units(mg_labinfo *info, const cJSON *json, const char *path)
{
    const cJSON *units = cJSON_GetObjectItem(json, "units"), *unit;
    cJSON_ArrayForEach(unit, units)
    {
        const char *name = cJSON_GetStringValue(unit);
        if (!name || !is_unit_name(name) || strlen(name) >= sizeof info->unit[0] || info->units == MG_UNITS)
            return mt_fail(MT_ERR_FORMAT, "%s: \"units\" must list at most %d file names such as \"matmul.c\"", path,
                           MG_UNITS);
        strcpy(info->unit[info->units++], name);
    }
    return info->units ? MT_OK : mt_fail(MT_ERR_FORMAT, "%s: no \"units\"", path);
}

static double number(const cJSON *object, const char *name, double otherwise)
{
    double value = mg_json_number(object, name);
    return value > 0 ? value : otherwise;
}

static bool has_cuda(const mg_labinfo *info)
{
    for (int i = 0; i < info->units; i++)
        if (strcmp(strchr(info->unit[i], '.'), ".cu") == 0)
            return true;
    return false;
}

/* The limit counts address space, and the emulator reserves much that it does not use: for its device, and for data
 * about each byte of it. */
enum { EMULATED_MIB = 6144 };

static void read_limits(mg_limits *l, const cJSON *json, bool cuda)
{
    l->cpu_s = number(json, "cpu_s", defaults.cpu_s);
    l->wall_s = number(json, "wall_s", defaults.wall_s);
    l->calls_s = number(json, "calls_s", defaults.calls_s);
    l->memory_mib = (int64_t)number(json, "memory_mib", cuda ? EMULATED_MIB : (double)defaults.memory_mib);
    l->file_mib = (int64_t)number(json, "file_mib", (double)defaults.file_mib);
    l->output_kib = (int64_t)number(json, "output_kib", (double)defaults.output_kib);
    l->processes = (int64_t)number(json, "processes", (double)defaults.processes);
}

mt_status mg_labinfo_read(mg_labinfo *info, const char *root, const char *id)
{
    char path[PATH_MAX];
    *info = (mg_labinfo){ 0 };
    snprintf(info->id, sizeof info->id, "%s", id);
    mg_path(path, "%s/labs/%s/lab.json", root, id);
    cJSON *json = parse(path);
    if (!json)
        return MT_ERR_FORMAT;
    info->json = json;
    const char *title = mg_json_string(json, "title");
    snprintf(info->title, sizeof info->title, "%s", title[0] ? title : id);
    mt_status status = strcmp(mg_json_string(json, "lab"), id) == 0
                           ? read_units(info, json, path)
                           : mt_fail(MT_ERR_FORMAT, "%s: \"lab\" is not \"%s\"", path, id);
    read_limits(&info->limits, cJSON_GetObjectItem(json, "limits"), has_cuda(info));
    if (status != MT_OK)
        mg_labinfo_free(info);
    return status;
}

void mg_labinfo_free(mg_labinfo *info)
{
    cJSON_Delete(info->json);
    info->json = NULL;
}

mt_status mg_labinfo_find(char id[32], const char *root, const char *number_text)
{
    char path[PATH_MAX];
    size_t length = strlen(number_text);
    mt_status status = mt_fail(MT_ERR_ARGUMENT, "no lab \"%s\": see %s/labs", number_text, root);
    mg_path(path, "%s/labs", root);
    DIR *labs = opendir(path);
    if (!labs)
        return mt_fail(MT_ERR_ARGUMENT, "%s: %s (is --root the repository?)", path, strerror(errno));
    for (struct dirent *e; status != MT_OK && (e = readdir(labs));)
        if (length && strlen(e->d_name) < 32 && strncmp(e->d_name, number_text, length) == 0 &&
            (e->d_name[length] == '-' || e->d_name[length] == 0) && isdigit((unsigned char)e->d_name[0])) {
            strcpy(id, e->d_name);
            status = MT_OK;
        }
    closedir(labs);
    return status;
}

void mg_labinfo_expect(mg_labinfo *info, const mg_labinfo *other)
{
    for (int i = 0; i < other->units && info->others < MT_COUNT(info->other); i++)
        memcpy(info->other[info->others++], other->unit[i], sizeof other->unit[i]);
}

bool mg_labinfo_bar(const mg_labinfo *info, const char *bar, const char *field, double *value)
{
    const cJSON *bars = cJSON_GetObjectItem(info->json, "bars");
    double number = mg_json_number(cJSON_GetObjectItem(bars, bar), field);
    if (!isnan(number))
        *value = number;
    return !isnan(number);
}

void mg_labinfo_set_bar(mg_labinfo *info, const char *bar, const char *field, double value)
{
    cJSON *bars = cJSON_GetObjectItem(info->json, "bars");
    cJSON_SetNumberValue(cJSON_GetObjectItem(cJSON_GetObjectItem(bars, bar), field), value);
}

const char *mg_labinfo_needs(const mg_labinfo *info, const char *step)
{
    return mg_json_string(cJSON_GetObjectItem(info->json, "needs"), step);
}

double mg_labinfo_seconds(const mg_labinfo *info, const char *function, double usual)
{
    return number(cJSON_GetObjectItem(info->json, "slow"), function, usual);
}
