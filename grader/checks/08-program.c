/* 08-program.c -- how the check of step 08.13 runs: the student's own program learns to predict text.
 *
 * It gets a text, and pieces of the rest of it without what follows, and returns logits for the character that follows
 * each. Characters get other ids at random. The checker has the characters, normalises the logits itself, and compares
 * the mean loss with that of a model that counts pairs of neighbours. How the program learns is not looked at. Row:
 * 08-gpt2.c. */
#include "checks/08-gpt2.h"
#include "core/io.h"
#include "rows/run.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES = 256, CONTEXT = 32, ROWS = 2000, TEXT = 400000 };

typedef struct text {
    int32_t *id; /* [count]  begins at a random place of the file */
    int64_t count, vocabulary;
    const char *folder, *name;
} text;

/* The text of a folder as ids in a random order of the bytes that occur; false: there is none, or only a short one. */
static bool read_text(mg_run *run, text *t, const char *path)
{
    uint8_t *bytes;
    int64_t size, order[BYTES], id[BYTES], start;
    if (mt_file_read(&bytes, &size, path) != MT_OK)
        return false;
    t->count = size;
    t->vocabulary = 0;
    for (int b = 0; b < BYTES; b++)
        id[b] = memchr(bytes, b, (size_t)size) ? t->vocabulary++ : -1;
    mt_rng_permutation(mg_rng(run), order, t->vocabulary);
    start = (int64_t)mt_rng_below(mg_rng(run), (uint32_t)size);
    t->id = malloc(sizeof *t->id * (size_t)size);
    MT_CHECK(t->id, "out of memory for a text");
    for (int64_t i = 0; i < size; i++)
        t->id[i] = (int32_t)order[id[bytes[(start + i) % size]]];
    free(bytes);
    return true;
}

static bool open_text(mg_run *run, text *t)
{
    static const text known[] = { { .folder = "shakespeare", .name = "tiny Shakespeare" },
                                  { .folder = "standin-text", .name = "handouts (no tiny Shakespeare)" } };
    char cache[PATH_MAX - 64], path[PATH_MAX];
    mg_data_folder(run, cache, sizeof cache);
    for (int i = 0; i < MT_COUNT(known); i++) {
        *t = known[i];
        snprintf(path, sizeof path, "%s/%s/tinyshakespeare.txt", cache, t->folder);
        if (read_text(run, t, path))
            return true;
    }
    mg_judge(run, MG_ERROR, "no text to train on in %s: run `datasets/fetch --or-standin shakespeare`", cache);
    return false;
}

/* The mean loss of a model that knows only the last id: pairs counted in the text, one more of each. */
static double loss_of_pairs(const text *t, int64_t learned, const int32_t *asked, const int32_t *next)
{
    int64_t V = t->vocabulary;
    double *pairs = calloc((size_t)(V * (V + 1)), sizeof *pairs), loss = 0; /* [V,V+1]  their sum last */
    MT_CHECK(pairs, "out of memory for counts");
    for (int64_t i = 0; i + 1 < learned; i++) {
        pairs[t->id[i] * (V + 1) + t->id[i + 1]]++;
        pairs[t->id[i] * (V + 1) + V]++;
    }
    for (int64_t r = 0; r < ROWS; r++) {
        const double *after = pairs + asked[(r + 1) * CONTEXT - 1] * (V + 1);
        loss += log((after[V] + (double)V) / (after[next[r]] + 1)) / ROWS;
    }
    free(pairs);
    return loss;
}

/* The mean loss of the logits that came back; NaN, with the verdict: one is no number. */
static double loss_of_logits(mg_run *run, const int32_t *next, int64_t V)
{
    const float *logits = mg_result(run, "logits");
    double loss = 0;
    for (int64_t r = 0; r < ROWS; r++) {
        double most = -INFINITY, sum = 0;
        for (int64_t v = 0; v < V; v++) {
            float logit = logits[r * V + v];
            if (!isfinite(logit)) {
                mg_hint(run, "is each row of logits written, also those of the last ones, which may be fewer than a "
                             "batch? and is the loss finite? print it");
                mg_fail(run, "logits[%lld,%lld] is %g", (long long)r, (long long)v, (double)logit);
                return NAN;
            }
            most = fmax(most, logit);
        }
        for (int64_t v = 0; v < V; v++)
            sum += exp(logits[r * V + v] - most);
        loss += (most + log(sum) - logits[r * V + next[r]]) / ROWS;
    }
    return loss;
}

static void judge(mg_run *run, const text *t, double loss, double pairs)
{
    char bar[32];
    snprintf(bar, sizeof bar, "08.13 %s", t->folder);
    if (loss > log((double)t->vocabulary))
        mg_hint(run,
                "equal logits would have a loss of %.2f: are these logits of the last position of each row, in the "
                "order of the rows, and of the model after the training?",
                log((double)t->vocabulary));
    mg_credit(run, bar, pairs - loss);
    mg_note(run, "%s: loss %.3f, counts of pairs %.3f  (bar: %.2f below)", t->name, loss, pairs,
            mg_bar(run, bar, "full"));
}

void mg_08_program(mg_run *run, const void *one_case)
{
    text t;
    (void)one_case;
    if (!open_text(run, &t))
        return;
    int64_t learned = mt_min(t.count - t.count / 10, TEXT) - mg_pick(mg_rng(run), 0, 99), rest = t.count - learned;
    int32_t next[ROWS];
    mg_begin(run, "mt_program_text");
    mg_out(run, "logits", MT_F32, MT_SHAPE(ROWS, t.vocabulary));
    memcpy(mg_in(run, "text", MT_I32, MT_SHAPE(learned)), t.id, sizeof *t.id * (size_t)learned);
    int32_t *asked = mg_in(run, "asked", MT_I32, MT_SHAPE(ROWS, CONTEXT));
    for (int64_t r = 0; r < ROWS; r++) {
        const int32_t *from = t.id + learned + mt_rng_below(mg_rng(run), (uint32_t)(rest - CONTEXT));
        memcpy(asked + r * CONTEXT, from, sizeof *from * CONTEXT);
        next[r] = from[CONTEXT];
    }
    double pairs = loss_of_pairs(&t, learned, asked, next);
    mg_i64(run, "vocabulary", t.vocabulary);
    mg_i64(run, "seed", (int64_t)(mt_rng_u64(mg_rng(run)) >> 1));
    double loss = mg_call(run) ? loss_of_logits(run, next, t.vocabulary) : NAN;
    if (!isnan(loss))
        judge(run, &t, loss, pairs);
    free(t.id);
}
