/* answer.h -- one call whose outputs are f32 arrays with an oracle: describe, call, compare, free. */
#pragma once

#include "check.h"
#include "checks/fill.h"

/* What an output should be: value and bound of each element, freed by mg_call_and_judge. v NULL: not compared. */
typedef struct mg_answer {
    const char *name;
    double *v, *e;
    int64_t n; /* elements */
} mg_answer;

/* mg_size -- size, or a random awkward one of 1 .. most when size is negative. */
int64_t mg_size(mg_run *run, int64_t size, int64_t most);

/* mg_input -- an input drawn from dist. */
float *mg_input(mg_run *run, const char *name, mt_shape shape, mg_dist dist);

/* mg_overwritten -- an output to be overwritten. */
mg_answer mg_overwritten(mg_run *run, const char *name, mt_shape shape);

/* mg_accumulated -- an output to be added to: its v holds zeros, or normal numbers when `held`. */
mg_answer mg_accumulated(mg_run *run, const char *name, mt_shape shape, bool held);

/* mg_replaced -- an array drawn from dist that the call replaces by its result; *x is lent until the call. */
mg_answer mg_replaced(mg_run *run, const char *name, mt_shape shape, mg_dist dist, float **x);

/* mg_answer_drop -- this output is not compared. */
void mg_answer_drop(mg_answer *answer);

/* mg_begin_refused, mg_refused -- a call that must abort: begin it, with the output `aborted` of worker/call.h; after
 * its arguments, call and judge. `what` was to be refused, by these words of the header. */
void mg_begin_refused(mg_run *run, const char *function);
bool mg_refused(mg_run *run, const char *what, const char *header);

/* mg_call_aborts -- the described call, of a function that may abort, does; with one thread, which returns from it. */
bool mg_call_aborts(mg_run *run, const char *hint);

/* mg_call_and_judge -- call, compare every output, free the answers. */
bool mg_call_and_judge(mg_run *run, const mg_answer *answers, int count);

/* mg_judge_answers -- the same behind a call of the check itself; answered: it has not failed. */
bool mg_judge_answers(mg_run *run, bool answered, const mg_answer *answers, int count);

/* mg_same_bits -- calls one(run, user), which makes one call and judges it, twice with the same random numbers: the
 * second call runs threads and blocks in the opposite order, and its outputs must have the same bits. */
typedef bool mg_one_fn(mg_run *run, const void *user);
bool mg_same_bits(mg_run *run, mg_one_fn *one, const void *user);

/* mg_threads_and_judge -- the same with one, two and three threads, of which all must give the same bits. */
bool mg_threads_and_judge(mg_run *run, const mg_answer *answers, int count);

/* mg_shared_and_judge -- the same with four threads, which are searched for data races (traffic.h). */
bool mg_shared_and_judge(mg_run *run, const mg_answer *answers, int count);

/* mg_searched_and_judge -- search for data races if `searched` (one large call of a row), else only judge. */
bool mg_searched_and_judge(mg_run *run, bool searched, const mg_answer *answers, int count);
