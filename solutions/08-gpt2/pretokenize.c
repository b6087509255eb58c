/* pretokenize.c -- GPT-2's rules for cutting text into pieces, without a regular expression: a lookahead of one
 * character is enough. */
#include "text/tokenizer.h"
#include "text/unicode.h"

#include <string.h>

/* How many bytes at text[0] are one of 's 't 're 've 'm 'll 'd; 0 when none is there. */
static int64_t contraction(const uint8_t *text, int64_t size)
{
    /* LAB 08.1 BEGIN  The English endings.
     * Hint: most text does not start with an apostrophe, so test that first. The text may end after the apostrophe. */
    if (text[0] != '\'' || size < 2)
        return 0;
    if (text[1] == 's' || text[1] == 't' || text[1] == 'm' || text[1] == 'd')
        return 2;
    bool longer =
        size > 2 && (memcmp(text, "'re", 3) == 0 || memcmp(text, "'ve", 3) == 0 || memcmp(text, "'ll", 3) == 0);
    return longer ? 3 : 0;
    /* LAB 08.1 END */
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
    /* LAB 08.1 BEGIN  Where a piece ends.
     * Hint: after the endings there are two cases. A run of one kind (not white space), perhaps after one blank, is
     * a piece. Otherwise the piece is white space: the whole run at the end of the text, or when it is one
     * character; else all but its last character, because a word takes the blank before it. run_end gives both
     * positions. */
    int64_t ending = contraction(text + at, size - at), length, last = at;
    if (ending > 0)
        return at + ending;
    int64_t start = at + (text[at] == ' ' && at + 1 < size);
    mt_kind kind = mt_char_kind(text + start, size - start, &length);
    if (kind != MT_KIND_SPACE)
        return run_end(text, size, start + length, kind, &last);
    int64_t end = run_end(text, size, at, MT_KIND_SPACE, &last);
    return end == size || last == at ? end : last;
    /* LAB 08.1 END */
}
