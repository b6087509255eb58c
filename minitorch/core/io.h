/* io.h -- whole files: reading one through a map or into memory, and replacing one in a single step; and the calls of
 * the operating system by which files are written. */
#pragma once

#include "core/base.h"

#include <stdio.h>

MT_C_BEGIN

/* ---- the disk --------------------------------------------------------------------------------- */

typedef struct mt_file_map mt_file_map;

/* The calls by which files are written and found again. A test replaces them by a simulated disk, on which a call fails
 * or the power is cut (testing/disk_sim.h). Except for `map` each returns -1 with errno set after a failure. */
typedef struct mt_io mt_io;
struct mt_io {
    int (*create)(mt_io *io,
                  const char *path); /* a descriptor of a new file, which is named `path` or has no name yet */
    int (*write)(mt_io *io, int fd, const void *data, int64_t bytes, int64_t at);
    int (*name)(mt_io *io, int fd, const char *path); /* the path given to create; nothing, where it has that name */
    int (*fsync)(mt_io *io, int fd);                  /* contents survive a power cut, the name not yet */
    int (*close)(mt_io *io, int fd);
    int (*rename)(mt_io *io, const char *from, const char *to); /* in one step; a file `to` is replaced */
    int (*exchange)(mt_io *io, const char *a, const char *b);   /* two names, in one step. EINVAL: not possible there */
    int (*remove)(mt_io *io, const char *path);                 /* a file, or an empty folder */
    int (*mkdir)(mt_io *io, const char *path);                  /* fails when it exists */
    int (*fsync_dir)(mt_io *io, const char *path);              /* the names in a folder survive a power cut */
    int (*list)(mt_io *io, const char *path, void (*each)(void *user, const char *name), void *user);
    int (*lock)(mt_io *io, const char *folder); /* a descriptor, whose close unlocks; EWOULDBLOCK: another one has it */
    mt_status (*map)(mt_io *io, mt_file_map *out, const char *path); /* bytes and size */
    void (*unmap)(mt_io *io, mt_file_map *map);
};

mt_io *mt_io_now(void);    /* the operating system, unless replaced */
void mt_io_use(mt_io *io); /* lent; NULL: the operating system. No file may be open */

/* ---- reading ---------------------------------------------------------------------------------- */

struct mt_file_map {
    const uint8_t *bytes; /* NULL for an empty file */
    int64_t size;
    char *path; /* a copy, for messages */
};

/* mt_file_map_open -- map a file read-only: pages are read on first access and shared by all threads. Reading past the
 * new end of a file that became shorter kills the program (SIGBUS); mt_file_writer replaces files instead.
 * Fails, naming the path: no such file, not a regular file, no permission. */
mt_status mt_file_map_open(mt_file_map *out, const char *path);
void mt_file_map_close(mt_file_map *map); /* a zeroed map is allowed; leaves it zeroed */

/* mt_file_no_page -- MT_ERR_FORMAT: the file is an HTML page, as a download leaves whose link needs a browser. */
mt_status mt_file_no_page(const mt_file_map *map);

/* mt_file_open -- a descriptor to read a regular file, and its size; none is open after a failure. Fails as above. */
mt_status mt_file_open(int *fd, int64_t *size, const char *path);

/* mt_dataset_path -- the path of a file that datasets/fetch wrote to datasets/cache, or to the folder in the
 * environment variable MT_DATA; the path of `standin` when only that exists. Where there is no datasets/cache here,
 * it is that of the tree whose build/ has the program.   out [MT_PATH] */
enum { MT_PATH = 4096 };
void mt_dataset_path(char *out, const char *file, const char *standin);

/* mt_data_map -- that file, mapped.   Fails as mt_file_map_open does, with the command that fetches the file: its data
 * set is the first folder of `file`. */
mt_status mt_data_map(mt_file_map *out, const char *file, const char *standin);

#define MT_FILE_READ_MAX (1 << 30) /* bytes */

/* mt_file_read -- a whole file in newly allocated memory, which the caller frees. For small files this is faster than a
 * map. Fails like mt_file_map_open, and with MT_ERR_FORMAT for a file above MT_FILE_READ_MAX. */
mt_status mt_file_read(uint8_t **bytes, int64_t *size, const char *path);

/* What a folder contains. */
typedef struct mt_names {
    char **name; /* in no order */
    int64_t count;
} mt_names;

mt_status mt_names_of(mt_names *out, const char *folder); /* MT_ERR_IO: none is there; nothing to free */
void mt_names_add(mt_names *names, const char *name);     /* a copy of it */
void mt_names_free(mt_names *names);

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
    int fd, problem;  /* of mt_io; errno of the first write that failed */
    int64_t at;       /* where the next write goes */
} mt_file_writer;

/* mt_file_writer_open -- MT_ERR_IO when no file can be created beside path; there is nothing to close then. `file` must
 * stay where it is until it is closed. */
mt_status mt_file_writer_open(mt_file_writer *file, const char *path);

/* mt_file_writer_close -- replace path. MT_ERR_IO when any write failed: path is then unchanged and nothing is left.
 * A power cut soon after may leave path empty or damaged: nothing is synced. */
mt_status mt_file_writer_close(mt_file_writer *file);

/* The parts of close: mt_file_writer_flush -- all bytes are with the operating system, in a file named `temp`;
 * mt_file_writer_end -- close it; `good` says whether it took the place of path. Otherwise `temp` is removed, and the
 * status is MT_ERR_IO with the reason in errno. */
bool mt_file_writer_flush(mt_file_writer *file);
mt_status mt_file_writer_end(mt_file_writer *file, bool good);

/* mt_file_writer_abandon -- discard what was written. */
void mt_file_writer_abandon(mt_file_writer *file);

MT_C_END
