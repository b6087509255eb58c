/* run_digits.c -- what your program of lab 04 is worth: it learns from MNIST, then answers for images whose labels only
 * this file knows. `make run LAB=04` runs it. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "mt.h"

enum { SEED = 1 };

int main(void)
{
    mt_digits train, test;
    mt_flush_denormals(true);
    mt_must(mt_digits_open(&train, "train"));
    mt_must(mt_digits_open(&test, "t10k"));
    uint8_t *answer = mt_calloc(test.count, sizeof *answer);
    double begin = mt_now();
    mt_program_digits(answer, &train, &(mt_digits){ .image = test.image, .count = test.count, .pixels = test.pixels },
                      SEED);
    printf("your program learned from %" PRId64 " images in %.1f s\n", train.count, mt_now() - begin);

    int64_t right = 0, mistakes[MT_DIGIT_CLASSES * MT_DIGIT_CLASSES] = { 0 }, most = 0; /* [label, answer] */
    for (int64_t n = 0; n < test.count; n++) {
        MT_CHECK(answer[n] < MT_DIGIT_CLASSES, "answer[%" PRId64 "] is %d, which is no class", n, answer[n]);
        int both = test.label[n] * MT_DIGIT_CLASSES + answer[n];
        right += answer[n] == test.label[n];
        mistakes[both] += answer[n] != test.label[n];
        most = mistakes[both] > mistakes[most] ? both : most;
    }
    printf("test accuracy %.2f %% of %" PRId64 " images\n", 100 * (double)right / (double)test.count, test.count);
    printf("the most frequent mistake: %" PRId64 " read as %" PRId64 ", %" PRId64 " times\n", most / MT_DIGIT_CLASSES,
           most % MT_DIGIT_CLASSES, mistakes[most]);
    free(answer);
    mt_digits_close(&train);
    mt_digits_close(&test);
}
