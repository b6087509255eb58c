/* idx.h -- the file format of MNIST: a big-endian header, then unsigned bytes.
 *
 *   images   0x00000803, count, rows, cols    then count * rows * cols bytes, row by row
 *   labels   0x00000801, count                then count bytes
 *
 * A file is read whole into memory, where it stays as bytes: 47 MB for MNIST's 60,000 images, 188 MB as floats.
 * Source: LeCun, Cortes, Burges, "The MNIST database of handwritten digits". */
#ifndef MT_DATA_IDX_H
#define MT_DATA_IDX_H

#include "core/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum mt_idx_kind { MT_IDX_LABELS = 1, MT_IDX_IMAGES = 3 } mt_idx_kind; /* the number of dimensions */

typedef struct mt_idx {
    mt_idx_kind kind;
    int64_t count;      /* images or labels */
    int64_t rows, cols; /* of one image; 1 and 1 for labels */
    uint8_t *data;      /* [count, rows, cols] */
} mt_idx;

/* mt_idx_new -- uninitialised bytes for count items, to be filled and written.   Free with mt_idx_free. */
mt_idx mt_idx_new(mt_idx_kind kind, int64_t count, int64_t rows, int64_t cols);
void mt_idx_free(mt_idx *idx); /* a zeroed one is allowed; leaves it zeroed */

/* mt_idx_read -- the whole file at path.   Free with mt_idx_free.
 * Fails with the path and the offset of what is wrong: cannot be opened, not a regular file, gzipped, another magic,
 * sizes that make no sense, fewer or more bytes than the header promises. Then nothing is allocated. */
mt_status mt_idx_read(mt_idx *out, const char *path, mt_idx_kind kind);

/* mt_idx_write -- a file that mt_idx_read reads; written under another name and renamed, so that path is never half a
 * file. The folder must exist. */
mt_status mt_idx_write(const char *path, const mt_idx *idx);

#ifdef __cplusplus
}
#endif
#endif
