/* orientation.c -- how a camera was held (Exif, JEITA CP-3451, tag 0x0112): 1 upright; 2 to 4 mirrored, upside down,
 * both; 5 to 8 the same of a picture whose rows are its columns. stb_image passes it over. */
#include "data/images/image.h"

#include <stdlib.h>
#include <string.h>

enum {
    JPEG_MARK = 0xff,
    JPEG_SOI = 0xd8,
    JPEG_APP1 = 0xe1,
    JPEG_SOS = 0xda, /* coded data begins */
    TIFF_HEAD = 8,
    TIFF_ENTRY = 12,
    TIFF_SHORT = 3,
    ORIENTATION = 0x0112
};

/* A TIFF file inside of the JPEG: "II*\0" (little endian) or "MM\0*", then where its first list of entries is. */
typedef struct tiff {
    const uint8_t *bytes;
    int64_t size;
    bool little;
} tiff;

static int64_t number_at(const tiff *t, int64_t at, int bytes)
{
    int64_t value = 0;
    for (int i = 0; i < bytes; i++)
        value = value << 8 | t->bytes[at + (t->little ? bytes - 1 - i : i)];
    return value;
}

/* 1 also where the entry is missing, or damaged: the picture itself can be read. */
static int orientation_in(const uint8_t *bytes, int64_t size)
{
    tiff t = { bytes, size, false };
    if (size < TIFF_HEAD)
        return 1;
    t.little = memcmp(bytes, "II*", 4) == 0;
    if (!t.little && memcmp(bytes, "MM\0*", 4) != 0)
        return 1;
    int64_t list = number_at(&t, 4, 4);
    if (list > size - 2)
        return 1;
    int64_t entries = mt_min(number_at(&t, list, 2), (size - list - 2) / TIFF_ENTRY);
    for (int64_t i = 0; i < entries; i++) {
        int64_t at = list + 2 + i * TIFF_ENTRY, value = number_at(&t, at + 8, 2);
        if (number_at(&t, at, 2) == ORIENTATION && number_at(&t, at + 2, 2) == TIFF_SHORT && value >= 1 && value <= 8)
            return (int)value;
    }
    return 1;
}

int mt_image_orientation(const uint8_t *p, int64_t n)
{
    static const char exif[] = "Exif\0"; /* and the 0 at its end */
    if (n < 4 || p[0] != JPEG_MARK || p[1] != JPEG_SOI)
        return 1;
    for (int64_t at = 2; at + 4 <= n && p[at] == JPEG_MARK && p[at + 1] != JPEG_SOS;) {
        int64_t length = p[at + 2] << 8 | p[at + 3], head = 4 + (int64_t)sizeof exif;
        bool inside = length >= 2 && at + 2 + length <= n;
        if (inside && p[at + 1] == JPEG_APP1 && 2 + length >= head && memcmp(p + at + 4, exif, sizeof exif) == 0)
            return orientation_in(p + at + head, 2 + length - head);
        at += inside ? 2 + length : n;
    }
    return 1;
}

void mt_image_turn(mt_image *image, int orientation)
{
    if (orientation == 1)
        return;
    bool across = orientation >= 5; /* rows become columns */
    bool up = orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
    bool left = orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
    int64_t H = image->height, W = image->width, height = across ? W : H, width = across ? H : W;
    uint8_t *turned = mt_calloc(H * W, 3);
    for (int64_t y = 0; y < height; y++)
        for (int64_t x = 0; x < width; x++) {
            int64_t r = across ? x : y, c = across ? y : x;
            r = up ? H - 1 - r : r;
            c = left ? W - 1 - c : c;
            memcpy(turned + (y * width + x) * 3, image->pixel + (r * W + c) * 3, 3);
        }
    free(image->pixel);
    *image = (mt_image){ turned, height, width };
}
