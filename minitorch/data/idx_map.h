/* idx_map.h -- the file format of MNIST, IDX: a big-endian header, then unsigned bytes.
 *
 *   images   0x00000803, count, rows, cols    then count * rows * cols bytes, row by row
 *   labels   0x00000801, count                then count bytes
 *
 * As a data set the files are mapped, and a sample's pixels become floats when it is read; several processes share the
 * pages. Only where no mean and deviation are given does opening read all pixels, to compute them.
 * Source: LeCun, Cortes, Burges, "The MNIST database of handwritten digits".   Unit: solutions/05-data/idx_map.c */
#pragma once

#include "data/dataset.h"

MT_C_BEGIN

typedef enum mt_idx_kind { MT_IDX_LABELS = 1, MT_IDX_IMAGES = 3 } mt_idx_kind; /* the number of dimensions */

typedef struct mt_idx_header {
    int64_t count, rows, cols; /* rows and cols are 1 for labels */
    int64_t data;              /* offset of the first byte behind the header */
} mt_idx_header;

/* How bytes become floats: (byte - mean) / stddev. */
typedef struct mt_pixel_norm {
    float mean, stddev; /* in units of a byte, 0 .. 255 */
} mt_pixel_norm;

/* mt_idx_header_read -- decode and check a header.
 *   bytes  [size]  the whole file; path is for messages
 * Fails (MT_ERR_FORMAT) with "path: offset N: ...", *out unchanged: the file is shorter than a header; another magic
 * than that of this kind; images without pixels; fewer or more bytes behind the header than it promises.   Lab 05.1 */
mt_status mt_idx_header_read(mt_idx_header *out, const char *path, const uint8_t *bytes, int64_t size,
                             mt_idx_kind kind);

/* mt_pixels_to_floats -- out[i] = (bytes[i] - mean) / stddev, computed as bytes[i] * (1 / stddev) - mean / stddev.
 *   out    [n] f32  overwritten;  bytes [n] u8
 * Moves: reads n B, writes 4n B.   Lab 05.2 */
void mt_pixels_to_floats(float *out, const uint8_t *bytes, int64_t n, mt_pixel_norm norm);

/* mt_idx_dataset_open -- images and their labels: x [rows * cols] f32, y scalar i32.
 * norm: how pixels become floats; { 0, 255 } gives 0 .. 1; { 0, 0 }: by mean and standard deviation of all pixels of
 * this set, computed exactly.   Fails as mt_idx_header_read does, when a file cannot be mapped, when the counts
 * differ, and when there is no image.   Aborts: norm.stddev < 0. */
mt_status mt_idx_dataset_open(mt_dataset **out, const char *images, const char *labels, mt_pixel_norm norm);

/* The norm of a set from mt_idx_dataset_open, for its test set; its labels [count], lent. */
mt_pixel_norm mt_idx_dataset_norm(const mt_dataset *set);
const uint8_t *mt_idx_dataset_labels(const mt_dataset *set);

MT_C_END
