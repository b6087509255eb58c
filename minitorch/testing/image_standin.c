/* image_standin.c -- generating pictures, and writing them by stb_image_write, which is compiled here and nowhere
 * else. */
#include "testing/image_standin.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "core/storage.h"
#include "core/io.h"

#define STB_IMAGE_WRITE_IMPLEMENTATION
#include <stb/stb_image_write.h>

enum { DISCS = 100, JPEG_QUALITY = 90, NOISE = 17 };

static uint8_t to_byte(float v)
{
    return (uint8_t)(v < 0 ? 0 : v > 255 ? 255 : v);
}

static void draw_disc(const mt_image *out, mt_rng *rng, const float tint[3])
{
    int64_t shorter = mt_min(out->height, out->width), radius = 1 + mt_rng_below(rng, mt_max(shorter / 4, 1));
    int64_t cy = mt_rng_below(rng, out->height), cx = mt_rng_below(rng, out->width);
    float light = 40 + 180 * mt_rng_uniform(rng);
    for (int64_t y = mt_max(cy - radius, 0); y < mt_min(cy + radius, out->height); y++)
        for (int64_t x = mt_max(cx - radius, 0); x < mt_min(cx + radius, out->width); x++)
            if ((y - cy) * (y - cy) + (x - cx) * (x - cx) < radius * radius)
                for (int c = 0; c < 3; c++)
                    out->pixel[(y * out->width + x) * 3 + c] = to_byte(light * tint[c]);
}

void mt_image_draw(const mt_image *out, int64_t kind, int64_t number, uint64_t seed)
{
    mt_rng all = mt_rng_new(seed, MT_STREAM_DATA), of_class = mt_rng_substream(&all, (uint64_t)kind);
    mt_rng rng = mt_rng_substream(&of_class, (uint64_t)number);
    float tint[3];
    mt_rng_fill_uniform(&of_class, tint, 3, 0.4f, 1.2f);
    float low = 40 + 60 * mt_rng_uniform(&rng), high = 120 + 100 * mt_rng_uniform(&rng);
    for (int64_t y = 0; y < out->height; y++)
        for (int64_t x = 0; x < out->width; x++)
            for (int c = 0; c < 3; c++)
                out->pixel[(y * out->width + x) * 3 + c] =
                    to_byte(tint[c] * (low + (high - low) * (float)(x + y) / (float)(out->height + out->width)));
    for (int disc = 0; disc < DISCS; disc++)
        draw_disc(out, &rng, tint);
    for (int64_t i = 0; i < out->height * out->width * 3; i += 4) { /* one random block for four bytes */
        uint32_t bits[4];
        mt_philox(bits, rng.seed, rng.stream, rng.counter++);
        for (int64_t j = i; j < mt_min(i + 4, out->height * out->width * 3); j++)
            out->pixel[j] = to_byte((float)out->pixel[j] + (float)(bits[j - i] % NOISE) - NOISE / 2);
    }
}

static void append(void *user, void *data, int size)
{
    fwrite(data, 1, (size_t)size, ((mt_file_writer *)user)->out);
}

mt_status mt_image_write(const char *path, const mt_image *image)
{
    const char *dot = strrchr(path, '.');
    bool png = dot && strcmp(dot, ".png") == 0;
    int width = (int)image->width, height = (int)image->height, ok;
    mt_file_writer file;
    if (!png && !(dot && strcmp(dot, ".jpg") == 0))
        return mt_fail(MT_ERR_ARGUMENT, "%s: a name that ends in .png or .jpg is expected", path);
    mt_status status = mt_file_writer_open(&file, path);
    if (status != MT_OK)
        return status;
    if (png)
        ok = stbi_write_png_to_func(append, &file, width, height, 3, image->pixel, 3 * width);
    else
        ok = stbi_write_jpg_to_func(append, &file, width, height, 3, image->pixel, JPEG_QUALITY);
    MT_CHECK(ok, "%s: a picture of %d x %d pixels cannot be encoded", path, height, width);
    return mt_file_writer_close(&file);
}

mt_status mt_image_standin(const char *dir, int64_t classes, int64_t each, int64_t size, const char *extension,
                           uint64_t seed)
{
    mt_image image = { mt_alloc(size * size * 3, MT_CPU), size, size };
    mt_status status = MT_OK;
    for (int64_t kind = 0; kind < classes && status == MT_OK; kind++) {
        char folder[4000], path[4096];
        snprintf(folder, sizeof folder, "%s/class%" PRId64, dir, kind);
        if (mkdir(folder, 0777) != 0 && errno != EEXIST)
            status = mt_fail(MT_ERR_IO, "%s: %s", folder, strerror(errno));
        for (int64_t i = 0; i < each && status == MT_OK; i++) {
            snprintf(path, sizeof path, "%s/%03" PRId64 ".%s", folder, i, extension);
            mt_image_draw(&image, kind, i, seed);
            status = mt_image_write(path, &image);
        }
    }
    mt_free(image.pixel, size * size * 3, MT_CPU);
    return status;
}
