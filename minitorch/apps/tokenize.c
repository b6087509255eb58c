/* tokenize.c -- text files to a token file (data/tokens.h), by GPT-2's vocabulary, another, or one learned here.
 *
 *     build/release/bin/tokenize -o shakespeare.tokens datasets/cache/shakespeare/tinyshakespeare.txt
 *
 * A file is a document; behind each comes <|endoftext|> where the vocabulary has it. Workers take pieces of the text of
 * about 64 KiB, cut where no token can cross; what they make is written in the text's order, so the file is the same
 * whatever their number. It appears when it is complete, or not at all. */
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <omp.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/io.h"
#include "text/tokenizer.h"
#include "data/token_writer.h"
#include "prof/cli.h"
#include "prof/progress.h"

enum { CHUNK = 64 << 10, MOST_WORKERS = 256 };

typedef struct options {
    const char *out, *vocabulary, *save;
    int64_t train, workers;
    bool characters, special, no_separator, quiet;
    char **files;
    int64_t count;
} options;

static const struct argp_option flags[] = {
    { "out", 'o', "FILE", 0, "the token file to write", 0 },
    { "vocabulary", 'v', "DIR", 0, "vocab.bpe and encoder.json (datasets/cache/gpt2)", 0 },
    { "train", 't', "N", 0, "learn a vocabulary of N tokens from the files instead", 0 },
    { "chars", 'c', 0, 0, "the vocabulary is the files' characters", 0 },
    { "save", 's', "DIR", 0, "write the vocabulary there", 0 },
    { "special", 'x', 0, 0, "<|endoftext|> in the text is that token", 0 },
    { "no-separator", 'n', 0, 0, "no <|endoftext|> behind each file", 0 },
    { "workers", 'w', "N", 0, "threads (as many as there are cores)", 0 },
    { "quiet", 'q', 0, 0, "no progress line", 0 },
    { 0 },
};

static error_t parse(int key, char *text, struct argp_state *state)
{
    options *o = state->input;
    mt_status status = MT_OK;
    switch (key) {
    case 'o':
        o->out = text;
        break;
    case 'v':
        o->vocabulary = text;
        break;
    case 't':
        status = mt_cli_i64(&o->train, text, 257, MT_MOST_SYMBOL);
        break;
    case 'c':
        o->characters = true;
        break;
    case 's':
        o->save = text;
        break;
    case 'x':
        o->special = true;
        break;
    case 'n':
        o->no_separator = true;
        break;
    case 'w':
        status = mt_cli_i64(&o->workers, text, 1, MOST_WORKERS);
        break;
    case 'q':
        o->quiet = true;
        break;
    case ARGP_KEY_ARGS:
        o->files = state->argv + state->next;
        o->count = state->argc - state->next;
        break;
    case ARGP_KEY_END:
        if (o->count == 0 || (!o->out && !o->save))
            argp_error(state, "name text files, and what to write: --out FILE, --save DIR or both");
        if (o->characters && o->train)
            argp_error(state, "--chars and --train are two vocabularies");
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    if (status != MT_OK)
        argp_error(state, "-%c: %s", key, mt_last_error());
    return 0;
}

/* ---- the vocabulary ---------------------------------------------------------------------------------- */

static mt_status learn(mt_tokenizer **out, const options *o, const mt_file_map *files)
{
    int64_t size = 0;
    for (int64_t i = 0; i < o->count; i++)
        size += files[i].size;
    uint8_t *all = malloc((size_t)size + 1);
    MT_CHECK(all, "out of memory: learning needs the whole text, %" PRId64 " bytes", size);
    size = 0;
    for (int64_t i = 0; i < o->count; i++) {
        if (files[i].size > 0)
            memcpy(all + size, files[i].bytes, (size_t)files[i].size);
        size += files[i].size;
    }
    mt_status status = MT_OK;
    if (o->characters)
        status = mt_tokenizer_characters(out, all, size);
    else
        *out = mt_tokenizer_train(all, size, o->train);
    free(all);
    return status;
}

static mt_status make_vocabulary(mt_tokenizer **out, const options *o, const mt_file_map *files)
{
    mt_status status = o->characters || o->train ? learn(out, o, files) : mt_tokenizer_open(out, o->vocabulary);
    if (status != MT_OK || !o->save)
        return status;
    status = mt_cli_folder(o->save);
    if (status == MT_OK)
        status = mt_tokenizer_save(*out, o->save);
    if (status == MT_OK)
        printf("vocabulary of %" PRId64 " tokens in %s\n", mt_tokenizer_count(*out), o->save);
    return status;
}

/* ---- the tokens ---------------------------------------------------------------------------------------- */

/* A stretch of one file. */
typedef struct chunk {
    const mt_file_map *file;
    int64_t begin, end;
} chunk;

typedef struct run {
    const options *opt;
    const mt_tokenizer *tokenizer;
    mt_token_writer *writer;
    chunk *chunks;
    int64_t count; /* of chunks */
    int64_t bytes, tokens;
    mt_progress progress;
    atomic_bool over; /* one failed: what comes behind it is of no use */
    mt_status status; /* of the first chunk that failed, and its words: mt_last_error belongs to a thread */
    char words[400];
} run;

static void cut_files(run *r, const mt_file_map *files)
{
    int64_t room = 0;
    for (int64_t i = 0; i < r->opt->count; i++)
        room += files[i].size / CHUNK + 1;
    r->chunks = calloc((size_t)room, sizeof *r->chunks);
    MT_CHECK(r->chunks, "out of memory");
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

static void failed(run *r, const chunk *c, mt_status status)
{
    r->over = true;
    r->status = status;
    snprintf(r->words, sizeof r->words, "%s: from byte %" PRId64 " on: %s", c->file->path, c->begin, mt_last_error());
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
        w->ids = malloc((size_t)w->room * sizeof *w->ids);
        MT_CHECK(w->ids, "out of memory");
    }
    const uint8_t *text = c->file->bytes + c->begin;
    mt_status status = r->opt->special ? mt_encode_special(w->encoder, w->ids, &w->count, text, size)
                                       : mt_encode(w->encoder, w->ids, &w->count, text, size);
    int32_t separator = mt_tokenizer_end_of_text(r->tokenizer);
    if (status == MT_OK && c->end == c->file->size && separator >= 0 && !r->opt->no_separator)
        w->ids[w->count++] = separator;
    return status;
}

/* In the text's order: written, counted, shown. */
static void take_chunk(run *r, const worker *w, const chunk *c, mt_status status)
{
    if (r->status != MT_OK)
        return;
    if (status == MT_OK)
        status = mt_token_writer_put(r->writer, w->ids, w->count);
    if (status == MT_OK && mt_cli_stopped())
        status = mt_fail(MT_ERR_STOPPED, "stopped");
    if (status != MT_OK) {
        failed(r, c, status);
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
    int64_t size = mt_tokenizer_count(r->tokenizer) <= 65536 ? 2 : 4, total = 0;
    if (o->special && mt_tokenizer_end_of_text(r->tokenizer) < 0)
        return mt_fail(MT_ERR_ARGUMENT, "--special: this vocabulary has no " MT_END_OF_TEXT);
    mt_status status = mt_token_writer_open(&r->writer, o->out, size);
    if (status != MT_OK)
        return status;
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
    status = mt_token_writer_close(r->writer);
    if (status == MT_OK)
        printf("%s: %" PRId64 " tokens of %" PRId64 " bytes each, out of %" PRId64 " bytes in %" PRId64
               " files; %.1f M tokens/s\n",
               o->out, r->tokens, size, total, o->count, (double)r->tokens * 1e-6 / (mt_now() - begin));
    return status;
}

static mt_status tokenize(const options *o, mt_file_map *files)
{
    mt_tokenizer *tokenizer = NULL;
    mt_status status = MT_OK;
    for (int64_t i = 0; i < o->count && status == MT_OK; i++)
        status = mt_file_map_open(&files[i], o->files[i]);
    if (status == MT_OK)
        status = make_vocabulary(&tokenizer, o, files);
    if (status == MT_OK && o->out) {
        run r = { .opt = o, .tokenizer = tokenizer };
        status = write_tokens(&r, files);
    }
    mt_tokenizer_free(tokenizer);
    for (int64_t i = 0; i < o->count; i++)
        mt_file_map_close(&files[i]);
    return status;
}

int main(int argc, char **argv)
{
    static const struct argp argp = { flags, parse, "FILE...", "Text files to a token file.", 0, 0, 0 };
    options o = { .vocabulary = "datasets/cache/gpt2", .workers = mt_min(omp_get_max_threads(), MOST_WORKERS) };
    argp_parse(&argp, argc, argv, 0, NULL, &o);
    mt_file_map *files = calloc((size_t)o.count, sizeof *files);
    MT_CHECK(files, "out of memory");
    mt_cli_catch_stop();
    mt_status status = tokenize(&o, files);
    free(files);
    return mt_cli_exit(status);
}
