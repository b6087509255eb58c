/* gpt2_took.c -- what the first step took on each rank, beside its plan; see gpt2_run.h. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan/cost.h"
#include "train/gpt2_run.h"
#include "train/run_json.h"

typedef mt_gpt2_run run;

/* Whether each layer is computed again in the same way, as a plan has it. */
static bool uniform(const run *r)
{
    for (int64_t l = 1; l < r->opt.config.layers; l++)
        if (r->recompute[l] != r->recompute[0])
            return false;
    return true;
}

/* The plan is of AdamW, 1F1B, rings, and gradients that are sent as they are. */
static mt_rank_took planned(const run *r, int rank)
{
    const mt_team_config *c = &r->opt.team;
    const mt_gpt2_config *m = &r->opt.config;
    const mt_plan_model model = { m->vocabulary, m->rows, m->block, m->layers, m->heads, m->width };
    const mt_plan_strategy strategy = { c->dp,          c->pp,   c->tp,           r->batch.samples, r->batch.time,
                                        r->batch.micro, c->zero, r->recompute[0], r->batch.dtype };
    mt_plan_cost cost = mt_plan_cost_of(&model, &strategy, rank / (int)(c->dp * c->tp));
    bool memory = uniform(r) && (c->pp == 1 || c->schedule.kind == MT_PP_1F1B);
    bool wire = c->compress == MT_PLAIN && c->all_reduce == MT_BY_RING && c->schedule.chunks == 1;
    return (mt_rank_took){ memory ? cost.peak : -1, -1, wire ? cost.data + cost.pipe + cost.tensor : -1, -1 };
}

static mt_rank_took measured(const run *r)
{
    mt_rank_took took = planned(r, r->team->rank);
    bool threads = strcmp(r->opt.team.engine, "threads") == 0, nccl = strcmp(r->opt.team.engine, "nccl") == 0;
    took.peak = threads ? -1 : mt_peak_bytes(r->opt.recipe.device);
    took.sent = nccl ? -1 : r->team->sent(r->team) - r->sent;
    return took;
}

static const char *text(char out[32], const char *format, double value)
{
    snprintf(out, 32, value < 0 ? "-" : format, value);
    return out;
}

enum { SHOWN = 16 /* ranks */ };

static void print(const run *r)
{
    char a[32], b[32], c[32], d[32];
    int ranks = r->team->size;
    int64_t sum = 0, most = r->opt.team.zero == 3;
    printf("A step by plan and measured: memory at the most in MB, and bytes sent%s\n",
           most ? " (of ZeRO stage 3 the plan is the most)" : "");
    printf("  rank   planned MB  measured MB     planned bytes     bytes sent\n");
    for (const mt_rank_took *t = r->took; t < r->took + ranks; t++) {
        sum += t->planned_peak;
        if (t - r->took < SHOWN)
            printf("  %4d %12s %12s %17s %14s\n", (int)(t - r->took), text(a, "%.2f", (double)t->planned_peak / 1e6),
                   text(b, "%.2f", (double)t->peak / 1e6), text(c, "%.0f", (double)t->planned_sent),
                   text(d, "%.0f", (double)t->sent));
    }
    if (ranks > SHOWN)
        printf("  %d ranks more: \"ranks\" in run.json\n", ranks - SHOWN);
    if (r->took->peak < 0)
        printf("All ranks share this process: %.2f MB in all; each at its most at the same moment would be %s MB\n",
               (double)mt_peak_bytes(r->opt.recipe.device) / 1e6,
               text(a, "%.2f", r->took->planned_peak < 0 ? -1 : (double)sum / 1e6));
}

mt_status mt_gpt2_run_took(run *r)
{
    mt_rank_took mine = measured(r), *all = mt_calloc(r->team->size, sizeof *all);
    mt_status status = r->team->tell(r->team, all, &mine, sizeof mine);
    r->took = all; /* freed at the end */
    if (status == MT_OK && mt_team_first(r->team))
        print(r);
    return status;
}
