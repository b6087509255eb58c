/* 05-pictures.c -- how the checks of steps 05.5 to 05.7 run: resizing, chance, colours. Rows: 05-data.c. */
#include "checks/05-data.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CALLS = 6 };
static const double EPS = 0x1p-24, GREY[3] = { 0.299f, 0.587f, 0.114f };

static uint8_t *picture(mg_run *run, int64_t height, int64_t width)
{
    uint8_t *in = mg_in(run, "in", MT_U8, MT_SHAPE(height, width, 3));
    for (int64_t i = 0; i < height * width * 3; i++)
        in[i] = (uint8_t)mt_rng_below(mg_rng(run), 256);
    return in;
}

/* The position of pixel i: its first neighbour, and the distance from it. */
static int64_t place_of(double *part, int64_t i, int64_t to, int64_t from)
{
    double at = fmin(fmax(((double)i + 0.5) * (double)from / (double)to - 0.5, 0), (double)(from - 1));
    int64_t a = (int64_t)at;
    *part = at - (double)a;
    return a;
}

static double mixed(const uint8_t *in, const int64_t size[4], int64_t y, int64_t x, int64_t c)
{
    double v, h;
    int64_t top = place_of(&v, y, size[0], size[2]), left = place_of(&h, x, size[1], size[3]);
    int64_t bottom = mt_min(top + 1, size[2] - 1), right = mt_min(left + 1, size[3] - 1), W = size[3];
    double upper = in[(top * W + left) * 3 + c] * (1 - h) + in[(top * W + right) * 3 + c] * h;
    double lower = in[(bottom * W + left) * 3 + c] * (1 - h) + in[(bottom * W + right) * 3 + c] * h;
    return upper * (1 - v) + lower * v;
}

/* From 2 x 2 to 128 x 128 pixels every float is exact: a position is a number of 128ths, a colour of 16384ths. A half
 * is then the whole tolerance. The picture is drawn until a colour is a little more than a half above a whole number.
 */
static bool is_just_above_half(const uint8_t *in, const int64_t size[4], double *want)
{
    bool found = false;
    for (int64_t i = 0; i < size[0] * size[1] * 3; i++) {
        want[i] = mixed(in, size, i / 3 / size[1], i / 3 % size[1], i % 3);
        found |= want[i] - floor(want[i]) > 0.5 && want[i] - floor(want[i]) < 0.5 + 0x1p-12;
    }
    return found;
}

static bool exact_resize(mg_run *run)
{
    const int64_t size[4] = { 128, 128, 2, 2 }, n = size[0] * size[1] * 3;
    double *want = calloc((size_t)n, sizeof *want), *bound = calloc((size_t)n, sizeof *bound);
    mg_begin(run, "mt_resize");
    mg_out(run, "out", MT_U8, MT_SHAPE(size[0], size[1], 3));
    uint8_t *in = picture(run, size[2], size[3]);
    mg_i64(run, "out height", size[0]);
    mg_i64(run, "out width", size[1]);
    mg_i64(run, "in height", size[2]);
    mg_i64(run, "in width", size[3]);
    while (!is_just_above_half(in, size, want))
        for (int i = 0; i < 12; i++)
            in[i] = (uint8_t)mt_rng_below(mg_rng(run), 256);
    for (int64_t i = 0; i < n; i++)
        bound[i] = 0.5;
    bool good = mg_call(run) && mg_expect(run, "out", want, bound);
    free(want);
    free(bound);
    return good;
}

/* Rounding to nearest is an error of at most a half; floats add to it. A position among n pixels is off by at most 4
 * roundings of n, which changes a colour by 255 times as much in each direction; mixing has 8 roundings of up to
 * 255. */
void mg_05_resize(mg_run *run, const void *one_case)
{
    /* One side stays as it is; one pixel; twice the size, or half. Wide, or tall: the short side changes the other way.
     * Then a side whose product with another is above 2^32. */
    enum { FIXED = 7 };
    static const int64_t fixed[2][FIXED][4] = { { { 3, 7, 3, 4 },
                                                  { 7, 3, 4, 3 },
                                                  { 1, 6, 1, 1 },
                                                  { 6, 1, 1, 1 },
                                                  { 6, 8, 3, 4 },
                                                  { 2, 5003, 3, 4001 },
                                                  { 70001, 1, 66000, 1 } },
                                                { { 3, 4, 3, 7 },
                                                  { 4, 3, 7, 3 },
                                                  { 1, 5, 4, 9 },
                                                  { 5, 1, 9, 4 },
                                                  { 3, 4, 6, 8 },
                                                  { 4001, 3, 5003, 2 },
                                                  { 66000, 1, 70001, 1 } } };
    const data_case *c = one_case; /* kind 1: larger, 2: smaller, 3: the same size */
    if (c->kind == 1 && !exact_resize(run))
        return;
    for (int t = 0; t < CALLS + (c->kind == 3 ? 0 : FIXED); t++) {
        int64_t a = mg_pick(mg_rng(run), 1, 12), b = mg_pick(mg_rng(run), 1, 12);
        int64_t more = c->kind == 3 ? 0 : mg_pick(mg_rng(run), 1, 12), large[2] = { a + more, b + more };
        int64_t size[4] = { c->kind == 2 ? a : large[0], c->kind == 2 ? b : large[1], c->kind == 2 ? large[0] : a,
                            c->kind == 2 ? large[1] : b };
        if (t >= CALLS) {
            memcpy(size, fixed[c->kind - 1][t - CALLS], sizeof size);
            mg_part(run, "unusual sizes",
                    "%" PRId64 " x %" PRId64 " pixels become %" PRId64 " x %" PRId64
                    ": the same formula for every size, in each direction by itself",
                    size[2], size[3], size[0], size[1]);
        }
        if (t == CALLS + FIXED - 1)
            mg_part(run, "a large picture",
                    "a side times a side may be more than an int holds: compute positions with floats or int64_t");
        int64_t n = size[0] * size[1] * 3;
        double *want = calloc((size_t)n, sizeof *want), *bound = calloc((size_t)n, sizeof *bound);
        mg_begin(run, "mt_resize");
        mg_out(run, "out", MT_U8, MT_SHAPE(size[0], size[1], 3));
        const uint8_t *in = picture(run, size[2], size[3]);
        mg_i64(run, "out height", size[0]);
        mg_i64(run, "out width", size[1]);
        mg_i64(run, "in height", size[2]);
        mg_i64(run, "in width", size[3]);
        for (int64_t i = 0; i < n; i++) {
            want[i] = mixed(in, size, i / 3 / size[1], i / 3 % size[1], i % 3);
            bound[i] = 0.5 + 255 * EPS * (4 * (double)(size[2] + size[3]) + 8);
        }
        bool good = (t == 0 ? mg_shared_call(run) : mg_call(run)) && mg_expect(run, "out", want, bound);
        free(want);
        free(bound);
        if (!good)
            return;
    }
}

/* A seed whose six numbers make factor number i nearly 0 or, if `most`, nearly 2, for a spread of 1. */
static int64_t seed_of_extreme(mt_rng *rng, const int64_t size[4], int i, bool most)
{
    for (;;) {
        int64_t seed = mt_rng_below(rng, 1 << 30);
        mt_rng drawn = mt_rng_new((uint64_t)seed, MT_STREAM_USER);
        float number = 0;
        for (int k = 0; k < 2; k++)
            mt_rng_below(&drawn, size[2 + k] - size[k] + 1);
        for (int k = 0; k < 2 + i; k++)
            number = mt_rng_uniform(&drawn);
        if (most ? number > 0.98f : number < 0.02f)
            return seed;
    }
}

void mg_05_choose(mg_run *run, const void *one_case)
{
    const data_case *c = one_case; /* kind: the crop is random; spread: colours change */
    for (int t = 0; t < 4 * CALLS; t++) {
        const bool extreme = c->spread && t >= 1 && t <= 6;
        int64_t seed = mt_rng_below(mg_rng(run), 1 << 30);
        mg_begin(run, "mt_augment_choose");
        mg_out(run, "place", MT_I64, MT_SHAPE(4));
        mg_out(run, "factor", MT_F32, MT_SHAPE(3));
        int64_t *size = mg_in(run, "size", MT_I64, MT_SHAPE(4));
        float *spread = mg_in(run, "spread", MT_F32, MT_SHAPE(4));
        for (int i = 0; i < 2; i++) {
            size[i] = mg_pick(mg_rng(run), 1, 20);
            size[2 + i] = size[i] + (t % 3 ? mg_pick(mg_rng(run), 0, 3) : 0);
        }
        for (int i = 0; i < 4; i++)
            spread[i] = extreme && i > 0 ? 1 : c->spread || i == 0 ? mt_rng_uniform(mg_rng(run)) : 0;
        if (extreme)
            seed = seed_of_extreme(mg_rng(run), size, (t - 1) % 3, t > 3);
        mg_i64(run, "random_crop", c->kind);
        mg_i64(run, "seed", seed);
        mt_rng rng = mt_rng_new((uint64_t)seed, MT_STREAM_USER);
        double place[4], factor[3], bound[3];
        for (int i = 0; i < 2; i++) {
            int64_t room = size[2 + i] - size[i], drawn = mt_rng_below(&rng, room + 1);
            place[i] = (double)(c->kind ? drawn : room / 2);
        }
        float drawn = mt_rng_uniform(&rng);
        if (t % 4 == 3) /* exactly the number drawn: not below it */
            spread[0] = drawn;
        place[2] = drawn < spread[0];
        for (int i = 0; i < 3; i++) {
            factor[i] = 1 + (double)spread[1 + i] * (2 * (double)mt_rng_uniform(&rng) - 1);
            bound[i] = spread[1 + i] == 0 ? 0 : 4 * EPS * (1 + spread[1 + i]); /* a factor that changes nothing is 1 */
        }
        place[3] = mt_rng_u32(&rng); /* tells that exactly six were drawn */
        if (!(t == 0 ? mg_shared_call(run) : mg_call(run)) || !mg_expect(run, "place", place, NULL))
            return;
        if (extreme)
            mg_hint(run, "a spread of 1 gives factors from 0 to 2: here one is near %d", t > 3 ? 2 : 0);
        else if (!c->spread)
            mg_hint(run, "a spread of 0 gives a factor of exactly 1, which switches the change off");
        if (!mg_expect(run, "factor", factor, bound))
            return;
    }
}

/* The header's three formulas, one after the other, for one pixel; *size: the sum of the magnitudes. */
static double coloured(double *size, const float factor[3], const double mean[3], const double byte[3], int64_t c)
{
    double b = factor[0], k = factor[1], s = factor[2], m = 0, grey = 0, grey_size = 0, v[3];
    for (int j = 0; j < 3; j++)
        m += GREY[j] * b * mean[j] / 255;
    for (int j = 0; j < 3; j++) {
        v[j] = k * b * byte[j] / 255 + (1 - k) * m;
        grey += GREY[j] * v[j];
        grey_size += GREY[j] * (k * b * byte[j] / 255 + (1 + k) * m);
    }
    *size = s * (k * b * byte[c] / 255 + (1 + k) * m) + (1 + s) * grey_size;
    return s * v[c] + (1 - s) * grey;
}

/* 1 - k and 1 - s have up to (1 + k) and (1 + s) roundings; a coefficient has fewer than 16. */
enum { ROUNDINGS = 16 };

static void factors(mg_run *run, float factor[3], int64_t kind)
{
    for (int i = 0; i < 3; i++)
        factor[i] = kind == 4 || kind == i ? 0.25f + 1.5f * mt_rng_uniform(mg_rng(run)) : 1;
}

void mg_05_colours(mg_run *run, const void *one_case)
{
    const data_case *c = one_case; /* kind 0 .. 2: that change alone; 3: none; 4: all */
    for (int t = 0; t < CALLS; t++) {
        double want[12], bound[12], average[3], zero[3] = { 0 }, constant_size, size;
        mg_begin(run, "mt_colour_map");
        mg_out(run, "map", MT_F32, MT_SHAPE(3, 4));
        float *factor = mg_in(run, "factor", MT_F32, MT_SHAPE(3)), *mean = mg_in(run, "mean", MT_F32, MT_SHAPE(3));
        factors(run, factor, c->kind);
        for (int i = 0; i < 3; i++)
            average[i] = mean[i] = t == 1 ? 250 : 255 * mt_rng_uniform(mg_rng(run));
        if (t == 1 && c->kind == 4) {
            factor[0] = 1.5f, factor[1] = 0.5f;
            mg_hint(run, "brightness 1.5 of a mean of 250: m is above 1, and the map clamps nothing");
        }
        for (int i = 0; i < 3; i++) {
            want[4 * i + 3] = coloured(&constant_size, factor, average, zero, i);
            bound[4 * i + 3] = ROUNDINGS * EPS * constant_size;
            for (int j = 0; j < 3; j++) { /* the map is linear: its columns are the images of single bytes of 1 */
                double one[3] = { 0 }, nothing[3] = { 0 };
                one[j] = 1;
                want[4 * i + j] = coloured(&size, factor, nothing, one, i);
                bound[4 * i + j] = ROUNDINGS * EPS * size;
            }
        }
        if (!(t == 0 ? mg_shared_call(run) : mg_call(run)) || !mg_expect(run, "map", want, bound))
            return;
    }
}

typedef struct crop {
    int64_t size[4], place[3];
    float factor[3], norm[6];
} crop;

static void expect_crop(double *want, double *bound, const crop *a, const uint8_t *in)
{
    int64_t h = a->size[0], w = a->size[1];
    double mean[3] = { 0 };
#define PIXEL(y, x) (in + ((a->place[0] + (y)) * a->size[3] + a->place[1] + (x)) * 3)
    for (int64_t i = 0; i < h * w; i++)
        for (int c = 0; c < 3; c++)
            mean[c] += (double)PIXEL(i / w, i % w)[c] / (double)(h * w);
    for (int64_t i = 0; i < 3 * h * w; i++) {
        int64_t c = i / (h * w), y = i / w % h, x = i % w;
        const uint8_t *p = PIXEL(y, a->place[2] ? w - 1 - x : x);
        double byte[3] = { p[0], p[1], p[2] }, size, v = coloured(&size, a->factor, mean, byte, c);
        want[i] = (fmin(fmax(v, 0), 1) - a->norm[c]) / a->norm[3 + c];
        bound[i] = 2 * ROUNDINGS * EPS * (size + 1 + a->norm[c]) / a->norm[3 + c];
    }
#undef PIXEL
}

/* Call t: rows of several parts; a picture that is written past the caches; a row longer than a unit may think. */
static int64_t side_of(mg_run *run, int t, int i)
{
    return t == 0 && i == 1 ? 600 : t == 1 ? 150 + i : t == 2 && i == 1 ? 5003 : mg_pick(mg_rng(run), 1, 20);
}

/* After the calls of a row with all changes: each change alone, not mirrored, and then each by a factor of almost 1.
 * The first one of contrast has a picture of one bright colour, whose sum needs more digits than a float has. */
enum { BRIGHT = CALLS + 1, BRIGHT_SIDE = 600, BRIGHT_BYTE = 253, NEAR_1 = CALLS + 3, NEAR_SIDE = 40 };

void mg_05_apply(mg_run *run, const void *one_case)
{
    const data_case *k = one_case; /* kind: flip; spread: of the colours, 3 none, 4 all */
    for (int t = 0; t < (k->spread == 4 ? NEAR_1 + 3 : CALLS); t++) {
        crop a = { .place = { 0, 0, k->kind && t < CALLS } };
        for (int i = 0; i < 2; i++) {
            a.size[i] = t == BRIGHT ? BRIGHT_SIDE : t >= NEAR_1 ? NEAR_SIDE : side_of(run, t, i);
            a.place[i] = mg_pick(mg_rng(run), 0, 5);
            a.size[2 + i] = a.size[i] + a.place[i] + mg_pick(mg_rng(run), 0, 3);
        }
        factors(run, a.factor, t < CALLS ? k->spread : (t - CALLS) % 3);
        if (t >= NEAR_1)
            a.factor[t - NEAR_1] = 1.0005f;
        if (t >= CALLS)
            mg_part(run, "one factor changes", "%s alone has changed%s, and nothing is mirrored",
                    (const char *const[]){ "brightness", "contrast", "saturation" }[(t - CALLS) % 3],
                    t < NEAR_1 ? "" : ", by a factor of 1.0005");
        for (int i = 0; i < 3; i++) {
            a.norm[i] = mt_rng_uniform(mg_rng(run));
            a.norm[3 + i] = 0.1f + mt_rng_uniform(mg_rng(run));
        }
        int64_t n = 3 * a.size[0] * a.size[1];
        double *want = calloc((size_t)n, sizeof *want), *bound = calloc((size_t)n, sizeof *bound);
        mg_begin(run, "mt_augment_apply");
        mg_out(run, "out", MT_F32, MT_SHAPE(3, a.size[0], a.size[1]));
        uint8_t *in = picture(run, a.size[2], a.size[3]);
        if (t == BRIGHT)
            memset(in, BRIGHT_BYTE, (size_t)(a.size[2] * a.size[3] * 3));
        expect_crop(want, bound, &a, in);
        int64_t *size = mg_in(run, "size", MT_I64, MT_SHAPE(4)), *place = mg_in(run, "place", MT_I64, MT_SHAPE(3));
        float *factor = mg_in(run, "factor", MT_F32, MT_SHAPE(3)), *norm = mg_in(run, "norm", MT_F32, MT_SHAPE(6));
        for (int i = 0; i < 6; i++) {
            norm[i] = a.norm[i];
            if (i < 4)
                size[i] = a.size[i];
            if (i < 3) {
                place[i] = a.place[i];
                factor[i] = a.factor[i];
            }
        }
        bool good = (t == 0 ? mg_shared_call(run) : mg_call(run)) && mg_expect(run, "out", want, bound);
        free(want);
        free(bound);
        if (!good)
            return;
    }
}
