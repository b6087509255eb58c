/* bpe.c -- byte-pair encoding of one piece at a time, and a cache of pieces. */
#include "text/tokenizer.h"

#include <string.h>

int64_t mt_bpe_merge(int32_t *symbol, int64_t n, const mt_merges *merges)
{
    /* TODO 08.2: Merge by rank.
     * Hint: not from left to right. Look at all neighbours, merge the two that make the lowest symbol, and repeat. */
    MT_TODO("08.2"); /* delete this line when yours stands here */
}

mt_word *mt_word_slot(mt_word *table, const uint64_t key[2])
{
    mt_word *home = table + mt_word_home(key);
    /* TODO 08.2: A word's slot.
     * Hint: the slots home[0] to home[MT_WORD_WAYS - 1]. Two words may agree in eight bytes: compare both halves. A
     * word is put into the first empty slot, so none is stored after it. When all slots are taken, any may be
     * replaced: a word that is lost is merged again. */
    MT_TODO("08.2"); /* delete this line when yours stands here */
}
