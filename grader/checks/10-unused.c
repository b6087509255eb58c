/* 10-unused.c -- a segment whose forward does not use its only parameter, which alone wants a gradient (step 10.3): the
 * result has a node, but the recomputed one has none, and the parameter is reported ready without a gradient. */
#include "checks/10-memory.h"
#include "checks/fill.h"

bool mg_10_unused(mg_run *run)
{
    enum { N = 7 };
    mg_begin(run, "segments, unused parameter");
    mg_out(run, "out", MT_F32, MT_SHAPE(N));
    mg_out(run, "facts", MT_I64, MT_SHAPE(3));
    float *x = mg_in(run, "x", MT_F32, MT_SHAPE(N));
    mg_fill(mg_rng(run), x, N, (mg_dist)NORMAL(0, 1));
    double want[N];
    for (int i = 0; i < N; i++)
        want[i] = 2.0 * x[i];
    if (!mg_call(run) || !mg_expect(run, "out", want, NULL))
        return false;
    const int64_t *facts = mg_result(run, "facts");
    if (facts[0] == 1 && facts[1] == 1 && facts[2] == 0)
        return true;
    mg_hint(run, "this forward is x + x: its result has a node, as edges are all parameters, and none of them gets a "
                 "gradient");
    return mg_fail(run,
                   "a parameter that forward does not use: the result has %lld nodes, expected 1; ready %lld times, "
                   "expected 1; it has %lld gradients, expected 0",
                   (long long)facts[0], (long long)facts[1], (long long)facts[2]);
}
