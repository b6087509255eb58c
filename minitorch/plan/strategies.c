/* strategies.c -- all strategies of a problem, one after the other (planner.h); which of them exist for a model, and
 * which layers a stage has (cost.h). */
#include "plan/planner.h"

#include <stdlib.h>

/* ---- of a model ------------------------------------------------------------------------------------------ */

/* The largest work of a stage is as small as possible: all layers cost the same, and the head is behind the last one.
 * With the bound known, stages take from the end as few layers as the ones before them allow. */
int64_t mt_plan_layers(const mt_plan_model *m, int64_t pp, int64_t stage)
{
    int64_t L = m->layers, layer = 12 * m->width + m->block, head = m->vocabulary, last = 1, best = INT64_MAX;
    if (pp == 1)
        return L;
    for (int64_t k = 1; k <= L - (pp - 1); k++) {
        int64_t most = mt_max(mt_ceil_div(L - k, pp - 1) * layer, k * layer + head);
        last = most < best ? k : last;
        best = mt_min(best, most);
    }
    if (stage == pp - 1)
        return last;
    L -= last, pp -= 1;
    for (int64_t each = mt_ceil_div(L, pp); pp > stage + 1; pp--) { /* the stages behind this one */
        int64_t theirs = mt_max(1, L - (pp - 1) * each);
        L -= theirs;
        each = mt_ceil_div(L, pp - 1);
    }
    return pp == 1 ? L : mt_max(1, L - (pp - 1) * mt_ceil_div(L, pp));
}

mt_plan_model mt_plan_filled(const mt_plan_model *model)
{
    mt_plan_model m = *model;
    m.rows = m.rows ? m.rows : (m.vocabulary + 63) / 64 * 64;
    return m;
}

const char *mt_plan_refuses(const mt_plan_model *m, const mt_plan_strategy *s)
{
    if (s->dp < 1 || s->pp < 1 || s->tp < 1)
        return "dp, pp and tp are at least 1";
    if (s->samples < 1 || s->time < 1 || s->micro < 1)
        return "a step has at least one token";
    if (s->time > m->block)
        return "samples are longer than the model's context";
    if (s->pp > m->layers)
        return "there are more stages than layers";
    if (m->heads % s->tp != 0)
        return "tp does not divide the heads";
    if (s->sequence && (s->tp == 1 || s->time % s->tp != 0))
        return "tokens of a sample are divided among several tensor ranks, equally";
    return s->zero < 0 || s->zero > 3 ? "ZeRO has the stages 0 to 3" : NULL;
}

/* ---- tokens that are divided ------------------------------------------------------------------------------ */

int64_t mt_plan_spared(const mt_plan_strategy *s, int64_t bytes)
{
    return s->sequence ? bytes - bytes / s->tp : 0;
}

/* The stream and layernorms' statistics are divided; in forward all arrays that tensor ranks have beside, but the
 * summand of the second projection, and in backward the gradients of the stream. */
int64_t mt_plan_layer_spared(int64_t *forward, int64_t *backward, const mt_plan_strategy *s, int64_t width,
                             mt_recompute recompute)
{
    int64_t stream = 4 * width, outside = 2 * stream + 4 * 4;
    bool block = recompute == MT_RECOMPUTE_BLOCK;
    int64_t kept = mt_plan_spared(s, block ? stream : outside), again = mt_plan_spared(s, outside) - kept;
    *forward = mt_plan_spared(s, (s->dtype == MT_F32 ? 5 : 4) * stream + (block ? 2 * stream : 0)) + again;
    *backward = mt_plan_spared(s, 2 * stream + (block ? 3 * stream : 0)) + again;
    return kept;
}

/* ---- of a problem ---------------------------------------------------------------------------------------- */

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

static bool divides(const mt_plan_problem *p, int64_t tp)
{
    return p->model.heads % tp == 0 && (!p->sequence || p->time % tp == 0);
}

mt_plan_strategy *mt_plan_grid(int64_t *count, const mt_plan_problem *p)
{
    mt_plan_strategy *grid = NULL;
    int64_t room = 0, n = p->devices;
    *count = 0;
    for (int64_t dp = 1; dp <= mt_min(p->batch, n); dp++)
        for (int64_t tp = 1; tp <= mt_min(p->model.heads, n / dp) && p->batch % dp == 0; tp++)
            for (int64_t pp = 1; pp <= mt_min(p->model.layers, n / dp / tp) && divides(p, tp); pp++) {
                if (*count == room) {
                    room = 2 * room + 64;
                    grid = realloc(grid, (size_t)room * sizeof *grid);
                    MT_CHECK(grid, "out of memory");
                }
                grid[(*count)++] = (mt_plan_strategy){
                    dp, pp, tp, 1, p->time, p->batch / dp, 0, MT_RECOMPUTE_NONE, p->dtype, tp > 1 && p->sequence
                };
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
