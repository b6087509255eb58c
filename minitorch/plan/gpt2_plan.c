/* gpt2_plan.c -- plans the runs of train_gpt2 (train/gpt2_run.h): what a step takes, on each rank, whether this machine
 * has so much memory, and what may be computed again instead. */
#include <stdlib.h>
#include <string.h>

#include "cli/allowed.h"
#include "plan/cost.h"
#include "plan/gpt2_cost.h"
#include "train/gpt2_run.h"

typedef mt_gpt2_run run;

static mt_gpt2_batch batch_of(const run *r)
{
    const mt_gpt2_options *o = &r->opt;
    int64_t scratch, more = mt_gpt2_rule_bytes(&scratch, &o->config, o->recipe.optimizer, o->recipe.state8) -
                            mt_gpt2_rule_bytes(&scratch, &o->config, MT_ADAMW, false);
    return (mt_gpt2_batch){ o->batch / o->team.dp, o->config.block, o->micro, o->recipe.dtype, more,
                            o->recompute.offload };
}

static mt_status plan(run *r)
{
    const mt_gpt2_options *o = &r->opt;
    const mt_gpt2_batch batch = batch_of(r);
    if (o->recompute.budget && mt_gpt2_choose(r->recompute, &o->config, &batch, o->recompute.budget) != MT_OK)
        return mt_fail(MT_ERR_ARGUMENT, "recompute: %s", mt_last_error());
    mt_gpt2_cost cost = mt_gpt2_cost_of(&o->config, &batch, r->recompute);
    r->flops = cost.flops, r->peak = cost.peak_bytes;
    return MT_OK;
}

static void print(const run *r)
{
    const mt_gpt2_options *o = &r->opt;
    const mt_gpt2_batch batch = batch_of(r);
    mt_gpt2_cost cost = mt_gpt2_cost_of(&o->config, &batch, r->recompute);
    mt_gpt2_cost_print(&cost, &o->config);
    if (o->plan)
        mt_gpt2_recompute_print(&o->config, &batch, o->recompute.budget ? r->recompute : NULL);
    if (batch.offload && o->config.layers > 1)
        printf("Activations of layers 0-%d wait on the host\n", (int)o->config.layers - 2);
    if (cost.again_flops)
        printf("Backward computes again: %s\n", mt_recompute_text(r->recompute, o->config.layers));
}

static void advise(void *user, FILE *out, int64_t had)
{
    const run *r = user;
    const mt_gpt2_batch batch = batch_of(r);
    mt_gpt2_advise(out, &r->opt.config, &batch, r->recompute, had);
}

/* ---- ranks ------------------------------------------------------------------------------------------------ */

/* Whether each layer is computed again in the same way, as a plan has it. */
static bool uniform(const run *r)
{
    for (int64_t l = 1; l < r->opt.config.layers; l++)
        if (r->recompute[l] != r->recompute[0])
            return false;
    return true;
}

/* What tensor ranks over NCCL have beside their plan, at most: all rows of the token table (parallel/parts.h), with
 * gradient, moments and the copy of 16 bits, and the probabilities of all tokens; with tokens divided, of a rank's
 * tokens all of them instead. */
static int64_t whole_table(const run *r, int64_t stage)
{
    const mt_team_config *c = &r->opt.team;
    const mt_gpt2_config *m = &r->opt.config;
    const mt_gpt2_batch b = batch_of(r);
    int64_t copies = b.dtype == MT_F32 ? 0 : 2, part = mt_ceil_div(m->rows, c->tp), tokens = 0;
    if (strcmp(c->engine, "nccl") != 0 || (stage > 0 && stage < c->pp - 1))
        return 0;
    if (stage == c->pp - 1 && !c->sequence)
        tokens = b.samples * b.time;
    return (8 + 8 / (c->zero ? c->dp : 1) + copies) * (m->rows - part) * m->width +
           (4 + copies) * tokens * (m->vocabulary - mt_min(part, m->vocabulary));
}

/* The plan is of 1F1B, rings, and gradients that are sent as they are. Of a hierarchy a rank sends as many bytes as of
 * one ring. */
static mt_rank_took planned(const run *r, int rank)
{
    const mt_team_config *c = &r->opt.team;
    const mt_gpt2_config *m = &r->opt.config;
    const mt_plan_model model = { m->vocabulary, m->rows, m->block, m->layers, m->heads, m->width };
    const mt_gpt2_batch b = batch_of(r);
    const mt_plan_strategy strategy = { c->dp,   c->pp,   c->tp,           b.samples, b.time,
                                        b.micro, c->zero, r->recompute[0], b.dtype,   c->sequence };
    int64_t stage = rank / (c->dp * c->tp);
    mt_plan_cost cost = mt_plan_cost_of(&model, &strategy, stage);
    cost.peak += whole_table(r, stage);
    int64_t scratch, adam = mt_gpt2_rule_bytes(&scratch, m, MT_ADAMW, false);
    cost.peak += (int64_t)((double)b.more * (double)cost.optimizer / (double)adam); /* of the rank's part of AdamW's */
    bool memory = uniform(r) && !b.offload && (c->pp == 1 || c->schedule.kind == MT_PP_1F1B);
    bool wire = c->compress == MT_PLAIN && (c->all_reduce == MT_BY_RING || c->all_reduce == MT_BY_HIERARCHY) &&
                c->schedule.chunks == 1;
    return (mt_rank_took){ memory ? cost.peak : -1, -1, wire ? cost.data + cost.pipe + cost.tensor : -1, -1 };
}

/* A rank's part of a step on one rank: it makes whole parameters, too, before ZeRO divides them. */
static mt_status fits(const run *r)
{
    const mt_team_config *c = &r->opt.team;
    const char *local = getenv("OMPI_COMM_WORLD_LOCAL_SIZE"); /* ranks of this machine, under mpirun */
    int64_t ranks = mt_max(1, local ? mt_min(atoi(local), c->ranks) : c->ranks), parts = c->pp * c->tp, scratch;
    mt_gpt2_rule_bytes(&scratch, &r->opt.config, r->opt.recipe.optimizer, false);
    if (r->opt.recipe.device != MT_CPU)
        return MT_OK;
    return mt_memory_check(ranks * ((r->peak + scratch) / parts), ranks > 1 ? "a step of all ranks" : "a step",
                           "a smaller --batch with more --micro-batches, or --recompute, makes it less");
}

static const mt_gpt2_planner planner = { plan, fits, print, planned, advise };
const mt_gpt2_planner *mt_gpt2_plan = &planner;
