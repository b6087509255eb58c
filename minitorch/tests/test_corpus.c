/* test_corpus.c -- windows come from the right part, y is x one token on, and a step's batch depends on nothing else; a token
 * file gives the batches of its text, and is refused with a vocabulary that did not make it. */
#include "core/scope.h"
#include "train/corpus.h"
#include "temp_dir.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(corpus, .init = temp_dir_make, .fini = temp_dir_remove);

enum { B = 3, T = 4, LENGTH = 200, TRAIN = 180 };

/* 200 characters, a to t again and again in the first nine tenths and A to T in the last. */
static const char *text(int64_t length)
{
    const char *path = in_dir("text");
    FILE *file = fopen(path, "w");
    for (int64_t i = 0; i < length; i++)
        fputc((i < TRAIN ? 'a' : 'A') + (int)(i % 20), file);
    fclose(file);
    return path;
}

static void check(const mt_corpus *c, const mt_tensor *x, const mt_tensor *y, bool train)
{
    const int32_t *in = mt_data(x), *out = mt_data(y);
    for (int i = 0; i < B * T; i++) {
        uint8_t here = mt_tokenizer_spelling(c->tokenizer)->bytes[in[i]], first = train ? 'a' : 'A';
        cr_assert(here >= first && here < first + 20, "%c", here);
        cr_assert_eq(mt_tokenizer_spelling(c->tokenizer)->bytes[out[i]], first + (here - first + 1) % 20);
        cr_assert(i % T == T - 1 || out[i] == in[i + 1]);
    }
}

Test(corpus, windows)
{
    mt_corpus c;
    mt_tensor *x, *y, *again, *other;
    cr_assert_eq(mt_corpus_open(&c, text(LENGTH), NULL, T), MT_OK, "%s", mt_last_error());
    cr_assert(c.count == LENGTH && c.train == TRAIN && mt_tokenizer_count(c.tokenizer) == 40);
    for (int64_t step = 0; step < 50; step++) {
        mt_scope_begin();
        mt_corpus_batch(&x, &y, &c, 5, step, B, T);
        check(&c, x, y, true);
        mt_corpus_batch(&again, &y, &c, 5, step, B, T);
        cr_assert_arr_eq(mt_data(x), mt_data(again), B * T * sizeof(int32_t));
        mt_corpus_batch(&other, &y, &c, 5, step + 1, B, T);
        cr_assert(memcmp(mt_data(x), mt_data(other), B * T * sizeof(int32_t)) || step > 0);
        mt_corpus_valid(&x, &y, &c, step, 50, B, T);
        check(&c, x, y, false);
        mt_scope_end();
    }
    mt_corpus_close(&c);
}

Test(corpus, refuses)
{
    mt_corpus c = { 0 };
    cr_assert_eq(mt_corpus_open(&c, text(40), NULL, T), MT_ERR_FORMAT);
    SAYS("40 tokens are too few: a tenth must hold 5");
    cr_assert_eq(mt_corpus_open(&c, in_dir("none"), NULL, T), MT_ERR_IO);
    cr_assert_eq(mt_corpus_open(&c, text(LENGTH), in_dir("no vocabulary"), T), MT_ERR_IO);
    cr_assert(c.ids == NULL && c.tokenizer == NULL);
}

/* ---- token files ----------------------------------------------------------------------------------------- */

/* English-like text of the given number of lines, whose vocabulary of `tokens` and whose token file are in the folder. */
static mt_tokenizer *learned(int64_t lines, int64_t tokens)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    for (int64_t i = 0; i < lines; i++)
        fprintf(file, "line %d: the cat sat on mat %d and saw %d mice\n", (int)i, (int)(i * 7 % 13), (int)(i % 5));
    fclose(file);
    mt_tokenizer *tokenizer = mt_tokenizer_train((const uint8_t *)text, (int64_t)size, tokens);
    mt_encoder *encoder = mt_encoder_new(tokenizer);
    int32_t *ids = malloc((size + 1) * sizeof *ids);
    int64_t count;
    file = fopen(in_dir("text"), "w");
    cr_assert(fwrite(text, 1, size, file) == size && fclose(file) == 0);
    cr_assert_eq(mt_encode(encoder, ids, &count, (const uint8_t *)text, (int64_t)size), MT_OK);
    cr_assert_eq(mt_tokens_write(in_dir("u16"), ids, count, 2), MT_OK);
    cr_assert_eq(mt_tokens_write(in_dir("i32"), ids, count, 4), MT_OK);
    cr_assert_eq(mt_tokenizer_save(tokenizer, temp_dir), MT_OK, "%s", mt_last_error());
    mt_encoder_free(encoder);
    free(ids);
    free(text);
    return tokenizer;
}

static void same_batches(const mt_corpus *a, const mt_corpus *b)
{
    for (int64_t step = 0; step < 20; step++) {
        mt_tensor *x[2], *y[2];
        mt_scope_begin();
        mt_corpus_batch(&x[0], &y[0], a, 5, step, B, T);
        mt_corpus_batch(&x[1], &y[1], b, 5, step, B, T);
        cr_assert_arr_eq(mt_data(x[0]), mt_data(x[1]), B * T * sizeof(int32_t));
        cr_assert_arr_eq(mt_data(y[0]), mt_data(y[1]), B * T * sizeof(int32_t));
        mt_corpus_valid(&x[0], &y[0], a, step, 20, B, T);
        mt_corpus_valid(&x[1], &y[1], b, step, 20, B, T);
        cr_assert_arr_eq(mt_data(y[0]), mt_data(y[1]), B * T * sizeof(int32_t));
        mt_scope_end();
    }
}

Test(corpus, a_token_file_gives_the_batches_of_its_text)
{
    mt_corpus text, tokens;
    mt_tokenizer_free(learned(400, 300));
    cr_assert_eq(mt_corpus_open(&text, in_dir("text"), temp_dir, T), MT_OK, "%s", mt_last_error());
    for (int wide = 0; wide < 2; wide++) {
        cr_assert_eq(mt_corpus_open(&tokens, in_dir(wide ? "i32" : "u16"), temp_dir, T), MT_OK, "%s", mt_last_error());
        cr_assert(tokens.count == text.count && tokens.train == text.train && tokens.first == text.first);
        same_batches(&text, &tokens);
        mt_corpus_close(&tokens);
    }
    mt_corpus_close(&text);
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
    mt_tokenizer_free(learned(400, 300));
    cr_assert_eq(mt_corpus_open(&c, in_dir("u16"), NULL, T), MT_ERR_ARGUMENT);
    SAYS("is a token file: it needs the vocabulary");
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
    cr_assert(c.tokenizer == NULL && c.file.bytes == NULL);
}

/* The ids are in range, but of another text: fewer merges, or those of other words. */
Test(corpus, refuses_another_vocabulary)
{
    mt_corpus c = { 0 };
    mt_tokenizer *small = learned(400, 280), *large;
    cr_assert_eq(rename(in_dir("u16"), in_dir("made with 280")), 0);
    large = learned(4000, 320);
    cr_assert_eq(mt_corpus_open(&c, in_dir("made with 280"), temp_dir, T), MT_ERR_FORMAT);
    SAYS("made with 280 was not made with the vocabulary in /tmp/");
    cr_assert_eq(mt_corpus_open(&c, in_dir("u16"), temp_dir, T), MT_OK, "%s", mt_last_error());
    mt_corpus_close(&c);
    mt_tokenizer_free(small);
    mt_tokenizer_free(large);
}

/* <|endoftext|> before, between and behind documents is no text that merges would make. */
Test(corpus, documents)
{
    mt_corpus c = { 0 };
    mt_tokenizer *t = learned(400, 300);
    int32_t end = mt_tokenizer_end_of_text(t);
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
    cr_assert_eq(mt_tokens_write(in_dir("ends"), all, 100, 2), MT_OK);
    cr_assert_eq(mt_corpus_open(&c, in_dir("ends"), temp_dir, T), MT_OK, "%s", mt_last_error());
    mt_corpus_close(&c);
    mt_tokenizer_free(t);
}
