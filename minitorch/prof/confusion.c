/* confusion.c -- counting and printing. */
#include "prof/confusion.h"

#include <inttypes.h>
#include <stdio.h>

enum { CLASSES = MT_CONFUSION_CLASSES, WORST_PAIRS = 3 };

static int64_t largest(const float *row)
{
    int64_t best = 0;
    for (int64_t c = 1; c < CLASSES; c++)
        best = row[c] > row[best] ? c : best;
    return best;
}

void mt_confusion_add(mt_confusion *c, const float *logits, const int32_t *label, int64_t N)
{
    for (int64_t n = 0; n < N; n++) {
        MT_CHECK(label[n] >= 0 && label[n] < CLASSES, "label %d, expected 0 to %d", label[n], CLASSES - 1);
        c->count[label[n]][largest(logits + n * CLASSES)]++;
    }
}

double mt_confusion_accuracy(const mt_confusion *c)
{
    int64_t right = 0, all = 0;
    for (int a = 0; a < CLASSES; a++) {
        right += c->count[a][a];
        for (int b = 0; b < CLASSES; b++)
            all += c->count[a][b];
    }
    return all > 0 ? (double)right / (double)all : 0;
}

/* Each pair is printed and then struck out of the copy. */
static void print_worst_pairs(mt_confusion c)
{
    for (int pair = 0; pair < WORST_PAIRS; pair++) {
        int from = 0, to = 1;
        for (int a = 0; a < CLASSES; a++)
            for (int b = 0; b < CLASSES; b++)
                if (a != b && c.count[a][b] > c.count[from][to])
                    from = a, to = b;
        if (c.count[from][to] == 0)
            break;
        printf("  a %d for a %d: %" PRId64 " times\n", from, to, c.count[from][to]);
        c.count[from][to] = 0;
    }
}

void mt_confusion_print(const mt_confusion *c)
{
    printf("What it is (row) and what the network says (column):\n     ");
    for (int b = 0; b < CLASSES; b++)
        printf("%6d", b);
    for (int a = 0; a < CLASSES; a++) {
        printf("\n%5d", a);
        for (int b = 0; b < CLASSES; b++)
            c->count[a][b] ? printf("%6" PRId64, c->count[a][b]) : printf("     .");
    }
    printf("\n\nMost often taken for another:\n");
    print_worst_pairs(*c);
}
