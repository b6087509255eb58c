/* tokenizer.h -- encoding: text to token ids, by GPT-2's byte-level byte-pair encoding.
 *
 *     "It's late."  --pieces-->  "It" "'s" " late" "."  --merges-->  ids 1026 338 2739 13
 *
 * Encoding works with *symbols*: 0 to 255 are the bytes, and merge number r makes symbol 256 + r of two earlier ones.
 * The pair that makes the lowest symbol is merged first. At the end symbols become ids (text/vocabulary.h): above 255
 * both are the same number.
 *
 * Any bytes are text. Bytes that are not UTF-8 count as punctuation, and decoding returns exactly what was encoded
 * (GPT-2's own program does the same with errors="surrogateescape").
 *
 * Units: solutions/08-gpt2/pretokenize.c, solutions/08-gpt2/bpe.c */
#pragma once

#include "text/vocabulary.h"

MT_C_BEGIN

/* ---- taught: pieces ---------------------------------------------------------------------------- */

/* mt_piece_end -- where the piece of text that starts at `at` ends. Merges never cross the border of a piece.
 *   text  [size], any bytes;  0 <= at < size;  returns at + 1 .. size
 * The first of these rules that matches at `at`, as long as possible (kinds: text/unicode.h):
 *   's 't 're 've 'm 'll 'd     in lower case only
 *   one blank or none, then letters                   ?\p{L}+
 *   one blank or none, then numbers                   ?\p{N}+
 *   one blank or none, then other characters          ?[^\s\p{L}\p{N}]+     neither letters, numbers nor white space
 *   white space up to the end of the text, or all but its last character   \s+(?!\S)
 *   white space                                                            \s+
 * Source: Radford et al. 2019, github.com/openai/gpt-2, src/encoder.py.   Lab 08.1 */
int64_t mt_piece_end(const uint8_t *text, int64_t size, int64_t at);

/* ---- taught: merges ---------------------------------------------------------------------------- */

#define MT_NO_MERGE INT32_MAX

/* A hash table from two symbols to what they make: a slot holds left, right and made, 21 bits each, or 0 (never
 * made). */
typedef struct mt_merges {
    const uint64_t *slot; /* [2^bits] */
    int bits;
} mt_merges;

/* mt_merges_find -- the symbol that two neighbours make, or MT_NO_MERGE. Given. */
static inline int32_t mt_merges_find(const mt_merges *merges, int32_t left, int32_t right)
{
    uint64_t pair = (uint64_t)left << 21 | (uint64_t)right, mask = (1ull << merges->bits) - 1;
    for (uint64_t i = pair * 0x9e3779b97f4a7c15u >> (64 - merges->bits); merges->slot[i]; i = (i + 1) & mask)
        if (merges->slot[i] >> 21 == pair)
            return (int32_t)(merges->slot[i] & (MT_MOST_IDS - 1));
    return MT_NO_MERGE;
}

/* mt_bpe_merge -- merge neighbours until no two make a symbol; always those that make the lowest, of equal ones the
 * leftmost.
 *   symbol  [n] i32  replaced by the result;  returns its length
 * For short pieces, so quadratic time is good enough (mt_encode passes those above 64 bytes to mt_bpe_merge_long).
 * Source: Sennrich, Haddow, Birch 2016, arXiv:1508.07909, sec. 3.2.   Lab 08.2 */
int64_t mt_bpe_merge(int32_t *symbol, int64_t n, const mt_merges *merges);

/* ---- taught: a cache of pieces ------------------------------------------------------------------- */

#define MT_WORD_BYTES 15        /* longer pieces are not cached */
#define MT_WORD_IDS   3         /* nor those of more ids */
#define MT_WORDS      (1 << 15) /* slots of a table: 1 MiB, about a second-level cache */
#define MT_WORD_WAYS  4         /* slots that may hold a word */

/* A piece and its ids; 32 bytes, so that none straddles two cache lines. */
typedef struct mt_word {
    uint64_t key[2]; /* its bytes, then zeros; the last byte is its length. Both 0: an empty slot */
    int32_t count;   /* of its ids */
    int32_t id[MT_WORD_IDS];
} mt_word;

/* mt_word_home -- the first of the MT_WORD_WAYS neighbouring slots that may hold a word. Given. */
static inline int64_t mt_word_home(const uint64_t key[2])
{
    uint64_t hash = (key[0] ^ (key[1] * 0x9e3779b97f4a7c15u)) * 0xd6e8feb86659fd93u;
    return (int64_t)((hash ^ hash >> 32) * 0xd6e8feb86659fd93u >> 49) & -MT_WORD_WAYS;
}

/* mt_word_slot -- the slot that holds a word; else an empty one that may hold it; else one of the others, to be
 * overwritten.
 *   table  [MT_WORDS];  key: of a word, so not 0 0
 * Moves: two cache lines at most.   Lab 08.2 */
mt_word *mt_word_slot(mt_word *table, const uint64_t key[2]);

/* ---- given ------------------------------------------------------------------------------------- */

typedef struct mt_tokenizer
    mt_tokenizer; /* a vocabulary made ready for encoding: constant, any number of threads may use it */
typedef struct mt_encoder mt_encoder; /* a thread's own buffers for one */

mt_tokenizer *mt_tokenizer_new(const mt_vocabulary *vocabulary); /* borrows it */
void mt_tokenizer_free(mt_tokenizer *tokenizer);                 /* NULL is allowed */

mt_encoder *mt_encoder_new(const mt_tokenizer *tokenizer); /* borrows it */
void mt_encoder_free(mt_encoder *encoder);                 /* NULL is allowed */

/* mt_encode -- text to ids. <|endoftext|> in it is text like any other.
 *   ids  [size] i32 room; *count: how many there are
 * Fails (MT_ERR_FORMAT) on a character that a vocabulary of characters lacks, with its offset. */
mt_status mt_encode(mt_encoder *encoder, int32_t *ids, int64_t *count, const uint8_t *text, int64_t size);

/* mt_encode_special -- as mt_encode, but each <|endoftext|> in the text is that token. Aborts: the vocabulary has
 * none. */
mt_status mt_encode_special(mt_encoder *encoder, int32_t *ids, int64_t *count, const uint8_t *text, int64_t size);

/* mt_encode_cut -- the first offset from `at` on where the text can be cut and both parts encoded separately, with the
 * same ids; size when there is none. */
int64_t mt_encode_cut(const uint8_t *text, int64_t size, int64_t at);

/* mt_vocabulary_learn -- learn merges: the most frequent pair of neighbours first (of equally frequent ones the pair
 * with the lowest symbols), only inside pieces.
 *   files [count], any bytes; a piece does not go on in the next file;  ids: how many, 257 to MT_MOST_IDS
 * Shows its progress unless quiet. The result has fewer ids when no pair is left that occurs twice. MT_ERR_STOPPED:
 * mt_cli_stopped.
 * mt_vocabulary_train -- of one text, quietly. */
mt_status mt_vocabulary_learn(mt_vocabulary **out, const mt_file_map *files, int64_t count, int64_t ids, bool quiet);
mt_vocabulary *mt_vocabulary_train(const uint8_t *text, int64_t size, int64_t ids);

/* mt_merges_new -- the table of a vocabulary's merges; free its slots. */
mt_merges mt_merges_new(const mt_vocabulary *vocabulary);

/* mt_bpe_merge_long -- the same result as mt_bpe_merge in O(n log n). */
int64_t mt_bpe_merge_long(int32_t *symbol, int64_t n, const mt_merges *merges);

MT_C_END
