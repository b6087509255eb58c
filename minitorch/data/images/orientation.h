/* orientation.h -- pictures of a camera that was not held upright. */
#pragma once

#include "data/augment.h"

MT_C_BEGIN

/* mt_image_orientation -- the Exif orientation of a JPEG file of n bytes, 1 to 8; 1, upright, where it says none or no
 * valid one. */
int mt_image_orientation(const uint8_t *bytes, int64_t n);

/* mt_image_turn -- make an image upright whose pixels are stored with this orientation. image->pixel, of malloc, is
 * replaced. */
void mt_image_turn(mt_image *image, int orientation);

MT_C_END
