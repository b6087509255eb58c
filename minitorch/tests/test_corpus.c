/* test_corpus.c -- windows come from the right part, and y is x one token later; batches of text through the loader are
 * a function of seed and step; a token file gives the windows of its text, and is refused with another vocabulary. */
#include "data/loader.h"
#include "text/tokenizer.h"
#include "train/corpus.h"
#include "train/mixture.h"
#include "temp_dir.h"
#include "tokens_file.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(corpus, .init = temp_dir_make, .fini = temp_dir_remove);

enum { B = 3, T = 4, LENGTH = 200, TRAIN = 180 };

/* 200 characters: a to t repeated in the first nine tenths, A to T in the last. */
static const char *text(int64_t length)
{
    const char *path = in_dir("text");
    FILE *file = fopen(path, "w");
    for (int64_t i = 0; i < length; i++)
        fputc((i < TRAIN ? 'a' : 'A') + (int)(i % 20), file);
    fclose(file);
    return path;
}

static void get(int32_t *x, int32_t *y, const mt_dataset *set, int64_t index)
{
    mt_rng rng = mt_rng_new(1, MT_STREAM_TEST);
    cr_assert_eq(mt_dataset_get(set, index, &rng, x, y), MT_OK, "%s", mt_last_error());
}

/* Every window of a part, whose first character is `first` and which repeats 20 of them. */
static void check_windows(const mt_corpus *c, const mt_dataset *set, uint8_t first)
{
    const uint8_t *spelling = c->vocabulary->token.bytes;
    int32_t x[T], y[T];
    for (int64_t w = 0; w < set->count; w++) {
        get(x, y, set, w);
        for (int64_t i = 0; i < T; i++) {
            cr_assert_eq(spelling[x[i]], first + (w + i) % 20);
            cr_assert_eq(spelling[y[i]], first + (w + i + 1) % 20);
        }
    }
}

Test(corpus, windows)
{
    mt_corpus c;
    cr_assert_eq(mt_corpus_open(&c, text(LENGTH), NULL, T), MT_OK, "%s", mt_last_error());
    cr_assert(c.count == LENGTH && c.train == TRAIN && c.vocabulary->token.count == 40);
    cr_assert(c.train_set->count == TRAIN - T && c.valid_set->count == LENGTH - TRAIN - T);
    check_windows(&c, c.train_set, 'a');
    check_windows(&c, c.valid_set, 'A');
    mt_corpus_close(&c);
}

/* Window b of a step starts at draw number b of the step's substream; the order of loading changes nothing. */
Test(corpus, random_batches_through_the_loader)
{
    mt_corpus c;
    cr_assert_eq(mt_corpus_open(&c, text(LENGTH), NULL, T), MT_OK, "%s", mt_last_error());
    for (int workers = 0; workers <= 3; workers++) {
        mt_loader_config config = mt_loader_config_default(c.train_set);
        config.source = mt_batches_random(c.train_set, 5);
        config.batch = B;
        config.workers = workers;
        mt_loader *loader = mt_loader_new(&config);
        for (int64_t step = 0; step < 50; step++) {
            mt_rng all = mt_rng_new(5, MT_STREAM_SHUFFLE), rng = mt_rng_substream(&all, (uint64_t)step);
            mt_batch batch;
            cr_assert(mt_loader_next(loader, &batch) && batch.count == B && batch.step == step);
            for (int64_t b = 0; b < B; b++) {
                int32_t x[T], y[T];
                get(x, y, c.train_set, mt_rng_below(&rng, TRAIN - T));
                cr_assert_arr_eq((int32_t *)mt_data(batch.x) + b * T, x, sizeof x);
                cr_assert_arr_eq((int32_t *)mt_data(batch.y) + b * T, y, sizeof y);
            }
        }
        mt_loader_free(loader);
    }
    mt_corpus_close(&c);
}

Test(corpus, refuses)
{
    mt_corpus c = { 0 };
    cr_assert_eq(mt_corpus_open(&c, text(40), NULL, T), MT_ERR_FORMAT);
    SAYS("40 tokens are too few: a tenth must hold 5");
    cr_assert_eq(mt_corpus_open(&c, in_dir("none"), NULL, T), MT_ERR_IO);
    cr_assert_eq(mt_corpus_open(&c, text(LENGTH), temp_dir, T), MT_ERR_ARGUMENT);
    SAYS("text is a text, and --vocab goes with token files. Make one: tokenize -v /tmp/");
    poke(text(LENGTH), 77, 0xff);
    cr_assert_eq(mt_corpus_open(&c, in_dir("text"), NULL, T), MT_ERR_FORMAT);
    SAYS("text: offset 77: byte ff is not UTF-8");
    poke(in_dir("text"), 55, 0);
    cr_assert_eq(mt_corpus_open(&c, in_dir("text"), NULL, T), MT_ERR_FORMAT);
    SAYS("text is not text: byte 55 is 0. If it holds ids of two bytes without a header, as nanoGPT's train.bin does");
    cr_assert_eq(mt_corpus_open(&c, in_dir("text"), temp_dir, T), MT_ERR_FORMAT);
    cr_assert(c.part == NULL && c.vocabulary == NULL);
}

/* ---- several files --------------------------------------------------------------------------------------- */

/* A text of `length` letters, all of them `letter`. */
static const char *letters(const char *name, char letter, int64_t length)
{
    FILE *file = fopen(in_dir(name), "w");
    for (int64_t i = 0; i < length; i++)
        fputc(letter, file);
    fclose(file);
    return in_dir(name);
}

/* How many windows of a set are in each file, by its letter: a window has letters of one file only. */
static void count_windows(int64_t count[3], const mt_corpus *c, const mt_dataset *set)
{
    int32_t x[T], y[T];
    memset(count, 0, 3 * sizeof *count);
    for (int64_t w = 0; w < set->count; w++) {
        get(x, y, set, w);
        for (int64_t i = 0; i < T; i++)
            cr_assert(x[i] == x[0] && y[i] == x[0], "window %d has tokens of two files", (int)w);
        count[c->vocabulary->token.bytes[x[0]] - 'a']++;
    }
}

static const char *list(const char *format)
{
    static char text[4096];
    snprintf(text, sizeof text, format, temp_dir, temp_dir, temp_dir);
    return text;
}

Test(corpus, windows_of_several_files)
{
    mt_corpus c;
    int64_t count[3];
    letters("a", 'a', 100), letters("b", 'b', 200), letters("c", 'c', 50);
    cr_assert_eq(mt_corpus_open(&c, list("%s/a,%s/b,%s/c"), NULL, T), MT_OK, "%s", mt_last_error());
    cr_assert(c.count == 350 && c.train == 90 + 180 + 45 && c.vocabulary->token.count == 3);
    count_windows(count, &c, c.train_set);
    cr_assert(count[0] == 90 - T && count[1] == 180 - T && count[2] == 45 - T);
    count_windows(count, &c, c.valid_set);
    cr_assert(count[0] == 10 - T && count[1] == 20 - T && count[2] == 5 - T);
    mt_corpus_close(&c);
    cr_assert_eq(mt_corpus_open_valid(&c, list("%s/a,%s/b"), in_dir("c"), NULL, T), MT_OK, "%s", mt_last_error());
    cr_assert(c.count == 350 && c.train == 300);
    count_windows(count, &c, c.train_set);
    cr_assert(count[0] == 100 - T && count[1] == 200 - T && count[2] == 0);
    count_windows(count, &c, c.valid_set);
    cr_assert(count[0] == 0 && count[1] == 0 && count[2] == 50 - T);
    cr_assert_eq(mt_corpus_bytes(&c), 1.0);
    mt_corpus_close(&c);
    rename(in_dir("b"), in_dir("b=2,x")); /* a name that could be a list */
    cr_assert_eq(mt_corpus_open(&c, in_dir("b=2,x"), NULL, T), MT_OK, "%s", mt_last_error());
    cr_assert(c.parts == 1 && c.count == 200);
    mt_corpus_close(&c);
}

/* In n draws a share p has a standard deviation of sqrt(p (1 - p) / n), at most 0.5 / sqrt(n), of which 5 are
 * allowed. */
Test(corpus, weights_are_shares_of_the_windows)
{
    enum { STEPS = 100, BATCH = 60, WORLD = 2 };
    mt_corpus c;
    int64_t count[3] = { 0 }, index[WORLD][BATCH], all[2 * BATCH];
    letters("a", 'a', 1000), letters("b", 'b', 200), letters("c", 'c', 50);
    cr_assert_eq(mt_corpus_open(&c, list("%s/a=1,%s/b=5.5,%s/c=3.5"), NULL, T), MT_OK, "%s", mt_last_error());
    mt_batch_source source = mt_batches_mixed(c.train_set, 7), part = source;
    part.world = WORLD;
    for (int64_t step = 0; step < STEPS; step++) {
        source.pick(all, &source, step, WORLD * BATCH);
        for (int64_t i = 0; i < WORLD * BATCH; i++)
            count[all[i] < 900 - T ? 0 : all[i] < 900 - T + 180 - T ? 1 : 2]++;
        for (part.rank = 0; part.rank < WORLD; part.rank++) {
            part.pick(index[part.rank], &part, step, BATCH);
            for (int64_t i = 0; i < BATCH; i++)
                cr_assert_eq(index[part.rank][i], all[i * WORLD + part.rank], "ranks share the batch of one");
        }
    }
    double n = STEPS * WORLD * BATCH, near = 5 * 0.5 / sqrt(n);
    cr_assert_float_eq((double)count[0] / n, 0.1, near);
    cr_assert_float_eq((double)count[1] / n, 0.55, near);
    cr_assert_float_eq((double)count[2] / n, 0.35, near);
    mt_corpus_close(&c);
    cr_assert_eq(mt_corpus_open(&c, list("%s/a,%s/b,%s/c"), NULL, T), MT_OK);
    mt_batch_source plain = mt_batches_random(c.train_set, 7);
    source = mt_batches_mixed(c.train_set, 7);
    cr_assert_eq(source.pick, plain.pick, "without weights all windows are equally likely");
    mt_corpus_close(&c);
}

Test(corpus, refuses_one_of_several_files)
{
    mt_corpus c = { 0 };
    letters("a", 'a', 100), letters("b", 'b', 200), letters("c", 'c', 3);
    cr_assert_eq(mt_corpus_open(&c, list("%s/a,%s/none"), NULL, T), MT_ERR_IO);
    SAYS("/none: No such file");
    cr_assert_eq(mt_corpus_open(&c, list("%s/a=2,%s/b=many"), NULL, T), MT_ERR_ARGUMENT);
    SAYS("/b: the weight behind '=': 'many' is not a number");
    cr_assert_eq(mt_corpus_open(&c, list("%s/a=0"), NULL, T), MT_ERR_ARGUMENT);
    SAYS("/a: the weight behind '=': '0' is not a number from");
    cr_assert_eq(mt_corpus_open(&c, list("%s/a,%s/c"), NULL, T), MT_ERR_FORMAT);
    SAYS("/c: 3 tokens are too few: a tenth must hold 5");
    cr_assert_eq(mt_corpus_open_valid(&c, in_dir("a"), list("%s/c"), NULL, T), MT_ERR_FORMAT);
    SAYS("/c: 3 tokens are too few: a file must hold 5");
    poke(in_dir("b"), 77, 0xff);
    cr_assert_eq(mt_corpus_open(&c, list("%s/a,%s/b"), NULL, T), MT_ERR_FORMAT);
    SAYS("/b: offset 77: byte ff is not UTF-8");
    poke(in_dir("b"), 77, 0);
    cr_assert_eq(mt_corpus_open(&c, list("%s/a,%s/b"), NULL, T), MT_ERR_FORMAT);
    SAYS("/b is not text: byte 77 is 0");
    cr_assert_eq(write_tokens(in_dir("tokens"), (int32_t[40]){ 1 }, 40, 2), MT_OK);
    cr_assert_eq(mt_corpus_open(&c, list("%s/a,%s/tokens"), NULL, T), MT_ERR_ARGUMENT);
    SAYS("/tokens is a token file: make token files of both (tokenize)");
    letters("c", 'c', 0);
    cr_assert_eq(mt_corpus_open(&c, list("%s/a,%s/c"), NULL, T), MT_ERR_FORMAT);
    SAYS("/c: an empty text has no characters");
    cr_assert(c.part == NULL && c.vocabulary == NULL);
}

/* ---- token files ----------------------------------------------------------------------------------------- */

/* English-like text of the given number of lines, encoded: its ids in *ids, the caller's; files of them and of the
 * vocabulary of `tokens` ids are in the folder. */
static mt_vocabulary *learned_ids(int32_t **ids, int64_t *count, int64_t lines, int64_t tokens)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    for (int64_t i = 0; i < lines; i++)
        fprintf(file, "line %d: the cat sat on mat %d and saw %d mice\n", (int)i, (int)(i * 7 % 13), (int)(i % 5));
    fclose(file);
    mt_vocabulary *vocabulary = mt_vocabulary_train((const uint8_t *)text, (int64_t)size, tokens);
    mt_tokenizer *tokenizer = mt_tokenizer_new(vocabulary);
    mt_encoder *encoder = mt_encoder_new(tokenizer);
    *ids = malloc((size + 1) * sizeof **ids);
    cr_assert_eq(mt_encode(encoder, *ids, count, (const uint8_t *)text, (int64_t)size), MT_OK);
    cr_assert_eq(write_tokens(in_dir("u16"), *ids, *count, 2), MT_OK);
    cr_assert_eq(write_tokens(in_dir("i32"), *ids, *count, 4), MT_OK);
    cr_assert_eq(mt_vocabulary_save(vocabulary, temp_dir), MT_OK, "%s", mt_last_error());
    mt_encoder_free(encoder);
    mt_tokenizer_free(tokenizer);
    free(text);
    return vocabulary;
}

static mt_vocabulary *learned(int64_t lines, int64_t tokens)
{
    int32_t *ids;
    int64_t count;
    mt_vocabulary *vocabulary = learned_ids(&ids, &count, lines, tokens);
    free(ids);
    return vocabulary;
}

/* An llm.c file of these ids; its header says `promised`. */
static void write_llmc(const int32_t *ids, int64_t count, int32_t promised)
{
    int32_t header[256] = { 20240520, 1, promised };
    FILE *file = fopen(in_dir("llmc.bin"), "wb");
    cr_assert(file && fwrite(header, sizeof header, 1, file) == 1);
    for (int64_t i = 0; i < count; i++)
        cr_assert_eq(fwrite(&(uint16_t){ (uint16_t)ids[i] }, 2, 1, file), 1);
    cr_assert_eq(fclose(file), 0);
}

static void same_windows(const mt_dataset *a, const mt_dataset *b)
{
    cr_assert_eq(a->count, b->count);
    for (int64_t w = 0; w < a->count; w++) {
        int32_t x[2][T], y[2][T];
        get(x[0], y[0], a, w);
        get(x[1], y[1], b, w);
        cr_assert(memcmp(x[0], x[1], sizeof x[0]) == 0 && memcmp(y[0], y[1], sizeof y[0]) == 0);
    }
}

Test(corpus, all_token_files_give_the_same_windows)
{
    static const char *const names[] = { "u16", "i32", "llmc.bin" };
    mt_corpus first, c;
    int32_t *ids;
    int64_t count;
    mt_vocabulary_free(learned_ids(&ids, &count, 400, 300));
    write_llmc(ids, count, (int32_t)count);
    cr_assert_eq(mt_corpus_open(&first, in_dir("u16"), temp_dir, T), MT_OK, "%s", mt_last_error());
    for (int64_t i = 0; i < count; i++)
        cr_assert_eq(((const uint16_t *)first.part->tokens.data)[i], ids[i]);
    for (int i = 0; i < MT_COUNT(names); i++) {
        cr_assert_eq(mt_corpus_open(&c, in_dir(names[i]), temp_dir, T), MT_OK, "%s", mt_last_error());
        cr_assert(c.count == count && c.train == first.train && c.first == ids[0]);
        same_windows(first.train_set, c.train_set);
        same_windows(first.valid_set, c.valid_set);
        mt_corpus_close(&c);
    }
    mt_corpus_close(&first);
    free(ids);
}

Test(corpus, refuses_a_bad_llmc_file)
{
    mt_corpus c = { 0 };
    int32_t *ids;
    int64_t count;
    mt_vocabulary_free(learned_ids(&ids, &count, 400, 300));
    write_llmc(ids, count, (int32_t)count + 1);
    cr_assert_eq(mt_corpus_open(&c, in_dir("llmc.bin"), temp_dir, T), MT_ERR_FORMAT);
    SAYS("llmc.bin: llm.c's header says version 1 and ");
    ids[5] = 300;
    write_llmc(ids, count, (int32_t)count);
    cr_assert_eq(mt_corpus_open(&c, in_dir("llmc.bin"), temp_dir, T), MT_ERR_FORMAT);
    SAYS("offset 1034: token 300");
    cr_assert_eq(mt_corpus_open(&c, in_dir("llmc.bin"), NULL, T), MT_ERR_ARGUMENT);
    SAYS("is a token file: give --vocab the folder of the vocabulary");
    poke(in_dir("llmc.bin"), 0, 0);
    cr_assert_eq(mt_corpus_open(&c, in_dir("llmc.bin"), temp_dir, T), MT_ERR_FORMAT);
    SAYS("llmc.bin is not text: byte 0 is 0");
    free(ids);
}

/* 2 bytes at token `at` of the file of two-byte tokens. */
static void change(int64_t at, int id)
{
    poke(in_dir("u16"), MT_TOKENS_HEADER + 2 * at, id & 255);
    poke(in_dir("u16"), MT_TOKENS_HEADER + 2 * at + 1, id >> 8);
}

Test(corpus, refuses_a_token_file)
{
    mt_corpus c = { 0 };
    mt_vocabulary_free(learned(400, 300));
    cr_assert_eq(mt_corpus_open(&c, in_dir("u16"), NULL, T), MT_ERR_ARGUMENT);
    SAYS("is a token file: give --vocab the folder of the vocabulary");
    change(77, 300);
    cr_assert_eq(mt_corpus_open(&c, in_dir("u16"), temp_dir, T), MT_ERR_FORMAT);
    SAYS("u16: offset 178: token 300, but the vocabulary has 300");
    poke(in_dir("i32"), MT_TOKENS_HEADER + 4 * 9 + 3, 0xff);
    cr_assert_eq(mt_corpus_open(&c, in_dir("i32"), temp_dir, T), MT_ERR_FORMAT);
    SAYS("i32: offset 60: token -");
    cut(in_dir("u16"), 1);
    cr_assert_eq(mt_corpus_open(&c, in_dir("u16"), temp_dir, T), MT_ERR_FORMAT);
    SAYS("in the middle of a token");
    cut(in_dir("u16"), 1);
    cr_assert_eq(mt_corpus_open(&c, in_dir("u16"), temp_dir, T), MT_ERR_FORMAT);
    SAYS("the file ends after");
    cr_assert(c.vocabulary == NULL && c.part == NULL);
}

/* The ids are in range, but of another text: fewer merges, or those of other words. */
Test(corpus, refuses_another_vocabulary)
{
    mt_corpus c = { 0 };
    mt_vocabulary *small = learned(400, 280), *large;
    cr_assert_eq(rename(in_dir("u16"), in_dir("made with 280")), 0);
    large = learned(4000, 320);
    cr_assert_eq(mt_corpus_open(&c, in_dir("made with 280"), temp_dir, T), MT_ERR_FORMAT);
    SAYS("made with 280 was not made with the vocabulary in /tmp/");
    cr_assert_eq(mt_corpus_open(&c, in_dir("u16"), temp_dir, T), MT_OK, "%s", mt_last_error());
    mt_corpus_close(&c);
    mt_vocabulary_free(small);
    mt_vocabulary_free(large);
}

/* <|endoftext|> before, between and behind documents is not text that merges would make. */
Test(corpus, documents)
{
    mt_corpus c = { 0 };
    mt_vocabulary *v = learned(400, 300);
    int32_t end = v->end_of_text;
    change(0, end);
    cr_assert_eq(mt_corpus_open(&c, in_dir("u16"), temp_dir, T), MT_OK, "%s", mt_last_error());
    cr_assert_eq(c.first, end);
    mt_corpus_close(&c);
    change(1, end);
    change(3, end);
    cr_assert_eq(mt_corpus_open(&c, in_dir("u16"), temp_dir, T), MT_OK, "%s", mt_last_error());
    mt_corpus_close(&c);
    int32_t all[100];
    for (int i = 0; i < 100; i++)
        all[i] = end;
    cr_assert_eq(write_tokens(in_dir("ends"), all, 100, 2), MT_OK);
    cr_assert_eq(mt_corpus_open(&c, in_dir("ends"), temp_dir, T), MT_OK, "%s", mt_last_error());
    mt_corpus_close(&c);
    mt_vocabulary_free(v);
}
