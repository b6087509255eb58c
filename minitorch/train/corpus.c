/* corpus.c -- characters of texts as tokens, or tokens from mapped files; both as two sets of windows. */
#include "train/corpus.h"
#include "autograd/tape.h"
#include "core/scope.h"
#include "models/gpt2.h"
#include "models/sample.h"
#include "cli/cli.h"
#include "train/mixture.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- texts ------------------------------------------------------------------------------------------------ */

static mt_status check_text(const mt_file_map *f, const char *dir)
{
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
    return MT_OK;
}

/* The tokens are the characters of all texts. */
static mt_status open_texts(mt_corpus *c, const char *dir)
{
    mt_file_map *files = mt_calloc(c->parts, sizeof *files);
    mt_status status = MT_OK;
    for (int64_t i = 0; i < c->parts && status == MT_OK; i++) {
        files[i] = c->part[i].file;
        status = check_text(&files[i], dir);
        if (status == MT_OK && files[i].size == 0)
            status = mt_fail(MT_ERR_FORMAT, "%s: an empty text has no characters", files[i].path);
    }
    if (status == MT_OK)
        status = mt_vocabulary_of_files(&c->vocabulary, files, c->parts);
    for (mt_corpus_part *p = c->part; p < c->part + c->parts && status == MT_OK; p++) {
        p->ids = mt_realloc(NULL, p->file.size, sizeof *p->ids);
        p->tokens = (mt_tokens){ .data = (const uint8_t *)p->ids, .size = sizeof *p->ids };
        status = mt_encode_characters(p->ids, &p->tokens.count, c->vocabulary, p->file.bytes, p->file.size);
    }
    free(files);
    return status;
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
static mt_status check_ids(const mt_corpus_part *c, const mt_vocabulary *v)
{
    int64_t limit = v->token.count, header = c->tokens.data - c->file.bytes;
    for (int64_t i = 0; i < c->tokens.count; i++) {
        int32_t id = token(&c->tokens, i);
        if (id < 0 || id >= limit)
            return mt_fail(MT_ERR_FORMAT,
                           "%s: offset %" PRId64 ": token %d, but the vocabulary has %" PRId64
                           ": the file was made with another vocabulary, whose folder --vocab must name",
                           c->path, header + i * c->tokens.size, id, limit);
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
static mt_status check_vocabulary(const mt_corpus_part *c, const mt_vocabulary *v, const char *dir)
{
    enum { TRIED = 1 << 16, ALLOWED = 1000 }; /* one exception in so many tokens */
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
        c->path, dir, dir);
}

static mt_status open_tokens(mt_corpus *c, const char *dir)
{
    if (!dir)
        return mt_fail(MT_ERR_ARGUMENT,
                       "%s is a token file: give --vocab the folder of the vocabulary with which it was made",
                       c->part->path);
    MT_TRY(mt_vocabulary_open(&c->vocabulary, dir));
    for (mt_corpus_part *p = c->part; p < c->part + c->parts; p++) {
        MT_TRY(is_llmc(&p->file) ? read_llmc(&p->tokens, &p->file)
                                 : mt_tokens_read(&p->tokens, p->path, p->file.bytes, p->file.size));
        MT_TRY(check_ids(p, c->vocabulary));
        MT_TRY(check_vocabulary(p, c->vocabulary, dir));
    }
    return MT_OK;
}

/* ---- all of them -------------------------------------------------------------------------------------------- */

static mt_corpus_part *add_part(mt_corpus *c, const char *path, int64_t length)
{
    c->part = mt_realloc(c->part, c->parts + 1, sizeof *c->part);
    mt_corpus_part *p = &c->part[c->parts++];
    *p = (mt_corpus_part){ .path = strndup(path, (size_t)length) };
    MT_CHECK(p->path, "out of memory");
    return p;
}

/* The files of a list. A file whose name is the whole list is meant as such. */
static mt_status list_files(mt_corpus *c, const char *data)
{
    bool one = access(data, F_OK) == 0;
    for (const char *at = data, *end; at; at = *end ? end + 1 : NULL) {
        end = one ? at + strlen(at) : strchrnul(at, ',');
        mt_corpus_part *p = add_part(c, at, end - at);
        char *weight = one ? NULL : strrchr(p->path, '=');
        if (!weight)
            continue;
        *weight = 0;
        if (mt_cli_f64(&p->weight, weight + 1, 1e-9, 1e9) != MT_OK)
            return mt_fail(MT_ERR_ARGUMENT, "%s: the weight behind '=': %s", p->path, mt_last_error());
    }
    return MT_OK;
}

bool mt_corpus_is_tokens(const char *data)
{
    mt_corpus c = { 0 };
    bool is = list_files(&c, data) == MT_OK && mt_file_map_open(&c.part->file, c.part->path) == MT_OK &&
              is_tokens(&c.part->file);
    mt_corpus_close(&c);
    return is;
}

static mt_status open_files(mt_corpus *c, const char *dir)
{
    for (mt_corpus_part *p = c->part; p < c->part + c->parts; p++) {
        mt_status status = mt_file_map_open(&p->file, p->path);
        if (status != MT_OK)
            return strcmp(p->path, mt_corpus_text()) != 0
                       ? status
                       : mt_fail(status, "%s; run datasets/fetch shakespeare", mt_last_error());
        if (is_tokens(&p->file) != is_tokens(&c->part->file))
            return mt_fail(MT_ERR_ARGUMENT, "%s is a %s, but %s is a %s: make token files of both (tokenize)",
                           c->part->path, is_tokens(&c->part->file) ? "token file" : "text", p->path,
                           is_tokens(&p->file) ? "token file" : "text");
    }
    return is_tokens(&c->part->file) ? open_tokens(c, dir) : open_texts(c, dir);
}

/* The tokens from `begin` to `end` of a file as one of `count` sets; none, if there are none. */
static mt_status add_windows(mt_dataset **sets, int64_t *count, const mt_corpus_part *p, int64_t begin, int64_t end,
                             int64_t T)
{
    mt_tokens part = { p->tokens.data + begin * p->tokens.size, end - begin, p->tokens.size };
    if (begin == end)
        return MT_OK;
    if (part.count < T + 1)
        return mt_fail(MT_ERR_FORMAT, "%s: %" PRId64 " tokens are too few: a %s must hold %" PRId64, p->path,
                       p->tokens.count, part.count < p->tokens.count ? "tenth" : "file", T + 1);
    sets[(*count)++] = mt_token_windows_new(&part, T, 1);
    return MT_OK;
}

static mt_status split(mt_corpus *c, int64_t T)
{
    mt_dataset *train[c->parts], *valid[c->parts];
    double weight[c->parts];
    int64_t trains = 0, valids = 0, learned = c->parts - c->own_valid;
    bool weighted = false;
    mt_status status = MT_OK;
    for (mt_corpus_part *p = c->part; p < c->part + c->parts && status == MT_OK; p++) {
        int64_t count = p->tokens.count;
        p->train = !c->own_valid ? count * 9 / 10 : p < c->part + learned ? count : 0;
        c->count += count, c->train += p->train;
        weight[p - c->part] = p->weight > 0 ? p->weight : 1;
        weighted |= p->weight > 0;
        status = count == 0 ? mt_fail(MT_ERR_FORMAT, "%s: there are no tokens in it", p->path)
                            : add_windows(train, &trains, p, 0, p->train, T);
        if (status == MT_OK)
            status = add_windows(valid, &valids, p, p->train, count, T);
    }
    if (status == MT_OK) {
        c->first = token(&c->part->tokens, 0);
        c->train_set = trains == 1 ? train[0] : mt_mixture_new(train, weighted ? weight : NULL, trains);
        c->valid_set = valids == 1 ? valid[0] : mt_mixture_new(valid, NULL, valids);
        return MT_OK;
    }
    while (trains > 0)
        mt_dataset_close(train[--trains]);
    while (valids > 0)
        mt_dataset_close(valid[--valids]);
    return status;
}

mt_status mt_corpus_open_valid(mt_corpus *out, const char *data, const char *valid, const char *dir, int64_t T)
{
    mt_corpus c = { .own_valid = valid };
    mt_status status = list_files(&c, data);
    if (status == MT_OK && valid)
        add_part(&c, valid, (int64_t)strlen(valid));
    if (status == MT_OK)
        status = open_files(&c, dir);
    if (status == MT_OK)
        status = split(&c, T);
    if (status == MT_OK)
        *out = c;
    else
        mt_corpus_close(&c);
    return status;
}

mt_status mt_corpus_open(mt_corpus *out, const char *data, const char *dir, int64_t T)
{
    return mt_corpus_open_valid(out, data, NULL, dir, T);
}

void mt_corpus_close(mt_corpus *c)
{
    mt_dataset_close(c->train_set);
    mt_dataset_close(c->valid_set);
    mt_vocabulary_free(c->vocabulary);
    for (mt_corpus_part *p = c->part; p < c->part + c->parts; p++) {
        mt_file_map_close(&p->file);
        free(p->ids);
        free(p->path);
    }
    free(c->part);
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
    for (const mt_corpus_part *p = c->part; p < c->part + c->parts; p++)
        for (int64_t i = p->train; i < p->tokens.count; i++)
            bytes += start[token(&p->tokens, i) + 1] - start[token(&p->tokens, i)];
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
