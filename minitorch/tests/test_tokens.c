/* test_tokens.c -- token files: windows contain the written tokens; wrong files are refused with name and offset. */
#include "core/io.h"
#include "data/loader.h"
#include "data/tokens.h"
#include "temp_dir.h"

#include <signal.h>

TestSuite(tokens, .init = temp_dir_make, .fini = temp_dir_remove);

/* Token i of the files here. */
static int32_t token(int64_t i)
{
    return (int32_t)((i * 40503 + 7) % 50257);
}

/* The tokens of a file, which stays mapped until close_file. */
static mt_file_map file;

static mt_status open_file(mt_tokens *tokens, const char *path)
{
    mt_status status = mt_file_map_open(&file, path);
    return status == MT_OK ? mt_tokens_read(tokens, path, file.bytes, file.size) : status;
}

static mt_dataset *windows_of(const char *path, int64_t T, int64_t stride)
{
    mt_tokens tokens;
    cr_assert_eq(open_file(&tokens, path), MT_OK, "%s", mt_last_error());
    return mt_token_windows_new(&tokens, T, stride);
}

static void close_file(mt_dataset *set)
{
    mt_dataset_close(set);
    mt_file_map_close(&file);
}

static const char *write_file(int64_t count, int64_t size)
{
    const char *path = in_dir(size == 2 ? "text.u16" : "text.i32");
    uint32_t version_size[] = { 1, (uint32_t)size };
    FILE *out = fopen(path, "wb");
    fwrite("MTTOKENS", 1, 8, out);
    fwrite(version_size, sizeof version_size, 1, out);
    fwrite(&count, sizeof count, 1, out);
    for (int64_t i = 0; i < count; i++) {
        int32_t id = token(i);
        fwrite(&id, (size_t)size, 1, out); /* little-endian: the low bytes come first */
    }
    cr_assert_eq(fclose(out), 0);
    return path;
}

Test(tokens, windows_hold_the_text_and_the_text_one_token_later)
{
    for (int64_t size = 2; size <= 4; size += 2) {
        for (int64_t T = 1; T <= 33; T += 4) {
            mt_dataset *set = windows_of(write_file(100, size), T, 3);
            cr_assert_eq(set->count, (100 - T - 1) / 3 + 1);
            for (int64_t w = 0; w < set->count; w++) {
                int32_t x[33], y[33];
                mt_rng rng = mt_rng_new(0, MT_STREAM_TEST);
                cr_assert_eq(mt_dataset_get(set, w, &rng, x, y), MT_OK, "%s", mt_last_error());
                for (int64_t i = 0; i < T; i++)
                    cr_assert(x[i] == token(3 * w + i) && y[i] == token(3 * w + i + 1));
            }
            close_file(set);
        }
    }
}

/* Against counting one by one: a window that starts at s exists if token s + T does. */
Test(tokens, every_window_that_fits_is_there)
{
    for (int64_t count = 0; count <= 30; count++)
        for (int64_t T = 1; T <= 8; T++)
            for (int64_t stride = 1; stride <= 9; stride++) {
                int64_t want = 0;
                for (int64_t s = 0; s + T < count; s += stride)
                    want++;
                cr_assert_eq(mt_tokens_windows(count, T, stride), want, "%d tokens, T %d, stride %d", (int)count,
                             (int)T, (int)stride);
            }
}

Test(tokens, a_shuffled_epoch_reads_every_token_once)
{
    mt_dataset *set = windows_of(write_file(20 * 8 + 1, 2), 8, 8);
    mt_loader_config c = mt_loader_config_default(set);
    c.sampler = mt_sampler_shuffling(set->count, 1);
    c.batch = 3;
    c.workers = 2;
    mt_loader *loader = mt_loader_new(&c);
    mt_batch b;
    int64_t sum = 0, want = 0;
    while (mt_loader_next(loader, &b))
        for (int64_t i = 0; i < b.count * 8; i++)
            sum += ((const int32_t *)mt_data(b.x))[i];
    for (int64_t i = 0; i < 160; i++)
        want += token(i);
    cr_assert_eq(sum, want);
    mt_loader_free(loader);
    close_file(set);
}

static void refused(const char *path, mt_status status, const char *words)
{
    mt_tokens tokens = { NULL, -7, -7 };
    cr_assert_eq(open_file(&tokens, path), status, "%s", mt_last_error());
    cr_assert(!tokens.data && tokens.count == -7 && tokens.size == -7);
    SAYS(path);
    SAYS(words);
    mt_file_map_close(&file);
}

Test(tokens, wrong_files_are_refused)
{
    char path[256];
    refused(in_dir("nothing"), MT_ERR_IO, "No such file");
    refused(temp_dir, MT_ERR_IO, "a folder");
    strcpy(path, write_file(100, 2)); /* 224 bytes */
    cut(path, 1);
    refused(path, MT_ERR_FORMAT, "offset 223: the file ends in the middle of a token");
    cut(path, 1);
    refused(path, MT_ERR_FORMAT, "offset 222: the file ends after 99 tokens of 100");
    cut(path, -4);
    refused(path, MT_ERR_FORMAT, "101 tokens of 100");
    cut(path, 2);
    poke(path, 23, 0x80); /* a negative count */
    refused(path, MT_ERR_FORMAT, "tokens of -");
    poke(path, 23, 0x7f);
    refused(path, MT_ERR_FORMAT, "ends after 100 tokens");
    poke(path, 23, 0);
    poke(path, 12, 3);
    refused(path, MT_ERR_FORMAT, "offset 12: tokens of 3 bytes");
    poke(path, 12, 0);
    refused(path, MT_ERR_FORMAT, "offset 12: tokens of 0 bytes");
    poke(path, 12, 2);
    poke(path, 8, 2);
    refused(path, MT_ERR_FORMAT, "version 2");
    poke(path, 0, 'm');
    refused(path, MT_ERR_FORMAT, "not a token file");
    cut(path, 201);
    refused(path, MT_ERR_FORMAT, "not a token file");
    cut(path, 23);
    refused(path, MT_ERR_FORMAT, "not a token file");
}

Test(tokens, too_few_tokens_for_a_window_abort, .signal = SIGABRT)
{
    windows_of(write_file(16, 4), 16, 1);
}
