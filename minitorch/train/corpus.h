/* corpus.h -- a text as tokens, its last tenth kept for validation, and batches of windows from either part.
 *
 * A token file (data/tokens.h) stays on disk: a window reads the pages it lies on, so it may be larger than memory.
 * Which windows a step reads is a function of (seed, step) alone: a resumed run reads what the unbroken one would have. */
#ifndef MT_TRAIN_CORPUS_H
#define MT_TRAIN_CORPUS_H

#include "core/tensor.h"
#include "core/io.h"
#include "text/tokenizer.h"
#include "data/tokens.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mt_corpus {
    mt_tokenizer *tokenizer;
    mt_file_map file;     /* of a token file; zeroed for a text, */
    int32_t *ids;         /* whose tokens lie here */
    mt_tokens tokens;     /* either of them */
    int64_t count, train; /* tokens; 0 .. train-1 are for training */
    int32_t first;        /* token 0 */
} mt_corpus;

/* mt_corpus_open -- a text file, whose tokens are its characters, or those of the vocabulary in folder dir unless NULL; or a
 * token file, which needs dir.
 * Fails as file, vocabulary and encoding do; when either part has no window of T tokens and the one behind; and, with the
 * offset, at ids that the vocabulary lacks, or when the first of them are not what it would have made. */
mt_status mt_corpus_open(mt_corpus *out, const char *path, const char *dir, int64_t T);
void mt_corpus_close(mt_corpus *corpus); /* a zeroed one is allowed */

/* mt_corpus_batch -- B windows at random places of the training part, for this step of this seed.
 *   *x, *y  i32 [B,T], the scope's: y is x one token on */
void mt_corpus_batch(mt_tensor **x, mt_tensor **y, const mt_corpus *corpus, uint64_t seed, int64_t step, int64_t B,
                     int64_t T);

/* mt_corpus_valid -- batch number `index` of `count` batches of windows, spread evenly over the validation part. */
void mt_corpus_valid(mt_tensor **x, mt_tensor **y, const mt_corpus *corpus, int64_t index, int64_t count, int64_t B,
                     int64_t T);

/* mt_corpus_text -- where the text is when nobody says: tiny Shakespeare, or its stand-in, in datasets/cache or MT_DATA. */
const char *mt_corpus_text(void);

#ifdef __cplusplus
}
#endif
#endif
