/* corpus.h -- a text as tokens, its last tenth kept for validation, and the windows of either part as data sets.
 *
 * A token file (data/tokens.h) is mapped, so it may be larger than memory: a window reads the pages that hold its
 * tokens. */
#pragma once

#include "core/io.h"
#include "text/vocabulary.h"
#include "data/loader.h"
#include "data/tokens.h"
#include "nn/module.h"

MT_C_BEGIN

typedef struct mt_corpus {
    mt_vocabulary *vocabulary;
    mt_file_map file;                  /* of a token file; zeroed for a text */
    int32_t *ids;                      /* of a text */
    mt_tokens tokens;                  /* in either of them */
    int64_t count, train;              /* tokens; 0 .. train-1 are for training */
    int32_t first;                     /* token 0 */
    mt_dataset *train_set, *valid_set; /* x, y [T] i32: a window at each token of the part that is followed by T more */
} mt_corpus;

/* mt_corpus_open -- a text, whose characters are the tokens, with dir NULL; or a token file (that of `tokenize`, or a
 * .bin of llm.c) with the folder of the vocabulary that made it.
 * Fails: as file and vocabulary do; a part has no window of T + 1 tokens; a text that is not UTF-8 or contains a byte
 * 0; a text with dir; an id that the vocabulary lacks (with its offset); ids that the vocabulary would have merged. */
mt_status mt_corpus_open(mt_corpus *out, const char *path, const char *dir, int64_t T);
/* mt_corpus_is_tokens -- whether a file is a token file by its first bytes; false, too, where it cannot be read. */
bool mt_corpus_is_tokens(const char *path);

void mt_corpus_close(mt_corpus *corpus); /* a zeroed one is allowed */

/* mt_corpus_loss -- the mean loss of a GPT-2 over all windows of an epoch of a loader, in MT_EVAL (afterwards
 * MT_TRAIN).
 * Fails as it does. */
mt_status mt_corpus_loss(double *loss, mt_module *model, mt_loader *loader);

/* mt_corpus_bytes -- mean bytes of a token of the part kept for validation. */
double mt_corpus_bytes(const mt_corpus *corpus);

/* mt_corpus_sample -- 200 tokens of a GPT-2 in MT_EVAL, to stdout: they depend on seed and step only. */
mt_status mt_corpus_sample(const mt_corpus *corpus, mt_module *model, int64_t seed, int64_t step);

/* mt_corpus_text -- the default text: tiny Shakespeare, or its stand-in, in datasets/cache or MT_DATA. */
const char *mt_corpus_text(void);

MT_C_END
