/* recipe.c -- options into optimizer and schedule. */
#include "train/recipe.h"
#include "train/config.h"
#include "core/denormals.h"
#include "ckpt/values.h"
#include "cli/programs.h"
#include "optim/rules.h"
#include "amp/kernels_16bit.h"

#include <inttypes.h>
#include <math.h>
#include <omp.h>
#include <signal.h>
#include <stdio.h>

#include "prof/recorder.h"

/* ---- command line -------------------------------------------------------------------------------- */

static const char *const moments[] = { "32", "8", NULL };

const mt_option mt_recipe_options[] = {
    { "config", 0, "FILE", MT_PARSED(mt_recipe, config, mt_config_read),
      "File of options, one a line: NAME = VALUE. The command line overrides it; a run writes its own as run.conf" },
    { "optimizer", 'O', "NAME", MT_CHOICE(mt_recipe, optimizer, mt_update_names),
      "Update rule: sgd, momentum, nesterov, rmsprop, adam, adamw, lion, adafactor or muon" },
    { "lr", 'l', "RATE", MT_F64(mt_recipe, lr, 1e-9, 1e3),
      "Learning rate, the largest of the schedule; default: one that suits the optimizer" },
    { "schedule", 0, "NAME", MT_CHOICE(mt_recipe, schedule, mt_schedule_names),
      "Learning rate over the run: constant, cosine, linear, wsd (warm-up, stable, decay), step, exponential, "
      "triangular, "
      "triangular2 or exp-range" },
    { "warmup", 0, "STEPS", MT_I64(mt_recipe, warmup, 0, INT32_MAX),
      "Steps at the start in which the rate rises linearly" },
    { "lr-min", 0, "RATE", MT_F64(mt_recipe, lr_min, 0, 1e3),
      "Rate at which cosine, linear and wsd end, smallest rate of a triangle" },
    { "period", 0, "STEPS", MT_I64(mt_recipe, period, 1, INT32_MAX),
      "Steps of cosine and linear, of wsd's decay at the end, between drops, or of half a triangle; default: by the "
      "length "
      "of the run (wsd: a tenth of it)" },
    { "gamma", 0, "FACTOR", MT_F64(mt_recipe, gamma, 1e-9, 1),
      "Decay factor: per drop (schedule step), or per step (exponential); default: 0.1 per drop; 1 % is reached at the "
      "end" },
    { "clip", 0, "NORM", MT_F64(mt_recipe, clip, 1e-9, 1e9),
      "Largest norm of all gradients together; default: no limit" },
    { "ema", 0, "DECAY", MT_F64(mt_recipe, ema, 0, 1 - 1e-9),
      "Decay of the moving average of the weights that is evaluated, such as 0.999; 0: the weights themselves are" },
    { "weight-decay", 0, "RATE", MT_F64(mt_recipe, weight_decay, 0, 1),
      "Decay of weights, not of biases; default: the optimizer's" },
    { "beta1", 0, "B", MT_F64(mt_recipe, beta1, 1e-9, 1 - 1e-9),
      "Decay of the average of gradients (adam, adamw, lion; muon's for vectors); default: the optimizer's" },
    { "beta2", 0, "B", MT_F64(mt_recipe, beta2, 1e-9, 1 - 1e-9),
      "Decay of the average of their squares, lion's of gradients; default: the optimizer's" },
    { "eps", 0, "E", MT_F64(mt_recipe, eps, 1e-38, 1), "Term added to a denominator; default: the optimizer's" },
    { "dropout", 0, "P", MT_F64(mt_recipe, dropout, 0, 0.99),
      "Probability with which dropout sets a number to 0, of hidden layers, or of what a block of GPT-2 reads and "
      "adds" },
    { "patience", 0, "N", MT_I64(mt_recipe, patience, 1, INT32_MAX),
      "Evaluations in a row without a new best one after which the run ends; default: all steps are done" },
    { "minutes", 0, "M", MT_F64(mt_recipe, minutes, 1e-3, 1e6),
      "Minutes after which the run saves a checkpoint and ends, for --resume; default: all steps are done" },
    { "min-delta", 0, "D", MT_F64(mt_recipe, min_delta, 0, 1e9), "Smallest improvement that counts" },
    { "workers", 0, "N", MT_I64(mt_recipe, workers, 0, 256),
      "Number of threads that load batches ahead; does not change results" },
    { "device", 'D', "NAME", MT_PARSED(mt_recipe, device, mt_cli_device), "cpu or cuda; default: cpu" },
    { "dtype", 0, "NAME", MT_CHOICE(mt_recipe, dtype, mt_cli_floats),
      "Element type of matrix products: f32, bf16, or f16 (with loss scaling)" },
    { "state", 0, "BITS", MT_CHOICE(mt_recipe, state8, moments),
      "Bits of a number of the moments of adam and adamw: 32, or 8 with a scale for each 256, on the CPU" },
    { "seed", 's', "N", MT_I64(mt_recipe, seed, 1, INT64_MAX),
      "Seed of the first weights, the order of samples and generated text" },
    { "threads", 't', "N", MT_I64(mt_recipe, threads, 1, 1024),
      "Number of threads for arithmetic; does not change results; default: one per core" },
    { "out", 'o', "DIR", MT_TEXT(mt_recipe, out), "Folder for what is written" },
    { "log-every", 0, "STEPS", MT_I64(mt_recipe, log_every, 0, INT32_MAX),
      "Steps from one row of metrics.csv to the next; evaluations have a row, too (0: only these)" },
    { "tensorboard", 0, NULL, MT_FLAG(mt_recipe, tensorboard), "Also write the rows of metrics.csv for TensorBoard" },
    { "metrics-port", 0, "PORT", MT_I64(mt_recipe, metrics_port, 1024, 65535),
      "Show the run to Prometheus: http://127.0.0.1:PORT/metrics (docs/MONITORING.md)" },
    { "quiet", 'q', NULL, MT_FLAG(mt_recipe, quiet), "No progress line" },
    { "prefetch", 0, "N", MT_I64(mt_recipe, prefetch, 1, 4096), "Batches loaded ahead; default: two a worker" },
    { "memory-report", 0, NULL, MT_FLAG(mt_recipe, memory_report),
      "Show what the memory of the first step was used for; of ranks that are processes, that of rank 0" },
    { "denormals", 0, NULL, MT_FLAG(mt_recipe, denormals), "Keep numbers below 1.2e-38, which are slow, instead of 0" },
    { "trace", 0, NULL, MT_FLAG(mt_recipe, trace), "Record where the time goes, for the program profile" },
    { 0 },
};

/* ---- use ----------------------------------------------------------------------------------------- */

mt_schedule mt_recipe_schedule(const mt_recipe *r, int64_t steps)
{
    mt_schedule s = { r->schedule, .lr = r->lr, .lr_min = r->lr_min, .warmup = r->warmup };
    int64_t proper = mt_max(1, steps - r->warmup); /* after warm-up */
    if (s.lr == 0)
        s.lr = mt_hyper_default(r->optimizer).lr;
    bool whole = s.kind == MT_SCHEDULE_COSINE || s.kind == MT_SCHEDULE_LINEAR;
    int64_t periods = whole ? 1 : s.kind == MT_SCHEDULE_STEP ? 3 : 10;
    s.period = r->period ? r->period : (proper + periods - 1) / periods;
    s.stable = mt_max(0, proper - s.period);
    s.gamma = s.kind == MT_SCHEDULE_STEP ? 0.1 : pow(0.01, 1 / (double)proper);
    if (r->gamma > 0)
        s.gamma = r->gamma;
    return s;
}

static const char *path_of(char path[4096], const mt_recipe *r, const char *file)
{
    snprintf(path, 4096, "%s/%s", r->out, file);
    return path;
}

/* The optimizer's hyper-parameters, with those that the recipe names in their place. */
static mt_status hyper_of(mt_hyper *hyper, const mt_recipe *r)
{
    *hyper = mt_hyper_default(r->optimizer);
    const struct {
        const char *name;
        double value, *at;
    } named[] = { { "beta1", r->beta1, &hyper->beta1 },
                  { "beta2", r->beta2, &hyper->beta2 },
                  { "eps", r->eps, &hyper->eps } };
    for (int i = 0; i < MT_COUNT(named); i++) {
        if (named[i].value > 0 && *named[i].at == 0)
            return mt_fail(MT_ERR_ARGUMENT, "--%s: the optimizer %s has none", named[i].name,
                           mt_update_names[r->optimizer]);
        if (named[i].value > 0)
            *named[i].at = named[i].value;
    }
    if (!isnan(r->weight_decay))
        hyper->weight_decay = r->weight_decay;
    return MT_OK;
}

mt_status mt_recipe_begin(const mt_recipe *r)
{
    mt_hyper hyper;
    MT_TRY(mt_update_available(r->device, r->optimizer));
    MT_TRY(hyper_of(&hyper, r));
    if (r->state8 && (r->device != MT_CPU || (r->optimizer != MT_ADAM && r->optimizer != MT_ADAMW)))
        return mt_fail(MT_ERR_ARGUMENT,
                       "--state 8 is for the moments of adam and adamw, on the CPU: use --optimizer adamw "
                       "and --device cpu, or --state 32");
    if (r->threads)
        omp_set_num_threads((int)r->threads);
    if (r->dtype != MT_F32 && r->device == MT_CPU)
        printf("Products read %s, %s\n", mt_dtype_name(r->dtype), mt_matmul16_form(r->dtype));
    if (r->device != MT_CPU && mt_cuda->driver->emulated())
        printf("No GPU: the emulator of CUDA computes on the CPU, 40 (train_mnist) to 200 times (train_gpt2) slower "
               "than --device cpu\n");
    mt_flush_denormals(!r->denormals);
    if (mt_denormals_flushed())
        printf("Numbers below 1.2e-38 count as 0\n");
    mt_cli_catch_stop();
    mt_cli_stop_after(60 * r->minutes);
    signal(SIGPIPE, SIG_IGN); /* a reader that is gone is reported at the end, and loses no step */
    char path[4096];
    MT_TRY(mt_cli_folder(r->out));
    return r->memory_report ? mt_record_memory_begin(path_of(path, r, "memory.bin")) : MT_OK;
}

void mt_recipe_memory(const mt_recipe *r)
{
    if (r->memory_report && mt_record_end(0) == MT_OK)
        mt_cli_run((const char *[]){ "memory", r->out, NULL });
    else if (r->memory_report)
        printf("No memory report: %s\n", mt_last_error());
}

mt_status mt_recipe_trace(const mt_recipe *r, bool stepped)
{
    char path[4096];
    return r->trace && r->memory_report == stepped ? mt_record_begin(path_of(path, r, "spans.bin")) : MT_OK;
}

void mt_recipe_traced(const mt_recipe *r, int64_t model_flops, int ranks)
{
    if (!r->trace || !mt_record_running())
        return;
    omp_set_num_threads(omp_get_max_threads() * ranks);
    if (mt_record_end(model_flops * ranks) == MT_OK)
        printf("The profile is recorded in %s/spans.bin; to read it: %s %s\n", r->out, mt_cli_sibling("profile"),
               r->out);
    else
        printf("No profile: %s\n", mt_last_error());
}

mt_status mt_recipe_figures(mt_extras *e, const mt_recipe *r, const mt_steps_config *config)
{
    char path[4096];
    e->about = *config;
    e->about.device = r->device;
    e->about.waits &= !r->trace && !r->memory_report; /* one listens */
    if (r->metrics_port)
        return mt_steps_open(&e->figures, r->out, &e->about);
    remove(path_of(path, r, "steps.csv")); /* of an earlier run */
    return MT_OK;
}

/* What follows the run, which opens its files and its port before it returns. */
static mt_status follow(const mt_recipe *r)
{
    char port[32];
    const char *words[] = { "follow", "--background", r->out, NULL, NULL, NULL };
    const char **end = words + 3;
    if (r->tensorboard)
        *end++ = "--tensorboard";
    snprintf(port, sizeof port, "--metrics-port=%" PRId64, r->metrics_port);
    if (r->metrics_port)
        *end = port;
    return mt_cli_run(words) ? MT_OK : mt_fail(MT_ERR_ARGUMENT, "the program follow cannot show this run");
}

mt_status mt_recipe_metrics(mt_metrics **out, const mt_recipe *r, const mt_extras *e, const char *header, int64_t rows)
{
    char path[4096], names[512], more[256];
    MT_TRY(mt_config_write(path_of(path, r, "run.conf")));
    path_of(path, r, "metrics.csv");
    snprintf(names, sizeof names, "%s,%s", header, mt_extras_names(more, &e->about));
    MT_TRY(rows < 0 ? mt_metrics_open(out, path, names) : mt_metrics_resume(out, path, names, rows));
    return r->tensorboard || r->metrics_port ? follow(r) : MT_OK;
}

mt_training mt_recipe_training(const mt_recipe *r, mt_module *model, mt_optim *optim, int64_t steps)
{
    return (mt_training){
        .model = model, .optim = optim, .micro = 1, .schedule = mt_recipe_schedule(r, steps), .clip = r->clip
    };
}

mt_progress mt_recipe_progress(const mt_recipe *r, int64_t steps)
{
    mt_progress progress = mt_progress_begin("steps", steps);
    progress.mode = r->quiet ? MT_PROGRESS_OFF : progress.mode;
    return progress;
}

mt_loop mt_recipe_loop(const mt_recipe *r, mt_module *model, mt_optim *optim, mt_loader *loader, int64_t steps)
{
    return (mt_loop){ .training = mt_recipe_training(r, model, optim, steps),
                      .loader = loader,
                      .steps = steps,
                      .log_every = r->log_every,
                      .patience = r->patience,
                      .min_delta = r->min_delta };
}

void mt_recipe_extras(mt_extras *e, const mt_recipe *r, mt_loop *loop)
{
    *e = (mt_extras){ .amp = (r->state8 ? mt_amp_new8 : mt_amp_new)(loop->training.optim, r->dtype),
                      .ema = r->ema ? mt_ema_new(loop->training.model, r->ema) : NULL };
    loop->training.around = mt_amp_around(e->amp);
    loop->hooks = mt_extras_hooks(e);
}

mt_optim *mt_recipe_optim(const mt_recipe *r, const mt_module *model)
{
    mt_hyper hyper;
    hyper_of(&hyper, r); /* mt_recipe_begin has refused what fails here */
    mt_optim *optim = mt_optim_new(r->optimizer, hyper);
    mt_optim_add_all(optim, mt_module_params(model));
    return optim;
}

static mt_loader *open_loader(const mt_recipe *r, mt_loader_config config, int64_t batch)
{
    config.batch = batch;
    config.workers = (int)r->workers;
    config.prefetch = r->prefetch;
    return mt_loader_new(&config);
}

void mt_recipe_state(mt_state *state, const mt_recipe *r)
{
    mt_state_setting(state, "optimizer", "%s%s", mt_update_rules[r->optimizer].name, r->state8 ? " in 8 bits" : "");
    mt_state_setting(state, "schedule", "%s", mt_schedule_name(r->schedule));
    mt_state_setting(state, "dtype", "%s", mt_dtype_name(r->dtype));
    mt_state_setting(state, "seed", "%" PRId64, r->seed);
    mt_state_setting(state, "warmup", "%" PRId64, r->warmup);
    mt_state_setting(state, "period", "%" PRId64, r->period);
    mt_state_setting(state, "lr", "%.17g", r->lr); /* 17 digits are a double exactly */
    mt_state_setting(state, "lr-min", "%.17g", r->lr_min);
    mt_state_setting(state, "gamma", "%.17g", r->gamma);
    mt_state_setting(state, "clip", "%.17g", r->clip);
    mt_state_setting(state, "weight-decay", "%.17g", r->weight_decay);
    if (r->beta1) /* the optimizer's own are no settings: runs that were saved before these were options go on */
        mt_state_setting(state, "beta1", "%.17g", r->beta1);
    if (r->beta2)
        mt_state_setting(state, "beta2", "%.17g", r->beta2);
    if (r->eps)
        mt_state_setting(state, "eps", "%.17g", r->eps);
    if (r->dropout)
        mt_state_setting(state, "dropout", "%.17g", r->dropout);
    if (r->ema)
        mt_state_setting(state, "ema", "%.17g", r->ema);
}

mt_loader *mt_recipe_loader(const mt_recipe *r, const mt_dataset *set, mt_sampler sampler, int64_t batch)
{
    return open_loader(r, (mt_loader_config){ .set = set, .sampler = sampler }, batch);
}

mt_loader *mt_recipe_batches(const mt_recipe *r, mt_batch_source source, int64_t batch)
{
    return open_loader(r, (mt_loader_config){ .set = source.set, .source = source }, batch / source.world);
}
