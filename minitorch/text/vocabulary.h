/* vocabulary.h -- symbols and their spellings, growing merge by merge: what the makers of tokenizers in data/ share. */
#ifndef MT_TEXT_VOCABULARY_H
#define MT_TEXT_VOCABULARY_H

#include "text/tokenizer.h"

#define MT_NO_SYMBOL (-1)
#define MT_BYTES     256 /* the first symbols */

/* How vocab.bpe begins. */
#define MT_MERGES_LINE     "#version: 0.2\n"
#define MT_CHARACTERS_LINE "#characters\n"

/* Symbol s is spelled bytes[start[s]] up to bytes[start[s + 1]]; no two are spelled alike. */
typedef struct mt_vocabulary {
    int64_t symbols;     /* MT_BYTES + merges */
    int32_t (*parts)[2]; /* [symbols]; what MT_BYTES + r was merged of, the bytes' are unused */
    uint8_t *bytes;      /* [start[symbols]] */
    int64_t *start;      /* [symbols + 1] */
    int64_t room, bytes_room;
    uint64_t *pair;   /* merges by what they merge: the slots of mt_merges */
    int32_t *spelled; /* symbols by spelling: symbol + 1, 0 empty */
    int bits;         /* both tables have 2^bits slots, at most half of them used */
    bool characters;  /* tokens are characters; symbols on the way to one have no id */
} mt_vocabulary;

/* mt_vocabulary_new -- the bytes, no merges. */
mt_vocabulary *mt_vocabulary_new(void);
void mt_vocabulary_free(mt_vocabulary *v); /* NULL is allowed */

static inline int64_t mt_symbol_size(const mt_vocabulary *v, int32_t symbol)
{
    return v->start[symbol + 1] - v->start[symbol];
}

/* mt_vocabulary_find -- the symbol that is spelled so, or MT_NO_SYMBOL. */
int32_t mt_vocabulary_find(const mt_vocabulary *v, const uint8_t *bytes, int64_t size);

/* mt_vocabulary_merge -- the next symbol, made of two that are there; MT_NO_SYMBOL when there is one spelled so already, or
 * the new one would be longer than 64 KiB (a hostile file doubles it with each line), or there are MT_MOST_SYMBOL. */
int32_t mt_vocabulary_merge(mt_vocabulary *v, int32_t left, int32_t right);

/* mt_vocabulary_character -- the symbol of one character, after the merges that it needs (its first bytes, then the next);
 * MT_NO_SYMBOL: bytes [size] are not one character of UTF-8. */
int32_t mt_vocabulary_character(mt_vocabulary *v, const uint8_t *bytes, int64_t size);

/* mt_tokenizer_new -- owns v from now on.
 *   id  [v->symbols] i32, copied: distinct ids of the symbols, all below `count`, or -1: a symbol that no text may keep
 *   end_of_text: the id of MT_END_OF_TEXT, or -1
 * Aborts: an id twice or out of range. */
mt_tokenizer *mt_tokenizer_new(mt_vocabulary *v, const int32_t *id, int64_t count, int32_t end_of_text);

/* mt_tokenizer_symbols, _ids -- what it was made of, lent. */
const mt_vocabulary *mt_tokenizer_symbols(const mt_tokenizer *tokenizer);
const int32_t *mt_tokenizer_ids(const mt_tokenizer *tokenizer);

/* mt_merge_long -- mt_bpe_merge for pieces of any length in O(n log n): a heap of neighbours, by what they make and place. */
int64_t mt_merge_long(int32_t *symbol, int64_t n, const mt_merges *merges);

#endif
