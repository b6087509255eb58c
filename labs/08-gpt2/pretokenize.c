/* pretokenize.c -- GPT-2's rules for cutting text into pieces, without a regular expression: a lookahead of one
 * character is enough. */
#include "text/tokenizer.h"
#include "text/unicode.h"

#include <string.h>

/* How many bytes at text[0] are one of 's 't 're 've 'm 'll 'd; 0 when none is there. */
static int64_t contraction(const uint8_t *text, int64_t size)
{
    /* TODO 08.1: The English endings.
     * Hint: most text does not start with an apostrophe, so test that first. The text may end after the apostrophe. */
    MT_TODO("08.1"); /* delete this line when yours stands here */
}

/* Where the run of characters of this kind ends; *last is where its last character starts (unchanged when it is
 * empty). */
static int64_t run_end(const uint8_t *text, int64_t size, int64_t at, mt_kind kind, int64_t *last)
{
    int64_t length;
    while (at < size && mt_char_kind(text + at, size - at, &length) == kind) {
        *last = at;
        at += length;
    }
    return at;
}

int64_t mt_piece_end(const uint8_t *text, int64_t size, int64_t at)
{
    /* TODO 08.1: Where a piece ends.
     * Hint: after the endings there are two cases. A run of one kind (not white space), perhaps after one blank, is
     * a piece. Otherwise the piece is white space: the whole run at the end of the text, or when it is one
     * character; else all but its last character, because a word takes the blank before it. run_end gives both
     * positions. */
    MT_TODO("08.1"); /* delete this line when yours stands here */
}
