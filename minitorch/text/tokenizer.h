/* tokenizer.h -- text as numbers and back: GPT-2's byte-level byte-pair encoding.
 *
 *     "It's late."  --pieces-->  "It" "'s" " late" "."  --merges-->  ids 1026 338 2739 13
 *
 * Inside, text is *symbols*: 0 to 255 are the bytes, and merge number r makes symbol 256 + r out of two earlier ones. What is
 * merged first is what makes the lowest symbol. A vocabulary gives each symbol its *id*. In GPT-2's the merges' ids are
 * their symbols, the bytes' ids follow mt_byte_char, and 50256 is <|endoftext|>, which no bytes are merged into.
 *
 * Any bytes are text. Those that are not UTF-8 count as punctuation and keep their values (GPT-2's own program, run with
 * errors="surrogateescape", does the same), so that decoding gives back exactly what was encoded.
 *
 * Units: solutions/08-gpt2/pretokenize.c, solutions/08-gpt2/bpe.c */
#ifndef MT_TEXT_TOKENIZER_H
#define MT_TEXT_TOKENIZER_H

#include "core/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- taught: pieces ---------------------------------------------------------------------------- */

/* mt_piece_end -- where the piece of text that starts at `at` ends. Merges never cross that border.
 *   text  [size], any bytes;  0 <= at < size;  returns at + 1 .. size
 * The first of these that matches at `at`, as long as it can be (kinds: text/unicode.h):
 *   's 't 're 've 'm 'll 'd     in lower case only
 *   one blank or none, then letters                   ?\p{L}+
 *   one blank or none, then numbers                   ?\p{N}+
 *   one blank or none, then neither, nor white space  ?[^\s\p{L}\p{N}]+
 *   white space up to the end of the text, or all but its last character   \s+(?!\S)
 *   white space                                                            \s+
 * Source: Radford et al. 2019, github.com/openai/gpt-2, src/encoder.py.   Lab 08.1 */
int64_t mt_piece_end(const uint8_t *text, int64_t size, int64_t at);

/* ---- taught: bytes and merges ------------------------------------------------------------------ */

/* mt_byte_char -- the code point that stands for a byte (0 to 255) in vocabulary files, where every byte must be visible.
 * Bytes 33-126, 161-172 and 174-255 stand for themselves; the others, in order, are 256, 257, ... (a blank is 288, Ġ).
 * Source: as above, bytes_to_unicode.   Lab 08.2 */
uint32_t mt_byte_char(int32_t byte);

#define MT_NO_MERGE    INT32_MAX
#define MT_MOST_SYMBOL (1 << 21) /* ids and symbols are below it: three of them fit 64 bits */

/* Merges by what they merge: a slot holds left, right and made, 21 bits each; 0: empty (0 is never made). */
typedef struct mt_merges {
    const uint64_t *slot; /* [2^bits] */
    int bits;
} mt_merges;

/* mt_merges_find -- the symbol that two neighbours make, MT_NO_MERGE when they make none. Given. */
static inline int32_t mt_merges_find(const mt_merges *merges, int32_t left, int32_t right)
{
    uint64_t pair = (uint64_t)left << 21 | (uint64_t)right, mask = (1ull << merges->bits) - 1;
    for (uint64_t i = pair * 0x9e3779b97f4a7c15u >> (64 - merges->bits); merges->slot[i]; i = (i + 1) & mask)
        if (merges->slot[i] >> 21 == pair)
            return (int32_t)(merges->slot[i] & (MT_MOST_SYMBOL - 1));
    return MT_NO_MERGE;
}

/* mt_bpe_merge -- merge neighbours until no two make a symbol; always those that make the lowest, of equals the leftmost.
 *   symbol  [n] i32  replaced by the result;  returns its length
 * For short pieces: quadratic in n is good enough (the given code takes longer ones to a heap).
 * Source: Sennrich, Haddow, Birch 2016, arXiv:1508.07909, sec. 3.2.   Lab 08.2 */
int64_t mt_bpe_merge(int32_t *symbol, int64_t n, const mt_merges *merges);

/* ---- taught: words met before ------------------------------------------------------------------ */

#define MT_WORD_BYTES 15        /* longer pieces are not remembered */
#define MT_WORD_IDS   3         /* nor those of more tokens */
#define MT_WORDS      (1 << 15) /* slots of a table: 1 MiB, about a second-level cache */
#define MT_WORD_WAYS  4         /* slots in which a word may lie */

/* A piece met before; 32 bytes, so that none straddles two cache lines. */
typedef struct mt_word {
    uint64_t key[2]; /* its bytes, then zeros; the last byte is its length. Both 0: an empty slot */
    int32_t count;   /* of its ids */
    int32_t id[MT_WORD_IDS];
} mt_word;

/* mt_word_home -- the first of the MT_WORD_WAYS neighbouring slots in which a word may lie. Given. */
static inline int64_t mt_word_home(const uint64_t key[2])
{
    uint64_t hash = (key[0] ^ (key[1] * 0x9e3779b97f4a7c15u)) * 0xd6e8feb86659fd93u;
    return (int64_t)((hash ^ hash >> 32) * 0xd6e8feb86659fd93u >> 49) & -MT_WORD_WAYS;
}

/* mt_word_slot -- the slot that holds a word; else an empty one where it may lie; else one of the others there, to be
 * overwritten.
 *   table  [MT_WORDS];  key: of a word, so not 0 0
 * Moves: two cache lines at most.   Lab 08.2 */
mt_word *mt_word_slot(mt_word *table, const uint64_t key[2]);

/* ---- taught: back to text ----------------------------------------------------------------------- */

/* How every id is spelled: id i is bytes[start[i]] up to, not including, bytes[start[i + 1]]. */
typedef struct mt_spelling {
    const uint8_t *bytes;
    const int64_t *start; /* [count + 1] */
    int64_t count;
} mt_spelling;

/* mt_bpe_decode -- what ids spell, one after the other.
 *   text  overwritten, as many bytes as they spell;  ids [n] i32, each below spelling->count
 * Returns how many bytes that is.   Lab 08.2 */
int64_t mt_bpe_decode(uint8_t *text, const int32_t *ids, int64_t n, const mt_spelling *spelling);

/* ---- given, in text/tokenizer.c and beside it --------------------------------------------------- */

typedef struct mt_tokenizer mt_tokenizer; /* a vocabulary: never changes, any number of threads may use it */
typedef struct mt_encoder mt_encoder;     /* a thread's table of words over one */

#define MT_END_OF_TEXT "<|endoftext|>"

/* mt_tokenizer_open -- read DIR/vocab.bpe and DIR/encoder.json.
 * Fails, naming file and line or offset: truncated, a token twice, an id twice or out of range, a merge of what is not there. */
mt_status mt_tokenizer_open(mt_tokenizer **out, const char *dir);

/* mt_tokenizer_save -- write those two files, each whole or not at all. DIR must be there. */
mt_status mt_tokenizer_save(const mt_tokenizer *tokenizer, const char *dir);

/* mt_tokenizer_train -- learn a vocabulary: merge the most frequent neighbours, again and again (of equally frequent ones
 * those with the lowest symbols), inside pieces only. Ids are symbols; the last id is <|endoftext|>.
 *   text  [size], any bytes;  vocabulary: how many ids, 257 or more
 * The result has fewer ids when the text has nothing left that comes twice. */
mt_tokenizer *mt_tokenizer_train(const uint8_t *text, int64_t size, int64_t vocabulary);

/* mt_tokenizer_characters -- every character of the text is a token, numbered by code point; no <|endoftext|>.
 * Fails (MT_ERR_FORMAT): text that is not UTF-8, or empty. */
mt_status mt_tokenizer_characters(mt_tokenizer **out, const uint8_t *text, int64_t size);

void mt_tokenizer_free(mt_tokenizer *tokenizer); /* NULL is allowed */

int64_t mt_tokenizer_count(const mt_tokenizer *tokenizer);               /* ids are 0 .. count - 1 */
int32_t mt_tokenizer_end_of_text(const mt_tokenizer *tokenizer);         /* its id, or -1 */
const mt_spelling *mt_tokenizer_spelling(const mt_tokenizer *tokenizer); /* lent */

mt_encoder *mt_encoder_new(const mt_tokenizer *tokenizer); /* borrows it */
void mt_encoder_free(mt_encoder *encoder);                 /* NULL is allowed */

/* mt_encode -- text to ids. <|endoftext|> in it is text like any other.
 *   ids  [size] i32 room; *count: how many there are
 * Fails (MT_ERR_FORMAT) on a byte that the vocabulary lacks, with its offset: characters do, GPT-2's never. */
mt_status mt_encode(mt_encoder *encoder, int32_t *ids, int64_t *count, const uint8_t *text, int64_t size);

/* mt_encode_special -- as mt_encode, but each <|endoftext|> in the text is that token. Aborts: the vocabulary has none. */
mt_status mt_encode_special(mt_encoder *encoder, int32_t *ids, int64_t *count, const uint8_t *text, int64_t size);

/* mt_encode_cut -- the first place from `at` on where text can be cut and its parts encoded each by itself, with the same
 * ids; size when there is none. */
int64_t mt_encode_cut(const uint8_t *text, int64_t size, int64_t at);

/* mt_decode -- ids to text: *text, *size bytes and a 0 behind them, is the caller's to free.
 * Fails (MT_ERR_FORMAT) on an id that is not of the vocabulary, with its place. */
mt_status mt_decode(uint8_t **text, int64_t *size, const mt_tokenizer *tokenizer, const int32_t *ids, int64_t count);

#ifdef __cplusplus
}
#endif
#endif
