/* manifest.c -- manifest.json as text and back; every field is checked, as another program may have written it. */
#include "ckpt/manifest.h"
#include "ckpt/crc32c.h"
#include "ckpt/values.h"
#include "core/io.h"

#include <cjson/cJSON.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define START  "{\"crc32c\":\""
#define FORMAT "minitorch checkpoint 1"
enum { DIGITS = 8, FILES_MOST = 10000, BYTES_MOST = 1 << 26 };

/* ---- writing --------------------------------------------------------------------------------------------- */

static void add_sum(cJSON *object, uint32_t crc)
{
    char digits[DIGITS + 1];
    snprintf(digits, sizeof digits, "%08" PRIx32, crc);
    cJSON_AddStringToObject(object, "crc32c", digits);
}

void mt_manifest_put(mt_part *part, const void *manifest)
{
    const mt_manifest *m = manifest;
    cJSON *json = cJSON_CreateObject();
    add_sum(json, 0);
    cJSON_AddStringToObject(json, "format", FORMAT);
    cJSON_AddNumberToObject(json, "step", (double)m->step);
    cJSON *values = cJSON_AddObjectToObject(json, "values"), *files = cJSON_AddArrayToObject(json, "files");
    for (const mt_state_item *i = m->values.item; i < m->values.item + m->values.count; i++)
        cJSON_AddStringToObject(values, i->name, i->setting);
    for (const mt_part *f = m->file; f < m->file + m->files; f++) {
        cJSON *file = cJSON_CreateObject();
        cJSON_AddStringToObject(file, "name", f->name);
        cJSON_AddNumberToObject(file, "bytes", (double)f->bytes);
        add_sum(file, f->crc32c);
        cJSON_AddItemToArray(files, file);
    }
    char *text = cJSON_PrintUnformatted(json);
    MT_CHECK(text, "out of memory");
    char digits[DIGITS + 1];
    int64_t size = (int64_t)strlen(text);
    snprintf(digits, sizeof digits, "%08" PRIx32, mt_crc32c(0, text, size));
    memcpy(text + strlen(START), digits, DIGITS);
    mt_part_put(part, text, size);
    cJSON_free(text);
    cJSON_Delete(json);
}

/* ---- reading --------------------------------------------------------------------------------------------- */

static bool sum_is_right(const mt_file_map *map)
{
    char digits[DIGITS + 1];
    int64_t at = (int64_t)strlen(START), after = at + DIGITS;
    if (map->size < after || memcmp(map->bytes, START, (size_t)at) != 0)
        return false;
    uint32_t crc = mt_crc32c(mt_crc32c(0, map->bytes, at), "00000000", DIGITS);
    snprintf(digits, sizeof digits, "%08" PRIx32, mt_crc32c(crc, map->bytes + after, map->size - after));
    return memcmp(digits, map->bytes + at, DIGITS) == 0;
}

static bool read_file(mt_part *out, const cJSON *json)
{
    const char *name = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, "name"));
    const char *sum = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, "crc32c"));
    if (!name || !mt_part_name_ok(name) || !sum || strlen(sum) != DIGITS || strspn(sum, "0123456789abcdef") != DIGITS)
        return false;
    *out = (mt_part){ .bytes = mt_json_whole(cJSON_GetObjectItemCaseSensitive(json, "bytes")),
                      .crc32c = (uint32_t)strtoul(sum, NULL, 16) };
    strcpy(out->name, name);
    return out->bytes >= 0;
}

static bool same_name(const mt_manifest *m, const char *name)
{
    for (const mt_part *f = m->file; f < m->file + m->files; f++)
        if (strcmp(f->name, name) == 0)
            return true;
    return false;
}

static mt_status fill(mt_manifest *m, const cJSON *json, const char *path)
{
    const cJSON *format = cJSON_GetObjectItemCaseSensitive(json, "format"), *item;
    const cJSON *values = cJSON_GetObjectItemCaseSensitive(json, "values");
    const cJSON *files = cJSON_GetObjectItemCaseSensitive(json, "files");
    m->step = mt_json_whole(cJSON_GetObjectItemCaseSensitive(json, "step"));
    if (!cJSON_IsString(format) || strcmp(format->valuestring, FORMAT) != 0)
        return mt_fail(MT_ERR_FORMAT, "%s: not the manifest of a checkpoint that this minitorch reads", path);
    if (m->step < 0 || !cJSON_IsObject(values) || !cJSON_IsArray(files) || cJSON_GetArraySize(files) > FILES_MOST)
        return mt_fail(MT_ERR_FORMAT, "%s: it needs a step, values and at most %d files", path, FILES_MOST);
    cJSON_ArrayForEach(item, values)
    {
        if (!cJSON_IsString(item) || strlen(item->string) >= MT_STATE_NAME)
            return mt_fail(MT_ERR_FORMAT, "%s: the value of %.50s is not text, or its name is too long", path,
                           item->string);
        mt_state_setting(&m->values, item->string, "%s", item->valuestring);
    }
    m->file = mt_calloc(cJSON_GetArraySize(files) + 1, sizeof *m->file);
    cJSON_ArrayForEach(item, files)
    {
        mt_part file;
        if (!read_file(&file, item))
            return mt_fail(MT_ERR_FORMAT, "%s: file %" PRId64 " needs a plain name, its bytes and a CRC-32C", path,
                           m->files);
        if (same_name(m, file.name))
            return mt_fail(MT_ERR_FORMAT, "%s: %s is there twice", path, file.name);
        m->file[m->files++] = file;
    }
    return MT_OK;
}

static mt_status parse(mt_manifest *m, const mt_file_map *map)
{
    if (map->size == 0 || map->size > BYTES_MOST || !sum_is_right(map))
        return mt_fail(MT_ERR_FORMAT, "%s: damaged: its checksum is not that of its contents", map->path);
    bool padded = map->bytes[map->size - 1] <= ' ';
    cJSON *json = padded ? NULL : mt_json_parse((const char *)map->bytes, map->size);
    mt_status status = json ? fill(m, json, map->path) : mt_fail(MT_ERR_FORMAT, "%s: it is not JSON", map->path);
    cJSON_Delete(json);
    return status;
}

mt_status mt_manifest_read(mt_manifest *out, const char *folder)
{
    char path[MT_PATH_SIZE + MT_PART_NAME];
    mt_file_map map;
    mt_manifest m = { 0 };
    snprintf(path, sizeof path, "%s/" MT_MANIFEST, folder);
    MT_TRY(mt_file_map_open(&map, path));
    mt_status status = parse(&m, &map);
    mt_file_map_close(&map);
    if (status == MT_OK)
        *out = m;
    else
        mt_manifest_free(&m);
    return status;
}

void mt_manifest_free(mt_manifest *m)
{
    mt_state_free(&m->values);
    free(m->file);
    *m = (mt_manifest){ 0 };
}
