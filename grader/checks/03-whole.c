/* 03-whole.c -- how the checks of step 03.8 run that are not about random graphs: a long chain, memory, misuse. Rows:
 * 03-autograd.c. */
#include "checks/03-autograd.h"
#include "checks/fill.h"

#include <inttypes.h>
#include <math.h>

/* ---- deep and large -------------------------------------------------------------------------------------------- */

void mg_03_long_chain(mg_run *run, const void *one_case)
{
    double want[4], same[4];
    (void)one_case;
    mg_begin(run, "backward through a long chain");
    mg_as_called(run, "mt_backward_from(y, gradient): a chain of 200,000 nodes and 1,024 branches");
    mg_out(run, "grad", MT_F32, MT_SHAPE(2, 2));
    mg_out(run, "gradient after", MT_F32, MT_SHAPE(2, 2));
    mg_fill(mg_rng(run), mg_in(run, "x", MT_F32, MT_SHAPE(2, 2)), 4, (mg_dist)NORMAL(0, 1));
    float *gradient = mg_in(run, "gradient", MT_F32, MT_SHAPE(2, 2));
    mg_i64(run, "nodes", 200000);
    mg_i64(run, "branches", 1024);
    for (int i = 0; i < 4;
         i++) { /* once through the chain, halved and doubled in turn, and 1024 times a 1024th: exact */
        gradient[i] = (float)mg_pick(mg_rng(run), 2, 9);
        same[i] = gradient[i];
        want[i] = 2 * same[i];
    }
    if (!mg_call(run))
        return;
    mg_hint(run,
            "the walk ended, but its values are wrong: backward begins with `gradient`, whose elements are not 1, and "
            "x gets a part of it through the chain and one through the branches");
    if (mg_expect(run, "grad", want, NULL))
        mg_expect(run, "gradient after", same, NULL);
}

/* Forward leaves the results of all steps in memory. When backward visits step k from the end, k results should be
 * freed; backward itself holds two gradients; the loss and its node are small. */
void mg_03_memory(mg_run *run, const void *one_case)
{
    int64_t steps = mg_pick(mg_rng(run), 16, 24), elements = mg_pick(mg_rng(run), 20000, 30000), bytes = elements * 4;
    (void)one_case;
    mg_begin(run, "backward through large results");
    mg_as_called(run, "mt_backward(loss) after %" PRId64 " steps of %" PRId64 " elements", steps, elements);
    mg_out(run, "live", MT_I64, MT_SHAPE(steps));
    mg_out(run, "ends", MT_I64, MT_SHAPE(4));
    mg_out(run, "the loss; a retained result", MT_F32, MT_SHAPE(2));
    mg_i64(run, "steps", steps);
    mg_i64(run, "elements", elements);
    const double want[] = { (double)elements, 1 }; /* a sum of ones, exact in f32, and one of them */
    if (!mg_call(run) || !mg_expect(run, "the loss; a retained result", want, NULL))
        return;
    const int64_t *live = mg_result(run, "live"), *ends = mg_result(run, "ends");
    if (ends[1] - ends[0] < steps * bytes)
        mg_fail(run, "forward keeps %lld bytes   expected at least %lld: every result is needed by backward",
                (long long)(ends[1] - ends[0]), (long long)(steps * bytes));
    for (int64_t k = 0; k < steps; k++) {
        int64_t most = ends[1] - (k - 3) * bytes;
        if (live[k] == 0)
            mg_fail(run, "visit %lld did not happen   expected %lld visits", (long long)k + 1, (long long)steps);
        else if (live[k] > most)
            mg_fail(run, "at visit %lld %lld bytes are live   expected at most %lld: each node frees what it saved",
                    (long long)k + 1, (long long)live[k], (long long)most);
        if (live[k] == 0 || live[k] > most)
            return;
    }
    if (ends[2] - ends[0] > 4 * bytes || ends[3] != ends[0])
        mg_fail(run, "%lld bytes are live after backward, %lld after the scope   expected at most %lld and 0",
                (long long)(ends[2] - ends[0]), (long long)(ends[3] - ends[0]), (long long)(4 * bytes));
}

/* ---- misuse ------------------------------------------------------------------------------------------------------ */

static bool expect_facts(mg_run *run, int how, bool refused)
{
    const bool idle = how == MG_IDLE_BRANCH;
    static const char *const wrong[][2] = {
        { "", "the first backward was refused" },
        { "a backward that is not allowed was not refused", "a backward that is allowed was refused" },
        { "the node without a gradient was not emptied: mt_node_consume is for every node that is visited", "" },
        { "the leaf that only the node without a gradient uses was not announced: count down its inputs too", "" },
        { "after backward(sum(h)) a new loss, sum(h * x), was not refused: the edge to h must lead to the node of h, "
          "which is consumed",
          "" },
    };
    const int64_t *facts = mg_result(run, "facts"), want[] = { 0, refused, idle, idle, how == MG_SHARED_PART };
    for (int i = 0; i < MT_COUNT(want); i++)
        if (facts[i] != want[i]) {
            mg_fail(run, "%s", wrong[i][want[i] == 0]);
            return false;
        }
    return true;
}

static bool misuse_once(mg_run *run, int how, bool refused)
{
    int64_t S = mg_pick(mg_rng(run), 2, 9), sums = how == MG_IDLE_BRANCH ? 2 : 1;
    double want[9], tolerance[9];
    static const char *const words[] = {
        [MG_SAME_LOSS_TWICE] = "mt_backward(loss), twice",
        [MG_SHARED_PART] = "mt_backward(sum(h)), then mt_backward(sum(h * 3))",
        [MG_WRITTEN] = "mt_backward(sum(x * x)) after x was written in place",
        [MG_WRITTEN_UNSAVED] = "mt_backward(sum(x * 3)) after x was written in place",
        [MG_IDLE_BRANCH] = "mt_backward through a graph of which one branch gets no gradient",
    };
    mg_begin(run, "backward misused");
    mg_as_called(run, "%s", words[how]);
    mg_out(run, "facts", MT_I64, MT_SHAPE(5));
    mg_out(run, "grad", MT_F32, MT_SHAPE(S));
    float *x = mg_in(run, "x", MT_F32, MT_SHAPE(S));
    mg_fill(mg_rng(run), x, S, (mg_dist)NORMAL(0, 1));
    mg_i64(run, "how", how);
    for (int64_t i = 0; i < S; i++) { /* of one or two sums of x * x, each of two products by 1 and an addition */
        want[i] = (double)sums * 2 * (double)x[i];
        tolerance[i] = mt_tolerance(3 * (double)sums, fabs(want[i]));
    }
    return mg_call(run) && mg_expect(run, "grad", want, tolerance) && expect_facts(run, how, refused);
}

void mg_03_misuse(mg_run *run, const void *one_case)
{
    const misuse_case *c = one_case;
    if (misuse_once(run, c->how, c->refused))
        misuse_once(run, c->otherwise, c->otherwise_refused);
}
