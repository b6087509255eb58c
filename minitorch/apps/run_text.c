/* run_text.c -- what your program of lab 08 is worth: it learns from nine tenths of a text, then predicts characters of
 * the last tenth, which only this file knows. `make run LAB=08` runs it. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "mt.h"

enum { CONTEXT = 32, ROWS = 4000, SHOWN = 8, SEED = 1 };

/* The probabilities [V] of a row of logits. */
static void normalise(double *p, const float *logit, int64_t V)
{
    double most = -INFINITY, sum = 0;
    for (int64_t v = 0; v < V; v++)
        most = fmax(most, logit[v]);
    for (int64_t v = 0; v < V; v++)
        sum += p[v] = exp(logit[v] - most);
    for (int64_t v = 0; v < V; v++)
        p[v] /= sum;
}

/* The text before, the three likeliest characters, and the one that is there. */
static void show(const mt_vocabulary *vocabulary, const int32_t *ids, double *p)
{
    uint8_t *text;
    int64_t bytes;
    mt_must(mt_decode(&text, &bytes, vocabulary, ids, CONTEXT + 1));
    for (int64_t i = 0; i < bytes; i++)
        text[i] = text[i] < ' ' ? '_' : text[i];
    printf("  %.*s  then", (int)bytes - 1, (const char *)text);
    for (int k = 0; k < 3; k++) {
        int32_t best = 0;
        for (int32_t v = 1; v < vocabulary->token.count; v++)
            best = p[v] > p[best] ? v : best;
        uint8_t *one;
        int64_t n;
        mt_must(mt_decode(&one, &n, vocabulary, &best, 1));
        printf("  %c %2.0f %%", *one < ' ' ? '_' : *one, 100 * p[best]);
        free(one);
        p[best] = -1;
    }
    printf("   (%c)\n", text[bytes - 1]);
    free(text);
}

int main(void)
{
    mt_file_map text;
    mt_vocabulary *vocabulary;
    mt_flush_denormals(true);
    mt_must(mt_data_map(&text, "shakespeare/tinyshakespeare.txt", "standin-text/tinyshakespeare.txt"));
    mt_must(mt_vocabulary_characters(&vocabulary, text.bytes, text.size));
    int64_t count, V = vocabulary->token.count;
    int32_t *ids = mt_calloc(text.size, sizeof *ids), *asked = mt_calloc(ROWS * CONTEXT, sizeof *asked);
    float *logits = mt_calloc(ROWS * V, sizeof *logits);
    double loss = 0, *p = mt_calloc(V, sizeof *p);
    mt_must(mt_encode_characters(ids, &count, vocabulary, text.bytes, text.size));
    int64_t learned = count - count / 10, between = (count - learned - CONTEXT) / ROWS;
    MT_CHECK(between > 0, "%s: a text of %" PRId64 " characters is too short", text.path, count);
    for (int64_t i = 0; i < ROWS * CONTEXT; i++)
        asked[i] = ids[learned + i / CONTEXT * between + i % CONTEXT];

    double begin = mt_now();
    mt_program_text(logits, &(mt_text_task){ ids, learned, V, asked, ROWS, CONTEXT, SEED });
    printf("your program learned from %" PRId64 " characters in %.1f s\n", learned, mt_now() - begin);
    for (int64_t r = 0; r < ROWS; r++) {
        normalise(p, logits + r * V, V);
        loss -= log(p[ids[learned + r * between + CONTEXT]]) / ROWS;
    }
    printf("loss %.3f; equal probabilities have %.3f. What it expects after some texts, and what is there:\n", loss,
           log((double)V));
    for (int64_t r = 0; r < ROWS; r += ROWS / SHOWN) {
        normalise(p, logits + r * V, V);
        show(vocabulary, ids + learned + r * between, p);
    }
    mt_vocabulary_free(vocabulary);
    mt_file_map_close(&text);
    free(ids);
    free(asked);
    free(logits);
    free(p);
}
