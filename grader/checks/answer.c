/* answer.c -- describing a call with f32 arrays, and judging its outputs. */
#include "checks/answer.h"
#include "checks/oracle.h"
#include "rows/traffic.h"

#include <stdlib.h>

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
    return (mg_answer){ name, mg_doubles(mt_shape_numel(shape)), mg_doubles(mt_shape_numel(shape)) };
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

static bool judge(mg_run *run, bool answered, const mg_answer *answers, int count)
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
    return judge(run, mg_call(run), answers, count);
}

bool mg_shared_and_judge(mg_run *run, const mg_answer *answers, int count)
{
    return judge(run, mg_shared_call(run), answers, count);
}

bool mg_searched_and_judge(mg_run *run, bool searched, const mg_answer *answers, int count)
{
    return searched ? mg_shared_and_judge(run, answers, count) : mg_call_and_judge(run, answers, count);
}
