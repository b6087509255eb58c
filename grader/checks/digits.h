/* digits.h -- handwritten digits for rows in which a whole training runs: what the worker learns from, and what the
 * checker alone has. It has a reader of its own because it links no units. */
#pragma once

#include "check.h"

/* A labelled set of small grey images. */
typedef struct mg_digits {
    int64_t count, pixels;    /* images, and pixels of one */
    uint8_t *image, *label;   /* [count, pixels], [count]: 0 .. MG_DIGIT_CLASSES - 1 */
    uint8_t *images, *labels; /* the whole files, which hold them */
} mg_digits;

enum { MG_DIGIT_CLASSES = 10 };

typedef struct mg_digit_sets {
    mg_digits train, test;
    const char *folder, *name; /* "mnist", or "standin"; and in words */
} mg_digit_sets;

/* mg_digits_open -- MNIST if it was downloaded, else the stand-in of the same format; false, with the verdict ERROR:
 * there is neither. Pixels and classes are permuted at random, in both sets alike: for a network without convolutions a
 * new, equally difficult problem, for which nothing that was learned elsewhere is of use. */
bool mg_digits_open(mg_run *run, mg_digit_sets *out);
void mg_digits_close(mg_digits *digits); /* a closed one is allowed */

/* mg_digits_keep -- of the images `count`, drawn at random, in a random order; all of them where there are fewer. */
void mg_digits_keep(mg_run *run, mg_digits *digits, int64_t count);

/* mg_digits_judge -- credit for a share of right answers by the bar "STEP FOLDER", and a note, which tells `what`. */
void mg_digits_judge(mg_run *run, const mg_digit_sets *sets, double share, const char *what);
