/* hostile.h -- any bytes as a manifest, as a shard, or as the index of shards:
 * read, and what was accepted is as the contracts say. Shared by test_hostile.c
 * and the fuzzer (fuzz.sh). Files are on a simulated disk, whose maps have
 * exactly their bytes, so that ASan notices a read beyond them. */
#pragma once

#include "ckpt/checkpoint.h"
#include "ckpt/crc32c.h"
#include "ckpt/safetensors.h"
#include "ckpt/shards.h"
#include "testing/disk_sim.h"

#include <stdlib.h>
#include <string.h>

#define HOSTILE_DIR   "/step-1"
#define HOSTILE_SHARD "model-00001-of-00001.safetensors"

/* A list that a file may or may not have: of the types and shapes of what
 * training saves. */
static inline mt_state hostile_state(void)
{
    mt_state state = { 0 };
    static const mt_dtype types[] = { MT_F32, MT_F16, MT_I64 };
    for (int i = 0; i < 3; i++) {
        mt_tensor *t = mt_zeros(MT_SHAPE(2), types[i], MT_CPU);
        mt_state_tensor(&state, t, "%c", 'a' + i);
        mt_release(t);
    }
    return state;
}

/* Its own checksum, where a manifest has one: otherwise the parser would see no
 * input but ours. */
static inline void hostile_sum(uint8_t *text, int64_t size)
{
    char digits[9];
    const int64_t at = (int64_t)strlen("{\"crc32c\":\"");
    if (size < at + 8 || memcmp(text, "{\"crc32c\":\"", (size_t)at) != 0)
        return;
    memset(text + at, '0', 8);
    snprintf(digits, sizeof digits, "%08x", mt_crc32c(0, text, size));
    memcpy(text + at, digits, 8);
}

static inline void hostile_manifest(mt_io *disk, uint8_t *text, int64_t size)
{
    mt_manifest m;
    int64_t step = -1;
    hostile_sum(text, size);
    mt_disk_sim_put(disk, HOSTILE_DIR "/" MT_MANIFEST, text, size);
    if (mt_manifest_read(&m, HOSTILE_DIR) == MT_OK) {
        MT_CHECK(m.step >= 0, "step %lld", (long long)m.step);
        for (int64_t i = 0; i < m.files; i++) {
            MT_CHECK(mt_part_name_ok(m.file[i].name) && !strchr(m.file[i].name, '/'), "a name that is a path");
            MT_CHECK(m.file[i].bytes >= 0, "a size below 0");
            for (int64_t k = 0; k < i; k++)
                MT_CHECK(strcmp(m.file[i].name, m.file[k].name) != 0, "a name that is there twice");
        }
        mt_manifest_free(&m);
    }
    if (mt_recover(&step, "/", NULL, NULL) == MT_OK)
        MT_CHECK(step == 1, "another step");
}

static inline void hostile_load(mt_io *disk)
{
    (void)disk;
    mt_state state = hostile_state();
    mt_status status = mt_shards_load(HOSTILE_DIR, "model", &state, false);
    for (int64_t i = 0; i < state.count && status != MT_OK; i++)
        for (int64_t k = 0; k < mt_numel(state.item[i].tensor) * mt_dtype_size(state.item[i].tensor->dtype); k++)
            MT_CHECK(((uint8_t *)mt_data(state.item[i].tensor))[k] == 0, "changed although the load failed");
    mt_state_free(&state);
}

static inline void hostile_shard(mt_io *disk, const uint8_t *bytes, int64_t size)
{
    static const char index[] =
        "{\"weight_map\":{\"a\":\"" HOSTILE_SHARD "\",\"b\":\"" HOSTILE_SHARD "\",\"c\":\"" HOSTILE_SHARD "\"}}";
    mt_safetensors *file;
    mt_disk_sim_put(disk, HOSTILE_DIR "/" HOSTILE_SHARD, bytes, size);
    mt_disk_sim_put(disk, HOSTILE_DIR "/model.safetensors.index.json", index, sizeof index - 1);
    if (mt_safetensors_open(&file, HOSTILE_DIR "/" HOSTILE_SHARD) == MT_OK) {
        mt_state state = hostile_state();
        mt_safetensors_load(file, &state, "");
        mt_safetensors_stored(file, &state, "p.");
        mt_state_free(&state);
        mt_safetensors_close(file);
    }
    hostile_load(disk);
}

static inline void hostile_index(mt_io *disk, const uint8_t *bytes, int64_t size)
{
    mt_state state = hostile_state();
    mt_shards shards = mt_shards_of(&state, "model", 1 << 20);
    mt_part parts[2];
    mt_shards_parts(parts, &shards);
    MT_CHECK(mt_commit_file(HOSTILE_DIR, &parts[0]) == MT_OK, "%s", mt_last_error());
    mt_shards_free(&shards);
    mt_state_free(&state);
    mt_disk_sim_put(disk, HOSTILE_DIR "/model.safetensors.index.json", bytes, size);
    hostile_load(disk);
}

/* hostile -- the first byte says what the others are: 'm', 's', 'i'. */
static inline void hostile(const uint8_t *data, int64_t size)
{
    if (size < 1)
        return;
    uint8_t *copy = malloc((size_t)size);
    MT_CHECK(copy, "out of memory");
    memcpy(copy, data + 1, (size_t)size - 1);
    mt_io *disk = mt_disk_sim_new();
    mt_io_use(disk);
    disk->mkdir(disk, HOSTILE_DIR);
    if (data[0] == 'm')
        hostile_manifest(disk, copy, size - 1);
    else if (data[0] == 'i')
        hostile_index(disk, copy, size - 1);
    else
        hostile_shard(disk, copy, size - 1);
    mt_io_use(NULL);
    mt_disk_sim_free(disk);
    free(copy);
}
