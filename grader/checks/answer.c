/* answer.c -- describing a call with f32 arrays, and judging its outputs. */
#include "checks/answer.h"
#include "checks/oracle.h"
#include "rows/run.h"
#include "rows/traffic.h"

#include <stdlib.h>
#include <string.h>

int64_t mg_size(mg_run *run, int64_t size, int64_t most)
{
    return size >= 0 ? size : mg_pick_size(mg_rng(run), 1, most);
}

float *mg_input(mg_run *run, const char *name, mt_shape shape, mg_dist dist)
{
    float *x = mg_in(run, name, MT_F32, shape);
    mg_fill(mg_rng(run), x, mt_shape_numel(shape), dist);
    return x;
}

static mg_answer answer_new(const char *name, mt_shape shape)
{
    int64_t n = mt_shape_numel(shape);
    return (mg_answer){ name, mg_doubles(n), mg_doubles(n), n };
}

mg_answer mg_overwritten(mg_run *run, const char *name, mt_shape shape)
{
    mg_out(run, name, MT_F32, shape);
    return answer_new(name, shape);
}

mg_answer mg_accumulated(mg_run *run, const char *name, mt_shape shape, bool held)
{
    float *dx = mg_inout(run, name, MT_F32, shape);
    mg_answer answer = answer_new(name, shape);
    if (held)
        mg_fill(mg_rng(run), dx, mt_shape_numel(shape), (mg_dist)NORMAL(0, 1));
    for (int64_t i = 0; i < mt_shape_numel(shape); i++)
        answer.v[i] = dx[i];
    return answer;
}

mg_answer mg_replaced(mg_run *run, const char *name, mt_shape shape, mg_dist dist, float **x)
{
    *x = mg_inout(run, name, MT_F32, shape);
    mg_fill(mg_rng(run), *x, mt_shape_numel(shape), dist);
    return answer_new(name, shape);
}

void mg_answer_drop(mg_answer *answer)
{
    free(answer->v);
    free(answer->e);
    answer->v = answer->e = NULL;
}

bool mg_judge_answers(mg_run *run, bool answered, const mg_answer *answers, int count)
{
    bool good = answered;
    for (int i = 0; i < count; i++) {
        good = good && (!answers[i].v || mg_expect(run, answers[i].name, answers[i].v, answers[i].e));
        free(answers[i].v);
        free(answers[i].e);
    }
    return good;
}

bool mg_call_and_judge(mg_run *run, const mg_answer *answers, int count)
{
    return mg_judge_answers(run, mg_call(run), answers, count);
}

/* What an output holds now becomes what is expected of it, to the bit. */
static void expect_again(mg_run *run, const mg_answer *answer, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        answer->v[i] = mg_got(run, answer->name, i);
    memset(answer->e, 0, sizeof *answer->e * (size_t)n);
}

bool mg_threads_and_judge(mg_run *run, const mg_answer *answers, int count)
{
    mg_place_arrays(run, MG_AT_END);
    for (int threads = 1; threads < 3; threads++) {
        mg_threads(run, threads);
        bool good = mg_call(run);
        for (int i = 0; i < count && good; i++)
            good = !answers[i].v || mg_expect(run, answers[i].name, answers[i].v, answers[i].e);
        for (int i = 0; i < count && good; i++)
            if (answers[i].v)
                expect_again(run, &answers[i], answers[i].n);
        if (!good)
            break; /* judged: what follows calls nothing */
        mg_hint(run, "%d threads give other bits than one: a sum must not be divided among threads", threads + 1);
    }
    mg_threads(run, 3);
    bool good = mg_call_and_judge(run, answers, count);
    mg_place_arrays(run, MG_ANYWHERE);
    return good;
}

bool mg_shared_and_judge(mg_run *run, const mg_answer *answers, int count)
{
    return mg_searched_and_judge(run, true, answers, count);
}

bool mg_searched_and_judge(mg_run *run, bool searched, const mg_answer *answers, int count)
{
    return mg_judge_answers(run, searched ? mg_shared_call(run) : mg_call(run), answers, count);
}

/* ---- the same call again --------------------------------------------------------------------- */

static bool is_output(const mg_argument *a)
{
    return a->result && a->name[0]; /* the grader's own report has no name */
}

/* All outputs of the call just made, one after the other; free it. */
static char *keep_outputs(const mg_run *run)
{
    size_t bytes = 0;
    for (int i = 0; i < run->arguments; i++)
        bytes += is_output(&run->argument[i]) ? (size_t)run->argument[i].bytes : 0;
    char *kept = malloc(bytes + 1), *to = kept;
    MT_CHECK(kept, "out of memory for %zu bytes", bytes);
    for (int i = 0; i < run->arguments; i++)
        if (is_output(&run->argument[i]))
            to = (char *)mempcpy(to, run->argument[i].result, (size_t)run->argument[i].bytes);
    return kept;
}

bool mg_same_bits(mg_run *run, mg_one_fn *one, const void *user)
{
    mt_rng rng = *mg_rng(run);
    if (!one(run, user))
        return false;
    char *kept = keep_outputs(run), *before = kept;
    *mg_rng(run) = rng;
    bool good = one(run, user);
    for (int i = 0; i < run->arguments && good; i++) {
        const mg_argument *a = &run->argument[i];
        if (!is_output(a))
            continue;
        good = memcmp(before, a->result, (size_t)a->bytes) == 0;
        before += a->bytes;
        if (!good) {
            mg_hint(run,
                    "every sum must have a fixed order: use no atomic additions of floats, and no other sum in the "
                    "order in which threads or blocks arrive");
            mg_fail(run, "%s has other bits than in a call with the same inputs and the threads in the opposite order",
                    a->name);
        }
    }
    free(kept);
    return good;
}

void mg_begin_refused(mg_run *run, const char *function)
{
    mg_begin(run, function);
    mg_out(run, "aborted", MT_I64, MT_SHAPE(1));
    mg_threads(run, 1); /* the call is left by a jump, which must not be out of a team */
}

bool mg_refused(mg_run *run, const char *what, const char *header)
{
    if (!mg_call(run))
        return false;
    if (*(const int64_t *)mg_result(run, "aborted") == 1)
        return true;
    mg_hint(run, "write or keep the MT_CHECK: the header says \"Aborts: %s\"", header);
    return mg_fail(run, "%s was accepted, but the header says \"Aborts: %s\"", what, header);
}

bool mg_call_aborts(mg_run *run, const char *hint)
{
    static const double yes = 1;
    mg_out(run, "aborted", MT_I64, MT_SHAPE(1));
    mg_threads(run, 1);
    mg_hint(run, "%s", hint);
    return mg_call(run) && mg_expect(run, "aborted", &yes, NULL);
}
