/* augment.h -- the pixels of a picture become the input of a network: resize, crop, mirror, change colours, normalise.
 *
 * Slightly different pictures in each epoch act like a larger training set. The random choices are drawn first, from
 * the sample's own stream (mt_augment_choose), then applied (mt_augment_apply).
 * Unit: solutions/05-data/augment.c */
#pragma once

#include "core/rng.h"

MT_C_BEGIN

/* A decoded picture: [height, width, 3] u8, red green blue. */
typedef struct mt_image {
    uint8_t *pixel;
    int64_t height, width;
} mt_image;

typedef struct mt_augment {
    int64_t height, width; /* of the result */
    int64_t resize;        /* the shorter side becomes this before the crop, >= height and width; 0: no resizing */
    bool random_crop;      /* the crop is at a random place; else in the middle */
    float flip;            /* probability of mirroring left and right */
    float brightness, contrast, saturation; /* factors are drawn from 1 - this .. 1 + this; 0: no change; at most 1 */
    float mean[3], stddev[3];               /* out = (colour - mean) / stddev, colours counted from 0 to 1 */
} mt_augment;

/* mt_augment_default -- resized to cover height x width, cropped in the middle, nothing random, colours 0 .. 1. */
mt_augment mt_augment_default(int64_t height, int64_t width);

/* mt_resize -- bilinear: the pixel at (y, x) of out is in at ((y + 0.5) * in height / out height - 0.5, same for x),
 * mixed from its four neighbours, edges repeated, rounded to nearest. Shrinking by much more than 2 skips pixels.
 *   out  pixel [height, width, 3] overwritten, both >= 1;  in  both sides >= 1
 * Lab 05.5 */
void mt_resize(const mt_image *out, const mt_image *in);

/* The random choices for one sample. */
typedef struct mt_augment_choice {
    int64_t top, left; /* of the crop */
    bool flip;
    float brightness, contrast, saturation; /* factors; 1 changes nothing */
} mt_augment_choice;

/* mt_augment_choose -- draw for a picture of this size, at least as large as the crop. Always six draws, in this order:
 * top, left, flip, brightness, contrast, saturation; so switching one on does not change the others.
 * Lab 05.6 */
mt_augment_choice mt_augment_choose(const mt_augment *augment, int64_t height, int64_t width, mt_rng *rng);

/* mt_colour_map -- the three changes of colour as one: colour'[c] = sum_j map[c][j] * byte[j] + map[c][3].
 *   brightness   v' = b v                        v is byte / 255
 *   contrast     v' = k v + (1 - k) m            m the grey of the mean colour after brightness
 *   saturation   v' = s v + (1 - s) grey(v)      grey = 0.299 red + 0.587 green + 0.114 blue (ITU-R BT.601)
 *   map [3,4] overwritten;  mean [3]: the mean byte of each colour before any change
 * Lab 05.7 */
void mt_colour_map(float map[3][4], const mt_augment_choice *choice, const float mean[3]);

/* mt_augment_apply -- crop, mirror, change colours (clamped to 0 .. 1), normalise.
 *   out  [3, height, width] f32 of the config, overwritten: a plane for each colour
 * Moves: reads 3hw B (6hw with contrast), writes 12hw B, from 256 KiB on by non-temporal stores, which do not first
 * read what they overwrite.   Lab 05.6 */
void mt_augment_apply(float *out, const mt_image *in, const mt_augment *augment, const mt_augment_choice *choice);

MT_C_END
