/* gpt2_run.h -- a run of train_gpt2, and its checkpoints. */
#pragma once

#include "memory/recompute.h"
#include "train/corpus.h"
#include "train/recipe.h"
#include "train/run_json.h"
#include "train/saving.h"
#include "train/team.h"

MT_C_BEGIN

/* What a user chose. */
typedef struct mt_gpt2_options {
    const char *data, *valid, *vocabulary, *size;
    const char *from, *first, *batches; /* train/given.h; NULL: not wanted */
    mt_gpt2_config config;              /* 0: as the size says */
    int64_t batch, micro, steps, eval_every, eval_batches;
    int64_t tokens;                /* to train on, instead of steps; 0: steps */
    mt_recompute_choice recompute; /* a run may go on with another: memory/recompute.h */
    mt_recipe recipe;
    mt_saving saving;
    mt_team_config team;
    unsigned caching; /* 1: the device's memory comes from a pool (memory/caching.h) */
    bool plan;
} mt_gpt2_options;

/* The run of one rank; the ranks of a process share what is opened before they start. */
typedef struct mt_gpt2_run {
    mt_gpt2_options opt;
    mt_team *team; /* NULL: alone */
    mt_corpus corpus;
    mt_loader *train, *valid;
    mt_module *model;
    mt_optim *optim;
    mt_metrics *metrics;
    mt_saver *saver;
    double start; /* mt_now() */
    mt_loop loop;
    mt_extras extras;
    mt_recompute *recompute; /* [layers] */
    mt_offload *offload;     /* NULL: activations stay on the device */
    int64_t flops, peak;     /* planned FLOPs and peak bytes of one step of a replica; 0: there is no plan */
    int64_t sent;            /* bytes that this rank sent before the first step */
    mt_rank_took *took;      /* [ranks] what the first step took on each rank, on rank 0; else NULL */
    int64_t rows;            /* of metrics.csv */
    bool headed;             /* the head of the table is printed */
    double peak_flops;       /* FLOP/s of all ranks' CPU; 0 on another device: unknown */
    double val_loss;         /* of the latest evaluation */
    double norm;             /* of all gradients in the step of the latest checkpoint, as metrics.csv has it */
} mt_gpt2_run;

/* mt_gpt2_run_rate -- prints a line where a step has fewer than 1 / MT_FEW_TOKENS of the tokens with which a model of
 * this size was published, and its rate is not below that model's. The toy needs none: from 64 to 4,096 tokens a step
 * the best rate of such a model hardly changes (docs/SWEEP.md). */
enum { MT_FEW_TOKENS = 8 };
void mt_gpt2_run_rate(const mt_gpt2_options *options);

/* mt_gpt2_run_took -- collective, after the first step of several ranks: what it took on each, beside its plan.
 * Rank 0 prints it, and keeps it for run.json. */
mt_status mt_gpt2_run_took(mt_gpt2_run *run);

/* mt_gpt2_run_describe -- run.json, at the start and at the end, by rank 0; returns status, or the error of writing. */
mt_status mt_gpt2_run_describe(mt_gpt2_run *run, bool running, mt_status status);

/* mt_gpt2_run_save, _resume -- collective; save takes the run as mt_loop calls it. What is saved is what a run alone
 * saves, whatever the ranks have of it. Fail as mt_saving_save and mt_saving_load. */
mt_status mt_gpt2_run_save(void *run);
mt_status mt_gpt2_run_resume(mt_gpt2_run *run);

/* mt_gpt2_run_log -- collective, as mt_loop calls it: a row of metrics.csv. It fails on every rank if it does on the
 * first. */
mt_status mt_gpt2_run_log(void *run, const mt_stretch *since, bool evaluated);

/* mt_gpt2_run_sample -- collective: mt_corpus_sample of the whole model, by rank 0. */
mt_status mt_gpt2_run_sample(mt_gpt2_run *run);

/* ---- extension point: who plans a run before it begins; NULL: there is no plan --------------------------------- */
typedef struct mt_gpt2_planner {
    /* plan -- the run's flops and peak and, where --recompute gives a size, what is computed again of each layer.
     * MT_ERR_ARGUMENT, with words: that size is too small. */
    mt_status (*plan)(mt_gpt2_run *run);

    /* fits -- MT_ERR_ARGUMENT where the planned peaks of the ranks of this machine are more than it allows
     * (cli/allowed.h). A device's own memory is not looked at. */
    mt_status (*fits)(const mt_gpt2_run *run);

    void (*print)(const mt_gpt2_run *run);                  /* what a step takes; more with --plan */
    mt_rank_took (*rank)(const mt_gpt2_run *run, int rank); /* a step of a rank; -1: unknown */
    void (*advise)(void *run, FILE *out, int64_t had);      /* how a step needs less memory: mt_memory_advise */
} mt_gpt2_planner;
extern const mt_gpt2_planner *mt_gpt2_plan;

MT_C_END
