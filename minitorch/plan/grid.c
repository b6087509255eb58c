/* grid.c -- all strategies of a problem, one after the other; see planner.h. */
#include <stdlib.h>

#include "plan/planner.h"

static int by_devices(const void *a, const void *b)
{
    const mt_plan_strategy *s = a, *t = b;
    int64_t first = s->dp * s->pp * s->tp, second = t->dp * t->pp * t->tp;
    if (first != second)
        return first < second ? -1 : 1;
    if (s->pp != t->pp)
        return s->pp < t->pp ? -1 : 1;
    return s->tp < t->tp ? -1 : s->tp > t->tp;
}

mt_plan_strategy *mt_plan_grid(int64_t *count, const mt_plan_problem *p)
{
    mt_plan_strategy *grid = NULL;
    int64_t room = 0, n = p->devices;
    *count = 0;
    for (int64_t dp = 1; dp <= mt_min(p->batch, n); dp++)
        for (int64_t tp = 1; tp <= mt_min(p->model.heads, n / dp) && p->batch % dp == 0; tp++)
            for (int64_t pp = 1; pp <= mt_min(p->model.layers, n / dp / tp) && p->model.heads % tp == 0; pp++) {
                if (*count == room) {
                    room = 2 * room + 64;
                    grid = realloc(grid, (size_t)room * sizeof *grid);
                    MT_CHECK(grid, "out of memory");
                }
                grid[(*count)++] =
                    (mt_plan_strategy){ dp, pp, tp, 1, p->time, p->batch / dp, 0, MT_RECOMPUTE_NONE, p->dtype };
            }
    if (*count)
        qsort(grid, (size_t)*count, sizeof *grid, by_devices);
    return grid;
}

bool mt_plan_next(mt_plan_strategy *s, const mt_plan_problem *p)
{
    int64_t each = p->batch / s->dp, most = s->pp * s->tp > 1 ? p->zero_divided : p->zero;
    if (s->recompute < MT_RECOMPUTES - 1) {
        s->recompute++;
        return true;
    }
    s->recompute = MT_RECOMPUTE_NONE;
    if (s->dp > 1 && s->zero < most) {
        s->zero++;
        return true;
    }
    s->zero = 0;
    do
        s->samples++;
    while (s->samples <= each && each % s->samples != 0);
    s->micro = s->samples <= each ? each / s->samples : 0;
    return s->samples <= each;
}
