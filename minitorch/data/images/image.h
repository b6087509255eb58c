/* image.h -- PNG and JPEG files, one or a folder of them as a data set.
 *
 *     photos/cat/1.jpg   photos/cat/2.png   photos/dog/1.jpg        classes are sub-folders: cat 0, dog 1
 *
 * Decoding is stb_image's (https://github.com/nothings/stb, package libstb-dev). */
#pragma once

#include "data/augment.h"
#include "data/dataset.h"

MT_C_BEGIN

#define MT_IMAGE_SIDE_MAX 16384 /* pixels; a header with a larger side is refused as corrupt */

/* mt_image_read -- decode a file; grey becomes three equal colours, transparency is dropped; a JPEG is
 * turned upright as its Exif orientation says.   Free with mt_image_free.
 * Fails with the path: MT_ERR_IO when it cannot be read, MT_ERR_FORMAT when it is not a PNG or JPEG, is corrupt, or
 * ends early (also a JPEG of which other programs show the upper half). */
mt_status mt_image_read(mt_image *out, const char *path);
void mt_image_free(mt_image *image); /* a zeroed one is allowed; leaves it zeroed */

/* mt_image_orientation -- the Exif orientation of a JPEG file of n bytes, 1 to 8; 1, upright, where it says none or no
 * valid one.
 * mt_image_turn -- make an image upright whose pixels are stored with this orientation. image->pixel, of malloc, is
 * replaced. */
int mt_image_orientation(const uint8_t *bytes, int64_t n);
void mt_image_turn(mt_image *image, int orientation);

/* mt_image_folder_open -- the pictures of dir's sub-folders: x [3, height, width] f32 of augment, y scalar i32, the
 * class. Classes and files are sorted by their bytes (strcmp); names that start with a dot and files that do not end in
 * .png, .jpg, .jpeg are ignored. A picture is decoded each time it is read.
 * Fails: dir cannot be read, has no class folder, a class has no picture.
 * get fails as mt_image_read does, and when a picture is smaller than the crop and not resized, or so thin that
 * resizing would make it longer than MT_IMAGE_SIDE_MAX.
 * Aborts: height or width < 1; 0 < resize < height or width; stddev <= 0; jitter outside 0 .. 1. */
mt_status mt_image_folder_open(mt_dataset **out, const char *dir, const mt_augment *augment);

/* mt_image_folder_path -- a sample's file, lent by the set; NULL beyond the last. */
const char *mt_image_folder_path(const mt_dataset *set, int64_t index);

MT_C_END
