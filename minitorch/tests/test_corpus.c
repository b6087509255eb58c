/* test_corpus.c -- windows come from the right part, y is x one token on, and a step's batch depends on nothing else. */
#include "core/scope.h"
#include "models/corpus.h"
#include "temp_dir.h"

#include <criterion/criterion.h>
#include <stdio.h>
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
