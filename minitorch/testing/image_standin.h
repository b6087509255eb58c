/* image_standin.h -- a folder of generated pictures in place of photographs, for tests, benchmarks and
 * demonstrations. */
#pragma once

#include "data/augment.h"

MT_C_BEGIN

/* mt_image_draw -- discs over a gradient with some noise; the tint depends on the class. At 224 x 224 it decodes about
 * as fast as a photograph. Depends on its arguments only.
 *   out  pixel [height, width, 3] overwritten */
void mt_image_draw(const mt_image *out, int64_t kind, int64_t number, uint64_t seed);

/* mt_image_write -- as PNG or JPEG (quality 90), by the extension of path. MT_ERR_IO, with path unchanged, when it
 * cannot be written. */
mt_status mt_image_write(const char *path, const mt_image *image);

/* mt_image_standin -- DIR/class0/000.EXT, ...: makes `classes` folders of `each` pictures of size x size in dir,
 * which must exist.   extension: "png" or "jpg" */
mt_status mt_image_standin(const char *dir, int64_t classes, int64_t each, int64_t size, const char *extension,
                           uint64_t seed);

MT_C_END
