/* bpe.c -- bytes to symbols to ids, and back: byte-pair encoding over one piece at a time. */
#include "text/tokenizer.h"

#include <string.h>

uint32_t mt_byte_char(int32_t byte)
{
    /* TODO 08.2: The character of a byte.
     * Hint: one that cannot stand for itself is 256 plus how many of those come before it. */
    MT_TODO("08.2");
}

int64_t mt_bpe_merge(int32_t *symbol, int64_t n, const mt_merges *merges)
{
    /* TODO 08.2: Merge by rank.
     * Hint: not from left to right. Look at all neighbours, merge the two that make the lowest symbol, and repeat. */
    MT_TODO("08.2");
}

mt_word *mt_word_slot(mt_word *table, const uint64_t key[2])
{
    mt_word *home = table + mt_word_home(key);
    /* TODO 08.2: A word's slot.
     * Hint: the slots home[0] to home[MT_WORD_WAYS - 1]. Two words may agree in eight bytes: compare both halves. A
     * word is put into the first empty slot, so none is stored after it. When all slots are taken, any may be
     * replaced: a word that is lost is merged again. */
    MT_TODO("08.2");
}

int64_t mt_bpe_decode(uint8_t *text, const int32_t *ids, int64_t n, const mt_spelling *spelling)
{
    int64_t size = 0;
    /* TODO 08.2: Ids to bytes.
     * Hint: a token is a number of whole bytes, not of whole characters: only the complete text is UTF-8. */
    MT_TODO("08.2");
    return size;
}
