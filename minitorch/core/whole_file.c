/* whole_file.c -- written under another name, flushed, then renamed. */
#include "core/whole_file.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

mt_status mt_whole_open(mt_whole_file *file, const char *path)
{
    file->path = path;
    if (snprintf(file->temp, sizeof file->temp, "%s.%d.tmp", path, (int)getpid()) >= (int)sizeof file->temp)
        return mt_fail(MT_ERR_ARGUMENT, "%.200s...: the path is too long", path);
    file->out = fopen(file->temp, "wbe");
    if (!file->out)
        return mt_fail(MT_ERR_IO, "%s: %s", path, strerror(errno));
    return MT_OK;
}

mt_status mt_whole_close(mt_whole_file *file)
{
    bool failed = ferror(file->out); /* of an earlier write; its errno is lost */
    errno = 0;
    failed |= fclose(file->out) != 0;
    if (!failed && rename(file->temp, file->path) == 0)
        return MT_OK;
    mt_status status = mt_fail(MT_ERR_IO, "%s: %s", file->path,
                               errno ? strerror(errno) : "could not be written whole: is the disk full?");
    remove(file->temp);
    return status;
}

void mt_whole_abandon(mt_whole_file *file)
{
    fclose(file->out);
    remove(file->temp);
}
