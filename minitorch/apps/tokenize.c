/* tokenize.c -- text files to a token file (data/tokens.h), with GPT-2's vocabulary, another one, or one learned here.
 *
 *     build/release/bin/tokenize -o shakespeare.tokens datasets/cache/shakespeare/tinyshakespeare.txt
 *
 * Each file is a document; <|endoftext|> follows it if the vocabulary has it. Threads encode parts of about 64 KiB, cut
 * where no token can cross, and write them in order, so the file does not depend on the number of threads. It appears
 * only when it is complete. */
#include <inttypes.h>
#include <omp.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/io.h"
#include "text/tokenizer.h"
#include "text/token_writer.h"
#include "cli/allowed.h"
#include "cli/cli.h"
#include "cli/progress.h"

enum { CHUNK = 64 << 10, MOST_WORKERS = 256 };

typedef struct options {
    const char *out, *vocabulary, *save;
    int64_t train, workers;
    bool characters, special, no_separator, raw, quiet;
    char **files;
    int64_t count;
} options;

static const mt_option flags[] = {
    { "out", 'o', "FILE", MT_TEXT(options, out), "Token file to write" },
    { "vocabulary", 'v', "DIR", MT_TEXT(options, vocabulary), "Folder of vocab.bpe" },
    { "train", 't', "N", MT_I64(options, train, 257, MT_MOST_IDS),
      "Learn a vocabulary of N ids from the files instead" },
    { "chars", 'c', NULL, MT_FLAG(options, characters), "The vocabulary is the files' characters" },
    { "save", 's', "DIR", MT_TEXT(options, save), "Write the vocabulary to this folder" },
    { "special", 'x', NULL, MT_FLAG(options, special), "<|endoftext|> in the text is that token" },
    { "no-separator", 'n', NULL, MT_FLAG(options, no_separator), "No <|endoftext|> after each file" },
    { "raw", 'r', NULL, MT_FLAG(options, raw), "The files are not text but ids of two bytes (nanoGPT's .bin)" },
    { "workers", 'w', "N", MT_I64(options, workers, 1, MOST_WORKERS), "Number of threads" },
    { "quiet", 'q', NULL, MT_FLAG(options, quiet), "No progress line" },
    { 0 },
};

static mt_status check(const options *o)
{
    if (o->count == 0 || (!o->out && !o->save))
        return mt_fail(MT_ERR_ARGUMENT, "name text files, and what to write: --out FILE, --save DIR or both");
    if (o->characters && o->train)
        return mt_fail(MT_ERR_ARGUMENT, "--chars and --train each make a vocabulary: use one of them");
    if (o->raw && (o->characters || o->train || o->save || o->special || !o->out))
        return mt_fail(MT_ERR_ARGUMENT, "--raw takes ids as they are: it goes with --out FILE only");
    return MT_OK;
}

/* ---- ids without a header ---------------------------------------------------------------------------- */

static mt_status put_raw(mt_token_writer *writer, const mt_file_map *file)
{
    enum { BLOCK = 4096 };
    const uint16_t *raw = (const uint16_t *)file->bytes;
    int32_t ids[BLOCK];
    if (file->size % 2)
        return mt_fail(MT_ERR_FORMAT, "%s: %" PRId64 " bytes are not a whole number of ids of two bytes", file->path,
                       file->size);
    for (int64_t done = 0, n; done < file->size / 2; done += n) {
        n = mt_min(BLOCK, file->size / 2 - done);
        for (int64_t i = 0; i < n; i++)
            ids[i] = raw[done + i];
        MT_TRY(mt_token_writer_put(writer, ids, n));
    }
    return MT_OK;
}

static mt_status convert(const options *o, const mt_file_map *files)
{
    mt_token_writer *writer;
    MT_TRY(mt_token_writer_open(&writer, o->out, 2));
    mt_status status = MT_OK;
    for (int64_t i = 0; i < o->count && status == MT_OK; i++)
        status = put_raw(writer, &files[i]);
    if (status == MT_OK)
        return mt_token_writer_close(writer);
    mt_token_writer_abandon(writer);
    return status;
}

/* ---- the vocabulary ---------------------------------------------------------------------------------- */

static mt_status make_vocabulary(mt_vocabulary **out, const options *o, const mt_file_map *files)
{
    MT_TRY(o->characters ? mt_vocabulary_of_files(out, files, o->count)
           : o->train    ? mt_vocabulary_learn(out, files, o->count, o->train, o->quiet)
                         : mt_vocabulary_open(out, o->vocabulary));
    if (!o->save)
        return MT_OK;
    MT_TRY(mt_cli_folder(o->save));
    MT_TRY(mt_vocabulary_save(*out, o->save));
    printf("vocabulary of %" PRId64 " tokens in %s\n", (*out)->token.count, o->save);
    return MT_OK;
}

/* ---- the tokens ---------------------------------------------------------------------------------------- */

/* Part of one file. */
typedef struct chunk {
    const mt_file_map *file;
    int64_t begin, end;
} chunk;

typedef struct run {
    const options *opt;
    const mt_vocabulary *vocabulary;
    mt_tokenizer *tokenizer;
    mt_token_writer *writer;
    chunk *chunks;
    int64_t count; /* of chunks */
    int64_t bytes, tokens;
    mt_progress progress;
    atomic_bool over; /* a chunk failed: the later ones are not needed */
    mt_status status; /* of the first chunk that failed, with its message (mt_last_error belongs to a thread) */
    char words[400];
} run;

static void cut_files(run *r, const mt_file_map *files)
{
    int64_t room = 0;
    for (int64_t i = 0; i < r->opt->count; i++)
        room += files[i].size / CHUNK + 1;
    r->chunks = mt_calloc(room, sizeof *r->chunks);
    for (int64_t i = 0; i < r->opt->count; i++) {
        const mt_file_map *f = &files[i];
        int64_t begin = 0;
        do { /* an empty file is an empty document */
            int64_t end = mt_encode_cut(f->bytes, f->size, mt_min(begin + CHUNK, f->size));
            r->chunks[r->count++] = (chunk){ f, begin, end };
            begin = end;
        } while (begin < f->size);
    }
}

/* One thread's ids of a chunk. */
typedef struct worker {
    mt_encoder *encoder;
    int32_t *ids;
    int64_t room, count;
} worker;

static mt_status encode_chunk(worker *w, const run *r, const chunk *c)
{
    int64_t size = c->end - c->begin;
    if (size + 1 > w->room) {
        free(w->ids);
        w->room = size + 1;
        w->ids = mt_realloc(NULL, w->room, sizeof *w->ids);
    }
    const uint8_t *text = c->file->bytes + c->begin;
    mt_status status = r->opt->special ? mt_encode_special(w->encoder, w->ids, &w->count, text, size)
                                       : mt_encode(w->encoder, w->ids, &w->count, text, size);
    int32_t separator = r->vocabulary->end_of_text;
    if (status == MT_OK && c->end == c->file->size && separator >= 0 && !r->opt->no_separator)
        w->ids[w->count++] = separator;
    return status;
}

/* Write, count and show a chunk; called in the text's order. */
static void take_chunk(run *r, const worker *w, const chunk *c, mt_status status)
{
    if (r->status != MT_OK)
        return;
    if (status == MT_OK)
        status = mt_token_writer_put(r->writer, w->ids, w->count);
    if (status == MT_OK && mt_cli_stopped())
        status = mt_fail(MT_ERR_STOPPED, "stopped");
    if (status != MT_OK) {
        r->over = true;
        r->status = status;
        snprintf(r->words, sizeof r->words, "%s: from byte %" PRId64 " on: %s", c->file->path, c->begin,
                 mt_last_error());
        return;
    }
    r->bytes += c->end - c->begin;
    r->tokens += w->count;
    mt_progress_show(&r->progress, mt_min(r->bytes / 1000, r->progress.total), "%.1f M tokens",
                     (double)r->tokens * 1e-6);
}

static void encode_all(run *r)
{
#pragma omp parallel num_threads((int)r->opt->workers)
    {
        worker w = { .encoder = mt_encoder_new(r->tokenizer) };
#pragma omp for ordered schedule(dynamic, 1)
        for (int64_t i = 0; i < r->count; i++) {
            mt_status status = r->over ? MT_OK : encode_chunk(&w, r, &r->chunks[i]);
#pragma omp ordered
            take_chunk(r, &w, &r->chunks[i], status);
        }
        mt_encoder_free(w.encoder);
        free(w.ids);
    }
}

static mt_status write_tokens(run *r, const mt_file_map *files)
{
    const options *o = r->opt;
    int64_t size = r->vocabulary->token.count <= 65536 ? 2 : 4, total = 0;
    if (o->special && r->vocabulary->end_of_text < 0)
        return mt_fail(MT_ERR_ARGUMENT, "--special: this vocabulary has no " MT_END_OF_TEXT);
    MT_TRY(mt_token_writer_open(&r->writer, o->out, size));
    for (int64_t i = 0; i < o->count; i++)
        total += files[i].size;
    cut_files(r, files);
    r->progress = mt_progress_begin("kB", mt_max(total / 1000, 1));
    if (o->quiet)
        r->progress.mode = MT_PROGRESS_OFF;
    double begin = mt_now();
    encode_all(r);
    mt_progress_clear(&r->progress);
    free(r->chunks);
    if (r->status != MT_OK) {
        mt_token_writer_abandon(r->writer);
        return mt_fail(r->status, "%s", r->words);
    }
    MT_TRY(mt_token_writer_close(r->writer));
    printf("%s: %" PRId64 " tokens of %" PRId64 " bytes each, out of %" PRId64 " bytes in %" PRId64
           " files; %.1f M tokens/s\n",
           o->out, r->tokens, size, total, o->count, (double)r->tokens * 1e-6 / (mt_now() - begin));
    return MT_OK;
}

static mt_status tokenize(const options *o, mt_file_map *files)
{
    mt_vocabulary *vocabulary = NULL;
    mt_status status = MT_OK;
    for (int64_t i = 0; i < o->count && status == MT_OK; i++)
        status = mt_file_map_open(&files[i], o->files[i]);
    if (status == MT_OK && o->raw)
        status = convert(o, files);
    else if (status == MT_OK)
        status = make_vocabulary(&vocabulary, o, files);
    if (status == MT_OK && o->out && !o->raw) {
        run r = { .opt = o, .vocabulary = vocabulary, .tokenizer = mt_tokenizer_new(vocabulary) };
        status = write_tokens(&r, files);
        mt_tokenizer_free(r.tokenizer);
    }
    mt_vocabulary_free(vocabulary);
    for (int64_t i = 0; i < o->count; i++)
        mt_file_map_close(&files[i]);
    return status;
}

int main(int argc, char **argv)
{
    mt_threads_begin(argv);
    char gpt2[MT_PATH];
    mt_dataset_path(gpt2, "gpt2/vocab.bpe", "gpt2/vocab.bpe");
    *strrchr(gpt2, '/') = 0;
    options o = { .vocabulary = gpt2, .workers = mt_min(omp_get_max_threads(), MOST_WORKERS) };
    mt_words words = mt_cli_parse_words(argc, argv, "Text files to a token file.", flags, &o, "FILE...", INT32_MAX);
    o.files = words.item;
    o.count = words.count;
    mt_file_map *files = mt_calloc(o.count + 1, sizeof *files);
    mt_cli_catch_stop();
    mt_status status = check(&o);
    if (status == MT_OK)
        status = tokenize(&o, files);
    free(files);
    return mt_cli_exit(status);
}
