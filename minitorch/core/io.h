/* io.h -- whole files: reading one through a map or into memory, and replacing one in a single step. */
#pragma once

#include "core/base.h"

#include <stdio.h>

MT_C_BEGIN

/* ---- reading ---------------------------------------------------------------------------------- */

typedef struct mt_file_map {
    const uint8_t *bytes; /* NULL for an empty file */
    int64_t size;
    char *path; /* a copy, for messages */
} mt_file_map;

/* mt_file_map_open -- map a file read-only: pages are read on first access and shared by all threads. Reading past the
 * new end of a file that became shorter kills the program (SIGBUS); mt_file_writer replaces files instead.
 * Fails, naming the path: no such file, not a regular file, no permission. */
mt_status mt_file_map_open(mt_file_map *out, const char *path);
void mt_file_map_close(mt_file_map *map); /* a zeroed map is allowed; leaves it zeroed */

/* mt_file_open -- a descriptor to read a regular file, and its size; none is open after a failure. Fails as above. */
mt_status mt_file_open(int *fd, int64_t *size, const char *path);

#define MT_FILE_READ_MAX (1 << 30) /* bytes */

/* mt_file_read -- a whole file in newly allocated memory, which the caller frees. For small files this is faster than a
 * map. Fails like mt_file_map_open, and with MT_ERR_FORMAT for a file above MT_FILE_READ_MAX. */
mt_status mt_file_read(uint8_t **bytes, int64_t *size, const char *path);

/* ---- writing ---------------------------------------------------------------------------------- */

/* Writes a new file that takes the place of path only when it is complete. Until then path keeps its old contents. A
 * process that is killed leaves nothing behind, or PATH.PID.tmp on a file system without unnamed files (O_TMPFILE).
 *     mt_file_writer file;
 *     mt_status status = mt_file_writer_open(&file, path);
 *     if (status != MT_OK)
 *         return status;
 *     fprintf(file.out, ...);               // a failed write is reported by close
 *     return mt_file_writer_close(&file); */
typedef struct mt_file_writer {
    FILE *out;
    const char *path; /* borrowed until the file is closed */
    char temp[4096];  /* temporary name beside path */
    bool unnamed;     /* `out` has no name until it is complete */
} mt_file_writer;

/* mt_file_writer_open -- MT_ERR_IO when no file can be created beside path; there is nothing to close then. */
mt_status mt_file_writer_open(mt_file_writer *file, const char *path);

/* mt_file_writer_close -- replace path. MT_ERR_IO when any write failed: path is then unchanged and nothing is left. */
mt_status mt_file_writer_close(mt_file_writer *file);

/* mt_file_writer_abandon -- discard what was written. */
void mt_file_writer_abandon(mt_file_writer *file);

MT_C_END
