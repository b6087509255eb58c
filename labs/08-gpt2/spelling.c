/* spelling.c -- the bytes of tokens: how a vocabulary file writes them, and ids to text. */
#include "text/vocabulary.h"

#include <string.h>

uint32_t mt_byte_char(int32_t byte)
{
    /* TODO 08.2: The character of a byte.
     * Hint: those that cannot stand for themselves follow each other from 256 on, in the order of the bytes. */
    MT_TODO("08.2"); /* delete this line when yours stands here */
}

int64_t mt_bpe_decode(uint8_t *text, const int32_t *ids, int64_t n, const mt_strings *token)
{
    int64_t size = 0;
    /* TODO 08.2: Ids to bytes.
     * Hint: a token is a number of whole bytes, not of whole characters: only the complete text is UTF-8. */
    MT_TODO("08.2"); /* delete this line when yours stands here */
    return size;
}
