/* file_map.h -- a file as memory: the kernel reads a page when somebody looks at it, and threads share the pages.
 * A file that becomes shorter while it is mapped kills the program that reads its lost end (SIGBUS): write a new file
 * under another name and rename it, as mt_idx_write and mt_tokens_write do. */
#ifndef MT_CORE_FILE_MAP_H
#define MT_CORE_FILE_MAP_H

#include "core/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mt_file_map {
    const uint8_t *bytes; /* NULL for an empty file */
    int64_t size;
    char *path; /* a copy, for messages */
} mt_file_map;

/* mt_file_map_open -- fails with the path: not there, not a regular file, no permission. */
mt_status mt_file_map_open(mt_file_map *out, const char *path);
void mt_file_map_close(mt_file_map *map); /* a zeroed one is allowed; leaves it zeroed */

#define MT_FILE_READ_MAX (1 << 30) /* bytes */

/* mt_file_read -- all of a file in memory of the caller's (free it). For small files half the cost of a map, which takes
 * a page fault and a change of everybody's page tables; and it stays whole whatever becomes of the file. Fails as above, and
 * with MT_ERR_FORMAT beyond MT_FILE_READ_MAX: a hole of terabytes in a file must not take the memory of all. */
mt_status mt_file_read(uint8_t **bytes, int64_t *size, const char *path);

#ifdef __cplusplus
}
#endif
#endif
