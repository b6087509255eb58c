/* make_digits.c -- stand-in for MNIST where it cannot be had: digits drawn from strokes, in the same four IDX files.
 *
 * A digit is one of several ways of writing it (a path of points), made someone's own by random numbers: points jitter,
 * the whole is bent, slanted, turned and squeezed, the pen has a width and a pressure. Then it is fitted and centred as
 * MNIST's are: into 20 x 20 of 28 x 28 pixels. Picture i depends on the seed and on i only, whatever the thread count.
 *
 * These are not MNIST and no figure of merit may be quoted from them: they show that the machinery works. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/io.h"
#include "core/rng.h"
#include "core/storage.h"
#include "cli/cli.h"

#define SIDE       28 /* pixels of a picture's side */
#define BOX        20 /* pixels of the box into which a digit is fitted */
#define MAX_POINTS 64 /* of one way of writing */
#define STEPS      6  /* straight pieces between two points of a curve */

/* ---- ways of writing: points "x,y" in a square of 100 x 100, y downwards; ";" lifts the pen, which makes a corner
 * ---- */

static const struct {
    int digit;
    const char *path;
} ways[] = {
    { 0, "50,5 24,20 15,50 24,82 50,95 76,82 85,50 76,20 50,5" },
    { 0, "62,8 35,12 18,42 22,78 46,95 74,80 84,48 72,16 48,8 40,14" },
    { 1, "50,5 50,35 50,65 50,95" },
    { 1, "28,28 42,18 54,5; 54,5 53,50 52,95" },
    { 1, "28,25 52,5; 52,5 52,50 52,95; 25,95 52,95 80,95" },
    { 2, "17,28 28,10 52,5 76,15 79,34 62,58 38,76 16,94; 16,94 50,94 86,92" },
    { 2, "18,25 36,7 62,7 74,25 64,52 40,80 22,88 16,78 30,74 52,88 86,88" },
    { 3, "20,14 46,5 74,14 74,34 44,46; 44,46 76,54 82,76 54,95 18,86" },
    { 3, "18,8 48,7 78,8; 78,8 62,26 46,42; 46,42 78,52 80,78 50,95 16,84" },
    { 4, "28,6 24,30 18,56; 18,56 50,58 84,54; 68,10 66,50 64,95" },
    { 4, "64,5 40,32 12,64; 12,64 50,65 88,64; 64,5 64,50 64,95" },
    { 5, "28,8 26,26 22,44; 22,44 48,36 76,48 78,74 52,94 18,88; 28,8 54,8 80,6" },
    { 5, "80,8 54,9 32,10; 32,10 26,44; 26,44 56,40 78,60 68,86 42,95 18,82" },
    { 6, "66,5 40,24 24,54 28,84 52,95 74,82 74,60 52,50 30,66" },
    { 6, "44,5 26,36 18,70 34,94 64,92 78,72 58,56 34,66 22,80" },
    { 7, "16,10 48,12 82,8; 82,8 62,48 44,95" },
    { 7, "16,12 48,8 80,10; 80,10 60,52 46,95; 34,52 56,50 78,48" },
    { 7, "18,24 20,10 50,12 82,8; 82,8 66,40 56,95" },
    { 8, "66,18 46,5 26,20 40,44 68,62 72,84 48,95 26,82 34,60 62,42 74,22 58,6" },
    { 8, "50,5 30,12 28,32 50,46 72,32 70,12 50,5; 50,46 24,60 24,84 50,95 76,84 76,60 50,46" },
    { 9, "74,24 52,6 28,18 28,42 52,50 74,28; 74,28 72,60 66,95" },
    { 9, "76,30 60,8 32,12 22,36 42,52 68,42 76,26 76,60 60,88 30,94" },
};

typedef struct point {
    float x, y;
} point;

typedef struct outline {
    int count;
    point at[MAX_POINTS];
    bool lifted[MAX_POINTS]; /* the pen came down at this point: nothing joins it to the one before */
} outline;

/* The ways, parsed once. */
static outline outlines[MT_COUNT(ways)];
enum { CLASSES = 10 };

static int ways_of[CLASSES], first_way[CLASSES];

static void parse_ways(void)
{
    for (int w = 0; w < (int)MT_COUNT(ways); w++) {
        outline *o = &outlines[w];
        bool lifted = true;
        for (const char *s = ways[w].path; *s; o->count++) {
            char *end;
            MT_CHECK(o->count < MAX_POINTS, "way %d has too many points", w);
            o->at[o->count].x = strtof(s, &end) / 100;
            o->at[o->count].y = strtof(end + 1, &end) / 100;
            o->lifted[o->count] = lifted;
            lifted = *end == ';';
            s = end + lifted;
        }
        if (ways_of[ways[w].digit]++ == 0)
            first_way[ways[w].digit] = w;
    }
}

/* ---- one person's hand ---------------------------------------------------------------------------- */

static float between(mt_rng *rng, float low, float high)
{
    return low + (high - low) * mt_rng_uniform(rng);
}

/* deform -- jitter each point, bend the square along a random wave, then slant, turn and squeeze. */
static void deform(outline *o, mt_rng *rng)
{
    float bend_x = 0.06f * mt_rng_normal(rng), bend_y = 0.05f * mt_rng_normal(rng);
    float phase_x = between(rng, 0, 6.28f), phase_y = between(rng, 0, 6.28f), wave = between(rng, 3, 6);
    float turn = 0.14f * mt_rng_normal(rng), slant = 0.1f + 0.23f * mt_rng_normal(rng);
    float wide = between(rng, 0.55f, 1.1f), c = cosf(turn), s = sinf(turn);
    for (int i = 0; i < o->count; i++) {
        float x = o->at[i].x - 0.5f + 0.042f * mt_rng_normal(rng), y = o->at[i].y - 0.5f + 0.042f * mt_rng_normal(rng);
        float bent_x = x + bend_x * sinf(wave * y + phase_x), bent_y = y + bend_y * sinf(wave * x + phase_y);
        x = wide * bent_x - slant * bent_y;
        o->at[i] = (point){ c * x - s * bent_y, s * x + c * bent_y };
    }
}

/* fit -- scale the outline into the box and centre it, with the carelessness of a hand. */
static void fit(outline *o, mt_rng *rng)
{
    point low = o->at[0], high = o->at[0];
    for (int i = 1; i < o->count; i++) {
        low = (point){ fminf(low.x, o->at[i].x), fminf(low.y, o->at[i].y) };
        high = (point){ fmaxf(high.x, o->at[i].x), fmaxf(high.y, o->at[i].y) };
    }
    float scale = (BOX - 2) * between(rng, 0.8f, 1.08f) / fmaxf(high.x - low.x, high.y - low.y);
    float dx = SIDE / 2.0f + 0.9f * mt_rng_normal(rng), dy = SIDE / 2.0f + 0.9f * mt_rng_normal(rng);
    for (int i = 0; i < o->count; i++)
        o->at[i] = (point){ (o->at[i].x - (low.x + high.x) / 2) * scale + dx,
                            (o->at[i].y - (low.y + high.y) / 2) * scale + dy };
}

/* ---- ink ------------------------------------------------------------------------------------------ */

/* line -- darken the pixels near the piece from a to b; full within `radius`, then falling off over `soft` pixels. */
static void line(float *ink, point a, point b, float radius, float soft, float pressure)
{
    float reach = radius + soft, ux = b.x - a.x, uy = b.y - a.y, length2 = ux * ux + uy * uy + 1e-6f;
    int x0 = (int)fmaxf(0, fminf(a.x, b.x) - reach), x1 = (int)fminf(SIDE - 1, fmaxf(a.x, b.x) + reach);
    int y0 = (int)fmaxf(0, fminf(a.y, b.y) - reach), y1 = (int)fminf(SIDE - 1, fmaxf(a.y, b.y) + reach);
    for (int y = y0; y <= y1; y++)
        for (int x = x0; x <= x1; x++) {
            float px = (float)x + 0.5f - a.x, py = (float)y + 0.5f - a.y;
            float t = fminf(1, fmaxf(0, (px * ux + py * uy) / length2));
            float away = sqrtf((px - t * ux) * (px - t * ux) + (py - t * uy) * (py - t * uy));
            float dark = pressure * fminf(1, fmaxf(0, (reach - away) / soft));
            ink[y * SIDE + x] = fmaxf(ink[y * SIDE + x], dark);
        }
}

/* Catmull-Rom: a smooth curve through its points; at the ends of a stroke the missing neighbour is the end itself. */
static point curve(point before, point a, point b, point after, float t)
{
    float t2 = t * t, t3 = t2 * t;
    float w0 = -t3 + 2 * t2 - t, w1 = 3 * t3 - 5 * t2 + 2, w2 = -3 * t3 + 4 * t2 + t, w3 = t3 - t2;
    return (point){ (w0 * before.x + w1 * a.x + w2 * b.x + w3 * after.x) / 2,
                    (w0 * before.y + w1 * a.y + w2 * b.y + w3 * after.y) / 2 };
}

static void draw(float *ink, const outline *o, mt_rng *rng)
{
    float radius = between(rng, 0.5f, 1.35f), soft = between(rng, 0.8f, 1.4f), pressure = between(rng, 0.85f, 1);
    for (int i = 0; i + 1 < o->count; i++) {
        if (o->lifted[i + 1])
            continue;
        point a = o->at[i], b = o->at[i + 1];
        point before = o->lifted[i] ? a : o->at[i - 1];
        point after = i + 2 == o->count || o->lifted[i + 2] ? b : o->at[i + 2];
        float width = radius * between(rng, 0.85f, 1.15f);
        point from = a;
        for (int s = 1; s <= STEPS; s++) {
            point to = curve(before, a, b, after, (float)s / STEPS);
            line(ink, from, to, width, soft, pressure);
            from = to;
        }
    }
}

/* picture -- picture and label of one random stream. */
static void picture(uint8_t *pixels, uint8_t *label, mt_rng rng)
{
    float ink[SIDE * SIDE] = { 0 };
    *label = (uint8_t)mt_rng_below(&rng, CLASSES);
    outline o = outlines[first_way[*label] + mt_rng_below(&rng, ways_of[*label])];
    deform(&o, &rng);
    fit(&o, &rng);
    draw(ink, &o, &rng);
    float grain[SIDE * SIDE];
    mt_rng_fill_uniform(&rng, grain, SIDE * SIDE, 0.88f, 1.12f);
    for (int p = 0; p < SIDE * SIDE; p++)
        pixels[p] = (uint8_t)lrintf(255 * fminf(1, ink[p] * grain[p]));
}

/* ---- files ---------------------------------------------------------------------------------------- */

static void put_size(FILE *file, int64_t size)
{
    for (int shift = 24; shift >= 0; shift -= 8)
        fputc((int)(size >> shift & 255), file);
}

/* write_idx -- an IDX file of bytes: 0x08 in its third byte, the number of its sizes in the fourth, then the sizes. */
static mt_status write_idx(const char *path, const uint8_t *data, const int64_t *size, int sizes)
{
    mt_file_writer file;
    MT_TRY(mt_file_writer_open(&file, path));
    put_size(file.out, 0x800 + sizes);
    int64_t bytes = 1;
    for (int i = 0; i < sizes; i++) {
        put_size(file.out, size[i]);
        bytes *= size[i];
    }
    fwrite(data, 1, (size_t)bytes, file.out); /* close reports a failure */
    return mt_file_writer_close(&file);
}

/* make_set -- DIR/NAME-images-idx3-ubyte and DIR/NAME-labels-idx1-ubyte. */
static mt_status make_set(const char *dir, const char *name, int64_t count, const mt_rng *rng)
{
    char path[4096];
    const int64_t size[] = { count, SIDE, SIDE };
    uint8_t *image = mt_alloc(count * SIDE * SIDE, MT_CPU), *label = mt_alloc(count, MT_CPU);
#pragma omp parallel for schedule(dynamic, 256)
    for (int64_t i = 0; i < count; i++)
        picture(image + i * SIDE * SIDE, label + i, mt_rng_substream(rng, (uint64_t)i));
    snprintf(path, sizeof path, "%s/%s-images-idx3-ubyte", dir, name);
    mt_status status = write_idx(path, image, size, 3);
    snprintf(path, sizeof path, "%s/%s-labels-idx1-ubyte", dir, name);
    if (status == MT_OK)
        status = write_idx(path, label, size, 1);
    mt_free(image, count * SIDE * SIDE, MT_CPU);
    mt_free(label, count, MT_CPU);
    return status;
}

/* ---- command line --------------------------------------------------------------------------------- */

typedef struct options {
    const char *out;
    int64_t train, test, seed;
} options;

static const mt_option flags[] = {
    { "out", 'o', "DIR", MT_TEXT(options, out), "Folder of the four files" },
    { "train", 'n', "N", MT_I64(options, train, 1, 10000000), "Pictures of the training set" },
    { "test", 't', "N", MT_I64(options, test, 1, 10000000), "Pictures of the test set" },
    { "seed", 's', "N", MT_I64(options, seed, 0, INT64_MAX), "Seed of the pictures" },
    { 0 },
};

int main(int argc, char **argv)
{
    options opt = { "datasets/cache/standin", 60000, 10000, 1 };
    mt_cli_parse(argc, argv, "Draw stand-in digits in MNIST's format.", flags, &opt);
    double start = mt_now();
    parse_ways();
    mt_rng data = mt_rng_new((uint64_t)opt.seed, MT_STREAM_DATA), train = mt_rng_substream(&data, 0),
           test = mt_rng_substream(&data, 1);
    if (mt_cli_folder(opt.out) != MT_OK || make_set(opt.out, "train", opt.train, &train) != MT_OK ||
        make_set(opt.out, "t10k", opt.test, &test) != MT_OK) {
        fprintf(stderr, "make_digits: %s\n", mt_last_error());
        return 1;
    }
    printf("make_digits: %" PRId64 " + %" PRId64 " digits in %s (%.1f s)\n", opt.train, opt.test, opt.out,
           mt_now() - start);
    return 0;
}
