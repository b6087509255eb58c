/* gpt2_run.c -- the checkpoints of train_gpt2, the rows of its log, its samples, and what its first step took; see
 * gpt2_run.h. */
#include "train/gpt2_run.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "train/given.h"
#include "train/run_json.h"

/* Weak: whoever plans runs defines it. (Not const: GCC would fold the NULL.) */
__attribute__((weak)) const mt_gpt2_planner *mt_gpt2_plan = NULL;

typedef mt_gpt2_run run;

/* What was read, and what share of it. */
static void data_state(mt_state *rest, const mt_corpus *c)
{
    for (int64_t i = 0; i < c->parts; i++) {
        const mt_corpus_part *p = &c->part[i];
        char name[64];
        snprintf(name, sizeof name, i ? "text checksum %d" : "text checksum", (int)i + 1);
        mt_state_setting(rest, c->own_valid && i == c->parts - 1 ? "valid checksum" : name, "%s",
                         mt_saving_sum(p->path));
        snprintf(name, sizeof name, "text weight %d", (int)i + 1);
        if (p->weight > 0)
            mt_state_setting(rest, name, "%.17g", p->weight);
    }
}

/* Everything that later steps depend on. */
static void lists_of(run *r, mt_state *model, mt_state *rest)
{
    mt_gpt2_options *o = &r->opt;
    char name[4096];
    *model = *rest = (mt_state){ 0 };
    mt_module_state(model, r->model);
    mt_state_setting(rest, "program", "train_gpt2");
    mt_gpt2_state(rest, &o->config);
    mt_state_integer(rest, &r->corpus.count, "tokens");
    mt_state_integer(rest, &o->batch, "batch");
    mt_state_integer(rest, &o->micro, "micro-batches");
    mt_state_integer(rest, &o->steps, "steps");
    mt_state_fix(rest);
    mt_recipe_state(rest, &o->recipe);
    data_state(rest, &r->corpus);
    if (o->from)
        mt_state_setting(rest, "from checksum", "%s", mt_saving_sum(mt_given_file(name, o->from, "model.safetensors")));
    mt_loop_state(rest, &r->loop);
    mt_ema_state(rest, r->extras.ema);
    mt_loader_state(rest, r->train);
    mt_state_integer(rest, &r->rows, "metrics rows");
    mt_state_real(rest, &r->val_loss, "val loss");
    mt_state_real(rest, &r->norm, "grad norm");
    mt_team_state(r->team, rest, r->optim); /* last, as a team wants it */
    mt_amp_state(rest, r->extras.amp);      /* empty where the team divides the optimizer */
}

mt_status mt_gpt2_run_describe(run *r, bool running, mt_status status)
{
    mt_state model, rest;
    const mt_run_note note = { .dir = r->opt.recipe.out,
                               r->start,
                               running,
                               status,
                               "val_loss",
                               r->val_loss,
                               mt_team_text(&r->opt.team),
                               r->took,
                               mt_team_size(r->team),
                               r->opt.data,
                               r->opt.valid,
                               r->opt.data,
                               r->opt.vocabulary };
    if (!mt_team_first(r->team))
        return status;
    lists_of(r, &model, &rest);
    if (!mt_team_divides(r->team))
        mt_saver_prepare(r->saver, &model, &rest);
    status = mt_run_json(&note, &rest);
    mt_state_free(&model);
    mt_state_free(&rest);
    return status;
}

static mt_status write_row(run *r, const mt_stretch *since, bool evaluated)
{
    char loss[32], val_loss[32], more[256];
    return mt_metrics_row(r->metrics, "%" PRId64 ",%s,%s,%s", r->loop.step, mt_stretch_loss(loss, since),
                          mt_metric_text(val_loss, "%.6f", evaluated ? r->val_loss : NAN),
                          mt_extras_values(more, &r->extras, &r->loop, since));
}

mt_status mt_gpt2_run_log(void *user, const mt_stretch *since, bool evaluated)
{
    run *r = user;
    bool first = mt_team_first(r->team);
    char why[1024], failed[1024] = { 0 }; /* [ranks] */
    failed[0] = first && write_row(r, since, evaluated) != MT_OK;
    snprintf(why, sizeof why, "%s", first ? mt_last_error() : "rank 0 could not write metrics.csv");
    if (r->team)
        MT_TRY(r->team->tell(r->team, failed, &(char){ failed[0] }, 1));
    r->rows += !failed[0];
    return failed[0] ? mt_fail(MT_ERR_IO, "%s", why) : MT_OK;
}

/* Rates and tokens of a step that were chosen for models of as many parameters, by AdamW: Brown et al. 2020,
 * arXiv:2005.14165, table 2.1. */
static const struct {
    const char *size;
    double lr;
    int64_t tokens;
} chosen[] = { { "gpt2", 6e-4, 500000 },
               { "gpt2-medium", 3e-4, 500000 },
               { "gpt2-large", 2.5e-4, 500000 },
               { "gpt2-xl", 2e-4, 1000000 } };

void mt_gpt2_run_rate(const mt_gpt2_options *o)
{
    const mt_gpt2_config *size = mt_gpt2_size(o->size);
    int64_t tokens = o->batch * o->micro * o->config.block;
    for (int i = 0; i < MT_COUNT(chosen); i++)
        if (strcmp(o->size, chosen[i].size) == 0 && o->config.layers == size->layers &&
            o->config.width == size->width && tokens < chosen[i].tokens / MT_FEW_TOKENS &&
            o->recipe.lr >= chosen[i].lr && o->recipe.optimizer == MT_ADAMW)
            printf("A step has %" PRId64
                   " tokens, and --lr is %g: Brown et al. 2020 took %g for this size with %" PRId64
                   " tokens a step; fewer tokens want a smaller --lr, or more --micro-batches\n",
                   tokens, o->recipe.lr, chosen[i].lr, chosen[i].tokens);
}

/* A model for the parameters that the ranks have. */
static mt_module *whole_model(const run *r)
{
    mt_rng rng = mt_rng_new((uint64_t)r->opt.recipe.seed, MT_STREAM_INIT);
    return mt_gpt2_new(&r->opt.config, &rng);
}

mt_status mt_gpt2_run_sample(run *r)
{
    mt_state own[2] = { 0 }, all[2] = { 0 };
    bool first = mt_team_first(r->team), divides = mt_team_divides(r->team);
    mt_module *model = divides && first ? whole_model(r) : r->model;
    mt_status status = MT_OK;
    if (divides) {
        mt_module_state(&own[0], r->model);
        mt_module_state(&all[0], model);
        status = r->team->move(r->team, own, all, true);
        mt_state_free(&own[0]), mt_state_free(&all[0]);
    }
    if (status == MT_OK && first)
        status = mt_corpus_sample(&r->corpus, model, r->opt.recipe.seed, r->loop.step);
    if (model != r->model)
        mt_module_free(model);
    return status;
}

/* Saves or loads the checkpoint of a model that is divided among ranks. Rank 0 does it, with a whole model that exists
 * for this time only: so the files are those of a run on one rank. */
static mt_status move(run *r, bool saving)
{
    mt_state own[2], all[2] = { 0 };
    mt_status status = MT_OK;
    run whole = *r;
    lists_of(r, &own[0], &own[1]);
    if (mt_team_first(r->team)) {
        whole.team = NULL;
        whole.model = whole_model(r);
        whole.optim = mt_recipe_optim(&r->opt.recipe, whole.model);
        whole.extras.ema = r->extras.ema ? mt_ema_new(whole.model, r->opt.recipe.ema) : NULL;
        lists_of(&whole, &all[0], &all[1]);
        status = saving ? MT_OK : mt_saving_load(&r->opt.saving, r->opt.recipe.out, &all[0], &all[1]);
    }
    if (status == MT_OK)
        status = r->team->move(r->team, own, all, saving);
    if (status == MT_OK && saving && mt_team_first(r->team))
        status = mt_saving_save(r->saver, &r->loop, &all[0], &all[1]);
    for (int list = 0; list < 2; list++)
        mt_state_free(&own[list]), mt_state_free(&all[list]);
    if (mt_team_first(r->team)) {
        mt_ema_free(whole.extras.ema);
        mt_optim_free(whole.optim);
        mt_module_free(whole.model);
    }
    return status;
}

mt_status mt_gpt2_run_save(void *user)
{
    run *r = user;
    mt_state model, rest;
    r->norm = rint(1e6 * r->optim->norm) / 1e6; /* ranks may add it up in another order */
    if (mt_team_divides(r->team))
        return move(r, true);
    if (!mt_team_first(r->team))
        return r->team->gather(r->team, NULL);
    lists_of(r, &model, &rest);
    mt_status status = r->team ? r->team->gather(r->team, &rest) : MT_OK;
    if (status == MT_OK)
        return mt_saving_save(r->saver, &r->loop, &model, &rest);
    mt_state_free(&model);
    mt_state_free(&rest);
    return status;
}

static mt_status load(run *r)
{
    mt_state model, rest;
    lists_of(r, &model, &rest);
    mt_status status = mt_team_whole(r->team);
    if (status == MT_OK && mt_team_first(r->team))
        status = mt_saving_load(&r->opt.saving, r->opt.recipe.out, &model, &rest);
    if (status == MT_OK && r->team)
        status = r->team->share(r->team, &model, &rest);
    mt_state_free(&model);
    mt_state_free(&rest);
    return status;
}

mt_status mt_gpt2_run_resume(run *r)
{
    MT_TRY(mt_team_divides(r->team) ? move(r, false) : load(r));
    r->optim->norm = r->norm;
    return mt_loader_seek(r->train, mt_loader_place_of(r->train));
}

/* ---- what the first step took on each rank, beside its plan ------------------------------------------------ */

static mt_rank_took measured(const run *r)
{
    mt_rank_took took = { -1, -1, -1, -1 };
    if (mt_gpt2_plan)
        took = mt_gpt2_plan->rank(r, r->team->rank);
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
    printf("A step by plan and measured: peak memory in MB, and bytes sent%s\n",
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
    mt_rank_took mine = measured(r);
    r->took = mt_calloc(r->team->size, sizeof mine); /* freed at the end */
    MT_TRY(r->team->tell(r->team, r->took, &mine, sizeof mine));
    if (mt_team_first(r->team))
        print(r);
    return MT_OK;
}
