/* checkpoint.c -- two lists of named values as the files of a checkpoint; and later checkpoints moved aside. */
#include "ckpt/checkpoint.h"
#include "ckpt/manifest.h"
#include "ckpt/shards.h"
#include "core/io.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MODEL "model"
#define REST  "state"

static void add_texts(mt_state *all, const mt_state *state)
{
    mt_state texts = mt_state_texts(state);
    for (const mt_state_item *i = texts.item; i < texts.item + texts.count; i++)
        mt_state_setting(all, i->name, "%s", i->setting);
    mt_state_free(&texts);
}

/* A complete new folder takes the place of the old one, whose name the new one has afterwards, until that is removed.
 * Where names cannot be exchanged (some network file systems) the old one has to be removed first. */
static mt_status replace(const char *folder, const char *dir, const char *new)
{
    mt_io *io = mt_io_now();
    bool good = io->exchange(io, new, folder) == 0;
    if (!good && (errno == EINVAL || errno == ENOSYS))
        good = mt_checkpoint_remove(folder) == MT_OK && io->rename(io, new, folder) == 0;
    if (!good || io->fsync_dir(io, dir) != 0)
        return mt_fail(MT_ERR_IO, "%s: cannot take the place of the older one: %s", new, strerror(errno));
    return mt_checkpoint_remove(new);
}

static mt_status commit(const char *dir, int64_t step, mt_part *parts, int64_t count)
{
    char folder[MT_PATH_SIZE], new[MT_PATH_SIZE + 4];
    mt_names names;
    mt_checkpoint_path(folder, dir, step);
    if (mt_names_of(&names, folder) != MT_OK)
        return mt_commit(folder, parts, count);
    mt_names_free(&names);
    snprintf(new, sizeof new, "%s.new", folder);
    mt_status status = mt_commit(new, parts, count);
    return status == MT_OK ? replace(folder, dir, new) : status;
}

void mt_checkpoint_mend(const char *dir)
{
    char folder[MT_PATH_SIZE], new[MT_PATH_SIZE + 4];
    mt_io *io = mt_io_now();
    mt_names names = { 0 };
    mt_manifest old;
    if (mt_names_of(&names, dir) != MT_OK)
        return;
    for (int64_t i = 0, step; i < names.count; i++) {
        int end = 0;
        if (sscanf(names.name[i], "step-%" SCNd64 ".new%n", &step, &end) != 1 || !end || names.name[i][end])
            continue;
        mt_checkpoint_path(folder, dir, step);
        snprintf(new, sizeof new, "%s.new", folder);
        if (mt_manifest_read(&old, folder) == MT_OK)
            mt_manifest_free(&old);
        else
            mt_checkpoint_remove(folder);
        if (io->rename(io, new, folder) != 0)
            mt_checkpoint_remove(new);
    }
    mt_names_free(&names);
}

mt_status mt_checkpoint_save(const char *dir, int64_t step, const mt_state *model, const mt_state *rest,
                             int64_t shard_bytes)
{
    mt_shards a = mt_shards_of(model, MODEL, shard_bytes), b = mt_shards_of(rest, REST, shard_bytes);
    int64_t files = a.count + 1 + b.count + 1;
    mt_part *parts = mt_calloc(files + 1, sizeof *parts);
    mt_manifest manifest = { .step = step, .file = parts, .files = files };
    add_texts(&manifest.values, model);
    add_texts(&manifest.values, rest);
    mt_shards_parts(parts, &a);
    mt_shards_parts(parts + a.count + 1, &b);
    parts[files] = (mt_part){ .name = MT_MANIFEST, .put = mt_manifest_put, .user = &manifest };
    mt_status status = commit(dir, step, parts, files + 1);
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
    mt_status status = MT_OK;
    MT_TRY(mt_manifest_read(&manifest, folder));
    for (int dry = 1; dry >= 0; dry--) {
        status = status == MT_OK ? load_texts(&manifest, folder, model, dry) : status;
        status = status == MT_OK ? load_texts(&manifest, folder, rest, dry) : status;
        status = status == MT_OK ? mt_shards_load(folder, MODEL, model, dry) : status;
        status = status == MT_OK ? mt_shards_load(folder, REST, rest, dry) : status;
    }
    mt_manifest_free(&manifest);
    return status;
}

mt_status mt_checkpoint_text(char *text, int64_t size, const char *dir, int64_t step, const char *name)
{
    char folder[MT_PATH_SIZE];
    mt_manifest manifest;
    mt_checkpoint_path(folder, dir, step);
    MT_TRY(mt_manifest_read(&manifest, folder));
    const mt_state_item *item = mt_state_find(&manifest.values, name);
    if (item)
        snprintf(text, (size_t)size, "%s", item->setting);
    mt_manifest_free(&manifest);
    return item ? MT_OK : mt_fail(MT_ERR_FORMAT, "%s: there is no %s", folder, name);
}

/* ---- a run that goes back to an earlier one -------------------------------------------------------------- */

/* A new folder DIR/aside-N. */
static mt_status make_folder(char *out, const char *dir)
{
    mt_io *io = mt_io_now();
    for (int n = 1;; n++) {
        MT_CHECK(snprintf(out, MT_PATH_SIZE, "%s/aside-%d", dir, n) < MT_PATH_SIZE, "%.100s...: too long a path", dir);
        if (io->mkdir(io, out) == 0)
            return MT_OK;
        if (errno != EEXIST)
            return mt_fail(MT_ERR_IO, "%s: %s", out, strerror(errno));
    }
}

static mt_status copy_file(const char *to_folder, const char *dir, const char *name)
{
    char from[MT_PATH_SIZE + 256], to[MT_PATH_SIZE + 256];
    mt_file_map file;
    mt_file_writer copy;
    snprintf(from, sizeof from, "%s/%s", dir, name);
    snprintf(to, sizeof to, "%s/%s", to_folder, name);
    if (mt_file_map_open(&file, from) != MT_OK)
        return MT_OK; /* there is none */
    mt_status status = mt_file_writer_open(&copy, to);
    if (status == MT_OK) {
        fwrite(file.bytes, 1, (size_t)file.size, copy.out);
        status = mt_file_writer_close(&copy);
    }
    mt_file_map_close(&file);
    return status;
}

static mt_status move(const char *to_folder, const char *dir, int64_t step)
{
    char from[MT_PATH_SIZE], to[MT_PATH_SIZE];
    mt_io *io = mt_io_now();
    mt_checkpoint_path(from, dir, step);
    mt_checkpoint_path(to, to_folder, step);
    if (io->rename(io, from, to) != 0)
        return mt_fail(MT_ERR_IO, "%s cannot be moved to %s: %s", from, to, strerror(errno));
    return MT_OK;
}

mt_status mt_checkpoint_aside(char *out, const char *dir, int64_t step, const char *const *files)
{
    int64_t *steps = NULL, count = 0;
    mt_io *io = mt_io_now();
    *out = 0;
    MT_TRY(mt_checkpoint_steps(&steps, &count, dir)); /* newest first */
    mt_status status = count > 0 && steps[0] > step ? make_folder(out, dir) : MT_OK;
    for (; *out && *files && status == MT_OK; files++)
        status = copy_file(out, dir, *files);
    for (int64_t i = 0; i < count && steps[i] > step && status == MT_OK; i++)
        status = move(out, dir, steps[i]);
    if (*out && status == MT_OK && (io->fsync_dir(io, out) != 0 || io->fsync_dir(io, dir) != 0))
        status = mt_fail(MT_ERR_IO, "%s: %s", out, strerror(errno));
    free(steps);
    return status;
}
