/* check.h -- the interface for writing the checks of a lab.
 *
 * A lab has groups, a group has cases, a case is one row of the grade. A group's run function describes one call of the
 * unit under test (its inputs, outputs and scalars), sends it to the sandboxed worker and compares what came back with
 * values that exist only here, in the trusted checker. It never sees the student's code, nor the code these values. */
#pragma once

#include "core/dtype.h"
#include "core/rng.h"
#include "core/view.h"

typedef enum mg_verdict {
    MG_PASS,
    MG_FAIL,         /* a value is wrong, or a bar was missed */
    MG_TODO,         /* the step is not written yet (the worker left with MT_EXIT_TODO) */
    MG_CRASH,        /* a signal, an abort, an exit */
    MG_TIMEOUT,      /* CPU or wall time, endless output */
    MG_INCONCLUSIVE, /* performance only: the machine was too noisy; run it again */
    MG_REVIEW,       /* values are right, but a count is lower than any that is known: no points until somebody looks */
    MG_SKIPPED,      /* performance only: this machine has too few processors for it, and the row has no points here */
    MG_ERROR,        /* the grader itself failed (no sandbox, disk full): no points are lost */
} mg_verdict;

/* What a row is, beside a comparison of values. */
enum {
    MG_EASY =
        1, /* a function that does nothing, or writes a constant, passes it (no elements, a refusal by given code):
                    it counts only beside a passing row of its step that is not easy */
    MG_TIMED = 2,  /* measures speed (mg_perf): with --no-speed it is INCONCLUSIVE */
    MG_COUNTS = 4, /* measures the bytes that it moves */
};

#pragma GCC diagnostic ignored "-Wmissing-field-initializers" /* most cases are nothing of this */

/* The head of every case; a group's case struct begins with it, its own parameters follow. */
typedef struct mg_case {
    double points;
    const char *name; /* "large logits" */
    const char *hint; /* the most likely cause of a failure, one sentence */
    unsigned is;      /* MG_EASY ... */
} mg_case;

typedef struct mg_run mg_run; /* one case being run; the grader's */

/* The first row of a step with some title calls what the step is about. While that call ends at an MT_TODO, all rows of
 * the step with that title are TODO, refusals too, and make no call. */
typedef struct mg_group {
    const char *step;                               /* "02.5" */
    const char *title;                              /* "softmax"; rows print as "softmax: large logits" */
    void (*run)(mg_run *run, const void *one_case); /* the same function for all cases of the group */
    const void *cases;                              /* array of structs that begin with mg_case */
    int64_t count, stride;                          /* of that array: elements, bytes per element */
} mg_group;

#define MG_GROUP(step, title, run, cases) { step, title, run, cases, MT_COUNT(cases), sizeof((cases)[0]) }

/* The checks of lab NN define one, mg_lab_NN. */
typedef struct mg_lab {
    const char *id; /* "02-backprop": the folder in labs/ and solutions/ */
    const mg_group *groups;
    int64_t count;
} mg_lab;

/* ---- describing a call ----------------------------------------------------------------------
 * Arguments have names, by which the worker's call (grader/worker/calls_NN.c) takes them. One that it takes and that is
 * not described, or has another type, makes the row an ERROR. Their order is that in which a row shows them. Returned
 * memory belongs to the run, has the shape's element count, and has the contents that the worker gets in mg_call. */

/* mg_begin -- start describing a call of this function; discards the call described before, and its hint. */
void mg_begin(mg_run *run, const char *function);

/* mg_as_called -- the described call as a student's program writes it: "mt_tree_broadcast(comm, data, n=5, f32, root=0)
 * on 3 ranks". It is shown in place of the worker's arguments. */
void mg_as_called(mg_run *run, const char *fmt, ...) MT_PRINTF(2, 3);

/* mg_in_words -- the inputs of the described call in words, "v2 = v0 * v1": shown below the message if it fails. */
void mg_in_words(mg_run *run, const char *fmt, ...) MT_PRINTF(2, 3);

/* mg_in -- a read-only input, zero-filled; fill it before mg_call. */
void *mg_in(mg_run *run, const char *name, mt_dtype dtype, mt_shape shape);

/* mg_out -- an output the call must overwrite: poisoned (NaN, or 0xA5 bytes in integers), between guard pages. */
void mg_out(mg_run *run, const char *name, mt_dtype dtype, mt_shape shape);

/* mg_inout -- an output with contents the call reads or adds to; zero-filled, fill it before mg_call. */
void *mg_inout(mg_run *run, const char *name, mt_dtype dtype, mt_shape shape);

void mg_i64(mg_run *run, const char *name, int64_t value);
void mg_f32(mg_run *run, const char *name, float value);
void mg_f64(mg_run *run, const char *name, double value);

/* mg_null -- an optional array that is not given: the call gets NULL. */
void mg_null(mg_run *run, const char *name);

/* mg_in_place -- the described output and the described input, which has its shape, are one array: the input's. */
void mg_in_place(mg_run *run, const char *out, const char *in);

/* mg_threads -- OpenMP threads of the described call; without it, the machine's cores, 8 at most. The call is made in a
 * fresh worker: when it repeats the inputs of another, the answer to that is not remembered. */
void mg_threads(mg_run *run, int threads);

/* mg_place_arrays -- from now on, where arrays begin. MG_ALIGNED: at the start of a page. MG_AT_END: such that they end
 * with a page, and at the same addresses in calls of equal shapes: where a unit's vectors begin at a multiple of 64
 * bytes, equal inputs have equal bits only then. MG_ANYWHERE: in turn one or the other, elsewhere in each call. */
typedef enum mg_where { MG_ANYWHERE, MG_ALIGNED, MG_AT_END } mg_where;
void mg_place_arrays(mg_run *run, mg_where where);

/* mg_rng -- the run's random numbers: a fresh seed each time, printed with a failure, repeatable with --seed. */
mt_rng *mg_rng(mg_run *run);

/* mg_data_folder -- where datasets/fetch puts what the checks of a training read. */
void mg_data_folder(mg_run *run, char *out, size_t size);

/* mg_call -- send the call to the worker, wait, stop it, copy the outputs. False when the run already has its verdict
 * (TODO, CRASH, TIMEOUT): return at once. */
bool mg_call(mg_run *run);

/* ---- judging --------------------------------------------------------------------------------
 * Only the first failure is reported; a run is a PASS if every mg_call was answered and nothing failed. */

/* mg_result -- an output's bytes after mg_call, copied to memory that the worker cannot access. */
const void *mg_result(mg_run *run, const char *name);

/* mg_got -- its element i, of any type. */
double mg_got(mg_run *run, const char *name, int64_t i);

/* mg_expect -- every element of output `name` (f32, f16, bf16, i32, i64 or u8) must be within tolerance[i] of want[i],
 * or NaN or infinite where want[i] is; otherwise false and FAIL with one element (index, got, expected, tolerance):
 * the first wrong one that is as before the call, else the first wrong one. tolerance NULL: bit-exact (as doubles). */
bool mg_expect(mg_run *run, const char *name, const double *want, const double *tolerance);

/* mg_fail -- FAIL with this message, for anything but an element-wise comparison; false. */
bool mg_fail(mg_run *run, const char *fmt, ...) MT_PRINTF(2, 3);

/* mg_expect_named -- whether the last call's message, such as that of an MT_CHECK, holds the number; `what` names it in
 * the failure. Choose a number that cannot be a line of the source, too. */
bool mg_expect_named(mg_run *run, const char *what, int64_t number);

/* mg_wrong -- whether element i of an output is wrong, as mg_expect would say: for a check that recognises an error by
 * the pattern of wrong elements. */
bool mg_wrong(mg_run *run, const char *name, int64_t i, double want, double tolerance);

/* mg_hint -- shown in place of the row's hint if the described call fails, until the next mg_begin: the error was
 * recognised. */
void mg_hint(mg_run *run, const char *fmt, ...) MT_PRINTF(2, 3);

/* mg_part -- from now on, the described calls, or what is judged of the call just made, are this part of the row: it
 * has a name, which a failure shows ("no elements", "in place", "several threads"), and a hint in place of the row's.
 * hint NULL: the row's; name NULL: the row itself. */
void mg_part(mg_run *run, const char *name, const char *hint, ...) MT_PRINTF(3, 4);

/* Fields that a row of a table does not name are 0. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

/* A part of rows as data: its name and hint, what is special in it (a number of the check's own), which rows have it
 * (bit `about` of each; 0: all), and how many calls it has (0: one). */
typedef struct mg_idea {
    const char *part, *hint;
    int64_t is;
    int rows, times;
} mg_idea;

/* mg_next -- the next call of row `about`, begun with mg_part; false at the end, and when the run has its verdict:
 * for (mg_ideas t = { 0 }; MG_NEXT(run, &t, tries, about);) describes a call in which t.is is special. */
typedef struct mg_ideas {
    int64_t is, at, made; /* at: the index of the idea behind this one */
} mg_ideas;
bool mg_next(mg_run *run, mg_ideas *t, const mg_idea *tries, int64_t count, int about);
#define MG_NEXT(run, t, tries, about) mg_next(run, t, tries, MT_COUNT(tries), (int)(about))

/* mg_note -- a remark beside a passing row: "test accuracy 97.8 %  (bar 97.5 %)". */
void mg_note(mg_run *run, const char *fmt, ...) MT_PRINTF(2, 3);

/* mg_bar -- a number of this lab's lab.json, "bars": { "01.4": { "low": 0.2, "full": 0.6, ... } }. */
double mg_bar(mg_run *run, const char *bar, const char *field);

/* mg_credit -- gradual credit: 0 at or below the bar's "low", full points at or above "full", linear between.
 * Where less is better, a value below the bar's "least" is REVIEW; without one, below half of its "reference". */
void mg_credit(mg_run *run, const char *bar, double value);

/* mg_review -- REVIEW with this message: the count shows a better idea than ours, or has missed what the unit does. */
void mg_review(mg_run *run, const char *fmt, ...) MT_PRINTF(2, 3);

/* mg_flops -- the arithmetic of the call whose bytes are counted next: the report draws both in a roofline. */
void mg_flops(mg_run *run, double flops);

/* ---- racing ---------------------------------------------------------------------------------
 * Two workers run the same calls, interleaved A B B A; the score is the ratio of minima (docs/GRADING.md). Choose sizes
 * for which the faster side takes 2 to 5 ms: shorter ones are disturbed by our own 0.04 ms, longer ones get few
 * rounds. */
typedef struct mg_race {
    const char *bar;     /* key in lab.json "bars" */
    const char *ours;    /* function called in the submission's worker */
    const char *theirs;  /* function called in the reference's worker */
    const char *against; /* how the row names it: "the reference" */
    int threads;         /* of both workers; with 1 there is a result even on a busy machine */
    void (*describe)(mg_run *run, const void *one_case, const char *function); /* mg_begin, arguments, fresh values: the
                                                                                  same arguments for either function */
    bool (*verify)(mg_run *run, const void *one_case);                         /* mg_expect on each timed reply */
} mg_race;

/* mg_perf -- run the race; gives credit (time of theirs / time of ours, against the bar), FAIL or INCONCLUSIVE, and the
 * note "0.91x of the reference (bar 0.50 .. 0.95)  9 rounds, spread 2 %". */
void mg_perf(mg_run *run, const mg_race *race, const void *one_case);

/* mg_perf_each -- the same with several cases, whose calls take turns: the one with the worst ratio counts. The note
 * adds its words: "0.31x of the reference, A transposed". */
typedef struct mg_race_case {
    const char *words;
    const void *one_case; /* for describe and verify */
} mg_race_case;
enum { MG_RACE_CASES = 4 }; /* at most */
void mg_perf_each(mg_run *run, const mg_race *race, const mg_race_case *cases, int count);
