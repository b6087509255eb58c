/* spelling.c -- the bytes of tokens: how a vocabulary file writes them, and ids to text. */
#include "text/vocabulary.h"

#include <string.h>

uint32_t mt_byte_char(int32_t byte)
{
    /* LAB 08.2 BEGIN  The character of a byte.
     * Hint: those that cannot stand for themselves follow each other from 256 on, in the order of the bytes. */
    uint32_t hidden = 0;
    for (int32_t b = 0; b <= byte; b++) {
        bool visible = (b >= 33 && b <= 126) || (b >= 161 && b <= 172) || b >= 174;
        if (b == byte && visible)
            return (uint32_t)byte;
        hidden += !visible;
    }
    return 256 + hidden - 1;
    /* LAB 08.2 END */
}

int64_t mt_bpe_decode(uint8_t *text, const int32_t *ids, int64_t n, const mt_strings *token)
{
    int64_t size = 0;
    /* LAB 08.2 BEGIN  Ids to bytes.
     * Hint: a token is a number of whole bytes, not of whole characters: only the complete text is UTF-8. */
    for (int64_t i = 0; i < n; i++) {
        int64_t start = token->start[ids[i]], length = token->start[ids[i] + 1] - start;
        memcpy(text + size, token->bytes + start, (size_t)length);
        size += length;
    }
    /* LAB 08.2 END */
    return size;
}
