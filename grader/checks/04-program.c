/* 04-program.c -- how the check of step 04.10 runs: the student's own program learns to read digits.
 *
 * It gets images with labels and images without, in random orders, and returns a class for each of the latter, whose
 * labels only the checker has. How it learns is not looked at. Row: 04-optimizers.c. */
#include "checks/04-optimizers.h"
#include "checks/digits.h"
#include "checks/fill.h"

#include <stdlib.h>
#include <string.h>

enum { TRAIN = 20000, ASKED = 5000 }; /* images, less up to 99: a program has to treat its last batch, too */

static const double LINEAR = 0.82; /* the share of right answers that a trained linear layer has at least */

/* Images of the set as an input of the call. */
static void send(mg_run *run, const char *name, const mg_digits *set)
{
    uint8_t *image = mg_in(run, name, MT_U8, MT_SHAPE(set->count, set->pixels));
    memcpy(image, set->image, (size_t)(set->count * set->pixels));
}

/* The share of right answers, with what wrong ones have in common as the hint; below 0: one is no class. */
static double judge(mg_run *run, const mg_digits *test)
{
    const uint8_t *label = test->label;
    const int64_t asked = test->count;
    const uint8_t *answer = mg_result(run, "answer");
    int64_t right = 0, same = 0;
    for (int64_t n = 0; n < asked; n++) {
        if (answer[n] >= MG_DIGIT_CLASSES) {
            mg_hint(run, "is answer[i] written for every image of `asked`, also for the last ones, which may be fewer "
                         "than a batch?");
            mg_fail(run, "answer[%lld] of %lld is %d, which is no class", (long long)n, (long long)asked, answer[n]);
            return -1;
        }
        right += answer[n] == label[n];
        same += answer[n] == answer[0];
    }
    if (same == asked)
        mg_hint(
            run,
            "every answer is %d: does the loss fall from epoch to epoch, and is it finite (print it)? are images and "
            "labels of a batch those of the same indices?",
            answer[0]);
    else if (right < asked / 4)
        mg_hint(run,
                "a tenth would be right by chance: does the loss fall (print it)? are images and labels of a batch "
                "those of the same indices, and the answers those of the model after the training?");
    else if ((double)right < LINEAR * (double)asked)
        mg_hint(
            run,
            "the program learns less than a single linear layer can: are the gradients cleared after each update, and "
            "does each epoch take all images, in another random order?");
    return (double)right / (double)asked;
}

void mg_04_program(mg_run *run, const void *one_case)
{
    mg_digit_sets sets;
    (void)one_case;
    if (!mg_digits_open(run, &sets))
        return;
    mg_digits_keep(run, &sets.train, TRAIN - mg_pick(mg_rng(run), 0, 99));
    mg_digits_keep(run, &sets.test, ASKED - mg_pick(mg_rng(run), 0, 99));
    mg_begin(run, "mt_program_digits");
    mg_out(run, "answer", MT_U8, MT_SHAPE(sets.test.count));
    send(run, "train", &sets.train);
    memcpy(mg_in(run, "label", MT_U8, MT_SHAPE(sets.train.count)), sets.train.label, (size_t)sets.train.count);
    send(run, "asked", &sets.test);
    mg_i64(run, "seed", (int64_t)(mt_rng_u64(mg_rng(run)) >> 1));
    double share = mg_call(run) ? judge(run, &sets.test) : -1;
    if (share >= 0)
        mg_digits_judge(run, &sets, share, "your program");
    mg_digits_close(&sets.train);
    mg_digits_close(&sets.test);
}
