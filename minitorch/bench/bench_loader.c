/* bench_loader.c -- the cost of the loader: an epoch of MNIST, and decoding of pictures compared with stb_image alone.
 *
 *     build/release/bin/bench_loader --csv build/bench/loader.csv
 *
 * Contestants take turns in every round, and the fastest round of each counts; without workers, the fastest of each
 * batch of pictures. The loader is warm: its buffers were used before, its threads are new in every round. "Of bare, a
 * core" without workers compares processor time, which is valid on a busy machine too; with workers it compares wall
 * time, which is valid on an idle machine only. The last line is for programs; it says FAIL, and the exit status is not
 * 0, when the loader on one core decodes less than 0.9 times as fast as stb_image alone. */
#include <errno.h>
#include <ftw.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <stb/stb_image.h>

#include "bench/bench.h"
#include "core/storage.h"
#include "testing/idx_write.h"
#include "data/images/image.h"
#include "testing/image_standin.h"
#include "data/loader.h"
#include "data/mnist.h"

enum { MOST_WORKERS = 8, PICTURES = 16 /* a batch */, SIDE = 224, STANDIN_DIGITS = 60000, DIGIT_SIDE = 28 };
static const double DECODE_BAR = 0.9;

typedef struct options {
    int64_t rounds, images, workers;
    const char *data, *csv;
} options;

static const mt_option flags[] = {
    { "data", 'd', "DIR", MT_TEXT(options, data), "MNIST's IDX files; default: of datasets/fetch" },
    { "rounds", 'r', "N", MT_I64(options, rounds, 1, 1000), "rounds; the fastest counts (7)" },
    { "images", 'i', "N", MT_I64(options, images, 1, 100000), "pictures of each format (96)" },
    { "workers", 'w', "N", MT_I64(options, workers, 1, MOST_WORKERS), "try 0 to N workers, N at most 8 (2)" },
    { "csv", 'c', "FILE", MT_TEXT(options, csv), "also write the tables as CSV" },
    { 0 },
};

/* ---- timing ---------------------------------------------------------------------------------------- */

/* Seconds of elapsed time, and of processor time of this thread only: stopped workers may still finish their last
 * picture. */
typedef struct cost {
    double wall, cpu;
} cost;

static cost cost_now(void)
{
    return (cost){ mt_now(), bench_cpu(CLOCK_THREAD_CPUTIME_ID) };
}

/* The cost since `start`; *best is the minimum of each. */
static void keep_best(cost *best, cost start)
{
    cost now = cost_now();
    bench_keep_least(&best->wall, now.wall - start.wall);
    bench_keep_least(&best->cpu, now.cpu - start.cpu);
}

static const cost nothing_yet = { 1e30, 1e30 };

/* Loaders with 0, 1, ... workers over one set, and the fastest epoch of each. */
typedef struct contest {
    const mt_dataset *set;
    int64_t batch, count; /* loaders */
    mt_loader *loader[MOST_WORKERS + 1];
    cost best[MOST_WORKERS + 1];
} contest;

static void contest_open(contest *c, const mt_dataset *set, mt_sampler sampler, int64_t batch, int64_t most_workers)
{
    *c = (contest){ .set = set, .batch = batch, .count = most_workers + 1 };
    for (int64_t w = 0; w < c->count; w++) {
        mt_loader_config config = mt_loader_config_default(set);
        config.sampler = sampler;
        config.batch = batch;
        config.workers = (int)w;
        c->loader[w] = mt_loader_new(&config);
        c->best[w] = nothing_yet;
    }
}

static void contest_close(contest *c)
{
    for (int64_t w = 0; w < c->count; w++)
        mt_loader_free(c->loader[w]);
}

/* One epoch with w workers, including the start of its threads; nothing is loaded before the measurement. */
static mt_status contest_round(contest *c, int64_t w)
{
    mt_loader *loader = c->loader[w];
    mt_batch batch;
    int64_t samples = 0;
    mt_status status = mt_loader_seek(loader, (mt_loader_place){ 0, 0 });
    cost start = cost_now();
    while (status == MT_OK && samples < c->set->count && mt_loader_next(loader, &batch))
        samples += batch.count;
    keep_best(&c->best[w], start);
    if (status == MT_OK)
        status = mt_loader_status(loader);
    mt_loader_stop(loader); /* it is loading the next epoch, which would disturb the others */
    return status;
}

static void row(FILE *csv, const char *what, const char *who, int64_t samples, double seconds, double ratio)
{
    printf("%-6s %-12s %10.4f s %12.0f samples/s", what, who, seconds, (double)samples / seconds);
    printf(ratio > 0 ? "   %.3f of bare, a core\n" : "\n", ratio);
    if (csv)
        fprintf(csv, "%s,%s,%" PRId64 ",%.6f,%.1f,%.4f\n", what, who, samples, seconds, (double)samples / seconds,
                ratio);
}

static const char *workers_text(int64_t w)
{
    static char text[32];
    snprintf(text, sizeof text, "%" PRId64 " worker%s", w, w == 1 ? "" : "s");
    return text;
}

/* ---- MNIST ------------------------------------------------------------------------------------------ */

/* Images of the same size and number if MNIST is not available; the time does not depend on their contents. */
static mt_status standin_digits(const char *images, const char *labels)
{
    mt_idx image = mt_idx_new(MT_IDX_IMAGES, STANDIN_DIGITS, DIGIT_SIDE, DIGIT_SIDE);
    mt_idx label = mt_idx_new(MT_IDX_LABELS, STANDIN_DIGITS, 1, 1);
    for (int64_t i = 0; i < STANDIN_DIGITS * DIGIT_SIDE * DIGIT_SIDE; i++)
        image.data[i] = (uint8_t)(i * 7);
    memset(label.data, 0, STANDIN_DIGITS);
    mt_status status = mt_idx_write(images, &image);
    if (status == MT_OK)
        status = mt_idx_write(labels, &label);
    mt_idx_free(&image);
    mt_idx_free(&label);
    return status;
}

static mt_status open_digits(mt_dataset **out, const options *o, const char *temp)
{
    char images[4096], labels[4096];
    snprintf(images, sizeof images, "%s/train-images-idx3-ubyte", o->data);
    snprintf(labels, sizeof labels, "%s/train-labels-idx1-ubyte", o->data);
    if (mt_idx_dataset_open(out, images, labels, (mt_pixel_norm){ 33.3f, 78.6f }) == MT_OK)
        return MT_OK;
    printf("no MNIST (%s): standing in with bytes of the same number (datasets/fetch mnist)\n", mt_last_error());
    snprintf(images, sizeof images, "%s/images", temp);
    snprintf(labels, sizeof labels, "%s/labels", temp);
    mt_status status = standin_digits(images, labels);
    return status == MT_OK ? mt_idx_dataset_open(out, images, labels, (mt_pixel_norm){ 33.3f, 78.6f }) : status;
}

/* The fastest epoch of all in *seconds. */
static mt_status bench_digits(const options *o, const char *temp, FILE *csv, double *seconds)
{
    mt_dataset *set;
    contest c;
    mt_status status = open_digits(&set, o, temp);
    if (status != MT_OK)
        return status;
    contest_open(&c, set, mt_sampler_shuffling(set->count, 1), 64, o->workers);
    for (int64_t r = 0; r < o->rounds && status == MT_OK; r++)
        for (int64_t w = 0; w < c.count && status == MT_OK; w++)
            status = contest_round(&c, w);
    *seconds = c.best[0].wall;
    for (int64_t w = 0; w < c.count && status == MT_OK; w++) {
        row(csv, "mnist", workers_text(w), set->count, c.best[w].wall, 0);
        *seconds = c.best[w].wall < *seconds ? c.best[w].wall : *seconds;
    }
    contest_close(&c);
    mt_dataset_close(set);
    return status;
}

/* ---- pictures ---------------------------------------------------------------------------------------- */

/* stb_image alone, on this thread: the pictures of batch k. */
static void decode_bare(cost *best, const mt_dataset *set, int64_t k)
{
    cost start = cost_now();
    for (int64_t n = k * PICTURES; n < mt_min((k + 1) * PICTURES, set->count); n++) {
        int width, height, channels;
        uint8_t *pixel = stbi_load(mt_image_folder_path(set, n), &width, &height, &channels, 3);
        MT_CHECK(pixel, "%s: %s", mt_image_folder_path(set, n), stbi_failure_reason());
        stbi_image_free(pixel);
    }
    keep_best(best, start);
}

/* An epoch without workers, in turns of a batch with stb_image alone: so short a piece is undisturbed in some round
 * even on a busy machine. The second one finds the files in the cache, so the order alternates between rounds. */
static mt_status picture_round(contest *c, int64_t round, cost *ours, cost *bare)
{
    mt_loader *loader = c->loader[0];
    mt_status status = mt_loader_seek(loader, (mt_loader_place){ 0, 0 });
    mt_batch batch;
    for (int64_t k = 0; k < mt_loader_steps(loader) && status == MT_OK; k++) {
        if (round % 2)
            decode_bare(&bare[k], c->set, k);
        cost start = cost_now();
        if (!mt_loader_next(loader, &batch))
            return mt_loader_status(loader);
        keep_best(&ours[k], start);
        if (round % 2 == 0)
            decode_bare(&bare[k], c->set, k);
    }
    return status;
}

static cost sum_of(const cost *part, int64_t n)
{
    cost sum = { 0, 0 };
    for (int64_t k = 0; k < n; k++)
        sum = (cost){ sum.wall + part[k].wall, sum.cpu + part[k].cpu };
    return sum;
}

/* One format; *ratio is the loader's speed on one core relative to stb_image alone. */
static mt_status bench_pictures(const options *o, const char *temp, const char *format, FILE *csv, double *ratio)
{
    char dir[4096];
    mt_augment augment = mt_augment_default(SIDE, SIDE);
    mt_dataset *set;
    contest c;
    augment.flip = 0.5f;
    snprintf(dir, sizeof dir, "%s/%s", temp, format);
    if (mkdir(dir, 0777) != 0)
        return mt_fail(MT_ERR_IO, "%s: %s", dir, strerror(errno));
    mt_status status = mt_image_standin(dir, 1, o->images, SIDE, format, 1);
    if (status == MT_OK)
        status = mt_image_folder_open(&set, dir, &augment);
    if (status != MT_OK)
        return status;
    contest_open(&c, set, mt_sampler_sequential(set->count), PICTURES, o->workers);
    int64_t steps = mt_loader_steps(c.loader[0]);
    cost *part = malloc(2 * (size_t)steps * sizeof *part); /* the loader's, then stb_image's */
    MT_CHECK(part, "out of memory");
    for (int64_t k = 0; k < 2 * steps; k++)
        part[k] = nothing_yet;
    for (int64_t r = 0; r < o->rounds && status == MT_OK; r++) {
        status = picture_round(&c, r, part, part + steps);
        for (int64_t w = 1; w < c.count && status == MT_OK; w++)
            status = contest_round(&c, w);
    }
    c.best[0] = sum_of(part, steps);
    cost bare = sum_of(part + steps, steps);
    free(part);
    if (status == MT_OK)
        row(csv, format, "stb_image", set->count, bare.wall, 1);
    for (int64_t w = 0; w < c.count && status == MT_OK; w++)
        row(csv, format, workers_text(w), set->count, c.best[w].wall,
            w ? bare.wall / c.best[w].wall / (double)w : bare.cpu / c.best[w].cpu);
    *ratio = bare.cpu / c.best[0].cpu;
    contest_close(&c);
    mt_dataset_close(set);
    return status;
}

/* ---- the program --------------------------------------------------------------------------------------- */

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *walk)
{
    (void)info, (void)kind, (void)walk;
    return remove(path);
}

static mt_status bench(const options *o, const char *temp, FILE *csv, bool *pass)
{
    double mnist = 0, jpeg = 0, png = 0;
    mt_status status = bench_digits(o, temp, csv, &mnist);
    if (status == MT_OK)
        status = bench_pictures(o, temp, "jpg", csv, &jpeg);
    if (status == MT_OK)
        status = bench_pictures(o, temp, "png", csv, &png);
    *pass = jpeg >= DECODE_BAR && png >= DECODE_BAR;
    if (status == MT_OK)
        printf("bench_loader: %s mnist_epoch_s=%.4f jpeg_of_bare=%.3f png_of_bare=%.3f\n", *pass ? "PASS" : "FAIL",
               mnist, jpeg, png);
    return status;
}

int main(int argc, char **argv)
{
    options o = { .rounds = 7, .images = 96, .workers = 2, .data = mt_mnist_folder() };
    char temp[] = "/tmp/bench_loader_XXXXXX";
    bool pass = false;
    mt_cli_parse(argc, argv, "What the loader costs, beside bare stb_image.", flags, &o);
    FILE *csv = bench_csv_open(o.csv, "what,who,samples,seconds,samples_per_second,of_bare_a_core");
    MT_CHECK(mkdtemp(temp), "%s: %s", temp, strerror(errno));
    printf("%s, fastest of %" PRId64 " rounds\n", bench_machine(), o.rounds);
    mt_status status = bench(&o, temp, csv, &pass);
    nftw(temp, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    bench_csv_close(csv, o.csv);
    int code = mt_cli_exit(status);
    return pass ? code : 1;
}
