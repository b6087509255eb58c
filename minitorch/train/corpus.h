/* corpus.h -- one or several texts as tokens, a part of them kept for validation, and the windows of either part as
 * data sets.
 *
 * A token file (data/tokens.h) is mapped, so it may be larger than memory: a window reads the pages that hold its
 * tokens. No window holds tokens of two files. */
#pragma once

#include "core/io.h"
#include "text/vocabulary.h"
#include "data/loader.h"
#include "data/tokens.h"
#include "nn/module.h"

MT_C_BEGIN

/* One of the files. */
typedef struct mt_corpus_part {
    char *path;
    double weight; /* 0: none was given */
    mt_file_map file;
    int32_t *ids;     /* of a text */
    mt_tokens tokens; /* in either of them */
    int64_t train;    /* tokens 0 .. train-1 are for training */
} mt_corpus_part;

typedef struct mt_corpus {
    mt_vocabulary *vocabulary;
    mt_corpus_part *part;
    int64_t parts;
    bool own_valid;                    /* the last part is the file for validation */
    int64_t count, train;              /* tokens of all parts; those of them for training */
    int32_t first;                     /* token 0 */
    mt_dataset *train_set, *valid_set; /* x, y [T] i32: a window at each token of the part that is followed by T more */
} mt_corpus;

/* mt_corpus_open -- texts, whose characters are the tokens, with dir NULL; or token files (of `tokenize`, or a .bin of
 * llm.c) with the folder of the vocabulary that made them. A tenth of each file, its end, is for validation.
 *   data   a file, or several: FILE[=WEIGHT],FILE[=WEIGHT],...; weights are shares of the windows of a batch
 *          (mt_batches_mixed of train_set), 1 where others have one; without any, the windows of all files are
 *          equally likely
 * Fails: as file and vocabulary do; a part has no window of T + 1 tokens; a text that is not UTF-8 or contains a byte
 * 0; a text with dir; an id that the vocabulary lacks (with its offset); ids that the vocabulary would have merged; a
 * text beside a token file; a weight that is none. Messages name the file.
 * mt_corpus_open_valid -- with a file for validation, and all of the others for training; NULL: as above. */
mt_status mt_corpus_open(mt_corpus *out, const char *data, const char *dir, int64_t T);
mt_status mt_corpus_open_valid(mt_corpus *out, const char *data, const char *valid, const char *dir, int64_t T);

/* mt_corpus_is_tokens -- whether the first of these files is a token file by its first bytes; false, too, where it
 * cannot be read. */
bool mt_corpus_is_tokens(const char *data);

void mt_corpus_close(mt_corpus *corpus); /* a zeroed one is allowed */

/* mt_corpus_loss -- the mean loss of a GPT-2 over all windows of an epoch of a loader, in MT_EVAL (afterwards
 * MT_TRAIN). Fails as it does. */
mt_status mt_corpus_loss(double *loss, mt_module *model, mt_loader *loader);

/* mt_corpus_bytes -- mean bytes of a token of the part kept for validation. */
double mt_corpus_bytes(const mt_corpus *corpus);

/* mt_corpus_sample -- 200 tokens of a GPT-2 in MT_EVAL, to stdout: they depend on seed and step only. */
mt_status mt_corpus_sample(const mt_corpus *corpus, mt_module *model, int64_t seed, int64_t step);

/* mt_corpus_text -- the default text: tiny Shakespeare, or its stand-in, in datasets/cache or MT_DATA. */
const char *mt_corpus_text(void);

MT_C_END
