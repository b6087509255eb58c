/* retain.c -- old checkpoints are removed, but never the last that a run could continue from. */
#include "ckpt/retain.h"
#include "ckpt/names.h"
#include "ckpt/recover.h"
#include "core/io.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

mt_status mt_checkpoint_remove(const char *folder)
{
    char path[MT_PATH_SIZE + 256];
    mt_io *io = mt_io_now();
    mt_names names;
    if (io->remove(io, folder) == 0 || errno == ENOENT) /* empty, or a link to a folder: what is in that is not ours */
        return MT_OK;
    if (errno != ENOTEMPTY && errno != EEXIST)
        return mt_fail(MT_ERR_IO, "%s: cannot be removed: %s", folder, strerror(errno));
    if (mt_names_of(&names, folder) != MT_OK)
        return MT_ERR_IO;
    bool good = true;
    /* LAB 12.5 BEGIN  The manifest, durably; then all other files, then the folder.
     * Hint: io->remove(io, path). That there is no manifest (errno is ENOENT) is no failure. Without io->fsync_dir
     * after the manifest, a power cut may leave it, and not the files. `good` becomes false where a call fails. */
    snprintf(path, sizeof path, "%s/" MT_MANIFEST, folder);
    good = (io->remove(io, path) == 0 || errno == ENOENT) && io->fsync_dir(io, folder) == 0;
    for (int64_t i = 0; i < names.count && good; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names.name[i]);
        good = strcmp(names.name[i], MT_MANIFEST) == 0 || io->remove(io, path) == 0;
    }
    good = good && io->remove(io, folder) == 0;
    /* LAB 12.5 END */
    mt_names_free(&names);
    return good ? MT_OK : mt_fail(MT_ERR_IO, "%s: cannot be removed: %s", folder, strerror(errno));
}

bool mt_keeps(const mt_keep *keep, const int64_t *steps, int64_t i)
{
    /* LAB 12.5 BEGIN  One of the newest, one of every so many steps, or the best. */
    return keep->last == 0 || i < keep->last || (keep->every && steps[i] % keep->every == 0) || steps[i] == keep->best;
    /* LAB 12.5 END */
}

mt_status mt_checkpoint_prune(const char *dir, const mt_keep *keep)
{
    char folder[MT_PATH_SIZE];
    int64_t *steps, count, spared = -1;
    mt_status status = mt_checkpoint_steps(&steps, &count, dir); /* newest first */
    if (status != MT_OK)
        return status;
    /* LAB 12.5 BEGIN  The one that is spared even if it is not kept: the newest valid one (mt_checkpoint_check).
     * Hint: newer ones that are invalid may take its place among the last that are kept. */
    for (int64_t i = 0; i < count && spared < 0; i++)
        if (mt_checkpoint_check(dir, steps[i]) == MT_OK)
            spared = steps[i];
    /* LAB 12.5 END */
    for (int64_t i = count - 1; i >= 0; i--) {
        mt_checkpoint_path(folder, dir, steps[i]);
        if (!mt_keeps(keep, steps, i) && steps[i] != spared && mt_checkpoint_remove(folder) != MT_OK)
            status = MT_ERR_IO;
    }
    free(steps);
    return status;
}
