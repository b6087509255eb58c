/* idx_write.h -- writing IDX files, the format of data/idx_map.h. */
#pragma once

#include "data/idx_map.h"

MT_C_BEGIN

typedef struct mt_idx {
    mt_idx_kind kind;
    int64_t count;      /* images or labels */
    int64_t rows, cols; /* of one image; 1 and 1 for labels */
    uint8_t *data;      /* [count, rows, cols] */
} mt_idx;

/* mt_idx_new -- uninitialised bytes for count items, to be filled and written.   Free with mt_idx_free. */
mt_idx mt_idx_new(mt_idx_kind kind, int64_t count, int64_t rows, int64_t cols);
void mt_idx_free(mt_idx *idx); /* a zeroed one is allowed; leaves it zeroed */

/* mt_idx_write -- replace the file at path, in one step. The folder must exist. */
mt_status mt_idx_write(const char *path, const mt_idx *idx);

MT_C_END
