/* recover.c -- what is left after a crash: the newest checkpoint of which every byte is right. */
#include "ckpt/checkpoint.h"
#include "ckpt/crc32c.h"
#include "core/io.h"

#include <inttypes.h>
#include <stdlib.h>

/* Whether FOLDER has this file of the manifest. */
static mt_status check_file(const char *folder, const mt_part *want)
{
    char path[MT_PATH_SIZE + MT_PART_NAME];
    mt_file_map file;
    snprintf(path, sizeof path, "%s/%s", folder, want->name);
    mt_status status = mt_file_map_open(&file, path);
    if (status != MT_OK)
        return status;
    /* LAB 12.4 BEGIN  Its size first, which costs nothing; then its sum.
     * Hint: the contents are file.bytes and file.size; fail with MT_ERR_FORMAT and a message that begins with path and
     * says which of the two is wrong; for the size, with both numbers. The file is closed below. */
    if (file.size != want->bytes)
        status = mt_fail(MT_ERR_FORMAT, "%s: %" PRId64 " bytes, not %" PRId64, path, file.size, want->bytes);
    else if (mt_crc32c(0, file.bytes, file.size) != want->crc32c)
        status = mt_fail(MT_ERR_FORMAT, "%s: damaged: its checksum is not that of the manifest", path);
    /* LAB 12.4 END */
    mt_file_map_close(&file);
    return status;
}

mt_status mt_checkpoint_check(const char *dir, int64_t step)
{
    char folder[MT_PATH_SIZE];
    mt_manifest manifest;
    mt_checkpoint_path(folder, dir, step);
    mt_status status = mt_manifest_read(&manifest, folder);
    if (status != MT_OK)
        return status;
    /* LAB 12.4 BEGIN  Its step, then all its files; the first error ends it. */
    if (manifest.step != step)
        status = mt_fail(MT_ERR_FORMAT, "%s: its manifest is that of step %" PRId64, folder, manifest.step);
    for (int64_t i = 0; i < manifest.files && status == MT_OK; i++)
        status = check_file(folder, &manifest.file[i]);
    /* LAB 12.4 END */
    mt_manifest_free(&manifest);
    return status;
}

static void warn(void *user, int64_t step, const char *why)
{
    (void)user;
    mt_warn("the checkpoint of step %" PRId64 " is skipped: %s", step, why);
}

mt_status mt_recover(int64_t *step, const char *dir, mt_skipped skipped, void *user)
{
    int64_t *steps, count;
    mt_status status = mt_checkpoint_steps(&steps, &count, dir); /* newest first */
    if (status != MT_OK)
        return status;
    skipped = skipped ? skipped : warn;
    status = count == 0 ? mt_fail(MT_ERR_IO, "%s: there is no checkpoint", dir)
                        : mt_fail(MT_ERR_FORMAT, "%s: none of its checkpoints is valid", dir);
    /* LAB 12.4 BEGIN  From the newest on, up to the first that is valid.
     * Hint: mt_last_error() has the reason why a checkpoint is not valid. */
    for (int64_t i = 0; i < count; i++) {
        if (mt_checkpoint_check(dir, steps[i]) == MT_OK) {
            *step = steps[i];
            status = MT_OK;
            break;
        }
        skipped(user, steps[i], mt_last_error());
    }
    /* LAB 12.4 END */
    free(steps);
    return status != MT_ERR_FORMAT ? status : mt_fail(status, "%s: none of its checkpoints is valid", dir);
}
