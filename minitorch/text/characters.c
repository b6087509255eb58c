/* characters.c -- vocabularies whose tokens are characters: bytes, merged into nothing more than one character of UTF-8. */
#include <inttypes.h>
#include <stdlib.h>

#include "text/unicode.h"
#include "text/vocabulary.h"

int32_t mt_vocabulary_character(mt_vocabulary *v, const uint8_t *bytes, int64_t size)
{
    int64_t length;
    if (size < 1 || mt_utf8_next(bytes, size, &length) < 0 || length != size)
        return MT_NO_SYMBOL;
    int32_t symbol = bytes[0];
    for (int64_t n = 2; n <= size; n++) {
        int32_t longer = mt_vocabulary_find(v, bytes, n);
        symbol = longer != MT_NO_SYMBOL ? longer : mt_vocabulary_merge(v, symbol, bytes[n - 1]);
    }
    return symbol;
}

mt_status mt_tokenizer_characters(mt_tokenizer **out, const uint8_t *text, int64_t size)
{
    enum { CODES = 0x110000 };
    int32_t count = 0;
    int64_t length;
    if (size == 0)
        return mt_fail(MT_ERR_FORMAT, "an empty text has no characters");
    bool *seen = calloc(CODES, sizeof *seen);
    int32_t *id = malloc(4 * CODES * sizeof *id); /* a character needs three merges at most */
    MT_CHECK(seen && id, "out of memory");
    for (int64_t at = 0; at < size; at += length) {
        int32_t code = mt_utf8_next(text + at, size - at, &length);
        if (code < 0) {
            free(seen);
            free(id);
            return mt_fail(MT_ERR_FORMAT, "offset %" PRId64 ": byte %02x is not UTF-8; characters need it", at,
                           text[at]);
        }
        seen[code] = true;
    }
    mt_vocabulary *v = mt_vocabulary_new();
    v->characters = true;
    for (int64_t s = 0; s < 4 * CODES; s++)
        id[s] = -1;
    for (uint32_t code = 0; code < CODES; code++) {
        uint8_t bytes[4];
        if (seen[code])
            id[mt_vocabulary_character(v, bytes, mt_utf8_put(bytes, code))] = count++;
    }
    *out = mt_tokenizer_new(v, id, count, -1);
    free(seen);
    free(id);
    return MT_OK;
}
