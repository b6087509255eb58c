/* run.h -- the internals of an mg_run (check.h has its interface): one case being run, and data common to all cases. */
#pragma once

#include "build/build.h"
#include "sandbox/capture.h"
#include "report/results.h"
#include "sandbox/session.h"

/* Data common to all cases of one grading. */
typedef struct mg_bench {
    mg_labinfo info;
    mg_build build;
    mg_worker worker; /* with the submission's units */
    char worker_path[PATH_MAX], launcher_path[PATH_MAX];
    char reference_path[PATH_MAX]; /* empty until a race needs it */
    char counting_path[PATH_MAX];  /* empty until a count of memory traffic needs it */
    char uncounted[600];           /* why the units cannot be built for counting, although they build otherwise */
    char asked[64];                /* a unit that was left out and that a call needed (mg_build_more); else empty */
    uint64_t seed;
    mg_capture capture;
    bool marking;   /* the limits of the check are the only ones */
    uint32_t shift; /* of the last call: addresses rotate */
    bool no_speed;  /* mg_perf measures nothing */
    struct mg_failure {
        char function[MG_WIRE_NAME];
        int timeouts;
    } failure[128];
    int failures;
    double deadline; /* of the whole lab, by mt_now; 0: none */
    double used;     /* of info.limits.calls_s, by the calls so far */
} mg_bench;

struct mg_run {
    mg_bench *bench;
    mg_row *row;
    mg_session *session; /* of the group; NULL until a call needs one */
    bool judged;         /* row->verdict stands */
    bool hinted;         /* mg_hint since mg_begin, or the part has a hint: the hint is about this call */
    bool part_hinted;
    double credit; /* share of the points that a PASS earns */
    mt_rng rng;
    int calls;                                   /* answered */
    int64_t kept;                                /* bytes more that stay allocated after each call like the last one */
    mg_outcome outcome;                          /* of the last call */
    char function[MG_WIRE_NAME], as_called[200]; /* mg_as_called since mg_begin; else empty */
    char in_words[600];                          /* mg_in_words since mg_begin; else empty */
    char part[128];                              /* mg_part; else empty */
    char own_hint[400];                          /* of a call without a hint of its own: the part's, or the row's */
    mg_argument argument[MG_WIRE_VALUES];
    int arguments, threads;
    mg_where where; /* mg_place_arrays */
    uint32_t off;   /* mg_unaligned, mg_unaligned_one: a number of wire.h */
};

/* mg_put_call -- the described call as the row shows it: "mt_softmax_fwd_cpu(out, x, N=4, C=10)". */
void mg_put_call(const mg_run *run, char *text, size_t size);

/* mg_forget_call -- frees the arguments of the described call. */
void mg_forget_call(mg_run *run);

/* mg_forget_hint -- what was recognised in an earlier call, or part, says nothing about this one. */
void mg_forget_hint(mg_run *run);

/* mg_run_begin, mg_run_end -- around a group's run function; end gives the row its points. */
void mg_run_begin(mg_run *run, mg_bench *bench, mg_row *row, mg_session *session);
void mg_run_end(mg_run *run);

/* mg_judge -- the verdict and its detail; only the first call has an effect. */
void mg_judge(mg_run *run, mg_verdict verdict, const char *fmt, ...) MT_PRINTF(3, 4);

enum { MG_LAB_MINUTES = 30 };

/* mg_hopeless -- whether the described call is not worth its time; the run has its verdict then. mg_note_failure --
 * after a call that did not come back. mg_note_time -- after each call, which took so many seconds by the clock. */
bool mg_hopeless(mg_run *run);
void mg_note_time(mg_run *run, double seconds);
void mg_note_failure(mg_run *run);

/* mg_keep_printed -- what the failing call printed, into the row. */
void mg_keep_printed(mg_run *run);

/* mg_run_unwritten -- in place of the group's function: the verdict of the first row of the same title, whose call
 * ended at an MT_TODO or in the stub of a unit that does not build. */
void mg_run_unwritten(mg_run *run, const mg_row *first);

/* mg_default_threads -- of a call that does not say: the processors we may use, 8 at most. */
int mg_default_threads(void);
