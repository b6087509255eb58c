/* checkpoint.c -- two lists of named values as the files of a checkpoint. */
#include "ckpt/checkpoint.h"
#include "ckpt/manifest.h"
#include "ckpt/shards.h"

#include <stdlib.h>

#define MODEL "model"
#define REST  "state"

static void add_texts(mt_state *all, const mt_state *state)
{
    mt_state texts = mt_state_texts(state);
    for (const mt_state_item *i = texts.item; i < texts.item + texts.count; i++)
        mt_state_setting(all, i->name, "%s", i->setting);
    mt_state_free(&texts);
}

mt_status mt_checkpoint_save(const char *dir, int64_t step, const mt_state *model, const mt_state *rest,
                             int64_t shard_bytes)
{
    char folder[MT_PATH_SIZE];
    mt_shards a = mt_shards_of(model, MODEL, shard_bytes), b = mt_shards_of(rest, REST, shard_bytes);
    int64_t files = a.count + 1 + b.count + 1;
    mt_part *parts = calloc((size_t)files + 1, sizeof *parts);
    MT_CHECK(parts, "out of memory");
    mt_manifest manifest = { .step = step, .file = parts, .files = files };
    add_texts(&manifest.values, model);
    add_texts(&manifest.values, rest);
    mt_shards_parts(parts, &a);
    mt_shards_parts(parts + a.count + 1, &b);
    parts[files] = (mt_part){ .name = MT_MANIFEST, .put = mt_manifest_put, .user = &manifest };
    mt_checkpoint_path(folder, dir, step);
    mt_status status = mt_commit(folder, parts, files + 1);
    mt_state_free(&manifest.values);
    free(parts);
    mt_shards_free(&a);
    mt_shards_free(&b);
    return status;
}

static mt_status load_texts(const mt_manifest *m, const char *folder, const mt_state *state, bool dry)
{
    mt_status status = MT_OK;
    for (const mt_state_item *i = state->item; i < state->item + state->count && status == MT_OK; i++) {
        const mt_state_item *have = i->tensor ? NULL : mt_state_find(&m->values, i->name);
        if (!i->tensor)
            status = mt_state_read(i, have ? have->setting : NULL, folder, dry);
    }
    return status;
}

mt_status mt_checkpoint_load(const char *dir, int64_t step, const mt_state *model, const mt_state *rest)
{
    char folder[MT_PATH_SIZE];
    mt_manifest manifest;
    mt_checkpoint_path(folder, dir, step);
    mt_status status = mt_manifest_read(&manifest, folder);
    if (status != MT_OK)
        return status;
    for (int dry = 1; dry >= 0; dry--) {
        status = status == MT_OK ? load_texts(&manifest, folder, model, dry) : status;
        status = status == MT_OK ? load_texts(&manifest, folder, rest, dry) : status;
        status = status == MT_OK ? mt_shards_load(folder, MODEL, model, dry) : status;
        status = status == MT_OK ? mt_shards_load(folder, REST, rest, dry) : status;
    }
    mt_manifest_free(&manifest);
    return status;
}
