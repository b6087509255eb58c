/* corpus.c -- characters of a text as tokens, or tokens from a mapped file; both as two sets of windows. */
#include "train/corpus.h"
#include "autograd/tape.h"
#include "core/scope.h"
#include "models/gpt2.h"
#include "models/sample.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- a text --------------------------------------------------------------------------------------------- */

static mt_status open_text(mt_corpus *c, const char *dir)
{
    const mt_file_map *f = &c->file;
    const uint8_t *zero = f->size > 0 ? memchr(f->bytes, 0, (size_t)f->size) : NULL;
    if (zero)
        return mt_fail(MT_ERR_FORMAT,
                       "%s is not text: byte %" PRId64
                       " is 0. If it holds ids of two bytes without a header, as nanoGPT's "
                       "train.bin does, make a token file of it: tokenize --raw -o FILE.tokens %s",
                       f->path, (int64_t)(zero - f->bytes), f->path);
    if (dir)
        return mt_fail(
            MT_ERR_ARGUMENT,
            "%s is a text, and --vocab goes with token files. Make one: tokenize -v %s -o FILE.tokens %s, then "
            "train with --data FILE.tokens",
            f->path, dir, f->path);
    mt_status status = mt_vocabulary_characters(&c->vocabulary, f->bytes, f->size);
    if (status != MT_OK)
        return mt_fail(status, "%s: %s", f->path, mt_last_error());
    c->ids = mt_realloc(NULL, f->size, sizeof *c->ids);
    c->tokens = (mt_tokens){ .data = (const uint8_t *)c->ids, .size = sizeof *c->ids };
    return mt_encode_characters(c->ids, &c->tokens.count, c->vocabulary, f->bytes, f->size);
}

/* ---- a token file ---------------------------------------------------------------------------------------- */

/* llm.c's .bin: 256 numbers of 4 bytes, of which the first three are a magic number, version 1 and the count of ids;
 * then ids of 2 bytes, GPT-2's. */
enum { LLMC_MAGIC = 20240520, LLMC_HEADER = 1024 };

static bool is_llmc(const mt_file_map *f)
{
    return f->size >= LLMC_HEADER && ((const int32_t *)f->bytes)[0] == LLMC_MAGIC;
}

static bool is_tokens(const mt_file_map *f)
{
    return is_llmc(f) || (f->size >= 8 && memcmp(f->bytes, "MTTOKENS", 8) == 0);
}

bool mt_corpus_is_tokens(const char *path)
{
    mt_file_map file;
    if (mt_file_map_open(&file, path) != MT_OK)
        return false;
    bool is = is_tokens(&file);
    mt_file_map_close(&file);
    return is;
}

static mt_status read_llmc(mt_tokens *out, const mt_file_map *f)
{
    const int32_t *header = (const int32_t *)f->bytes;
    if (header[1] != 1 || f->size != LLMC_HEADER + 2 * (int64_t)header[2])
        return mt_fail(MT_ERR_FORMAT,
                       "%s: llm.c's header says version %d and %d tokens, but the file has %" PRId64 " bytes", f->path,
                       header[1], header[2], f->size);
    *out = (mt_tokens){ f->bytes + LLMC_HEADER, header[2], 2 };
    return MT_OK;
}

static int32_t token(const mt_tokens *t, int64_t i)
{
    return t->size == 2 ? ((const uint16_t *)t->data)[i] : ((const int32_t *)t->data)[i];
}

/* All ids are checked before training begins: only the last one may be wrong. */
static mt_status check_ids(const mt_corpus *c)
{
    int64_t limit = c->vocabulary->token.count, header = c->tokens.data - c->file.bytes;
    for (int64_t i = 0; i < c->tokens.count; i++) {
        int32_t id = token(&c->tokens, i);
        if (id < 0 || id >= limit)
            return mt_fail(MT_ERR_FORMAT,
                           "%s: offset %" PRId64 ": token %d, but the vocabulary has %" PRId64
                           ": the file was made with another vocabulary, whose folder --vocab must name",
                           c->file.path, header + i * c->tokens.size, id, limit);
    }
    return MT_OK;
}

/* Whether a token consists of digits, or of English letters, after a blank if it may have one. */
static bool all_of(bool digits, const mt_strings *t, int32_t id, bool blank)
{
    int64_t i = t->start[id] + (blank && t->bytes[t->start[id]] == ' '), end = t->start[id + 1];
    for (; i < end; i++) {
        uint8_t b = t->bytes[i], lower = b | 32;
        if (digits ? b < '0' || b > '9' : lower < 'a' || lower > 'z')
            return false;
    }
    return true;
}

/* Whether two tokens belong to one piece: letters after letters, digits after digits, either after a blank. */
static bool same_piece(const mt_strings *t, int32_t left, int32_t right)
{
    bool digits = t->bytes[t->start[right]] <= '9';
    return all_of(digits, t, right, false) && all_of(digits, t, left, true);
}

/* A token file does not name its vocabulary. But encoding leaves no two tokens of a piece that a merge would join, and
 * ids of another vocabulary do not keep this rule. Tried on the beginning of the file; a few exceptions are allowed,
 * because same_piece is wrong after endings like 's and where two files meet. */
static mt_status check_vocabulary(const mt_corpus *c, const char *dir)
{
    enum { TRIED = 1 << 16, ALLOWED = 1000 }; /* one exception in so many tokens */
    const mt_vocabulary *v = c->vocabulary;
    mt_strings merges = { 0 };
    int64_t tried = mt_min(c->tokens.count, TRIED), joined = 0;
    for (int64_t id = MT_BYTES; id < v->token.count && !v->characters && id != v->end_of_text; id++)
        mt_strings_add(&merges, v->parts[id], sizeof v->parts[id]);
    for (int64_t i = 1; i < tried; i++) {
        int32_t pair[2] = { token(&c->tokens, i - 1), token(&c->tokens, i) };
        joined += same_piece(&v->token, pair[0], pair[1]) && mt_strings_find(&merges, pair, sizeof pair) >= 0;
    }
    mt_strings_free(&merges);
    if (joined * ALLOWED <= tried)
        return MT_OK;
    return mt_fail(
        MT_ERR_FORMAT,
        "%s was not made with the vocabulary in %s: give --vocab the folder with which it was made, or encode "
        "its text again: tokenize -v %s -o FILE.tokens TEXT",
        c->file.path, dir, dir);
}

static mt_status open_tokens(mt_corpus *c, const char *dir)
{
    if (!dir)
        return mt_fail(MT_ERR_ARGUMENT,
                       "%s is a token file: give --vocab the folder of the vocabulary with which it was made",
                       c->file.path);
    MT_TRY(is_llmc(&c->file) ? read_llmc(&c->tokens, &c->file)
                             : mt_tokens_read(&c->tokens, c->file.path, c->file.bytes, c->file.size));
    MT_TRY(mt_vocabulary_open(&c->vocabulary, dir));
    MT_TRY(check_ids(c));
    return check_vocabulary(c, dir);
}

/* ---- either ------------------------------------------------------------------------------------------------ */

static mt_status split(mt_corpus *c, int64_t T)
{
    c->count = c->tokens.count;
    c->train = c->count * 9 / 10;
    if (mt_min(c->train, c->count - c->train) < T + 1)
        return mt_fail(MT_ERR_FORMAT, "%s: %" PRId64 " tokens are too few: a tenth must hold %" PRId64, c->file.path,
                       c->count, T + 1);
    c->first = token(&c->tokens, 0);
    mt_tokens train = c->tokens, valid = c->tokens;
    train.count = c->train;
    valid.count -= c->train;
    valid.data += c->train * valid.size;
    c->train_set = mt_token_windows_new(&train, T, 1);
    c->valid_set = mt_token_windows_new(&valid, T, 1);
    return MT_OK;
}

mt_status mt_corpus_open(mt_corpus *out, const char *path, const char *dir, int64_t T)
{
    mt_corpus c = { 0 };
    MT_TRY(mt_file_map_open(&c.file, path));
    bool mapped = is_tokens(&c.file);
    mt_status status = mapped ? open_tokens(&c, dir) : open_text(&c, dir);
    if (status == MT_OK)
        status = split(&c, T);
    if (!mapped)
        mt_file_map_close(&c.file);
    if (status == MT_OK)
        *out = c;
    else
        mt_corpus_close(&c);
    return status;
}

void mt_corpus_close(mt_corpus *c)
{
    mt_dataset_close(c->train_set);
    mt_dataset_close(c->valid_set);
    mt_vocabulary_free(c->vocabulary);
    mt_file_map_close(&c->file);
    free(c->ids);
    *c = (mt_corpus){ 0 };
}

mt_status mt_corpus_loss(double *loss, mt_module *model, mt_loader *loader)
{
    double total = 0;
    int64_t windows = 0;
    mt_device device = mt_module_device(model);
    mt_batch batch;
    mt_module_set_mode(model, MT_EVAL);
    mt_no_grad_begin();
    while (mt_loader_next(loader, &batch)) {
        mt_scope_begin();
        mt_tensor *mean = mt_gpt2_loss(model, mt_to_device(batch.x, device), mt_to_device(batch.y, device));
        total += mt_item(mean) * (double)mt_dim(batch.x, 0);
        windows += mt_dim(batch.x, 0);
        mt_scope_end();
    }
    mt_no_grad_end();
    mt_module_set_mode(model, MT_TRAIN);
    *loss = total / (double)windows;
    return mt_loader_status(loader);
}

double mt_corpus_bytes(const mt_corpus *c)
{
    const int64_t *start = c->vocabulary->token.start;
    int64_t bytes = 0;
    for (int64_t i = c->train; i < c->count; i++)
        bytes += start[token(&c->tokens, i) + 1] - start[token(&c->tokens, i)];
    return (double)bytes / (double)(c->count - c->train);
}

mt_status mt_corpus_sample(const mt_corpus *c, mt_module *model, int64_t seed, int64_t step)
{
    enum { SAMPLE = 200 };
    mt_rng all = mt_rng_new((uint64_t)seed, MT_STREAM_SAMPLE), rng = mt_rng_substream(&all, (uint64_t)step);
    int32_t ids[SAMPLE + 1] = { c->first };
    uint8_t *text;
    int64_t size;
    mt_module_set_mode(model, MT_EVAL);
    mt_gpt2_extend(ids, 1, SAMPLE, model, &(mt_sampling){ 0.8, 0, 1 }, &rng);
    mt_module_set_mode(model, MT_TRAIN);
    MT_TRY(mt_decode(&text, &size, c->vocabulary, ids, SAMPLE + 1));
    printf("---- sample ----\n%.*s\n----------------\n", (int)size, (const char *)text);
    fflush(stdout);
    free(text);
    return MT_OK;
}

const char *mt_corpus_text(void)
{
    static char path[MT_PATH];
    mt_dataset_path(path, "shakespeare/tinyshakespeare.txt", "standin-text/tinyshakespeare.txt");
    return path;
}
