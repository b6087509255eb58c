/* gpt2_saving.c -- the checkpoints of train_gpt2, and its samples; see gpt2_run.h. */
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "train/gpt2_run.h"
#include "train/run_json.h"

typedef mt_gpt2_run run;

/* What the user chose, and later steps depend on. */
static void add_settings(mt_state *state, run *r)
{
    mt_gpt2_options *o = &r->opt;
    mt_gpt2_state(state, &o->config);
    mt_state_integer(state, &r->corpus.count, "tokens");
    mt_state_integer(state, &o->batch, "batch");
    mt_state_integer(state, &o->micro, "micro-batches");
    mt_state_integer(state, &o->steps, "steps");
    mt_state_fix(state);
    mt_recipe_state(state, &o->recipe);
    mt_state_setting(state, "text checksum", "%s", mt_saving_sum(o->data));
}

/* Everything that later steps depend on. */
static void lists_of(run *r, mt_state *model, mt_state *rest)
{
    *model = *rest = (mt_state){ 0 };
    mt_module_state(model, r->model);
    mt_state_setting(rest, "program", "train_gpt2");
    add_settings(rest, r);
    mt_loop_state(rest, &r->loop);
    mt_loader_state(rest, r->train);
    mt_state_integer(rest, &r->rows, "metrics rows");
    mt_state_real(rest, &r->val_loss, "val loss");
    mt_team_state(r->team, rest, r->optim); /* last, as a team wants it */
}

mt_status mt_gpt2_run_describe(run *r, bool running, mt_status status)
{
    mt_state model, rest;
    const mt_run_note note = {
        .dir = r->opt.recipe.out, r->start, running, status, "val_loss", r->val_loss, mt_team_text(&r->opt.team)
    };
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
        whole.loop.ema = r->loop.ema ? mt_ema_new(whole.model, r->opt.recipe.ema) : NULL;
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
        mt_ema_free(whole.loop.ema);
        mt_optim_free(whole.optim);
        mt_module_free(whole.model);
    }
    return status;
}

mt_status mt_gpt2_run_save(void *user)
{
    run *r = user;
    mt_state model, rest;
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

/* The one file that train_gpt2 wrote until November 2026. */
static mt_status load_old(run *r, const char *path)
{
    mt_state state = { 0 };
    add_settings(&state, r);
    mt_state_integer(&state, &r->loop.step, "step");
    mt_state_integer(&state, &r->rows, "metrics rows");
    mt_module_state(&state, r->model);
    mt_optim_state(&state, r->optim);
    mt_status status = mt_saving_load_old(path, &state);
    if (status == MT_OK)
        status = mt_loader_seek(r->train, (mt_loader_place){ .step = r->loop.step * r->opt.micro });
    if (status == MT_OK)
        printf("Read the old format, %s; saving in the new one, step-%" PRId64 "\n", path, r->loop.step);
    return status == MT_OK ? mt_gpt2_run_save(r) : status;
}

mt_status mt_gpt2_run_resume(run *r)
{
    char old[MT_PATH];
    mt_state model, rest;
    mt_status status = MT_OK;
    if (mt_team_divides(r->team)) {
        status = move(r, false);
        return status == MT_OK ? mt_loader_seek(r->train, mt_loader_place_of(r->train)) : status;
    }
    mt_recipe_path(old, &r->opt.recipe, "run.ckpt");
    lists_of(r, &model, &rest);
    status = mt_team_whole(r->team);
    if (!r->team && !mt_saving_any(r->opt.recipe.out) && access(old, F_OK) == 0)
        status = load_old(r, old);
    else if (status == MT_OK && mt_team_first(r->team))
        status = mt_saving_load(&r->opt.saving, r->opt.recipe.out, &model, &rest);
    if (status == MT_OK && r->team)
        status = r->team->share(r->team, &model, &rest);
    mt_state_free(&model);
    mt_state_free(&rest);
    return status == MT_OK ? mt_loader_seek(r->train, mt_loader_place_of(r->train)) : status;
}
