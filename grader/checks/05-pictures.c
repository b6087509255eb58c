/* 05-pictures.c -- how the checks of steps 05.5 to 05.7 run: resizing, chance, colours. Rows: 05-data.c. */
#include "checks/05-data.h"
#include "checks/answer.h"
#include "checks/oracle.h"

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

/* Rounding to nearest is an error of at most a half; floats add to it. A position among n pixels is off by at most 4
 * roundings of n, which changes a colour by 255 times as much in each direction; mixing has 8 roundings of up to
 * 255. */
static bool resize_once(mg_run *run, const int64_t size[4], bool exact, bool searched)
{
    const int64_t n = size[0] * size[1] * 3;
    const mg_answer out = { "out", mg_doubles(n), mg_doubles(n), n };
    mg_begin(run, "mt_resize");
    mg_out(run, "out", MT_U8, MT_SHAPE(size[0], size[1], 3));
    uint8_t *in = picture(run, size[2], size[3]);
    mg_i64(run, "out height", size[0]);
    mg_i64(run, "out width", size[1]);
    mg_i64(run, "in height", size[2]);
    mg_i64(run, "in width", size[3]);
    while (!is_just_above_half(in, size, out.v) && exact)
        for (int i = 0; i < 12; i++)
            in[i] = (uint8_t)mt_rng_below(mg_rng(run), 256);
    for (int64_t i = 0; i < n; i++)
        out.e[i] = exact ? 0.5 : 0.5 + 255 * EPS * (4 * (double)(size[2] + size[3]) + 8);
    return mg_searched_and_judge(run, searched, &out, 1);
}

void mg_05_resize(mg_run *run, const void *one_case)
{
    enum { LARGER = 1, SMALLER, SAME, AS_ALL, EXACT, SEARCHED };
    static const struct {
        int64_t kind, how;
        const char *part;
        int64_t size[4]; /* height and width of the result, and of the picture */
    } given[] = {
        { LARGER, EXACT, "halves that are exact", { 128, 128, 2, 2 } },
        { LARGER, SEARCHED, "several threads", { 9, 14, 5, 7 } },
        { LARGER, AS_ALL, "one side as it is", { 3, 7, 3, 4 } },
        { LARGER, AS_ALL, "one side as it is", { 7, 3, 4, 3 } },
        { LARGER, AS_ALL, "one pixel", { 1, 6, 1, 1 } },
        { LARGER, AS_ALL, "one pixel", { 6, 1, 1, 1 } },
        { LARGER, AS_ALL, "twice the size", { 6, 8, 3, 4 } },
        { LARGER, AS_ALL, "one side larger, one smaller", { 2, 5003, 3, 4001 } },
        { LARGER, AS_ALL, "sides whose product is above 2^32", { 70001, 1, 66000, 1 } },
        { SMALLER, SEARCHED, "several threads", { 9, 7, 14, 11 } },
        { SMALLER, AS_ALL, "one side as it is", { 3, 4, 3, 7 } },
        { SMALLER, AS_ALL, "one side as it is", { 4, 3, 7, 3 } },
        { SMALLER, AS_ALL, "one pixel", { 1, 5, 4, 9 } },
        { SMALLER, AS_ALL, "one pixel", { 5, 1, 9, 4 } },
        { SMALLER, AS_ALL, "half the size", { 3, 4, 6, 8 } },
        { SMALLER, AS_ALL, "one side larger, one smaller", { 4001, 3, 5003, 2 } },
        { SAME, SEARCHED, "several threads", { 9, 7, 9, 7 } },
        { SMALLER, AS_ALL, "sides whose product is above 2^32", { 66000, 1, 70001, 1 } },
    };
    const int64_t kind = ((const data_case *)one_case)->kind;
    bool good = true;
    for (int t = 0; t < CALLS && good; t++) {
        const int64_t h = mg_pick(mg_rng(run), 1, 12), w = mg_pick(mg_rng(run), 1, 12),
                      more = kind == SAME ? 0 : mg_pick(mg_rng(run), 1, 12), low = kind == SMALLER ? more : 0;
        good = resize_once(run, (const int64_t[]){ h + more - low, w + more - low, h + low, w + low }, false, false);
    }
    for (int i = 0; i < MT_COUNT(given) && good; i++) {
        const int64_t *size = given[i].size;
        mg_part(run, given[i].part,
                "%" PRId64 " x %" PRId64 " pixels become %" PRId64 " x %" PRId64
                ": the same formula holds for every size, and for each direction by itself; a product of sides may be "
                "more than an int holds",
                size[2], size[3], size[0], size[1]);
        good = given[i].kind != kind || resize_once(run, size, given[i].how == EXACT, given[i].how == SEARCHED);
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

/* What is special in a call: factor number extreme - 1 is near 0 or, if `most`, near 2; the number drawn for the flip
 * is its probability, and not below it. */
typedef struct chance {
    const char *part, *hint;
    int extreme;
    bool most, equal, searched;
} chance;

static bool choose_once(mg_run *run, const data_case *c, const chance *k)
{
    int64_t seed = mt_rng_below(mg_rng(run), 1 << 30);
    mg_begin(run, "mt_augment_choose");
    mg_out(run, "place", MT_I64, MT_SHAPE(4));
    mg_out(run, "factor", MT_F32, MT_SHAPE(3));
    int64_t *size = mg_in(run, "size", MT_I64, MT_SHAPE(4));
    float *spread = mg_in(run, "spread", MT_F32, MT_SHAPE(4));
    for (int i = 0; i < 2; i++) {
        size[i] = mg_pick(mg_rng(run), 1, 20);
        size[2 + i] = size[i] + mg_pick(mg_rng(run), 0, 3);
    }
    for (int i = 0; i < 4; i++)
        spread[i] = k->extreme && i > 0 ? 1 : c->spread || i == 0 ? mt_rng_uniform(mg_rng(run)) : 0;
    if (k->extreme)
        seed = seed_of_extreme(mg_rng(run), size, k->extreme - 1, k->most);
    mg_i64(run, "random_crop", c->kind);
    mg_i64(run, "seed", seed);
    mt_rng rng = mt_rng_new((uint64_t)seed, MT_STREAM_USER);
    double place[4], factor[3], bound[3];
    for (int i = 0; i < 2; i++) {
        int64_t room = size[2 + i] - size[i], drawn = mt_rng_below(&rng, room + 1);
        place[i] = (double)(c->kind ? drawn : room / 2);
    }
    float drawn = mt_rng_uniform(&rng);
    spread[0] = k->equal ? drawn : spread[0];
    place[2] = drawn < spread[0];
    for (int i = 0; i < 3; i++) {
        factor[i] = 1 + (double)spread[1 + i] * (2 * (double)mt_rng_uniform(&rng) - 1);
        bound[i] = spread[1 + i] == 0 ? 0 : 4 * EPS * (1 + spread[1 + i]); /* a factor that changes nothing is 1 */
    }
    place[3] = mt_rng_u32(&rng); /* tells that exactly six were drawn */
    if (!(k->searched ? mg_shared_call(run) : mg_call(run)) || !mg_expect(run, "place", place, NULL))
        return false;
    if (!c->spread)
        mg_hint(run, "a spread of 0 gives a factor of exactly 1, which switches the change off");
    return mg_expect(run, "factor", factor, bound);
}

void mg_05_choose(mg_run *run, const void *one_case)
{
#define EXTREME(part, i, most) { part, "a spread of 1 gives factors from 0 to 2", i, most, false, false }
    static const chance tries[] = {
        { NULL, NULL, 0, false, false, false },
        EXTREME("a factor near 0", 1, false),
        EXTREME("a factor near 0", 2, false),
        EXTREME("a factor near 0", 3, false),
        EXTREME("a factor near 2", 1, true),
        EXTREME("a factor near 2", 2, true),
        EXTREME("a factor near 2", 3, true),
        { "a draw equal to the probability", "mirror if the number drawn is below the probability: never, if that is 0",
          0, false, true, false },
        { "several threads", NULL, 0, false, false, true },
    };
    const data_case *c = one_case; /* kind: the crop is random; spread: colours change */
    for (int k = 0; k < MT_COUNT(tries); k++) {
        mg_part(run, tries[k].part, tries[k].hint);
        for (int t = 0; t < (tries[k].part ? 1 : 3 * CALLS) && (c->spread || !tries[k].extreme); t++)
            if (!choose_once(run, c, &tries[k]))
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

static bool colours_once(mg_run *run, int64_t kind, bool bright, bool searched)
{
    double zero[3] = { 0 }, average[3], size;
    mg_begin(run, "mt_colour_map");
    mg_answer map = mg_overwritten(run, "map", MT_SHAPE(3, 4));
    float *factor = mg_in(run, "factor", MT_F32, MT_SHAPE(3)), *mean = mg_in(run, "mean", MT_F32, MT_SHAPE(3));
    factors(run, factor, kind);
    for (int i = 0; i < 3; i++)
        average[i] = mean[i] = bright ? 250 : 255 * mt_rng_uniform(mg_rng(run));
    if (bright)
        factor[0] = 1.5f, factor[1] = 0.5f;
    for (int i = 0; i < 12; i++) { /* the map is linear: its columns are the images of single bytes of 1 */
        double one[3] = { i % 4 == 0, i % 4 == 1, i % 4 == 2 };
        map.v[i] = coloured(&size, factor, i % 4 == 3 ? average : zero, one, i / 4);
        map.e[i] = ROUNDINGS * EPS * size;
    }
    return mg_searched_and_judge(run, searched, &map, 1);
}

void mg_05_colours(mg_run *run, const void *one_case)
{
    const data_case *c = one_case; /* kind 0 .. 2: that change alone; 3: none; 4: all */
    bool good = true;
    for (int t = 0; t < CALLS && good; t++)
        good = colours_once(run, c->kind, false, false);
    mg_part(run, "a bright picture", "with brightness 1.5 and a mean of 250, m is above 1: the map clamps nothing");
    good = good && (c->kind != 4 || colours_once(run, c->kind, true, false));
    mg_part(run, "several threads", NULL);
    if (good)
        colours_once(run, c->kind, false, true);
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

/* kind: of the changes; by: the factor of one, 0: drawn; byte: of all pixels, 0: random. */
static bool crop_once(mg_run *run, int64_t kind, float by, bool flip, int64_t height, int64_t width, int byte,
                      bool searched)
{
    crop a = { .size = { height, width }, .place = { 0, 0, flip } };
    for (int i = 0; i < 2; i++) {
        a.place[i] = mg_pick(mg_rng(run), 0, 5);
        a.size[2 + i] = a.size[i] + a.place[i] + mg_pick(mg_rng(run), 0, 3);
    }
    factors(run, a.factor, kind);
    if (by > 0)
        a.factor[kind] = by;
    for (int i = 0; i < 3; i++) {
        a.norm[i] = mt_rng_uniform(mg_rng(run));
        a.norm[3 + i] = 0.1f + mt_rng_uniform(mg_rng(run));
    }
    mg_begin(run, "mt_augment_apply");
    mg_answer out = mg_overwritten(run, "out", MT_SHAPE(3, height, width));
    uint8_t *in = picture(run, a.size[2], a.size[3]);
    if (byte)
        memset(in, byte, (size_t)(a.size[2] * a.size[3] * 3));
    expect_crop(out.v, out.e, &a, in);
    memcpy(mg_in(run, "size", MT_I64, MT_SHAPE(4)), a.size, sizeof a.size);
    memcpy(mg_in(run, "place", MT_I64, MT_SHAPE(3)), a.place, sizeof a.place);
    memcpy(mg_in(run, "factor", MT_F32, MT_SHAPE(3)), a.factor, sizeof a.factor);
    memcpy(mg_in(run, "norm", MT_F32, MT_SHAPE(6)), a.norm, sizeof a.norm);
    return mg_searched_and_judge(run, searched, &out, 1);
}

/* All changes of the row; with all, each change alone, not mirrored, and then each by a factor of almost 1. One picture
 * has one bright colour, whose sum needs more digits than a float has. */
void mg_05_apply(mg_run *run, const void *one_case)
{
    static const struct {
        const char *part;
        int64_t kind, side;
        float by;
        int byte;
    } alone[] = { { "brightness alone", 0, 20, 0, 0 },           { "contrast alone", 1, 20, 0, 0 },
                  { "saturation alone", 2, 20, 0, 0 },           { "contrast of a bright picture", 1, 600, 0, 253 },
                  { "brightness of 1.0005", 0, 40, 1.0005f, 0 }, { "contrast of 1.0005", 1, 40, 1.0005f, 0 },
                  { "saturation of 1.0005", 2, 40, 1.0005f, 0 } };
    const data_case *k = one_case; /* kind: flip; spread: of the colours, 3 none, 4 all */
    bool good = true;
    for (int t = 0; t < CALLS && good; t++)
        good =
            crop_once(run, k->spread, 0, k->kind, mg_pick(mg_rng(run), 1, 20), mg_pick(mg_rng(run), 1, 20), 0, false);
    mg_part(run, "a large picture", NULL);
    good = good && crop_once(run, k->spread, 0, k->kind, 150, 151, 0, false);
    mg_part(run, "a long row", NULL);
    good = good && crop_once(run, k->spread, 0, k->kind, 7, 5003, 0, false);
    mg_part(run, "several threads", NULL);
    good = good && crop_once(run, k->spread, 0, k->kind, 9, 600, 0, true);
    for (int t = 0; t < MT_COUNT(alone) && good && k->spread == 4; t++) {
        mg_part(run, alone[t].part, "only one factor differs from 1, and nothing is mirrored");
        good = crop_once(run, alone[t].kind, alone[t].by, false, alone[t].side, alone[t].side, alone[t].byte, false);
    }
}
