/* tokenizer_save.c -- a vocabulary as vocab.bpe and encoder.json: GPT-2's come out byte for byte as they were read. */
#include <inttypes.h>
#include <stdlib.h>

#include "core/io.h"
#include "text/unicode.h"
#include "text/vocabulary.h"

static void put_spelled(FILE *out, const mt_vocabulary *v, int32_t symbol)
{
    for (int64_t i = v->start[symbol]; i < v->start[symbol + 1]; i++) {
        uint8_t text[4];
        fwrite(text, 1, (size_t)mt_utf8_put(text, mt_byte_char(v->bytes[i])), out);
    }
}

static void put_merges(FILE *out, const mt_tokenizer *t)
{
    const mt_vocabulary *v = mt_tokenizer_symbols(t);
    fputs(v->characters ? MT_CHARACTERS_LINE : MT_MERGES_LINE, out);
    for (int32_t s = MT_BYTES; s < v->symbols && !v->characters; s++) {
        put_spelled(out, v, v->parts[s][0]);
        fputc(' ', out);
        put_spelled(out, v, v->parts[s][1]);
        fputc('\n', out);
    }
}

/* As Python's json.dumps writes a string. */
static void put_string(FILE *out, const uint8_t *bytes, int64_t size)
{
    fputc('"', out);
    for (int64_t i = 0; i < size; i++) {
        uint32_t code = mt_byte_char(bytes[i]);
        if (code >= 127)
            fprintf(out, "\\u%04x", code);
        else
            fprintf(out, code == '"' || code == '\\' ? "\\%c" : "%c", (int)code);
    }
    fputc('"', out);
}

static void put_ids(FILE *out, const mt_tokenizer *t)
{
    const mt_spelling *s = mt_tokenizer_spelling(t);
    for (int64_t i = 0; i < s->count; i++) {
        fputs(i ? ", " : "{", out);
        put_string(out, s->bytes + s->start[i], s->start[i + 1] - s->start[i]);
        fprintf(out, ": %" PRId64, i);
    }
    fputs("}", out);
}

static mt_status save(const char *dir, const char *name, void (*put)(FILE *, const mt_tokenizer *),
                      const mt_tokenizer *t)
{
    char path[4096];
    mt_file_writer file;
    if (snprintf(path, sizeof path, "%s/%s", dir, name) >= (int)sizeof path)
        return mt_fail(MT_ERR_ARGUMENT, "%.200s...: the path is too long", dir);
    mt_status status = mt_file_writer_open(&file, path);
    if (status != MT_OK)
        return status;
    put(file.out, t);
    return mt_file_writer_close(&file);
}

mt_status mt_tokenizer_save(const mt_tokenizer *t, const char *dir)
{
    mt_status status = save(dir, "encoder.json", put_ids, t);
    return status == MT_OK ? save(dir, "vocab.bpe", put_merges, t) : status;
}
