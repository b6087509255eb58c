/* bench_tokenizer.c -- tokens per second of one core and of more, over a text that is read once.
 *
 *     build/release/bin/bench_tokenizer --text kjv.txt --csv build/bench/tokenizer.csv
 *
 * Each round starts with new encoders, whose caches of words are empty: repeating a short text would measure the cache
 * only. The vocabulary is loaded before the measurement; the text is in memory; ids are kept, not written. Rounds with
 * 1, 2, ... workers take turns, and the fastest of each counts. "A core" is processor time, which is valid on a busy
 * machine too. The last line is for programs; it says FAIL, and the exit status is not 0, under 10 M tokens/s per core.
 * */
#include <inttypes.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "core/io.h"
#include "text/tokenizer.h"

enum { MOST_WORKERS = 8, CHUNK = 64 << 10 };
static const double BAR = 10e6; /* tokens a second of one core */

typedef struct options {
    int64_t rounds, workers;
    const char *text, *vocabulary, *csv;
} options;

static const mt_option flags[] = {
    { "text", 't', "FILE", MT_TEXT(options, text), "what to encode (datasets/cache/shakespeare/tinyshakespeare.txt)" },
    { "vocabulary", 'v', "DIR", MT_TEXT(options, vocabulary), "folder of vocab.bpe (datasets/cache/gpt2)" },
    { "rounds", 'r', "N", MT_I64(options, rounds, 1, 1000), "rounds; the fastest counts (9)" },
    { "workers", 'w', "N", MT_I64(options, workers, 1, MOST_WORKERS), "try 1 to N workers, N at most 8 (2)" },
    { "csv", 'c', "FILE", MT_TEXT(options, csv), "also write the table as CSV" },
    { 0 },
};

/* ---- rounds ------------------------------------------------------------------------------------------ */

/* The text in pieces that can be encoded each by itself, and room for the ids of each: as many as it has bytes. */
typedef struct work {
    const uint8_t *text;
    int64_t *begin; /* [count + 1] */
    int64_t count;
    int32_t *ids;  /* [size], those of a piece from its first byte's place on */
    int64_t *made; /* [count] */
} work;

static work work_of(const mt_file_map *file)
{
    work w = { .text = file->bytes };
    w.begin = calloc((size_t)(file->size / CHUNK + 2), sizeof *w.begin);
    w.made = calloc((size_t)(file->size / CHUNK + 2), sizeof *w.made);
    w.ids = calloc((size_t)file->size + 1, sizeof *w.ids);
    MT_CHECK(w.begin && w.made && w.ids, "out of memory");
    while (w.begin[w.count] < file->size) {
        w.begin[w.count + 1] = mt_encode_cut(file->bytes, file->size, w.begin[w.count] + CHUNK);
        w.count++;
    }
    return w;
}

/* Seconds on the wall, and of processors summed over the workers. */
typedef struct cost {
    double wall, cpu;
} cost;

static cost encode_once(work *w, const mt_tokenizer *t, int workers)
{
    double cpu = 0, begin = 0;
#pragma omp parallel num_threads(workers) reduction(+ : cpu)
    {
        mt_encoder *e = mt_encoder_new(t);
#pragma omp barrier
#pragma omp master
        begin = mt_now();
        double start = bench_cpu(CLOCK_THREAD_CPUTIME_ID);
#pragma omp for schedule(dynamic, 1)
        for (int64_t i = 0; i < w->count; i++)
            MT_CHECK(mt_encode(e, w->ids + w->begin[i], &w->made[i], w->text + w->begin[i],
                               w->begin[i + 1] - w->begin[i]) == MT_OK,
                     "%s", mt_last_error());
        cpu = bench_cpu(CLOCK_THREAD_CPUTIME_ID) - start;
        mt_encoder_free(e);
    }
    return (cost){ mt_now() - begin, cpu };
}

/* ---- the program ------------------------------------------------------------------------------------- */

static bool bench(const options *o, const mt_tokenizer *t, const mt_file_map *file, FILE *csv)
{
    work w = work_of(file);
    cost best[MOST_WORKERS + 1];
    int64_t tokens = 0;
    for (int64_t n = 1; n <= o->workers; n++)
        best[n] = (cost){ 1e30, 1e30 };
    for (int64_t r = 0; r < o->rounds; r++) {
        for (int64_t n = 1; n <= o->workers; n++) {
            cost c = encode_once(&w, t, (int)n);
            bench_keep_least(&best[n].wall, c.wall);
            bench_keep_least(&best[n].cpu, c.cpu);
        }
    }
    for (int64_t i = 0; i < w.count; i++)
        tokens += w.made[i];
    printf("%s: %" PRId64 " bytes, %" PRId64 " tokens\n", o->text, file->size, tokens);
    for (int64_t n = 1; n <= o->workers; n++) {
        double rate = (double)tokens / best[n].wall, core = (double)tokens / best[n].cpu;
        printf("%" PRId64 " worker%s  %8.4f s  %6.1f M tokens/s  %.2fx of one   %6.1f M tokens/s a core\n", n,
               n == 1 ? " " : "s", best[n].wall, rate * 1e-6, best[1].wall / best[n].wall, core * 1e-6);
        if (csv)
            fprintf(csv, "%" PRId64 ",%" PRId64 ",%.6f,%.6f,%.0f,%.0f\n", n, tokens, best[n].wall, best[n].cpu, rate,
                    core);
    }
    bool pass = (double)tokens / best[1].cpu >= BAR;
    printf("bench_tokenizer: %s tokens=%" PRId64 " per_core=%.1fM scaling=%.2f\n", pass ? "PASS" : "FAIL", tokens,
           (double)tokens * 1e-6 / best[1].cpu, best[1].wall / best[o->workers].wall);
    free(w.begin);
    free(w.made);
    free(w.ids);
    return pass;
}

int main(int argc, char **argv)
{
    options o = { .rounds = 9,
                  .workers = 2,
                  .text = "datasets/cache/shakespeare/tinyshakespeare.txt",
                  .vocabulary = "datasets/cache/gpt2" };
    mt_vocabulary *v = NULL;
    mt_file_map file = { 0 };
    bool pass = false;
    mt_cli_parse(argc, argv, "How fast text becomes tokens.", flags, &o);
    FILE *csv = bench_csv_open(o.csv, "workers,tokens,wall_s,cpu_s,tokens_per_s,tokens_per_cpu_s");
    mt_status status = mt_vocabulary_open(&v, o.vocabulary);
    if (status == MT_OK)
        status = mt_file_map_open(&file, o.text);
    if (status == MT_OK && file.size == 0)
        status = mt_fail(MT_ERR_FORMAT, "%s: empty", o.text);
    if (status == MT_OK) {
        printf("%s, fastest of %" PRId64 " rounds, every round with new tables of words\n", bench_machine(), o.rounds);
        mt_tokenizer *t = mt_tokenizer_new(v);
        pass = bench(&o, t, &file, csv);
        mt_tokenizer_free(t);
    }
    bench_csv_close(csv, o.csv);
    mt_file_map_close(&file);
    mt_vocabulary_free(v);
    int code = mt_cli_exit(status);
    return pass ? code : 1;
}
