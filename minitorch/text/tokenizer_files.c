/* tokenizer_files.c -- GPT-2's two files of a vocabulary, read without trust and written whole.
 *
 *   vocab.bpe      "#version: 0.2", then a merge a line, the lowest first: "Ġ t"
 *   encoder.json   an object: every token's id. {"!": 0, "\"": 1, ..., "Ġt": 256, ..., "<|endoftext|>": 50256}
 *
 * Both spell a byte as mt_byte_char's character. A vocabulary of characters has a first line of its own in vocab.bpe and no
 * merges; what its tokens need is made while encoder.json is read. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/io.h"
#include "text/unicode.h"
#include "text/vocabulary.h"

enum { LONGEST = 64 << 10 }; /* bytes of a token as the files spell it */

/* ---- a file being read ------------------------------------------------------------------------------ */

typedef struct reader {
    mt_file_map file;
    const uint8_t *text;
    int64_t size, at, line;
    int16_t byte_of[512]; /* the byte that a character stands for, or -1 */
    uint8_t token[LONGEST];
    int64_t token_size;
} reader;

static mt_status reader_open(reader *r, const char *dir, const char *name)
{
    char path[4096];
    if (snprintf(path, sizeof path, "%s/%s", dir, name) >= (int)sizeof path)
        return mt_fail(MT_ERR_ARGUMENT, "%.200s...: the path is too long", dir);
    mt_status status = mt_file_map_open(&r->file, path);
    if (status != MT_OK)
        return status;
    r->text = r->file.bytes;
    r->size = r->file.size;
    r->at = 0;
    r->line = 1;
    memset(r->byte_of, -1, sizeof r->byte_of);
    for (int16_t b = 0; b < MT_BYTES; b++)
        r->byte_of[mt_byte_char(b) & 511] = b;
    return MT_OK;
}

MT_PRINTF(2, 3) static mt_status refuse(const reader *r, const char *fmt, ...)
{
    char words[200];
    va_list args;
    va_start(args, fmt);
    vsnprintf(words, sizeof words, fmt, args);
    va_end(args);
    return mt_fail(MT_ERR_FORMAT, "%s: line %" PRId64 ", offset %" PRId64 ": %s", r->file.path, r->line, r->at, words);
}

static mt_status put_char(reader *r, int32_t code)
{
    if (code < 0 || code > 511 || r->byte_of[code] < 0)
        return refuse(r, "a character that stands for no byte");
    if (r->token_size == LONGEST)
        return refuse(r, "a token of more than %d bytes", LONGEST);
    r->token[r->token_size++] = (uint8_t)r->byte_of[code];
    return MT_OK;
}

/* ---- vocab.bpe --------------------------------------------------------------------------------------- */

/* A part of a merge, up to `end`, as a symbol. */
static mt_status read_part(reader *r, int32_t *symbol, char end, const mt_vocabulary *v)
{
    int64_t length;
    r->token_size = 0;
    for (; r->at < r->size && r->text[r->at] != (uint8_t)end; r->at += length) {
        mt_status status = put_char(r, mt_utf8_next(r->text + r->at, r->size - r->at, &length));
        if (status != MT_OK)
            return status;
    }
    if (r->at == r->size)
        return refuse(r, "the file ends in the middle of a merge");
    *symbol = mt_vocabulary_find(v, r->token, r->token_size);
    if (*symbol == MT_NO_SYMBOL)
        return refuse(r, "merges what no line before it makes");
    r->at++;
    return MT_OK;
}

static mt_status read_merges(reader *r, mt_vocabulary *v)
{
    while (r->at < r->size) {
        int32_t left, right;
        r->line++;
        mt_status status = read_part(r, &left, ' ', v);
        if (status == MT_OK)
            status = read_part(r, &right, '\n', v);
        if (status == MT_OK && mt_vocabulary_merge(v, left, right) == MT_NO_SYMBOL)
            status = refuse(r, "makes what an earlier line makes already, or too long a token, or too many");
        if (status != MT_OK)
            return status;
    }
    return MT_OK;
}

static bool skip_line(reader *r, const char *line)
{
    int64_t length = (int64_t)strlen(line);
    if (r->size < length || memcmp(r->text, line, (size_t)length) != 0)
        return false;
    r->at = length;
    return true;
}

static mt_status read_bpe(reader *r, mt_vocabulary *v)
{
    v->characters = skip_line(r, MT_CHARACTERS_LINE);
    if (v->characters)
        return r->at == r->size ? MT_OK : refuse(r, "characters have no merges");
    if (!skip_line(r, MT_MERGES_LINE))
        return refuse(r, "the first line is not '#version: 0.2'");
    return read_merges(r, v);
}

/* ---- encoder.json ------------------------------------------------------------------------------------ */

static int32_t peek(reader *r)
{
    while (r->at < r->size && strchr(" \t\r\n", r->text[r->at]) && r->text[r->at])
        r->line += r->text[r->at++] == '\n';
    return r->at < r->size ? r->text[r->at] : -1;
}

static mt_status expect(reader *r, char c)
{
    if (peek(r) != c)
        return refuse(r, r->at < r->size ? "'%c' is expected" : "the file ends where '%c' is expected", c);
    r->at++;
    return MT_OK;
}

/* What follows a backslash; -1 for what JSON does not know. */
static int32_t escaped(reader *r)
{
    static const char name[] = "\"\\/bfnrt", value[] = "\"\\/\b\f\n\r\t";
    int32_t c = r->at < r->size ? r->text[r->at++] : -1, code = 0;
    const char *known = c > 0 ? strchr(name, c) : NULL;
    if (known)
        return value[known - name];
    for (int i = 0; c == 'u' && i < 4; i++) {
        int32_t digit = r->at < r->size ? r->text[r->at++] : 0;
        int32_t lower = digit | 0x20;
        if (!(digit >= '0' && digit <= '9') && !(lower >= 'a' && lower <= 'f'))
            return -1;
        code = code << 4 | (digit <= '9' ? digit - '0' : lower - 'a' + 10);
    }
    return c == 'u' ? code : -1;
}

/* A string into r->token. */
static mt_status read_token(reader *r)
{
    int64_t length;
    mt_status status = expect(r, '"');
    r->token_size = 0;
    while (status == MT_OK && r->at < r->size && r->text[r->at] != '"') {
        int32_t code = mt_utf8_next(r->text + r->at, r->size - r->at, &length);
        r->at += length;
        status = put_char(r, code == '\\' ? escaped(r) : code);
    }
    return status == MT_OK ? expect(r, '"') : status;
}

static mt_status read_number(reader *r, int32_t *value)
{
    int64_t n = 0, digits = 0;
    peek(r);
    for (; r->at < r->size && r->text[r->at] >= '0' && r->text[r->at] <= '9' && n < MT_MOST_SYMBOL; r->at++, digits++)
        n = 10 * n + r->text[r->at] - '0';
    if (digits == 0 || n >= MT_MOST_SYMBOL)
        return refuse(r, "an id is a whole number from 0 to %d", MT_MOST_SYMBOL - 1);
    *value = (int32_t)n;
    return MT_OK;
}

typedef struct id_list {
    int32_t *id; /* [room] of each symbol, -1: none yet */
    int64_t room, count;
    int32_t end_of_text;
} id_list;

static int32_t *id_of(id_list *list, int32_t symbol)
{
    if (symbol >= list->room) {
        int64_t room = 2 * (int64_t)symbol + 2 * MT_BYTES;
        list->id = realloc(list->id, (size_t)room * sizeof *list->id);
        MT_CHECK(list->id, "out of memory");
        while (list->room < room)
            list->id[list->room++] = -1;
    }
    return &list->id[symbol];
}

/* "token": id */
static mt_status read_id(reader *r, id_list *list, mt_vocabulary *v)
{
    int32_t value = -1, *id;
    mt_status status = read_token(r);
    if (status != MT_OK)
        return status;
    int32_t symbol = v->characters ? mt_vocabulary_character(v, r->token, r->token_size)
                                   : mt_vocabulary_find(v, r->token, r->token_size);
    bool special =
        r->token_size == sizeof MT_END_OF_TEXT - 1 && memcmp(r->token, MT_END_OF_TEXT, sizeof MT_END_OF_TEXT - 1) == 0;
    if (symbol == MT_NO_SYMBOL && !special)
        return refuse(r, v->characters ? "a token that is not one character" : "a token that no merge makes");
    id = symbol == MT_NO_SYMBOL ? &list->end_of_text : id_of(list, symbol);
    if (*id >= 0)
        return refuse(r, "a token that was there before");
    status = expect(r, ':');
    if (status == MT_OK)
        status = read_number(r, &value);
    if (status == MT_OK)
        *id = value;
    list->count++;
    return status;
}

static mt_status read_ids(reader *r, id_list *list, mt_vocabulary *v)
{
    mt_status status = expect(r, '{');
    for (bool more = peek(r) != '}'; status == MT_OK && more;) {
        status = read_id(r, list, v);
        more = peek(r) == ',';
        r->at += more;
    }
    if (status == MT_OK)
        status = expect(r, '}');
    return status == MT_OK && peek(r) >= 0 ? refuse(r, "more behind the end of the object") : status;
}

/* Ids must be 0 .. count - 1, each once; and of a vocabulary of merges no symbol may lack one. */
static mt_status check_ids(const reader *r, id_list *list, const mt_vocabulary *v)
{
    uint8_t *taken = calloc((size_t)list->count + 1, 1);
    mt_status status = MT_OK;
    MT_CHECK(taken, "out of memory");
    for (int64_t s = 0; s <= v->symbols && status == MT_OK; s++) {
        int32_t id = s < v->symbols ? *id_of(list, (int32_t)s) : list->end_of_text;
        if (id >= list->count)
            status =
                mt_fail(MT_ERR_FORMAT, "%s: id %d, but there are %" PRId64 " tokens", r->file.path, id, list->count);
        else if (id >= 0 && taken[id]++)
            status = mt_fail(MT_ERR_FORMAT, "%s: id %d belongs to two tokens", r->file.path, id);
        else if (id < 0 && s < v->symbols && !v->characters)
            status = mt_fail(MT_ERR_FORMAT, "%s: no id for the token of %s %" PRId64, r->file.path,
                             s < MT_BYTES ? "byte" : "merge", s < MT_BYTES ? s : s - MT_BYTES + 1);
    }
    free(taken);
    return status;
}

mt_status mt_tokenizer_open(mt_tokenizer **out, const char *dir)
{
    reader *r = calloc(1, sizeof *r);
    mt_vocabulary *v = mt_vocabulary_new();
    id_list list = { .end_of_text = -1 };
    MT_CHECK(r, "out of memory");
    mt_status status = reader_open(r, dir, "vocab.bpe");
    if (status == MT_OK)
        status = read_bpe(r, v);
    mt_file_map_close(&r->file);
    if (status == MT_OK)
        status = reader_open(r, dir, "encoder.json");
    if (status == MT_OK)
        status = read_ids(r, &list, v);
    if (status == MT_OK)
        status = check_ids(r, &list, v);
    if (status == MT_OK)
        *out = mt_tokenizer_new(v, list.id, list.count, list.end_of_text);
    else
        mt_vocabulary_free(v);
    mt_file_map_close(&r->file);
    free(list.id);
    free(r);
    return status;
}
