/* bpe.c -- bytes to symbols to ids, and back: byte-pair encoding over one piece at a time. */
#include "text/tokenizer.h"

#include <string.h>

uint32_t mt_byte_char(int32_t byte)
{
    /* LAB 08.2 BEGIN  The character of a byte.
     * Hint: one that cannot stand for itself is 256 plus how many of those come before it. */
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

int64_t mt_bpe_decode(uint8_t *text, const int32_t *ids, int64_t n, const mt_spelling *spelling)
{
    int64_t size = 0;
    /* LAB 08.2 BEGIN  Ids to bytes.
     * Hint: a token is a number of whole bytes, not of whole characters: only the complete text is UTF-8. */
    for (int64_t i = 0; i < n; i++) {
        int64_t start = spelling->start[ids[i]], length = spelling->start[ids[i] + 1] - start;
        memcpy(text + size, spelling->bytes + start, (size_t)length);
        size += length;
    }
    /* LAB 08.2 END */
    return size;
}
