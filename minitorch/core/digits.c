/* digits.c -- images of handwritten digits from IDX files; see core/digits.h. */
#include "core/digits.h"

#include <stdio.h>

enum { IMAGES_HEADER = 16, LABELS_HEADER = 8, PIXELS = 28 * 28 };

static mt_status map_part(mt_file_map *out, const char *part, const char *kind)
{
    char file[96], standin[96];
    snprintf(file, sizeof file, "mnist/%s-%s-ubyte", part, kind);
    snprintf(standin, sizeof standin, "standin/%s-%s-ubyte", part, kind);
    return mt_data_map(out, file, standin);
}

mt_status mt_digits_open(mt_digits *out, const char *part)
{
    *out = (mt_digits){ .pixels = PIXELS };
    mt_status status = map_part(&out->images, part, "images-idx3");
    if (status == MT_OK)
        status = map_part(&out->labels, part, "labels-idx1");
    if (status != MT_OK)
        return status;
    out->count = out->labels.size - LABELS_HEADER;
    if (out->count <= 0 || out->images.size != IMAGES_HEADER + out->count * PIXELS)
        return mt_fail(MT_ERR_FORMAT, "%s and %s do not belong together", out->images.path, out->labels.path);
    out->image = out->images.bytes + IMAGES_HEADER;
    out->label = out->labels.bytes + LABELS_HEADER;
    for (int64_t n = 0; n < out->count; n++)
        if (out->label[n] >= MT_DIGIT_CLASSES)
            return mt_fail(MT_ERR_FORMAT, "%s: label %d", out->labels.path, out->label[n]);
    return MT_OK;
}

void mt_digits_close(mt_digits *digits)
{
    mt_file_map_close(&digits->images);
    mt_file_map_close(&digits->labels);
    *digits = (mt_digits){ 0 };
}
