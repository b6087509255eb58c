/* vocabulary.h -- token ids and the bytes that they stand for: vocab.bpe, and decoding.
 *
 * Byte-pair encoding: ids 0 to 255 are the bytes, in the order of their characters (mt_byte_char); id 256 + r is what
 * merge r makes of two earlier tokens; the last id is <|endoftext|>, which merges never make. These are GPT-2's ids.
 * Characters: one id per character of a text, in the order of code points.
 *
 *   vocab.bpe    "#version: 0.2", then one merge per line, the lowest first: "Ġ t"
 *                or "#characters", then one character per line
 *
 * The file writes each byte as the character mt_byte_char. GPT-2's encoder.json repeats the same ids and is not needed.
 * Unit: solutions/08-gpt2/spelling.c */
#pragma once

#include "core/io.h"
#include "text/strings.h"

MT_C_BEGIN

/* ---- taught ------------------------------------------------------------------------------------ */

/* mt_byte_char -- the code point that stands for a byte (0 to 255) in vocabulary files, where every byte must be
 * visible. Bytes 33-126, 161-172 and 174-255 stand for themselves; the others, in order, are 256, 257, ... (a blank is
 * 288, Ġ).
 * Source: Radford et al. 2019, github.com/openai/gpt-2, src/encoder.py, bytes_to_unicode.   Lab 08.2 */
uint32_t mt_byte_char(int32_t byte);

/* mt_bpe_decode -- the bytes of some ids, one after the other.
 *   text  overwritten, as many bytes as the ids have;  ids [n] i32, numbers of strings of `token`
 * Returns how many bytes that is.   Lab 08.2 */
int64_t mt_bpe_decode(uint8_t *text, const int32_t *ids, int64_t n, const mt_strings *token);

/* ---- given ------------------------------------------------------------------------------------- */

#define MT_END_OF_TEXT "<|endoftext|>"
#define MT_BYTES       256       /* the first ids */
#define MT_MOST_IDS    (1 << 21) /* ids are below it */

typedef struct mt_vocabulary {
    mt_strings token;    /* ids are their numbers */
    int32_t (*parts)[2]; /* [token.count], the ids that were merged; unused for bytes and characters */
    int64_t parts_room;
    int32_t end_of_text; /* its id, or -1 */
    bool characters;
} mt_vocabulary;

/* mt_vocabulary_open -- read DIR/vocab.bpe, or DIR/merges.txt, as Hugging Face calls the same file (of GPT-2: ids of
 * its own vocabularies may have another order). Lines may end by \r\n, and words may follow "#version: 0.2".
 * Fails, naming file, line and offset: cut short, a token twice, a merge of tokens that no line before it makes. */
mt_status mt_vocabulary_open(mt_vocabulary **out, const char *dir);

/* mt_vocabulary_save -- write it, whole or not at all. DIR must exist.
 * mt_vocabulary_publish -- as Hugging Face's tokenizer of GPT-2 reads it, merges.txt and vocab.json, which says the id
 * of each token; of characters, for which that has no files, vocab.bpe. */
mt_status mt_vocabulary_save(const mt_vocabulary *vocabulary, const char *dir);
mt_status mt_vocabulary_publish(const mt_vocabulary *vocabulary, const char *dir);
void mt_vocabulary_free(mt_vocabulary *vocabulary); /* NULL is allowed */

/* mt_vocabulary_new -- the bytes, without merges or end of text. */
mt_vocabulary *mt_vocabulary_new(void);

/* mt_vocabulary_merge -- the next id, made of two tokens. Returns -1 when a token has the same bytes already, or the
 * new one would be longer than 64 KiB (each line of a bad file may double it), or there are MT_MOST_IDS. */
int32_t mt_vocabulary_merge(mt_vocabulary *vocabulary, int32_t left, int32_t right);
void mt_vocabulary_add_end(mt_vocabulary *vocabulary); /* after the last merge: <|endoftext|> */

/* mt_symbol_id, mt_id_symbol -- symbols (text/tokenizer.h) are ids, except that the bytes are in their own order. */
static inline int32_t mt_symbol_id(const mt_vocabulary *v, int32_t symbol)
{
    uint8_t byte = (uint8_t)symbol;
    return symbol < MT_BYTES ? (int32_t)mt_strings_find(&v->token, &byte, 1) : symbol;
}

static inline int32_t mt_id_symbol(const mt_vocabulary *v, int32_t id)
{
    return id < MT_BYTES ? v->token.bytes[id] : id;
}

/* mt_decode -- ids to text: *text, *size bytes and a 0 after them, which the caller frees.
 * Fails (MT_ERR_FORMAT) on an id that the vocabulary lacks, with its index. */
mt_status mt_decode(uint8_t **text, int64_t *size, const mt_vocabulary *vocabulary, const int32_t *ids, int64_t count);

/* mt_vocabulary_characters -- the characters of a text; mt_vocabulary_of_files -- of several, whose paths, where they
 * have one, are in messages.
 * Fails (MT_ERR_FORMAT), with the offset: not UTF-8, or an empty text. */
mt_status mt_vocabulary_characters(mt_vocabulary **out, const uint8_t *text, int64_t size);
mt_status mt_vocabulary_of_files(mt_vocabulary **out, const mt_file_map *files, int64_t count);

/* mt_encode_characters -- text to the ids of its characters.
 *   ids  [size] i32 room; *count: how many there are
 * Fails (MT_ERR_FORMAT) on a character that the vocabulary lacks, with its offset. */
mt_status mt_encode_characters(int32_t *ids, int64_t *count, const mt_vocabulary *vocabulary, const uint8_t *text,
                               int64_t size);

MT_C_END
