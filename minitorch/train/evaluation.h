/* evaluation.h -- how well a GPT-2 knows a text: the loss of every token of the part that was kept for validation. */
#pragma once

#include "train/corpus.h"

MT_C_BEGIN

/* mt_evaluate_text -- the mean loss of all tokens of the validation part but its first, which nothing precedes. Windows
 * of the model's context follow each other, `batch` of them are computed at once, and the last one may be shorter; so
 * each token is predicted once, by what precedes it in its window. A progress line on stderr counts tokens.
 * *targets: how many they are. */
mt_status mt_evaluate_text(double *loss, int64_t *targets, const mt_corpus *corpus, mt_module *model, int64_t batch);

MT_C_END
