/* shard_files.c -- the files of a list of tensors, and their index: written, and read from any writer. */
#include "ckpt/manifest.h"
#include "ckpt/safetensors.h"
#include "ckpt/shards.h"
#include "core/io.h"

#include <cjson/cJSON.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- writing --------------------------------------------------------------------------------------------- */

mt_shards mt_shards_of(const mt_state *state, const char *stem, int64_t limit)
{
    mt_shards s = { .stem = stem, .state = state };
    s.begin = mt_calloc(state->count + 2, sizeof *s.begin);
    s.count = mt_shards_plan(s.begin, state, limit);
    s.part = mt_calloc(s.count, sizeof *s.part);
    for (int64_t i = 0; i < s.count; i++)
        s.part[i] = (mt_state){ state->item + s.begin[i], s.begin[i + 1] - s.begin[i] };
    return s;
}

void mt_shards_free(mt_shards *shards)
{
    free(shards->begin);
    free(shards->part);
    *shards = (mt_shards){ 0 };
}

static void put_bytes(void *part, const void *data, int64_t bytes)
{
    mt_part_put(part, data, bytes);
}

static void put_tensors(mt_part *part, const void *state)
{
    mt_safetensors_emit(state, put_bytes, part);
}

static void put_index(mt_part *part, const void *user)
{
    const mt_shards *s = user;
    char file[MT_PART_NAME];
    cJSON *json = cJSON_CreateObject(), *metadata = cJSON_AddObjectToObject(json, "metadata");
    cJSON *map = cJSON_AddObjectToObject(json, "weight_map");
    int64_t bytes = 0;
    for (int64_t k = 0; k < s->count; k++) {
        mt_shards_name(file, s->stem, k, s->count);
        for (const mt_state_item *i = s->part[k].item; i < s->part[k].item + s->part[k].count; i++)
            if (i->tensor) {
                bytes += mt_numel(i->tensor) * mt_dtype_size(i->tensor->dtype);
                cJSON_AddStringToObject(map, i->name, file);
            }
    }
    cJSON_AddNumberToObject(metadata, "total_size", (double)bytes);
    char *text = cJSON_PrintUnformatted(json);
    MT_CHECK(text, "out of memory");
    mt_part_put(part, text, (int64_t)strlen(text));
    cJSON_free(text);
    cJSON_Delete(json);
}

static void index_name(char *out, const char *stem)
{
    snprintf(out, MT_PART_NAME, "%s.safetensors.index.json", stem);
}

void mt_shards_parts(mt_part *parts, const mt_shards *s)
{
    for (int64_t k = 0; k < s->count; k++) {
        parts[k] = (mt_part){ .put = put_tensors, .user = &s->part[k] };
        mt_shards_name(parts[k].name, s->stem, k, s->count);
    }
    parts[s->count] = (mt_part){ .put = put_index, .user = s };
    index_name(parts[s->count].name, s->stem);
}

/* ---- reading --------------------------------------------------------------------------------------------- */

/* One of the files that an index names. */
typedef struct shard {
    const char *name; /* lent by the index */
    mt_safetensors *file;
    mt_state wanted; /* items of the list that are in it; the array is ours, the items borrowed */
    int64_t mapped;  /* tensors of the index that are in it */
} shard;

typedef struct opened {
    char path[MT_PATH_SIZE + MT_PART_NAME]; /* of the index */
    cJSON *json;
    const cJSON *map;
    shard *shard;
    int64_t count;
} opened;

static void close_all(opened *o)
{
    for (shard *s = o->shard; s < o->shard + o->count; s++) {
        mt_safetensors_close(s->file);
        free(s->wanted.item);
    }
    free(o->shard);
    cJSON_Delete(o->json);
}

static mt_status read_index(opened *o)
{
    mt_file_map file;
    MT_TRY(mt_file_map_open(&file, o->path));
    o->json = mt_json_parse((const char *)file.bytes, file.size);
    o->map = cJSON_GetObjectItemCaseSensitive(o->json, "weight_map");
    mt_file_map_close(&file);
    return cJSON_IsObject(o->map) ? MT_OK : mt_fail(MT_ERR_FORMAT, "%s: it is not JSON with a weight_map", o->path);
}

/* The shard of this name, opened when it is new. */
static mt_status shard_of(shard **out, opened *o, const char *folder, const char *name)
{
    char path[MT_PATH_SIZE + MT_PART_NAME];
    for (*out = o->shard; *out < o->shard + o->count; ++*out)
        if (strcmp((*out)->name, name) == 0)
            return MT_OK;
    if (!mt_part_name_ok(name))
        return mt_fail(MT_ERR_FORMAT, "%s: \"%.80s\" is not a plain file name", o->path, name);
    o->shard = mt_realloc(o->shard, o->count + 1, sizeof *o->shard);
    *out = &o->shard[o->count];
    **out = (shard){ .name = name };
    snprintf(path, sizeof path, "%s/%s", folder, name);
    mt_status status = mt_safetensors_open(&(*out)->file, path);
    o->count += status == MT_OK;
    return status;
}

/* Index and files name the same tensors: each is in the file that the index says, and no file has others. */
static mt_status open_shards(opened *o, const char *folder)
{
    shard *s;
    for (const cJSON *item = o->map->child; item; item = item->next) {
        if (!cJSON_IsString(item))
            return mt_fail(MT_ERR_FORMAT, "%s: %.80s has no file", o->path, item->string);
        MT_TRY(shard_of(&s, o, folder, item->valuestring));
        if (!mt_safetensors_has(s->file, item->string))
            return mt_fail(MT_ERR_FORMAT, "%s: %.80s is not in %s", o->path, item->string, s->name);
        s->mapped++;
    }
    for (s = o->shard; s < o->shard + o->count; s++)
        if (s->mapped != mt_safetensors_count(s->file))
            return mt_fail(MT_ERR_FORMAT, "%s: %s has %" PRId64 " tensors, the index %" PRId64 " of it", o->path,
                           s->name, mt_safetensors_count(s->file), s->mapped);
    return MT_OK;
}

static mt_status want(opened *o, const mt_state_item *item)
{
    for (shard *s = o->shard; s < o->shard + o->count; s++)
        if (mt_safetensors_has(s->file, item->name)) {
            s->wanted.item = mt_realloc(s->wanted.item, s->wanted.count + 1, sizeof *item);
            s->wanted.item[s->wanted.count++] = *item;
            return MT_OK;
        }
    return mt_fail(MT_ERR_FORMAT, "%s: there is no %s", o->path, item->name);
}

mt_status mt_shards_load(const char *folder, const char *stem, const mt_state *state, bool dry)
{
    opened o = { 0 };
    char name[MT_PART_NAME];
    index_name(name, stem);
    snprintf(o.path, sizeof o.path, "%s/%s", folder, name);
    mt_status status = read_index(&o);
    if (status == MT_OK)
        status = open_shards(&o, folder);
    for (const mt_state_item *i = state->item; i < state->item + state->count && status == MT_OK; i++)
        if (i->tensor)
            status = want(&o, i);
    for (shard *s = o.shard; s < o.shard + o.count && status == MT_OK; s++)
        status = mt_safetensors_check(s->file, &s->wanted, "");
    for (shard *s = o.shard; s < o.shard + o.count && status == MT_OK && !dry; s++)
        status = mt_safetensors_load(s->file, &s->wanted, "");
    close_all(&o);
    return status;
}
