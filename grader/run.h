/* run.h -- the internals of an mg_run (check.h has its interface): one case being run, and data common to all cases. */
#ifndef MG_RUN_H
#define MG_RUN_H

#include "build.h"
#include "results.h"
#include "session.h"

enum { MG_TODOS = 256 };

/* Data common to all cases of one grading. */
typedef struct mg_bench {
    mg_labinfo info;
    mg_build build;
    mg_worker worker; /* with the submission's units */
    char worker_path[PATH_MAX], launcher_path[PATH_MAX];
    char reference_path[PATH_MAX]; /* empty until a race needs it */
    char counting_path[PATH_MAX];  /* empty until a count of memory traffic needs it */
    uint64_t seed;
    uint32_t shift; /* of the last call: addresses rotate */
    struct mg_todo {
        char step[16], function[MG_WIRE_NAME]; /* whose call ended there */
        char missing[16];                      /* the step that is not written; may differ from the row's */
    } todo[MG_TODOS];
    int todos;
} mg_bench;

struct mg_run {
    mg_bench *bench;
    mg_row *row;
    mg_session *session; /* of the group; NULL until a call needs one */
    bool judged;         /* row->verdict stands */
    double credit;       /* share of the points that a PASS earns */
    mt_rng rng;
    int calls;          /* answered */
    mg_outcome outcome; /* of the last call */
    char function[MG_WIRE_NAME];
    mg_argument argument[MG_WIRE_VALUES];
    int arguments, threads;
};

/* mg_run_begin, mg_run_end -- around a group's run function; end gives the row its points. */
void mg_run_begin(mg_run *run, mg_bench *bench, mg_row *row, mg_session *session);
void mg_run_end(mg_run *run);

/* mg_judge -- the verdict and its detail; only the first call has an effect. */
void mg_judge(mg_run *run, mg_verdict verdict, const char *fmt, ...) MT_PRINTF(3, 4);

/* mg_missing -- the step that a call of this function for this step found unwritten, perhaps another; NULL: none
 * did. */
const char *mg_missing(const mg_bench *bench, const char *step, const char *function);

/* mg_note_missing -- in the row's note, if it is another step's. */
void mg_note_missing(mg_row *row, const char *missing);

/* mg_default_threads -- of a call that does not say: the processors we may use, 8 at most. */
int mg_default_threads(void);

#endif
