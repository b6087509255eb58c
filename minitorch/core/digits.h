/* digits.h -- images of handwritten digits as bytes: MNIST, or the stand-in digits where only they are there. */
#pragma once

#include "core/io.h"

MT_C_BEGIN

enum { MT_DIGIT_CLASSES = 10 };

typedef struct mt_digits {
    const uint8_t *image; /* [count,pixels]  0 is the paper, 255 the ink */
    const uint8_t *label; /* [count]  0 .. MT_DIGIT_CLASSES - 1; NULL: nobody says what the images show */
    int64_t count, pixels;
    mt_file_map images, labels; /* the files that hold them, if any */
} mt_digits;

/* mt_digits_open -- the part "train" or "t10k": two files in the format IDX, a header and a byte for each pixel, a
 * header and a byte for each label.   Fails as mt_data_map does, and with MT_ERR_FORMAT: files that do not belong
 * together, or a label that is no class. Close it in both cases. */
mt_status mt_digits_open(mt_digits *out, const char *part);
void mt_digits_close(mt_digits *digits);

MT_C_END
