/* 15-cost.c -- how the checks of the cost of a step run. Rows: 15-scale.c. */
#include "checks/15-scale.h"
#include "checks/fill.h"

#include <inttypes.h>

void mg_15_cost(mg_run *run, const void *one_case)
{
    cost_about about = ((const cost_case *)one_case)->about;
    for (int i = 0; i < 4; i++) {
        mt_rng *rng = mg_rng(run);
        int64_t V = mg_pick(rng, 5, 999), T = mg_pick(rng, 1, 64), L = mg_pick(rng, 1, 9), H = mg_pick(rng, 1, 4);
        int64_t C = H * mg_pick(rng, 1, 9), R = (V + 63) / 64 * 64, matrices = L * (3 + 1 + 4 + 4) * C * C;
        double want[3] = { (double)(matrices + L * 13 * C + (R + T + 2) * C), (double)(2 * (matrices + R * C)),
                           (double)(6 * T * (matrices + V * C) + 6 * L * T * (T + 1) * C) };
        mg_begin(run, "mt_gpt2_cost_of");
        mg_out(run, "parameters, copies, FLOPs", MT_I64, MT_SHAPE(3));
        mg_i64(run, "vocabulary", V);
        mg_i64(run, "block", T);
        mg_i64(run, "layers", L);
        mg_i64(run, "heads", H);
        mg_i64(run, "width", C);
        if (!mg_call(run))
            return;
        const int64_t *got = mg_result(run, "parameters, copies, FLOPs");
        if ((double)got[about] != want[about]) {
            mg_fail(run, "got %" PRId64 ", expected %.0f", got[about], want[about]);
            return;
        }
    }
}
