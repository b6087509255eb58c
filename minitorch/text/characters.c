/* characters.c -- vocabularies whose tokens are characters. */
#include <inttypes.h>
#include <stdlib.h>

#include "text/utf8.h"
#include "text/vocabulary.h"

mt_status mt_vocabulary_characters(mt_vocabulary **out, const uint8_t *text, int64_t size)
{
    enum { CODES = 0x110000 };
    int64_t length, *end = mt_calloc(CODES, sizeof *end); /* where a character first occurs: offset + 1, or 0 */
    mt_status status = size > 0 ? MT_OK : mt_fail(MT_ERR_FORMAT, "an empty text has no characters");
    for (int64_t at = 0; at < size && status == MT_OK; at += length) {
        int32_t code = mt_utf8_next(text + at, size - at, &length);
        if (code < 0)
            status =
                mt_fail(MT_ERR_FORMAT, "offset %" PRId64 ": byte %02x is not UTF-8, which a text of characters must be",
                        at, text[at]);
        else if (!end[code])
            end[code] = at + 1;
    }
    mt_vocabulary *v = mt_calloc(1, sizeof *v);
    *v = (mt_vocabulary){ .end_of_text = -1, .characters = true };
    for (int64_t code = 0; code < CODES && status == MT_OK; code++) {
        if (!end[code])
            continue;
        const uint8_t *bytes = text + end[code] - 1;
        mt_utf8_next(bytes, size - end[code] + 1, &length);
        mt_strings_add(&v->token, bytes, length);
    }
    free(end);
    if (status == MT_OK)
        *out = v;
    else
        mt_vocabulary_free(v);
    return status;
}

mt_status mt_encode_characters(int32_t *ids, int64_t *count, const mt_vocabulary *v, const uint8_t *text, int64_t size)
{
    int64_t n = 0, length;
    for (int64_t at = 0; at < size; at += length) {
        mt_utf8_next(text + at, size - at, &length);
        ids[n] = (int32_t)mt_strings_find(&v->token, text + at, length);
        if (ids[n++] < 0)
            return mt_fail(MT_ERR_FORMAT,
                           "offset %" PRId64 ": the vocabulary lacks a character, which begins with byte %02x", at,
                           text[at]);
    }
    *count = n;
    return MT_OK;
}
