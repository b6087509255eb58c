/* idx_map.h -- IDX files (MNIST's format, see data/idx.h) as a data set: mapped, and turned into floats sample by sample.
 * Opening costs nothing but a look at the headers, and several processes share the pages.
 * Unit: solutions/05-data/idx_map.c */
#ifndef MT_DATA_IDX_MAP_H
#define MT_DATA_IDX_MAP_H

#include "data/dataset.h"
#include "data/digits.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What the header of an IDX file says. */
typedef struct mt_idx_header {
    int64_t count, rows, cols; /* rows and cols are 1 for labels */
    int64_t data;              /* offset of the first byte behind the header */
} mt_idx_header;

/* mt_idx_header_read -- decode and check a header.
 *   bytes  [size]  the whole file; path is for messages
 * Fails (MT_ERR_FORMAT) with path and offset, *out unchanged: the file is shorter than a header; another magic than that of
 * this kind; images without pixels; fewer or more bytes behind the header than it promises.   Lab 05.1 */
mt_status mt_idx_header_read(mt_idx_header *out, const char *path, const uint8_t *bytes, int64_t size,
                             mt_idx_kind kind);

/* mt_pixels_to_floats -- out[i] = (bytes[i] - mean) / stddev, computed as bytes[i] * (1 / stddev) - mean / stddev.
 *   out    [n] f32  overwritten;  bytes [n] u8
 * Moves: reads n B, writes 4n B.   Lab 05.2 */
void mt_pixels_to_floats(float *out, const uint8_t *bytes, int64_t n, mt_pixel_norm norm);

/* mt_idx_dataset_open -- images and their labels: x [rows * cols] f32, y scalar i32.
 * norm: how pixels become floats; { 0, 255 } gives 0 .. 1.   Fails as mt_idx_header_read does, when a file cannot be
 * mapped, when the counts differ, and when there is no image.   Aborts: norm.stddev <= 0. */
mt_status mt_idx_dataset_open(mt_dataset **out, const char *images, const char *labels, mt_pixel_norm norm);

/* mt_idx_dataset_norm -- mean and standard deviation of all pixels of a set from mt_idx_dataset_open: exact sums, so the
 * same as mt_digits_open's. Give the training set's to both sets. */
mt_pixel_norm mt_idx_dataset_norm(const mt_dataset *set);

#ifdef __cplusplus
}
#endif
#endif
