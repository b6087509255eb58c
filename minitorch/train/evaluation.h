/* evaluation.h -- how well a GPT-2 knows a text: the loss of every token of the part that was kept for validation; and
 * how often it finds the right one of several endings more likely than the others. */
#pragma once

#include "train/corpus.h"

MT_C_BEGIN

/* mt_evaluate_text -- the mean loss of all tokens of the validation part but its first, which nothing precedes. Windows
 * of the model's context follow each other, `batch` of them are computed at once, and the last one may be shorter; so
 * each token is predicted once, by what precedes it in its window. A progress line on stderr counts tokens.
 * *targets: how many they are. */
mt_status mt_evaluate_text(double *loss, int64_t *targets, const mt_corpus *corpus, mt_module *model, int64_t batch);

/* ---- multiple choice: choices.c --------------------------------------------------------------------------- */

typedef struct mt_choices_result {
    int64_t questions;
    int64_t right;          /* questions whose right ending is the most likely one */
    int64_t right_per_byte; /* the same by the logarithm of the likelihood over the bytes of the ending */
    double chance;          /* the mean of 1 / endings: what guessing finds */
} mt_choices_result;

/* mt_choices -- a file of JSON lines: {"question": "Two and two are", "endings": [" three", " four"], "label": 1}. The
 * label counts from 0, and other names are ignored. Question and ending are encoded each by itself; the likelihood of
 * an ending is that of its tokens after those of the question. Of endings that are equally likely the first counts. Of
 * a question that is longer than the context the beginning is left out. A progress line on stderr counts bytes.
 * Fails, naming file and line: no such object; an empty question; fewer than two endings, or an empty one; a label that
 * none has; a character that the vocabulary lacks; an ending that is longer than the context. MT_ERR_FORMAT: no line.
 * Source: Brown et al. 2020, arXiv:2005.14165, sec. 2.4. */
mt_status mt_choices(mt_choices_result *out, const char *path, mt_module *model, const mt_vocabulary *vocabulary);

/* mt_choice_likelihood -- the logarithm of the likelihood of the last n of count ids, after those before them. Of more
 * ids than the context and one, the first are left out.   1 <= n < count, n <= context */
double mt_choice_likelihood(mt_module *model, const int32_t *ids, int64_t count, int64_t n);

MT_C_END
