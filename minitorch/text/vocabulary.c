/* vocabulary.c -- tokens with their ids; vocab.bpe read without trusting it; decoding; vocabularies whose tokens are
 * characters. */
#include "text/vocabulary.h"
#include "text/utf8.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MERGES_LINE     "#version: 0.2\n"
#define CHARACTERS_LINE "#characters\n"

enum { LONGEST = 64 << 10, CHARS = 512 }; /* bytes of a token; mt_byte_char is below CHARS */

/* ---- tokens --------------------------------------------------------------------------------------- */

/* byte_of[c]: the byte that character c stands for, or -1. */
static void invert_byte_char(int16_t byte_of[CHARS])
{
    memset(byte_of, -1, CHARS * sizeof *byte_of);
    for (int16_t b = 0; b < MT_BYTES; b++)
        byte_of[mt_byte_char(b) % CHARS] = b;
}

mt_vocabulary *mt_vocabulary_new(void)
{
    int16_t byte_of[CHARS];
    mt_vocabulary *v = mt_calloc(1, sizeof *v);
    v->end_of_text = -1;
    invert_byte_char(byte_of);
    for (int c = 0; c < CHARS; c++)
        if (byte_of[c] >= 0)
            mt_strings_add(&v->token, &(uint8_t){ (uint8_t)byte_of[c] }, 1);
    MT_CHECK(v->token.count == MT_BYTES, "mt_byte_char gives two bytes the same character");
    return v;
}

void mt_vocabulary_free(mt_vocabulary *v)
{
    if (!v)
        return;
    mt_strings_free(&v->token);
    free(v->parts);
    free(v);
}

int32_t mt_vocabulary_merge(mt_vocabulary *v, int32_t left, int32_t right)
{
    uint8_t both[LONGEST];
    const mt_strings *t = &v->token;
    int64_t first = t->start[left + 1] - t->start[left], second = t->start[right + 1] - t->start[right];
    if (first + second > LONGEST || t->count == MT_MOST_IDS)
        return -1;
    memcpy(both, t->bytes + t->start[left], (size_t)first);
    memcpy(both + first, t->bytes + t->start[right], (size_t)second);
    if (mt_strings_find(t, both, first + second) >= 0)
        return -1;
    int64_t id = mt_strings_add(&v->token, both, first + second);
    v->parts = mt_grown(v->parts, &v->parts_room, id + 1, sizeof *v->parts);
    v->parts[id][0] = left;
    v->parts[id][1] = right;
    return (int32_t)id;
}

void mt_vocabulary_add_end(mt_vocabulary *v)
{
    v->end_of_text = (int32_t)mt_strings_append(&v->token, MT_END_OF_TEXT, sizeof MT_END_OF_TEXT - 1);
}

mt_status mt_decode(uint8_t **text, int64_t *size, const mt_vocabulary *v, const int32_t *ids, int64_t count)
{
    const mt_strings *t = &v->token;
    int64_t total = 0;
    for (int64_t i = 0; i < count; i++) {
        if (ids[i] < 0 || ids[i] >= t->count)
            return mt_fail(MT_ERR_FORMAT, "token %" PRId64 " is %d, the vocabulary has %" PRId64, i, ids[i], t->count);
        total += t->start[ids[i] + 1] - t->start[ids[i]];
    }
    *text = mt_calloc(total + 1, 1);
    *size = mt_bpe_decode(*text, ids, count, t);
    return MT_OK;
}

/* ---- vocab.bpe ------------------------------------------------------------------------------------ */

typedef struct reader {
    mt_file_map file;
    int64_t at, line;
    int16_t byte_of[CHARS];
    uint8_t token[LONGEST];
    int64_t size; /* of the token */
} reader;

static mt_status refuse(const reader *r, const char *reason)
{
    return mt_fail(MT_ERR_FORMAT, "%s: line %" PRId64 ", offset %" PRId64 ": %s", r->file.path, r->line, r->at, reason);
}

/* Whether the file begins with these characters and a line that ends; if so, continues after it. An editor may have put
 * a byte-order mark before it. */
static bool skip(reader *r, const char *begin)
{
    static const char mark[] = "\xEF\xBB\xBF";
    int64_t length = (int64_t)strlen(begin), size = r->file.size, at = 0;
    at = size >= 3 && memcmp(r->file.bytes, mark, 3) == 0 ? 3 : 0;
    const uint8_t *from = r->file.bytes + at;
    const uint8_t *end = size - at >= length && memcmp(from, begin, (size_t)length) == 0
                             ? memchr(from, '\n', (size_t)(size - at))
                             : NULL;
    r->at = end ? end + 1 - r->file.bytes : 0;
    return end;
}

/* Whether a line ends here, by "\n" or "\r\n": bytes of tokens are written as visible characters. */
static bool at_end(reader *r, char end)
{
    const uint8_t *text = r->file.bytes;
    if (end == '\n' && text[r->at] == '\r' && r->at + 1 < r->file.size && text[r->at + 1] == '\n')
        r->at++;
    return text[r->at] == (uint8_t)end;
}

/* The bytes of a token, up to but not including the character `end`. */
static mt_status read_token(reader *r, char end)
{
    const uint8_t *text = r->file.bytes;
    int64_t length;
    for (r->size = 0; r->at < r->file.size && !at_end(r, end); r->at += length) {
        int32_t code = mt_utf8_next(text + r->at, r->file.size - r->at, &length);
        if (code < 0 || code >= CHARS || r->byte_of[code] < 0)
            return refuse(r, "a character that stands for no byte");
        if (r->size == LONGEST)
            return refuse(r, "too long a token");
        r->token[r->size++] = (uint8_t)r->byte_of[code];
    }
    return r->at == r->file.size ? refuse(r, "the file ends in the middle of a line") : MT_OK;
}

static mt_status read_merge(reader *r, mt_vocabulary *v)
{
    int32_t part[2];
    for (int i = 0; i < 2; i++, r->at++) {
        MT_TRY(read_token(r, i == 0 ? ' ' : '\n'));
        part[i] = (int32_t)mt_strings_find(&v->token, r->token, r->size);
        if (part[i] < 0)
            return refuse(r, "merges what no line before it makes");
    }
    if (mt_vocabulary_merge(v, part[0], part[1]) < 0)
        return refuse(r, "makes what an earlier line makes already, or too long a token, or too many");
    return MT_OK;
}

static mt_status read_character(reader *r, mt_vocabulary *v)
{
    int64_t length, id = v->token.count;
    MT_TRY(read_token(r, '\n'));
    if (r->size == 0 || mt_utf8_next(r->token, r->size, &length) < 0 || length != r->size)
        return refuse(r, "not one character");
    if (mt_strings_add(&v->token, r->token, r->size) < id)
        return refuse(r, "a character that an earlier line has");
    r->at++;
    return MT_OK;
}

static mt_status read_all(reader *r, mt_vocabulary *v)
{
    mt_status status = MT_OK;
    MT_TRY(mt_file_no_page(&r->file));
    v->characters = skip(r, "#characters");
    if (!v->characters && !skip(r, "#version:"))
        return refuse(r, "the first line does not begin with '#version:' or '#characters'");
    if (v->characters)
        mt_strings_free(&v->token); /* no bytes */
    while (status == MT_OK && r->at < r->file.size) {
        if (v->token.count > MT_BYTES && !v->characters && r->file.size - r->at <= 2 && at_end(r, '\n'))
            break; /* an empty line at the end */
        r->line++;
        status = v->characters ? read_character(r, v) : read_merge(r, v);
    }
    if (status == MT_OK && v->token.count == 0)
        status = refuse(r, "no characters (older versions wrote them to encoder.json): make this vocabulary again");
    if (status == MT_OK && !v->characters)
        mt_vocabulary_add_end(v);
    return status;
}

mt_status mt_vocabulary_open(mt_vocabulary **out, const char *dir)
{
    char path[4096];
    reader r = { .line = 1 };
    snprintf(path, sizeof path, "%s/vocab.bpe", dir);
    if (access(path, F_OK) != 0) {
        snprintf(path, sizeof path, "%s/merges.txt", dir);
        if (access(path, F_OK) != 0)
            snprintf(path, sizeof path, "%s/vocab.bpe", dir); /* the name for the message */
    }
    mt_status there = mt_file_map_open(&r.file, path);
    if (there != MT_OK)
        return mt_fail(there,
                       "%s: `datasets/fetch gpt2` fetches GPT-2's vocabulary, `tokenize --train 1000 --save DIR TEXT` "
                       "learns one of a text",
                       mt_last_error());
    mt_vocabulary *v = mt_vocabulary_new();
    invert_byte_char(r.byte_of);
    mt_status status = read_all(&r, v);
    mt_file_map_close(&r.file);
    if (status == MT_OK)
        *out = v;
    else
        mt_vocabulary_free(v);
    return status;
}

static void put_token(FILE *out, const mt_strings *token, int64_t id, char end)
{
    for (int64_t i = token->start[id]; i < token->start[id + 1]; i++) {
        int code = (int)mt_byte_char(token->bytes[i]); /* one or two bytes of UTF-8 */
        if (end == '"' && (code == '"' || code == '\\'))
            fputc('\\', out);
        if (code >= 0x80)
            fputc(0xc0 | code >> 6, out);
        fputc(code >= 0x80 ? 0x80 | (code & 0x3f) : code, out);
    }
    fputc(end, out);
}

static mt_status save_as(const mt_vocabulary *v, const char *dir, const char *name)
{
    char path[4096];
    mt_file_writer file;
    snprintf(path, sizeof path, "%s/%s", dir, name);
    MT_TRY(mt_file_writer_open(&file, path));
    fputs(v->characters ? CHARACTERS_LINE : MERGES_LINE, file.out);
    for (int64_t id = v->characters ? 0 : MT_BYTES; id < v->token.count && id != v->end_of_text; id++) {
        if (!v->characters)
            put_token(file.out, &v->token, v->parts[id][0], ' ');
        put_token(file.out, &v->token, v->characters ? id : v->parts[id][1], '\n');
    }
    return mt_file_writer_close(&file);
}

mt_status mt_vocabulary_save(const mt_vocabulary *v, const char *dir)
{
    return save_as(v, dir, "vocab.bpe");
}

mt_status mt_vocabulary_publish(const mt_vocabulary *v, const char *dir)
{
    char path[4096];
    mt_file_writer file;
    if (v->characters)
        return mt_vocabulary_save(v, dir);
    MT_TRY(save_as(v, dir, "merges.txt"));
    snprintf(path, sizeof path, "%s/vocab.json", dir);
    MT_TRY(mt_file_writer_open(&file, path));
    for (int64_t id = 0; id < v->token.count; id++) {
        fputs(id ? ", \"" : "{\"", file.out);
        put_token(file.out, &v->token, id, '"');
        fprintf(file.out, ": %" PRId64, id);
    }
    fputs("}\n", file.out);
    return mt_file_writer_close(&file);
}

/* ---- characters ------------------------------------------------------------------------------------------ */

/* Notes where each character of a text first occurs. */
static mt_status note_characters(const uint8_t **first, const mt_file_map *file)
{
    int64_t length;
    for (int64_t at = 0; at < file->size; at += length) {
        int32_t code = mt_utf8_next(file->bytes + at, file->size - at, &length);
        if (code < 0)
            return mt_fail(MT_ERR_FORMAT,
                           "%s%soffset %" PRId64 ": byte %02x is not UTF-8, which a text of characters must be",
                           file->path ? file->path : "", file->path ? ": " : "", at, file->bytes[at]);
        if (!first[code])
            first[code] = file->bytes + at;
    }
    return MT_OK;
}

mt_status mt_vocabulary_of_files(mt_vocabulary **out, const mt_file_map *files, int64_t count)
{
    enum { CODES = 0x110000, LONGEST_CHARACTER = 4 };
    const uint8_t **first = mt_calloc(CODES, sizeof *first);
    mt_status status = MT_OK;
    for (int64_t i = 0; i < count && status == MT_OK; i++)
        status = note_characters(first, &files[i]);
    mt_vocabulary *v = mt_calloc(1, sizeof *v);
    *v = (mt_vocabulary){ .end_of_text = -1, .characters = true };
    for (int64_t code = 0, length; code < CODES && status == MT_OK; code++)
        if (first[code]) {
            mt_utf8_next(first[code], LONGEST_CHARACTER, &length); /* it was valid, so it reads what is there */
            mt_strings_add(&v->token, first[code], length);
        }
    free(first);
    if (status == MT_OK && v->token.count == 0)
        status = mt_fail(MT_ERR_FORMAT, "an empty text has no characters");
    if (status == MT_OK)
        *out = v;
    else
        mt_vocabulary_free(v);
    return status;
}

mt_status mt_vocabulary_characters(mt_vocabulary **out, const uint8_t *text, int64_t size)
{
    return mt_vocabulary_of_files(out, &(mt_file_map){ .bytes = text, .size = size }, 1);
}

mt_status mt_encode_characters(int32_t *ids, int64_t *count, const mt_vocabulary *v, const uint8_t *text, int64_t size)
{
    int64_t n = 0, length;
    for (int64_t at = 0; at < size; at += length) {
        mt_utf8_next(text + at, size - at, &length);
        ids[n] = (int32_t)mt_strings_find(&v->token, text + at, length);
        if (ids[n++] < 0)
            return mt_fail(MT_ERR_FORMAT,
                           "offset %" PRId64 ": the vocabulary lacks a character, which begins with byte %02x", at,
                           text[at]);
    }
    *count = n;
    return MT_OK;
}
