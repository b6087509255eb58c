/* recipe.h -- the options that training programs share: how to learn (optimizer, schedule, weight decay, clipping) and
 * how to run (device, threads, seed, output folder).
 *
 *     mt_recipe recipe = { .optimizer = MT_ADAM, .lr = 1e-3 };            // and then --optimizer, --lr ... over it:
 *     { "recipe", 0, NULL, MT_GROUP(options, recipe, mt_recipe_options), "How to learn:" },  // in its option table
 *     mt_optim *optim = mt_recipe_optim(&recipe, model);
 *     mt_training training = mt_recipe_training(&recipe, model, optim, steps);              // a step: models/step.h */
#pragma once

#include "data/loader.h"
#include "nn/module.h"
#include "optim/optim.h"
#include "optim/schedule.h"
#include "cli/cli.h"
#include "prof/metrics_csv.h"
#include "cli/progress.h"
#include "train/extras.h"

MT_C_BEGIN

typedef struct mt_recipe {
    const char *config; /* file of options (train/config.h); NULL: none */
    mt_update_kind optimizer;
    mt_schedule_kind schedule;
    double lr;           /* the largest of the schedule; 0: mt_hyper_default's */
    double lr_min;       /* where cosine, linear and wsd end, the smallest rate of a triangle */
    double gamma;        /* of step, exponential, exp-range; 0: 0.1 for step, else down to 1 % at the end of the run */
    int64_t period;      /* steps; 0: cosine and linear take the whole run, wsd's decay a tenth, step drops twice, there
                            are five triangles */
    int64_t warmup;      /* steps */
    double ema;          /* decay of the moving average of parameters that is evaluated; 0: the parameters are */
    double dropout;      /* probability with which a number is dropped (train/dropout.h); 0: none is */
    double clip;         /* longest gradient, as a norm over all parameters; 0: any */
    double beta1, beta2; /* mt_hyper's; 0: mt_hyper_default's, as eps */
    double eps;
    double weight_decay; /* of matrices; vectors (biases, gains) never decay. 0: none; NAN: mt_hyper_default's */
    int64_t workers;     /* threads that load batches ahead; 0: none */
    int64_t prefetch;    /* batches loaded ahead; 0: two a worker */
    mt_device device;
    mt_dtype dtype;       /* of products: f32; bf16; or f16, with a loss scaler */
    unsigned state8;      /* 1: adam's and adamw's moments have 8 bits (amp/state8.h) */
    int64_t threads;      /* 0: one per core */
    int64_t seed;         /* of the first weights and of the order of samples */
    const char *out;      /* folder for what is written */
    int64_t log_every;    /* steps from one row of metrics.csv to the next; 0: a row per evaluation only */
    bool tensorboard;     /* metrics also as events, by apps/follow.c */
    int64_t metrics_port; /* of 127.0.0.1, for Prometheus, by apps/follow.c; 0: none */
    bool quiet;           /* no progress line */
    bool memory_report;   /* of the first step */
    bool denormals;       /* kept, not flushed to 0 */
    bool trace;           /* record spans for the program profile */
    double minutes;       /* after which the run stops, as after Ctrl-C; 0: never */
    int64_t patience;     /* so many evaluations in a row that are not the best end the run; 0: none do */
    double min_delta;     /* by so much the best has to be better */
} mt_recipe;

/* The options, as a group for a program's own table. */
extern const mt_option mt_recipe_options[];

/* mt_recipe_schedule -- the learning rate over a run of so many steps, with the recipe's zeros replaced by defaults. */
mt_schedule mt_recipe_schedule(const mt_recipe *recipe, int64_t steps);

/* mt_recipe_begin -- refuses an optimizer that the device has no kernel for, betas and eps for one without them, and
 * moments of 8 bits of another than Adam; sets the number of threads, says how products of 16 bits are computed, makes
 * the output folder, catches Ctrl-C (mt_cli_stopped), begins to count the minutes, and records memory from now on for
 * --memory-report. */
mt_status mt_recipe_begin(const mt_recipe *recipe);

/* mt_recipe_memory -- after the first step: show what memory was used for since mt_recipe_begin (memory/report.h), and
 * where. Nothing without --memory-report. */
void mt_recipe_memory(const mt_recipe *recipe);

/* mt_recipe_trace -- before the first step, and again after it: with --trace spans are recorded from now on.
 * Only one recording can run at a time: with --memory-report spans are recorded from the second call on.
 * mt_recipe_traced -- the recording ends; says where it is. model_flops: what the model needed, on each of the ranks,
 * which have as many threads as this one. */
mt_status mt_recipe_trace(const mt_recipe *recipe, bool stepped);
void mt_recipe_traced(const mt_recipe *recipe, int64_t model_flops, int ranks);

/* mt_recipe_metrics -- metrics.csv in the output folder, which goes on after so many rows; -1: a new one. header: its
 * columns before those of mt_extras_names. Also run.conf, the options by which --config repeats the run. Starts what
 * follows the run (apps/follow.c), where an option asks for it. MT_ERR_ARGUMENT: that has failed, and said why.
 * mt_recipe_training -- a step in f32 with this schedule, clipping and one micro-batch; the caller sets its loss and
 * source.
 * mt_recipe_progress -- over so many steps, off when the recipe is quiet. */
mt_status mt_recipe_metrics(mt_metrics **out, const mt_recipe *recipe, const mt_extras *extras, const char *header,
                            int64_t rows);
mt_training mt_recipe_training(const mt_recipe *recipe, mt_module *model, mt_optim *optim, int64_t steps);
mt_progress mt_recipe_progress(const mt_recipe *recipe, int64_t steps);

/* mt_recipe_loop -- the plain steps of a run; the caller sets its loss, when to evaluate, and what to call.
 * mt_recipe_extras -- what the recipe adds to them: the loop calls *extras, until the caller frees it. */
mt_loop mt_recipe_loop(const mt_recipe *recipe, mt_module *model, mt_optim *optim, mt_loader *loader, int64_t steps);
void mt_recipe_extras(mt_extras *extras, const mt_recipe *recipe, mt_loop *loop);

/* mt_recipe_figures -- what the rows of both files say is about, and steps.csv where --metrics-port asks for it; rank 0
 * calls it before the first step, and before mt_recipe_metrics. config: without the device. */
mt_status mt_recipe_figures(mt_extras *extras, const mt_recipe *recipe, const mt_steps_config *config);

/* mt_recipe_optim -- an optimizer over all parameters of the model, which it borrows. */
mt_optim *mt_recipe_optim(const mt_recipe *recipe, const mt_module *model);

/* mt_recipe_state -- append everything that changes the result as settings: a run resumes with the same recipe only. */
void mt_recipe_state(mt_state *state, const mt_recipe *recipe);

/* mt_recipe_loader -- batches of set in the sampler's order, loaded as the recipe says. mt_recipe_batches -- batches
 * of a batch source (data/dataset.h); its `batch` samples are divided equally among the ranks. */
mt_loader *mt_recipe_loader(const mt_recipe *recipe, const mt_dataset *set, mt_sampler sampler, int64_t batch);
mt_loader *mt_recipe_batches(const mt_recipe *recipe, mt_batch_source source, int64_t batch);

MT_C_END
