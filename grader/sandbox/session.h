/* session.h -- one worker process and the calls made in it.
 *
 * A call copies fresh inputs in, times the function from outside, and copies the outputs out while the worker is
 * stopped. Between calls the worker stays stopped. Replies of the worker determine when to continue, but never the
 * verdict. */
#pragma once

#include "check.h"
#include "sandbox/sandbox.h"
#include "sandbox/wire.h"

#include <signal.h>

typedef struct mg_argument {
    mg_kind kind;
    char name[MG_WIRE_ARGUMENT];
    mt_dtype dtype;
    mt_shape shape;
    int64_t bytes;
    void *data;   /* arrays: contents at the start of the call (inputs, or poison) */
    void *result; /* MG_OUT, MG_INOUT: copied here after the call */
    int64_t i64;
    double real;
} mg_argument;

typedef struct mg_invocation {
    const char *function;
    mg_argument *argument;
    int count, threads;
    double most_s;  /* seconds for this call, 0: only the limits of the check count */
    bool at_end;    /* arrays end where a guard begins, or start where one ends */
    uint32_t off;   /* which arrays on the device are not aligned: a number of wire.h */
    uint32_t shift; /* pages to move addresses by */
} mg_invocation;

typedef struct mg_outcome {
    mg_verdict verdict;     /* MG_PASS: answered in time and wrote nothing outside; says nothing about values */
    char detail[1024];      /* a description for the other verdicts */
    uint64_t pc[MG_FRAMES]; /* MG_CRASH: where, and the callers; 0: unknown, or no more */
    double wall, cpu;       /* seconds of the call, by our clocks */
    double waited;          /* seconds in which its threads, or we, were ready but had no processor */
    bool awake;             /* MG_CRASH: it used processor time while it was stopped */
    int64_t kept;           /* bytes that it allocated and did not free, if the worker is to be trusted */
} mg_outcome;

typedef struct mg_worker {
    const char *path;     /* the static binary with the units under test */
    const char *launcher; /* limits threads, then executes it (worker/launch.c) */
    mg_confinement confined;
    mg_limits limits;    /* of one check */
    int cpus, cpu_shift; /* as in mg_sandbox */
    bool device;         /* runs the emulator */
    bool spread;         /* before each call give every thread a processor of its own (mg_spread) */
} mg_worker;

typedef struct mg_session mg_session;

/* Set by a signal handler: every wait for a worker ends soon, with MG_ERROR. */
extern volatile sig_atomic_t mg_stop;

/* mg_session_start -- a fresh worker; NULL with mt_last_error if it cannot be started. From then on the process
 * ignores SIGPIPE. */
mg_session *mg_session_start(const mg_worker *worker);

/* mg_session_worker -- what it runs. */
mg_worker mg_session_worker(const mg_session *session);

/* mg_session_aborted -- whether the unit aborted in the last call, as expected: the next call needs a fresh worker. */
bool mg_session_aborted(const mg_session *session);

/* mg_session_renew -- begin a new check: reset the counts for its time and output limits. */
void mg_session_renew(mg_session *session);

/* mg_session_call -- make one call. After any verdict but MG_PASS the session cannot be used any more. */
void mg_session_call(mg_session *session, const mg_invocation *invocation, mg_outcome *outcome);

/* mg_session_printed -- the last lines that the current check printed. */
void mg_session_printed(mg_session *session, char *text, size_t size);

void mg_session_end(mg_session *session); /* NULL is allowed */
