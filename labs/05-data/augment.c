/* augment.c -- converts pictures to planes of floats with random changes. Random numbers are drawn in one function and
 * applied in others. */
#include "data/augment.h"
#include "kernels/vec.h"

#include <math.h>
#include <string.h>

enum {
    PIECE = 256,     /* pixels whose colours are separated at a time: 3 KiB of floats, in the L1 cache */
    LARGE = 1 << 16, /* floats of a picture so large that a batch does not fit in the caches: 256 KiB */
};

static const float grey[3] = { 0.299f, 0.587f, 0.114f };

mt_augment mt_augment_default(int64_t height, int64_t width)
{
    return (mt_augment){ .height = height, .width = width, .resize = mt_max(height, width), .stddev = { 1, 1, 1 } };
}

/* A position between two neighbours in a row or column of n pixels: a + (b - a) * part. */
typedef struct between {
    int64_t a, b;
    float part;
} between;

/* The position of pixel i of `to` among `from` pixels. */
static between place_of(int64_t i, int64_t to, int64_t from)
{
    /* TODO 05.5: The two neighbours of an output pixel's centre in the input, and its distance from the first.
     * Hint: pixel i covers i .. i + 1, its centre is i + 0.5; the header gives its position in the input. Before the
     * first pixel's centre and after the last one's there is only one neighbour. */
    MT_TODO("05.5"); /* delete this line when yours stands here */
}

void mt_resize(const mt_image *out, const mt_image *in)
{
    for (int64_t y = 0; y < out->height; y++) {
        between v = place_of(y, out->height, in->height);
        const uint8_t *upper = in->pixel + v.a * in->width * 3, *lower = in->pixel + v.b * in->width * 3;
        uint8_t *row = out->pixel + y * out->width * 3;
        for (int64_t x = 0; x < out->width; x++) {
            between h = place_of(x, out->width, in->width);
            for (int c = 0; c < 3; c++) {
                /* TODO 05.5: Mix four neighbours.
                 * Hint: first along each of the two rows, then between the rows. Adding 0.5 before truncation
                 * rounds. */
                MT_TODO("05.5"); /* delete this line when yours stands here */
            }
        }
    }
}

/* factor -- 1 - spread .. 1 + spread. */
static float factor(mt_rng *rng, float spread)
{
    return 1 + spread * (2 * mt_rng_uniform(rng) - 1);
}

mt_augment_choice mt_augment_choose(const mt_augment *augment, int64_t height, int64_t width, mt_rng *rng)
{
    int64_t down = height - augment->height, right = width - augment->width; /* the range of the crop's position */
    mt_augment_choice choice = { .top = down / 2, .left = right / 2 };
    /* TODO 05.6: Draw all random numbers.
     * Hint: six draws, in the order of the header, each even if it is not used. A crop that can move by 10 pixels has
     * 11 positions (mt_rng_below). factor() draws a factor. */
    MT_TODO("05.6"); /* delete this line when yours stands here */
    return choice;
}

void mt_colour_map(float map[3][4], const mt_augment_choice *choice, const float mean[3])
{
    float b = choice->brightness, k = choice->contrast, s = choice->saturation;
    /* TODO 05.7: Brightness, contrast and saturation as one linear map.
     * Hint: substitute each formula of the header into the next. A colour depends on its own byte with weight s and,
     * through the grey, on every byte j with weight (1 - s) grey[j]; all weights are multiplied by k b / 255. The grey
     * of a grey is itself, so the constant of contrast does not change. If all three are 1, the map divides by 255. */
    MT_TODO("05.7"); /* delete this line when yours stands here */
}

/* A colour after the map, clamping and normalising: a weighted sum of bytes with two bounds. */
typedef struct colour_rule {
    float weight[3], constant, low, high;
} colour_rule;

/* (clamp(v, 0, 1) - mean) / stddev is clamp(v * scale + shift, shift, scale + shift): normalising is part of the
 * map. */
static colour_rule rule_of(const float map[4], float mean, float stddev)
{
    float scale = 1 / stddev, shift = -mean / stddev;
    return (colour_rule){ .weight = { map[0] * scale, map[1] * scale, map[2] * scale },
                          .constant = map[3] * scale + shift,
                          .low = shift,
                          .high = scale + shift };
}

/* Reading every third byte is slow, so the colours are first separated, piece by piece. */
static void split(uint8_t *restrict red, uint8_t *restrict green, uint8_t *restrict blue, const uint8_t *restrict in,
                  int64_t n)
{
    for (int64_t x = 0; x < n; x++) {
        red[x] = in[3 * x];
        green[x] = in[3 * x + 1];
        blue[x] = in[3 * x + 2];
    }
}

/* The same, mirrored: the first pixel of the row comes last. */
static void split_mirrored(uint8_t *restrict red, uint8_t *restrict green, uint8_t *restrict blue,
                           const uint8_t *restrict in, int64_t n)
{
    /* TODO 05.6: As split, from right to left.
     * Hint: pixel x of the row is pixel n - 1 - x of the mirrored row. */
    MT_TODO("05.6"); /* delete this line when yours stands here */
}

static int64_t sum_of(const uint8_t *bytes, int64_t n)
{
    int32_t sum = 0;
    for (int64_t x = 0; x < n; x++)
        sum += bytes[x];
    return sum;
}

/* The mean byte of each colour over the crop; sums of integers, so exact in any order. */
static void mean_of(float mean[3], const mt_image *in, const mt_augment *augment, const mt_augment_choice *choice)
{
    int64_t sum[3] = { 0 }, width = augment->width;
    uint8_t part[3][PIECE];
    for (int64_t y = 0; y < augment->height; y++) {
        const uint8_t *row = in->pixel + ((choice->top + y) * in->width + choice->left) * 3;
        for (int64_t x = 0; x < width; x += PIECE) {
            split(part[0], part[1], part[2], row + 3 * x, mt_min(PIECE, width - x));
            for (int c = 0; c < 3; c++)
                sum[c] += sum_of(part[c], mt_min(PIECE, width - x));
        }
    }
    for (int c = 0; c < 3; c++)
        mean[c] = (float)((double)sum[c] / (double)(augment->height * width));
}

/* Whole vectors at a time: values after n, in the rest of a piece, are not used. */
static void scale(float *out, const uint8_t *in, int64_t n, float weight, float constant)
{
    for (int64_t x = 0; x < n; x += MT_VL)
        mt_store(out + x, weight * mt_load_bytes(in + x) + constant);
}

static void mix(float *restrict out, const float *restrict red, const float *restrict green, const float *restrict blue,
                int64_t n, const colour_rule *rule)
{
    const float *w = rule->weight, low = rule->low, high = rule->high;
    for (int64_t x = 0; x < n; x++) {
        float v = w[0] * red[x] + w[1] * green[x] + w[2] * blue[x] + rule->constant;
        v = v > low ? v : low;
        out[x] = v < high ? v : high;
    }
}

/* ---- rows and pictures --------------------------------------------------------------------------- */

/* How a row is processed: mirrored or not, with colours changed or not, and the function that stores it. */
typedef struct look {
    bool flip, plain;
    void (*put)(float *out, const float *in, int64_t n);
} look;

static void put(float *out, const float *in, int64_t n)
{
    memcpy(out, in, (size_t)n * sizeof *out);
}

/* The floats of a large picture would be evicted from the caches before they are read, and evict data of the
 * decoder. */
static void put_past_caches(float *out, const float *in, int64_t n)
{
    int64_t x = 0;
    for (; x < n && (uintptr_t)(out + x) % sizeof(mt_vec) != 0; x++)
        out[x] = in[x];
    for (; x + MT_VL <= n; x += MT_VL)
        mt_stream(out + x, mt_load(in + x));
    for (; x < n; x++)
        out[x] = in[x];
}

/* A row of n pixels into a row of each of three planes. Unchanged colours do not mix and need no bounds, which is three
 * times as fast. */
static void colour_row(float *out, int64_t plane, const uint8_t *in, int64_t n, const colour_rule rule[3], look how)
{
    uint8_t part[3][PIECE];
    float wide[3][PIECE], done[PIECE];
    for (int64_t x = 0; x < n; x += PIECE) {
        int64_t count = mt_min(PIECE, n - x), to = x;
        /* TODO 05.6: The start of this piece of `count` pixels in a mirrored row.
         * Hint: the first piece becomes the last. split_mirrored() reverses the pixels in it. */
        MT_TODO("05.6"); /* delete this line when yours stands here */
        (how.flip ? split_mirrored : split)(part[0], part[1], part[2], in + 3 * x, count);
        for (int c = 0; c < 3 && !how.plain; c++)
            scale(wide[c], part[c], count, 1, 0);
        for (int c = 0; c < 3; c++) {
            if (how.plain)
                scale(done, part[c], count, rule[c].weight[c], rule[c].constant);
            else
                mix(done, wide[0], wide[1], wide[2], count, &rule[c]);
            how.put(out + c * plane + to, done, count);
        }
    }
}

void mt_augment_apply(float *out, const mt_image *in, const mt_augment *augment, const mt_augment_choice *choice)
{
    int64_t height = augment->height, width = augment->width, plane = height * width;
    float map[3][4], mean[3] = { 0 };
    look how = { .flip = choice->flip,
                 .plain = choice->brightness == 1 && choice->contrast == 1 && choice->saturation == 1,
                 .put = 3 * plane < LARGE ? put : put_past_caches };
    colour_rule rule[3];
    if (choice->contrast != 1)
        mean_of(mean, in, augment, choice);
    mt_colour_map(map, choice, mean);
    for (int c = 0; c < 3; c++)
        rule[c] = rule_of(map[c], augment->mean[c], augment->stddev[c]);
    /* TODO 05.6: Write the crop's rows into a plane for each colour.
     * Hint: row y of the crop starts at pixel (top + y, left) of the picture, three bytes a pixel. colour_row writes
     * that row into all three planes, the first at `out`, the others `plane` floats apart. */
    MT_TODO("05.6"); /* delete this line when yours stands here */
    mt_stream_end();
}
