/* test_augment.c -- resizing, cropping, mirroring, colours against oracles in double; random choices depend on the
 * stream only. */
#include <criterion/criterion.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "data/augment.h"

enum { SIDE = 40 };

static uint8_t pixels[SIDE * SIDE * 3];

static mt_image picture(int64_t height, int64_t width)
{
    mt_rng rng = mt_rng_new(height * 100 + width, MT_STREAM_TEST);
    for (int64_t i = 0; i < height * width * 3; i++)
        pixels[i] = (uint8_t)mt_rng_below(&rng, 256);
    return (mt_image){ pixels, height, width };
}

/* ---- resize -------------------------------------------------------------------------------------- */

/* The header's formula in double: a neighbour's weight is 1 minus its distance; clamped coordinates repeat the edges.
 * */
static double resize_oracle(const mt_image *in, double y, double x, int c)
{
    double sum = 0;
    y = fmin(fmax(y, 0), (double)in->height - 1);
    x = fmin(fmax(x, 0), (double)in->width - 1);
    for (int64_t i = 0; i < in->height; i++)
        for (int64_t j = 0; j < in->width; j++)
            sum += fmax(0, 1 - fabs(y - (double)i)) * fmax(0, 1 - fabs(x - (double)j)) *
                   in->pixel[(i * in->width + j) * 3 + c];
    return sum;
}

/* Rounding to a byte is off by at most 0.5; coordinates below 64 by 64 eps in float, and so are both weights, times
 * 255; the interpolation itself rounds 6 times. */
Test(augment, resize_matches_the_oracle)
{
    static const int64_t sides[] = { 1, 2, 3, 7, 8, 13, 24 };
    double tolerance = 0.5 + 255 * (2 * 64 + 6) * FLT_EPSILON;
    for (int64_t i = 0; i < MT_COUNT(sides); i++)
        for (int64_t j = 0; j < MT_COUNT(sides); j++) {
            int64_t h = sides[i], w = sides[j];
            uint8_t result[24 * 24 * 3 + 1];
            mt_image in = picture(11, 6), out = { result, h, w };
            result[h * w * 3] = 77;
            mt_resize(&out, &in);
            cr_assert_eq(result[h * w * 3], 77, "wrote behind the end");
            for (int64_t p = 0; p < h * w * 3; p++) {
                double y = ((double)(p / 3 / w) + 0.5) * 11 / (double)h - 0.5;
                double x = ((double)(p / 3 % w) + 0.5) * 6 / (double)w - 0.5;
                double want = resize_oracle(&in, y, x, (int)(p % 3));
                cr_assert_leq(fabs(result[p] - want), tolerance, "%d x %d, byte %d: %d, expected %g", (int)h, (int)w,
                              (int)p, result[p], want);
            }
        }
}

Test(augment, resizing_to_the_same_size_changes_nothing)
{
    uint8_t result[9 * 14 * 3];
    mt_image in = picture(9, 14), out = { result, 9, 14 };
    mt_resize(&out, &in);
    cr_assert_eq(memcmp(result, pixels, sizeof result), 0);
}

/* ---- chance -------------------------------------------------------------------------------------- */

static mt_augment everything(void)
{
    mt_augment a = mt_augment_default(6, 5);
    a.random_crop = true;
    a.flip = 0.5f;
    a.brightness = 0.4f, a.contrast = 0.3f, a.saturation = 0.2f;
    return a;
}

Test(augment, every_position_of_the_crop_occurs_and_none_outside)
{
    mt_augment a = everything();
    int seen[4][3] = { 0 }, flips = 0;
    for (int i = 0; i < 2000; i++) {
        mt_rng rng = mt_rng_new((uint64_t)i, MT_STREAM_TEST);
        mt_augment_choice c = mt_augment_choose(&a, 9, 7, &rng);
        cr_assert(c.top >= 0 && c.top <= 3 && c.left >= 0 && c.left <= 2);
        cr_assert(fabsf(c.brightness - 1) <= 0.4f && fabsf(c.contrast - 1) <= 0.3f && fabsf(c.saturation - 1) <= 0.2f);
        cr_assert_eq(rng.counter, 6, "six draws");
        seen[c.top][c.left]++;
        flips += c.flip;
    }
    for (int t = 0; t < 4; t++)
        for (int l = 0; l < 3; l++)
            cr_assert_gt(seen[t][l], 0, "the crop never lies at %d, %d", t, l);
    cr_assert(abs(flips - 1000) < 5 * 22.4, "flips: 2000 fair coins, 5 deviations of sqrt(500)");
}

Test(augment, a_switch_does_not_change_the_other_draws)
{
    mt_augment all = everything(), some = everything();
    some.random_crop = false;
    some.brightness = 0;
    for (int i = 0; i < 50; i++) {
        mt_rng one = mt_rng_new((uint64_t)i, MT_STREAM_TEST), two = one;
        mt_augment_choice a = mt_augment_choose(&all, 9, 7, &one), b = mt_augment_choose(&some, 9, 7, &two);
        cr_assert(a.flip == b.flip && a.contrast == b.contrast && a.saturation == b.saturation);
        cr_assert(b.top == 1 && b.left == 1 && b.brightness == 1, "the middle, unchanged");
    }
}

/* ---- applying ------------------------------------------------------------------------------------- */

static double grey_of(const double v[3])
{
    return 0.299 * v[0] + 0.587 * v[1] + 0.114 * v[2];
}

/* One colour by the header's three formulas, one after the other, in double. */
static double colour_oracle(const uint8_t *byte, const mt_augment_choice *c, const double mean[3], int colour)
{
    double v[3], m[3];
    for (int j = 0; j < 3; j++) {
        v[j] = c->brightness * byte[j] / 255.0;
        m[j] = c->brightness * mean[j] / 255.0;
    }
    for (int j = 0; j < 3; j++)
        v[j] = c->contrast * v[j] + (1 - c->contrast) * grey_of(m);
    return fmin(fmax(c->saturation * v[colour] + (1 - c->saturation) * grey_of(v), 0), 1);
}

/* Colours before clamping are sums of a dozen products of at most 2 * 2 * 2; each rounds by eps / 2 of that.
 * Normalising multiplies by 1 / stddev and rounds twice more. */
static void check_apply(const mt_augment *a, const mt_augment_choice *c, int64_t height, int64_t width)
{
    float out[3 * 6 * 5 + 1];
    mt_image in = picture(height, width);
    double mean[3] = { 0 };
    out[90] = 42;
    mt_augment_apply(out, &in, a, c);
    cr_assert_eq(out[90], 42, "wrote behind the end");
    for (int64_t p = 0; p < 30; p++)
        for (int j = 0; j < 3; j++)
            mean[j] += pixels[((c->top + p / 5) * width + c->left + p % 5) * 3 + j] / 30.0;
    for (int colour = 0; colour < 3; colour++)
        for (int64_t y = 0; y < 6; y++)
            for (int64_t x = 0; x < 5; x++) {
                int64_t from = c->flip ? 4 - x : x;
                const uint8_t *byte = pixels + ((c->top + y) * width + c->left + from) * 3;
                double want = (colour_oracle(byte, c, mean, colour) - a->mean[colour]) / a->stddev[colour];
                double tolerance = (12 * 8 + 2) * FLT_EPSILON / a->stddev[colour];
                double got = out[(colour * 6 + y) * 5 + x];
                cr_assert_leq(fabs(got - want), tolerance, "colour %d at %d, %d: %g, expected %g", colour, (int)y,
                              (int)x, got, want);
            }
}

Test(augment, crops_mirrors_and_colours_match_the_oracle)
{
    mt_augment a = everything();
    for (int c = 0; c < 3; c++) {
        a.mean[c] = 0.4f + 0.05f * (float)c;
        a.stddev[c] = 0.2f + 0.05f * (float)c;
    }
    for (int i = 0; i < 60; i++) {
        mt_rng rng = mt_rng_new((uint64_t)i, MT_STREAM_TEST);
        a.brightness = a.contrast = a.saturation = i < 30 ? 1 : 0.3f; /* wild ones are clamped */
        mt_augment_choice choice = mt_augment_choose(&a, 9, 7 + i, &rng);
        if (i < 33)
            check_apply(&a, &choice, 9, 7 + i);
    }
    mt_augment_choice nothing = { .brightness = 1, .contrast = 1, .saturation = 1 };
    check_apply(&a, &nothing, 6, 5);
}

/* Wide rows are processed in pieces, of which the last is smaller. */
Test(augment, rows_of_every_width_are_mirrored_whole)
{
    static const int64_t widths[] = { 1, 2, 15, 31, 32, 33, 63, 64, 65, 255, 256, 257, 515 };
    static uint8_t bytes[515 * 3];
    static float out[515 * 3 + 1];
    for (int64_t i = 0; i < MT_COUNT(widths); i++) {
        int64_t w = widths[i];
        mt_augment a = mt_augment_default(1, w);
        mt_image in = { bytes, 1, w };
        for (int64_t b = 0; b < 3 * w; b++)
            bytes[b] = (uint8_t)(b * 37 + w);
        out[3 * w] = 42;
        for (int jitter = 0; jitter < 2; jitter++) {
            mt_augment_choice flipped = {
                .flip = true, .brightness = jitter ? 0.5f : 1, .contrast = 1, .saturation = 1
            };
            mt_augment_apply(out, &in, &a, &flipped);
            for (int64_t x = 0; x < w; x++)
                for (int c = 0; c < 3; c++)
                    cr_assert_leq(fabs(out[c * w + x] - flipped.brightness * bytes[3 * (w - 1 - x) + c] / 255.0),
                                  4 * FLT_EPSILON, "width %d, pixel %d, colour %d", (int)w, (int)x, c);
            cr_assert_eq(out[3 * w], 42);
        }
    }
}

Test(augment, without_jitter_it_is_the_bytes_over_255)
{
    mt_augment a = mt_augment_default(6, 5);
    mt_rng rng = mt_rng_new(0, MT_STREAM_TEST);
    mt_image in = picture(6, 5);
    float out[90];
    mt_augment_choice c = mt_augment_choose(&a, 6, 5, &rng);
    mt_augment_apply(out, &in, &a, &c);
    for (int p = 0; p < 30; p++)
        for (int j = 0; j < 3; j++)
            cr_assert_leq(fabs(out[j * 30 + p] - pixels[3 * p + j] / 255.0), 2 * FLT_EPSILON);
}

/* A large picture is stored by another code path, in whole vectors at any alignment: every element must be written, and
 * nothing outside. */
Test(augment, large_pictures_are_written_whole_wherever_they_begin)
{
    enum { HEIGHT = 150, WIDTH = 157, N = 3 * HEIGHT * WIDTH, MOST = 17 };
    static uint8_t bytes[N];
    static float block[N + MOST + 1];
    mt_augment a = mt_augment_default(HEIGHT, WIDTH);
    mt_image in = { bytes, HEIGHT, WIDTH };
    for (int64_t b = 0; b < N; b++)
        bytes[b] = (uint8_t)(b * 37 + b / 256);
    for (int begin = 1; begin <= MOST; begin += 4) {
        float *out = block + begin;
        mt_augment_choice flipped = { .flip = begin % 8 == 1, .brightness = 1, .contrast = 1, .saturation = 1 };
        out[-1] = out[N] = 42;
        mt_augment_apply(out, &in, &a, &flipped);
        cr_assert(out[-1] == 42 && out[N] == 42, "wrote beside the result");
        for (int64_t i = 0; i < N; i++) {
            int64_t c = i / (HEIGHT * WIDTH), y = i / WIDTH % HEIGHT, x = i % WIDTH;
            uint8_t byte = bytes[3 * (y * WIDTH + (flipped.flip ? WIDTH - 1 - x : x)) + c];
            cr_assert_leq(fabs(out[i] - byte / 255.0), 2 * FLT_EPSILON, "element %d from %d on", (int)i, begin);
        }
    }
}
