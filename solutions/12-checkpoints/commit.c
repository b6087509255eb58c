/* commit.c -- a file, and a folder of files, that a power cut leaves whole or not at all. */
#include "ckpt/commit.h"
#include "ckpt/checkpoint.h"
#include "core/io.h"

#include <errno.h>
#include <string.h>

mt_status mt_commit_file(const char *folder, mt_part *part)
{
    char path[MT_PATH_SIZE + MT_PART_NAME];
    mt_io *io = mt_io_now();
    mt_file_writer file;
    bool good = false;
    snprintf(path, sizeof path, "%s/%s", folder, part->name);
    mt_status status = mt_file_writer_open(&file, path);
    if (status != MT_OK)
        return status;
    part->out = file.out;
    part->bytes = part->crc32c = 0;
    part->put(part, part->user);
    /* LAB 12.3 BEGIN  The bytes are on the disk before their name is, and the name before this returns.
     * Hint: mt_file_writer_flush gives the bytes to the operating system, in a file named file.temp. The others are
     * calls of io (core/io.h): fsync of file.fd, rename, fsync_dir. `good` says that none has failed; after one that
     * has, no other may follow. */
    good = mt_file_writer_flush(&file) && io->fsync(io, file.fd) == 0 && io->rename(io, file.temp, path) == 0 &&
           io->fsync_dir(io, folder) == 0;
    /* LAB 12.3 END */
    return mt_file_writer_end(&file, good);
}

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
    /* LAB 12.3 BEGIN  The manifest, durably; then all other files, then the folder.
     * Hint: io->remove removes a path. If there is no manifest (errno is ENOENT), that is not a failure. What may a
     * power cut leave of several removals? `good` becomes false where a call fails, and no other call follows it. */
    snprintf(path, sizeof path, "%s/" MT_MANIFEST, folder);
    good = (io->remove(io, path) == 0 || errno == ENOENT) && io->fsync_dir(io, folder) == 0;
    for (int64_t i = 0; i < names.count && good; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names.name[i]);
        good = strcmp(names.name[i], MT_MANIFEST) == 0 || io->remove(io, path) == 0;
    }
    good = good && io->remove(io, folder) == 0;
    /* LAB 12.3 END */
    mt_names_free(&names);
    return good ? MT_OK : mt_fail(MT_ERR_IO, "%s: cannot be removed: %s", folder, strerror(errno));
}

/* "runs" for "runs/step-5". */
static void parent_of(char *out, const char *folder)
{
    const char *slash = strrchr(folder, '/');
    snprintf(out, MT_PATH_SIZE, "%.*s", slash ? (int)mt_max(slash - folder, 1) : 1, slash ? folder : ".");
}

mt_status mt_commit(const char *folder, mt_part *parts, int64_t count)
{
    char parent[MT_PATH_SIZE];
    mt_io *io = mt_io_now();
    parent_of(parent, folder);
    mt_status status = mt_checkpoint_remove(folder);
    if (status != MT_OK)
        return status;
    /* LAB 12.3 BEGIN  The folder, durably; then its files in order, and no other after one that failed.
     * Hint: the folder is an entry of its parent. A call that fails makes the status MT_ERR_IO, with a message of the
     * folder and the reason (errno). */
    if (io->mkdir(io, folder) != 0 || io->fsync_dir(io, parent) != 0)
        status = mt_fail(MT_ERR_IO, "%s: %s", folder, strerror(errno));
    for (int64_t i = 0; i < count && status == MT_OK; i++)
        status = mt_commit_file(folder, &parts[i]);
    /* LAB 12.3 END */
    if (status != MT_OK) { /* the disk may be full: the space is needed */
        char why[1024];
        snprintf(why, sizeof why, "%s", mt_last_error());
        mt_checkpoint_remove(folder);
        mt_fail(status, "%s", why);
    }
    return status;
}
