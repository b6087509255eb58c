/* bpe.c -- byte-pair encoding of one piece at a time, and a cache of pieces. */
#include "text/tokenizer.h"

#include <string.h>

int64_t mt_bpe_merge(int32_t *symbol, int64_t n, const mt_merges *merges)
{
    /* LAB 08.2 BEGIN  Merge by rank.
     * Hint: not from left to right. Look at all neighbours, merge the two that make the lowest symbol, and repeat. */
    for (;;) {
        int32_t best = MT_NO_MERGE;
        int64_t at = 0;
        for (int64_t i = 0; i + 1 < n; i++) {
            int32_t made = mt_merges_find(merges, symbol[i], symbol[i + 1]);
            if (made < best) {
                best = made;
                at = i;
            }
        }
        if (best == MT_NO_MERGE)
            return n;
        symbol[at] = best;
        n--;
        memmove(symbol + at + 1, symbol + at + 2, (size_t)(n - at - 1) * sizeof *symbol);
    }
    /* LAB 08.2 END */
}

mt_word *mt_word_slot(mt_word *table, const uint64_t key[2])
{
    mt_word *home = table + mt_word_home(key);
    /* LAB 08.2 BEGIN  A word's slot.
     * Hint: the slots home[0] to home[MT_WORD_WAYS - 1]. Two words may agree in eight bytes: compare both halves. A
     * word is put into the first empty slot, so none is stored after it. When all slots are taken, any may be
     * replaced: a word that is lost is merged again. */
    for (int64_t i = 0; i < MT_WORD_WAYS; i++)
        if ((home[i].key[0] == key[0] && home[i].key[1] == key[1]) || home[i].key[1] == 0)
            return &home[i];
    return &home[key[0] % MT_WORD_WAYS];
    /* LAB 08.2 END */
}
