/* whole_file.h -- a file that is replaced when the new one is complete, and otherwise stays as it was.
 *
 *     mt_whole_file file;
 *     mt_status status = mt_whole_open(&file, path);
 *     if (status != MT_OK)
 *         return status;
 *     fprintf(file.out, ...);              // errors are kept until the end
 *     return mt_whole_close(&file);                                                                                */
#ifndef MT_CORE_WHOLE_FILE_H
#define MT_CORE_WHOLE_FILE_H

#include "core/base.h"

#include <stdio.h>

typedef struct mt_whole_file {
    FILE *out;
    const char *path; /* lent: it must live until the file is closed */
    char temp[4096];  /* where it is written: beside path */
} mt_whole_file;

/* mt_whole_open -- MT_ERR_IO when nothing can be written beside path; there is nothing to close then. */
mt_status mt_whole_open(mt_whole_file *file, const char *path);

/* mt_whole_close -- put it in path's place; MT_ERR_IO, with path as it was and nothing left beside it, when anything
 * could not be written. */
mt_status mt_whole_close(mt_whole_file *file);

/* mt_whole_abandon -- leave path as it was and nothing beside it. */
void mt_whole_abandon(mt_whole_file *file);

#endif
