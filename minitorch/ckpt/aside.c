/* aside.c -- moves later checkpoints aside; see checkpoint.h. */
#include "ckpt/checkpoint.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

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
