/* test_tokenizer.c -- encoding and training: GPT-2's ids from other tokenizers, round trips of any bytes, and what may
 * not change the ids.
 *
 * Tests that need GPT-2's vocabulary print a message and pass where it cannot be fetched (datasets/fetch gpt2); the
 * rest uses a small one that is committed: datasets/reference/tiny, trained by `tokenize --train 600` on handouts of
 * this repository. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/rng.h"
#include "text/tokenizer.h"
#include "testing/dump.h"

TestSuite(tokenizer, .timeout = 120);

#define SAYS(words) cr_assert(strstr(mt_last_error(), words), "\"%s\" does not say \"%s\"", mt_last_error(), words)

static mt_vocabulary *tiny(void)
{
    mt_vocabulary *v = NULL;
    cr_assert_eq(mt_vocabulary_open(&v, "datasets/reference/tiny"), MT_OK, "%s", mt_last_error());
    return v;
}

/* NULL, and a message with the reason, if it is not available. */
static mt_vocabulary *gpt2(const char *what)
{
    char dir[4096];
    mt_vocabulary *v = NULL;
    const char *data = getenv("MT_DATA");
    snprintf(dir, sizeof dir, "%s/gpt2", data ? data : "datasets/cache");
    if (mt_vocabulary_open(&v, dir) != MT_OK)
        printf("skipped: %s: %s (datasets/fetch gpt2)\n", what, mt_last_error());
    return v;
}

/* An encoder with its own tokenizer. */
typedef struct coder {
    const mt_vocabulary *vocabulary;
    mt_tokenizer *tokenizer;
    mt_encoder *encoder;
} coder;

static coder coder_of(const mt_vocabulary *v)
{
    mt_tokenizer *t = mt_tokenizer_new(v);
    return (coder){ v, t, mt_encoder_new(t) };
}

static void coder_free(coder *c)
{
    mt_encoder_free(c->encoder);
    mt_tokenizer_free(c->tokenizer);
}

/* The ids of a text; *count of them, the caller's to free. */
static int32_t *encoded_by(const coder *c, const void *text, int64_t size, int64_t *count)
{
    int32_t *ids = malloc((size_t)(size + 1) * sizeof *ids);
    cr_assert_eq(mt_encode(c->encoder, ids, count, text, size), MT_OK, "%s", mt_last_error());
    return ids;
}

static int32_t *encoded(const mt_vocabulary *v, const void *text, int64_t size, int64_t *count)
{
    coder c = coder_of(v);
    int32_t *ids = encoded_by(&c, text, size, count);
    coder_free(&c);
    return ids;
}

static void comes_back_by(const coder *c, const uint8_t *text, int64_t size)
{
    int64_t count, length;
    uint8_t *back;
    int32_t *ids = encoded_by(c, text, size, &count);
    cr_assert_eq(mt_decode(&back, &length, c->vocabulary, ids, count), MT_OK, "%s", mt_last_error());
    cr_assert(length == size && memcmp(back, text, (size_t)size) == 0, "%d bytes did not come back", (int)size);
    free(ids);
    free(back);
}

static void comes_back(const mt_vocabulary *v, const uint8_t *text, int64_t size)
{
    coder c = coder_of(v);
    comes_back_by(&c, text, size);
    coder_free(&c);
}

Test(tokenizer, ids_are_those_of_three_other_tokenizers)
{
    enum { TEXTS = 527, IDS = 38884, BYTES = 51690 };
    mt_dump *dump;
    mt_vocabulary *v = gpt2("GPT-2's ids");
    if (!v)
        return;
    cr_assert_eq(mt_dump_open(&dump, "datasets/reference/gpt2_ids.dump"), MT_OK, "%s", mt_last_error());
    const int64_t *text_start = mt_dump_array(dump, "text_start", "i64", MT_SHAPE(TEXTS + 1));
    const int64_t *ids_start = mt_dump_array(dump, "ids_start", "i64", MT_SHAPE(TEXTS + 1));
    const int32_t *want = mt_dump_array(dump, "ids", "i32", MT_SHAPE(IDS));
    const uint8_t *text = mt_dump_array(dump, "text", "u8", MT_SHAPE(BYTES));
    coder c = coder_of(v);
    for (int i = 0; i < TEXTS; i++) {
        int64_t size = text_start[i + 1] - text_start[i], wanted = ids_start[i + 1] - ids_start[i], count;
        int32_t *ids = encoded_by(&c, text + text_start[i], size, &count);
        cr_assert(count == wanted && memcmp(ids, want + ids_start[i], (size_t)count * sizeof *ids) == 0,
                  "text %d: %d ids, %d wanted: %.*s", i, (int)count, (int)wanted, (int)mt_min(size, 200),
                  (const char *)text + text_start[i]);
        comes_back_by(&c, text + text_start[i], size);
        free(ids);
    }
    coder_free(&c);
    mt_dump_close(dump);
    mt_vocabulary_free(v);
}

Test(tokenizer, end_of_text_is_a_token_when_asked_for_only)
{
    static const char text[] = "one<|endoftext|> two<|endoftext|>";
    mt_vocabulary *v = tiny();
    coder c = coder_of(v);
    int32_t ids[64], eot = v->end_of_text;
    int64_t plain, special, found = 0;
    cr_assert_eq(eot, 599);
    cr_assert_eq(mt_encode(c.encoder, ids, &plain, (const uint8_t *)text, sizeof text - 1), MT_OK);
    for (int64_t i = 0; i < plain; i++)
        cr_assert_neq(ids[i], eot);
    cr_assert_eq(mt_encode_special(c.encoder, ids, &special, (const uint8_t *)text, sizeof text - 1), MT_OK);
    for (int64_t i = 0; i < special; i++)
        found += ids[i] == eot;
    cr_assert(found == 2 && ids[special - 1] == eot && special < plain);
    coder_free(&c);
    mt_vocabulary_free(v);
}

/* Random bytes are mostly not UTF-8; the other texts mix all kinds of characters that GPT-2's rules distinguish. */
static int64_t random_text(uint8_t *text, int64_t most, mt_rng *rng)
{
    static const char *const part[] = { "the", " ",        "  ",           "\n",       "'s",
                                        "'",   "é",        "中文",         "12",       "²",
                                        "!",   "\xff",     "\xc3",         "\xe2\x82", "\xed\xa0\x80",
                                        "😀",  "\xc2\x85", "\xe3\x80\x80", "aaaa",     " lab",
                                        "\0" };
    int64_t size = 0, want = mt_rng_below(rng, (uint32_t)most), kind = mt_rng_below(rng, 2);
    while (size + 8 < want) {
        const char *p = part[mt_rng_below(rng, MT_COUNT(part))];
        if (kind) {
            text[size++] = (uint8_t)mt_rng_below(rng, 256);
        } else {
            memcpy(text + size, p, strlen(p));
            size += (int64_t)strlen(p);
        }
    }
    return size;
}

Test(tokenizer, ten_thousand_texts_of_any_bytes_come_back)
{
    mt_vocabulary *v = tiny();
    mt_rng rng = mt_rng_new(8, MT_STREAM_TEST);
    coder c = coder_of(v);
    uint8_t text[300];
    for (int i = 0; i < 10000; i++)
        comes_back_by(&c, text, random_text(text, sizeof text, &rng));
    comes_back_by(&c, text, 0);
    coder_free(&c);
    mt_vocabulary_free(v);
}

/* Pieces cover the text, and never depend on where it was cut. */
Test(tokenizer, a_text_cut_where_allowed_gives_the_same_ids)
{
    mt_vocabulary *v = tiny();
    coder c = coder_of(v);
    mt_rng rng = mt_rng_new(9, MT_STREAM_TEST);
    uint8_t text[300];
    for (int i = 0; i < 2000; i++) {
        int64_t size = random_text(text, sizeof text, &rng), whole, at = 0, done = 0, n;
        int32_t *want = encoded_by(&c, text, size, &whole);
        while (at < size) {
            int64_t end = mt_encode_cut(text, size, at + (int64_t)mt_rng_below(&rng, 20));
            int32_t *ids = encoded_by(&c, text + at, end - at, &n);
            cr_assert(done + n <= whole && memcmp(ids, want + done, (size_t)n * sizeof *ids) == 0, "cut at %d",
                      (int)end);
            done += n;
            at = end;
            free(ids);
        }
        cr_assert_eq(done, whole);
        free(want);
    }
    coder_free(&c);
    mt_vocabulary_free(v);
}

/* The cache of words is small: an encoder that has encoded many others gives the same ids as a new one. */
Test(tokenizer, what_was_met_before_does_not_matter)
{
    mt_vocabulary *v = tiny();
    coder old = coder_of(v);
    for (int64_t i = 0; i < 200000; i++) {
        char word[16];
        int32_t ids[16];
        int64_t n, count;
        int size = snprintf(word, sizeof word, "w%dx%d", (int)(i % 1000), (int)(i * 7919 % 100000));
        cr_assert_eq(mt_encode(old.encoder, ids, &n, (const uint8_t *)word, size), MT_OK);
        if (i % 100 != 0)
            continue;
        int32_t *want = encoded(v, word, size, &count);
        cr_assert(n == count && memcmp(ids, want, (size_t)n * sizeof *ids) == 0, "%s", word);
        free(want);
    }
    coder_free(&old);
    mt_vocabulary_free(v);
}

/* The heap for long pieces and the lab's simple loop are two algorithms with one result. */
Test(tokenizer, long_pieces_merge_like_short_ones)
{
    mt_vocabulary *v = tiny();
    mt_merges merges = mt_merges_new(v);
    mt_rng rng = mt_rng_new(10, MT_STREAM_TEST);
    for (int i = 0; i < 3000; i++) {
        int32_t a[200], b[200];
        int64_t n = mt_rng_below(&rng, 200);
        for (int64_t k = 0; k < n; k++)
            a[k] = b[k] = "aaaeinorst hd"[mt_rng_below(&rng, 13)];
        int64_t left = mt_bpe_merge(a, n, &merges);
        cr_assert_eq(mt_bpe_merge_long(b, n, &merges), left);
        cr_assert(memcmp(a, b, (size_t)left * sizeof *a) == 0);
    }
    free((void *)merges.slot);
    mt_vocabulary_free(v);
}

Test(tokenizer, a_megabyte_without_a_blank_is_fast)
{
    enum { SIZE = 1 << 20 };
    mt_vocabulary *v = tiny();
    mt_rng rng = mt_rng_new(11, MT_STREAM_TEST);
    uint8_t *text = malloc(SIZE);
    for (int64_t i = 0; i < SIZE; i++)
        text[i] = (uint8_t)('a' + mt_rng_below(&rng, 26));
    comes_back(v, text, SIZE);
    memset(text, 'a', SIZE);
    comes_back(v, text, SIZE);
    memset(text, ' ', SIZE);
    comes_back(v, text, SIZE);
    free(text);
    mt_vocabulary_free(v);
}

Test(tokenizer, an_id_out_of_range_is_refused_with_its_position)
{
    mt_vocabulary *v = tiny();
    const int32_t ids[] = { 1, 2, 600 }, negative[] = { -1 };
    uint8_t *text = NULL;
    int64_t size = -7;
    cr_assert_eq(mt_decode(&text, &size, v, ids, 3), MT_ERR_FORMAT);
    SAYS("token 2 is 600, the vocabulary has 600");
    cr_assert_eq(mt_decode(&text, &size, v, negative, 1), MT_ERR_FORMAT);
    cr_assert(text == NULL && size == -7);
    mt_vocabulary_free(v);
}

/* ---- learning ------------------------------------------------------------------------------------------ */

static void spelled(const mt_vocabulary *v, int32_t id, const char *want)
{
    const mt_strings *t = &v->token;
    int64_t size = t->start[id + 1] - t->start[id];
    cr_assert(size == (int64_t)strlen(want) && memcmp(t->bytes + t->start[id], want, (size_t)size) == 0,
              "id %d is '%.*s', expected '%s'", id, (int)size, (const char *)t->bytes + t->start[id], want);
}

/* Counted by hand: "ab" 5 times, then "abc" 3 times; "abcd" and "bd" come once, so they stay in two. */
Test(tokenizer, the_most_frequent_neighbours_are_merged_first)
{
    static const char text[] = "abc\nabc\nabcd\nab\nab";
    mt_vocabulary *v = mt_vocabulary_train((const uint8_t *)text, sizeof text - 1, 1000);
    spelled(v, 256, "ab");
    spelled(v, 257, "abc");
    spelled(v, 258, MT_END_OF_TEXT);
    cr_assert_eq(v->token.count, 259);
    mt_vocabulary_free(v);
}

/* The slow reference: all pairs are counted again for each merge. */
static void learn_slowly(const uint8_t *text, int64_t size, int64_t merges, const mt_vocabulary *v)
{
    int32_t *symbol = malloc((size_t)size * sizeof *symbol), *border = calloc((size_t)size + 1, sizeof *border);
    int64_t n = size;
    for (int64_t at = 0; at < size; border[at = mt_piece_end(text, size, at)] = 1)
        ;
    for (int64_t i = 0; i < size; i++)
        symbol[i] = text[i];
    for (int64_t m = 0; m < merges; m++) {
        int64_t best = 0, left = -1, right = -1;
        for (int64_t i = 0; i + 1 < n; i++) {
            int64_t times = 0;
            for (int64_t k = 0; k + 1 < n; k++)
                times += symbol[k] == symbol[i] && symbol[k + 1] == symbol[i + 1] && !border[k + 1];
            bool lower = symbol[i] < left || (symbol[i] == left && symbol[i + 1] < right);
            if (!border[i + 1] && (times > best || (times == best && lower)))
                best = times, left = symbol[i], right = symbol[i + 1];
        }
        const int32_t *parts = v->parts[256 + m];
        cr_assert(mt_id_symbol(v, parts[0]) == left && mt_id_symbol(v, parts[1]) == right, "merge %d", (int)m);
        int64_t kept = 0;
        for (int64_t i = 0; i < n; i++, kept++) {
            bool here = i + 1 < n && symbol[i] == left && symbol[i + 1] == right && !border[i + 1];
            symbol[kept] = here ? (int32_t)(256 + m) : symbol[i];
            border[kept] = border[i];
            i += here;
        }
        n = kept;
    }
    free(symbol);
    free(border);
}

Test(tokenizer, learning_is_what_counting_anew_gives)
{
    mt_rng rng = mt_rng_new(12, MT_STREAM_TEST);
    for (int i = 0; i < 5; i++) {
        uint8_t text[400];
        for (int64_t k = 0; k < 400; k++)
            text[k] = (uint8_t)"aab bc\n"[mt_rng_below(&rng, 7)];
        mt_vocabulary *v = mt_vocabulary_train(text, 400, 256 + 20 + 1);
        learn_slowly(text, 400, v->token.count - 257, v);
        comes_back(v, text, 400);
        mt_vocabulary_free(v);
    }
}

/* A merge visits a piece once, and only if it contains the pair. Otherwise this text takes more than 30 s and 5 GB. */
Test(tokenizer, learning_from_long_pieces_is_fast)
{
    enum { LINES = 300, LONG = 400 };
    mt_rng rng = mt_rng_new(13, MT_STREAM_TEST);
    uint8_t *text = malloc(LINES * (LONG + 1)), *p = text;
    for (int64_t line = 0; line < LINES; line++) {
        for (int64_t i = 0; i < LONG; i++)
            *p++ = (uint8_t)"-=~+"[mt_rng_below(&rng, 4)];
        *p++ = '\n';
    }
    double begin = mt_now();
    mt_vocabulary *v = mt_vocabulary_train(text, p - text, 5000);
    cr_assert_lt(mt_now() - begin, 10);
    cr_assert_gt(v->token.count, 3000);
    comes_back(v, text, p - text);
    mt_vocabulary_free(v);
    free(text);
}

Test(tokenizer, an_empty_text_gives_no_merges)
{
    mt_vocabulary *v = mt_vocabulary_train(NULL, 0, 300);
    cr_assert_eq(v->token.count, 257);
    comes_back(v, (const uint8_t *)"any", 3);
    mt_vocabulary_free(v);
}

Test(tokenizer, characters_are_numbered_by_code_point)
{
    static const char text[] = "bé中😀a\n", other[] = "abé z";
    mt_vocabulary *v = NULL;
    int64_t count;
    cr_assert_eq(mt_vocabulary_characters(&v, (const uint8_t *)text, sizeof text - 1), MT_OK);
    int32_t *ids = encoded(v, text, sizeof text - 1, &count);
    const int32_t want[] = { 2, 3, 4, 5, 1, 0 };
    cr_assert(count == 6 && memcmp(ids, want, sizeof want) == 0);
    cr_assert_eq(v->end_of_text, -1);
    spelled(v, 4, "中");
    coder c = coder_of(v);
    cr_assert_eq(mt_encode(c.encoder, ids, &count, (const uint8_t *)other, sizeof other - 1), MT_ERR_FORMAT);
    SAYS("offset 4: the vocabulary lacks a character, which begins with byte 20");
    coder_free(&c);
    free(ids);
    mt_vocabulary_free(v);
    cr_assert_eq(mt_vocabulary_characters(&v, (const uint8_t *)"ab\xff", 3), MT_ERR_FORMAT);
    SAYS("offset 2: byte ff is not UTF-8");
    cr_assert_eq(mt_vocabulary_characters(&v, NULL, 0), MT_ERR_FORMAT);
}
