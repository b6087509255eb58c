/* toy.h -- a lab with one small unit, graded by the real grader, so that tests can submit any unit.
 *
 *   void toy(float *out, const float *x, int64_t n)    out = 2x        steps 90.1 (two calls a case) and 90.2 (a
 * race) */
#pragma once

#include "grading.h"
#include "sandbox/scratch.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

typedef struct toy {
    mg_scratch scratch;
    char root[PATH_MAX], build[PATH_MAX];
    bool any_symbol; /* units are not examined, as if the list of symbols did not exist */
} toy;

static inline void toy_shell(const char *fmt, ...)
{
    char command[8 * PATH_MAX];
    va_list args;
    va_start(args, fmt);
    vsnprintf(command, sizeof command, fmt, args);
    va_end(args);
    cr_assert_eq(system(command), 0, "%s", command);
}

static inline void toy_write(const toy *t, const char *name, const char *text)
{
    char path[PATH_MAX];
    mg_path(path, "%s/%s", t->root, name);
    cr_assert_eq(mg_write_file(path, text, strlen(text)), MT_OK, "%s", mt_last_error());
}

/* The list that make writes for the grader; to be repeated after each object that a test adds. */
static inline void toy_defined(const toy *t)
{
    toy_shell("cd %s && nm -A -P -g --defined-only libgiven.a units/*/*.o worker/*.o >defined", t->build);
}

/* The worker's own objects are compiled here without sanitizers: a static program cannot have them. */
static inline void toy_open(toy *t)
{
    static const char calls[] =
        "#include \"worker/call.h\"\n"
        "void toy(float *out, const float *x, int64_t n);\n"
        "static void toy_call(const mg_value *v) { toy(F(out), F(x), N(n)); }\n"
        "const mg_function mg_calls_90[] = { { \"toy\", toy_call }, { \"toy_reference\", toy_call }, { 0 } };\n";
    static const char lab[] =
        "{ \"lab\": \"90-toy\", \"title\": \"toy\", \"units\": [\"toy.c\"],\n"
        "  \"limits\": { \"cpu_s\": 1, \"wall_s\": 2, \"memory_mib\": 256, \"output_kib\": 16, \"processes\": 16 },\n"
        "  \"bars\": { \"90.2\": { \"low\": 0.1, \"full\": 0.5 } } }\n";
    static const char reference[] = "#include <stdint.h>\n"
                                    "void toy(float *out, const float *x, int64_t n)\n"
                                    "{ for (int64_t i = 0; i < n; i++) out[i] = 2 * x[i]; }\n";
    *t = (toy){ 0 };
    cr_assert_eq(mg_scratch_open(&t->scratch), MT_OK, "%s", mt_last_error());
    mg_path(t->root, "%s", t->scratch.path);
    mg_path(t->build, "%s/build", t->root);
    toy_shell("cd %s && mkdir -p labs/90-toy minitorch/core build/worker build/units/90-toy", t->root);
    toy_write(t, "calls.c", calls);
    toy_write(t, "labs/90-toy/lab.json", lab);
    toy_write(t, "reference.c", reference);
    toy_shell("cp minitorch/core/*.h %s/minitorch/core/", t->root);
    toy_shell("cc() { gcc -std=gnu11 -D_GNU_SOURCE -O1 -fopenmp -Iminitorch -Igrader -c \"$@\"; } && b=%s && "
              "cc grader/worker/main.c -o $b/worker/main.o && cc grader/worker/call.c -o $b/worker/call.o && "
              "cc grader/worker/launch.c -o $b/worker/launch.o && "
              "gcc -static -o $b/worker/launch $b/worker/launch.o && "
              "cc grader/worker/heap.c -o $b/worker/heap.o && cc grader/worker/joins.c -o $b/worker/joins.o && "
              "cc $b/../calls.c -o $b/worker/calls_90.o && cc $b/../reference.c -o $b/units/90-toy/toy.o && "
              "cc minitorch/core/base.c -o $b/base.o && cc minitorch/core/dtype.c -o $b/dtype.o && "
              "ar rc $b/libgiven.a $b/base.o $b/dtype.o && ar rc $b/libcalls.a $b/worker/calls_90.o",
              t->build);
    toy_defined(t);
}

static inline void toy_close(toy *t)
{
    mg_scratch_close(&t->scratch);
}

/* ---- its checks ----------------------------------------------------------------------------- */

typedef struct toy_case {
    mg_case head;
    int64_t n;
} toy_case;

static inline void toy_describe(mg_run *run, const void *one_case, const char *function)
{
    const toy_case *c = one_case;
    mg_begin(run, function);
    mg_out(run, "out", MT_F32, MT_SHAPE(c->n));
    mt_rng_fill_uniform(mg_rng(run), mg_in(run, "x", MT_F32, MT_SHAPE(c->n)), c->n, 1, 2);
    mg_i64(run, "n", c->n);
}

/* Inputs are repeatable: the stream's counter before and after says which ones the call had. */
static inline bool toy_verify(mg_run *run, const void *one_case)
{
    const toy_case *c = one_case;
    mt_rng again = *mg_rng(run);
    float *x = calloc((size_t)c->n + 1, sizeof *x);
    double *want = calloc((size_t)c->n + 1, sizeof *want);
    again.counter -= (uint64_t)(c->n + 3) / 4;
    mt_rng_fill_uniform(&again, x, c->n, 1, 2);
    for (int64_t i = 0; i < c->n; i++)
        want[i] = 2 * (double)x[i];
    bool good = mg_expect(run, "out", want, NULL);
    free(x);
    free(want);
    return good;
}

static inline void toy_twice(mg_run *run, const void *one_case)
{
    for (int i = 0; i < 2; i++) {
        toy_describe(run, one_case, "toy");
        if (!mg_call(run) || !toy_verify(run, one_case))
            return;
    }
}

static inline void toy_race(mg_run *run, const void *one_case)
{
    static const mg_race race = { .bar = "90.2",
                                  .ours = "toy",
                                  .theirs = "toy_reference",
                                  .against = "the reference",
                                  .threads = 1,
                                  .describe = toy_describe,
                                  .verify = toy_verify };
    mg_perf(run, &race, one_case);
}

static const toy_case toy_cases[] = { { { 3, "many", "multiply by two" }, 1500 },
                                      { { 1, "none", "touch nothing", MG_EASY }, 0 } };
static const toy_case toy_race_cases[] = { { { 4, "long", "do not dawdle", MG_TIMED }, 400000 } };
static const mg_group toy_groups[] = { MG_GROUP("90.1", "toy", toy_twice, toy_cases),
                                       MG_GROUP("90.2", "race", toy_race, toy_race_cases) };
static const mg_lab toy_lab = { "90-toy", toy_groups, MT_COUNT(toy_groups) };

/* toy_grade -- submit this text as toy.c and grade one step of it. */
static inline mg_results toy_grade(const toy *t, const char *unit, const char *step)
{
    mg_results results;
    mg_options options = {
        .lab = &toy_lab, .root = t->root, .build = t->build, .step = step, .any_symbol = t->any_symbol
    };
    toy_write(t, "labs/90-toy/toy.c", unit);
    cr_assert_eq(mg_grade(&results, &options), MT_OK, "%s", mt_last_error());
    return results;
}
