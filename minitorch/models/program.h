/* program.h -- a training program of your own: it learns to predict text. Unit: solutions/08-gpt2/program.c
 *
 * `make run LAB=08` calls it with tiny Shakespeare and prints what its predictions are worth. */
#pragma once

#include "core/base.h"

MT_C_BEGIN

typedef struct mt_text_task {
    const int32_t *text; /* [count]  ids to learn from, in their order: 0 .. vocabulary - 1 */
    int64_t count, vocabulary;
    const int32_t *asked; /* [rows,context]  in each row ids that follow one another in another text */
    int64_t rows, context;
    uint64_t seed; /* of all random numbers (core/rng.h) */
} mt_text_task;

/* mt_program_text -- learn from task->text, then predict which id follows each row of task->asked.
 *   logits [rows,vocabulary]  overwritten: the softmax of row r has the probabilities of the id after asked[r,:]
 * The text is longer than context. Which model, rule, batches and steps is up to the program. What it allocates it
 * frees.   Lab 08.13 */
void mt_program_text(float *logits, const mt_text_task *task);

MT_C_END
