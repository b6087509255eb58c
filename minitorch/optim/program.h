/* program.h -- a training program of your own: it learns to read digits. Unit: solutions/04-optimizers/program.c
 *
 * `make run LAB=04` calls it with MNIST and prints what its answers are worth. */
#pragma once

#include "core/digits.h"

MT_C_BEGIN

/* mt_program_digits -- learn from the images and labels of `train`, then answer what the images of `asked` show.
 *   answer [asked->count]  overwritten: a class for each image, 0 .. MT_DIGIT_CLASSES - 1
 *   train, asked           at least one image each, of equally many pixels; asked->label is NULL
 *   seed                   of all random numbers (core/rng.h): the same seed gives the same answers
 * Which model, rule, batches and epochs is up to the program. What it allocates it frees.   Lab 04.10 */
void mt_program_digits(uint8_t *answer, const mt_digits *train, const mt_digits *asked, uint64_t seed);

MT_C_END
