/* test_plan.c -- what is given of the planner: which layers a stage has is what lab 14 divides; the grid has each
 * strategy once; devices are found by name. Costs and the search are graded (grader/checks/15-*.c). */
#include "parallel/pipe.h"
#include "plan/planner.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

Test(plan, layers_are_those_of_the_pipeline)
{
    for (int64_t L = 1; L <= 24; L++)
        for (int64_t V = 1; V <= 100000; V = V * 7 + 3) {
            const mt_plan_model m = { V, 0, 64, L, 2, 32 };
            int64_t cost[24], begin[25];
            for (int64_t l = 0; l < L; l++)
                cost[l] = m.width * (12 * m.width + m.block);
            cost[L - 1] += m.width * V;
            for (int pp = 1; pp <= L; pp++) {
                cr_assert_eq(mt_pipe_partition(begin, cost, L, pp), MT_OK);
                for (int s = 0; s < pp; s++)
                    cr_assert_eq(mt_plan_layers(&m, pp, s), begin[s + 1] - begin[s], "%d layers, stage %d of %d",
                                 (int)L, s, pp);
            }
        }
}

static mt_plan_problem problem(void)
{
    return (mt_plan_problem){ .model = { 500, 0, 64, 5, 4, 32 },
                              .device = *mt_plan_device_named("A100"),
                              .devices = 13,
                              .batch = 12,
                              .time = 64,
                              .tokens = 1e6,
                              .dtype = MT_F32,
                              .efficiency = 0.5,
                              .days = INFINITY,
                              .dollars = INFINITY,
                              .zero = 3,
                              .zero_divided = 1 };
}

static bool is_same(const mt_plan_strategy *a, const mt_plan_strategy *b)
{
    return a->dp == b->dp && a->pp == b->pp && a->tp == b->tp && a->samples == b->samples && a->zero == b->zero &&
           a->recompute == b->recompute;
}

/* As many as three loops find, and no two the same. */
Test(plan, grid_has_each_strategy_once)
{
    mt_plan_problem p = problem();
    static mt_plan_strategy all[20000];
    int64_t count, n = 0, want = 0;
    mt_plan_strategy *grid = mt_plan_grid(&count, &p);
    for (int64_t i = 0; i < count; i++) {
        mt_plan_strategy s = grid[i];
        do {
            cr_assert_null(mt_plan_refuses(&p.model, &s));
            cr_assert(s.dp * s.micro * s.samples == p.batch && s.dp * s.pp * s.tp <= p.devices);
            for (int64_t k = 0; k < n; k++)
                cr_assert(!is_same(&all[k], &s));
            all[n++] = s;
        } while (mt_plan_next(&s, &p));
    }
    for (int64_t dp = 1; dp <= 12; dp++)
        for (int64_t pp = 1; pp <= 5; pp++)
            for (int64_t tp = 1; tp <= 4; tp++)
                for (int64_t b = 1; b <= 12; b++)
                    if (tp != 3 && dp * pp * tp <= 13 && 12 % dp == 0 && 12 / dp % b == 0 && b <= 12 / dp)
                        want += 3 * (dp == 1 ? 1 : pp * tp == 1 ? 4 : 2);
    cr_expect_eq(n, want);
    free(grid);
}

Test(plan, devices_have_names)
{
    cr_expect_not_null(mt_plan_device_named("H100"));
    cr_expect_null(mt_plan_device_named("B17"));
    cr_expect_str_eq(mt_last_error(), "there is no device \"B17\": use one of V100, A100, H100, H200, B200, "
                                      "TPUv5p, Trainium2, Gaudi3, WSE-3");
}
