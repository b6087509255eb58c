/* stages.c -- which layers a stage has, and which strategies exist; see cost.h. */
#include "plan/cost.h"

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
    return s->zero < 0 || s->zero > 3 ? "ZeRO has the stages 0 to 3" : NULL;
}
