/* recipe.c -- options into optimizer and schedule. */
#include "train/recipe.h"

#include <math.h>

#include "prof/cli.h"

/* ---- command line -------------------------------------------------------------------------------- */

enum {
    SCHEDULE = 0x200,
    WARMUP,
    LR_MIN,
    GAMMA,
    PERIOD,
    CLIP,
    WEIGHT_DECAY,
    WORKERS,
    PREFETCH
}; /* options without a letter */

static const struct argp_option flags[] = {
    { "optimizer", 'O', "NAME", 0, "sgd, momentum, nesterov, rmsprop, adam, adamw, lion or adafactor", 0 },
    { "lr", 'l', "RATE", 0, "Learning rate, the largest of the schedule (default: one that suits the optimizer)", 0 },
    { "schedule", SCHEDULE, "NAME", 0, "constant, cosine, step, exponential, triangular, triangular2 or exp-range", 0 },
    { "warmup", WARMUP, "STEPS", 0, "First the rate rises linearly for so many steps (default 0)", 0 },
    { "lr-min", LR_MIN, "RATE", 0, "Where cosine ends, the foot of a triangle (default 0)", 0 },
    { "period", PERIOD, "STEPS", 0, "Of cosine, between drops, or half a triangle (default: by the length of the run)",
      0 },
    { "gamma", GAMMA, "FACTOR", 0, "Of a drop (default 0.1), or of every step (default: down to 1 % at the end)", 0 },
    { "clip", CLIP, "NORM", 0, "Shorten gradients to this norm over all parameters (default: never)", 0 },
    { "weight-decay", WEIGHT_DECAY, "RATE", 0, "Of weights, not of biases (default: the optimizer's)", 0 },
    { "workers", WORKERS, "N", 0, "Threads that load batches ahead; 0 (default): none. The result stays the same", 0 },
    { "prefetch", PREFETCH, "N", 0, "Batches loaded ahead (default: two a worker)", 0 },
    { 0 },
};

static error_t parse(int key, char *text, struct argp_state *state)
{
    mt_recipe *r = state->input;
    mt_status status = MT_OK;
    switch (key) {
    case 'O':
        status = mt_update_parse(text, &r->optimizer);
        break;
    case 'l':
        status = mt_cli_f64(&r->lr, text, 1e-9, 1e3);
        break;
    case SCHEDULE:
        status = mt_schedule_parse(text, &r->schedule);
        break;
    case WARMUP:
        status = mt_cli_i64(&r->warmup, text, 0, INT32_MAX);
        break;
    case LR_MIN:
        status = mt_cli_f64(&r->lr_min, text, 0, 1e3);
        break;
    case PERIOD:
        status = mt_cli_i64(&r->period, text, 1, INT32_MAX);
        break;
    case GAMMA:
        status = mt_cli_f64(&r->gamma, text, 1e-9, 1);
        break;
    case CLIP:
        status = mt_cli_f64(&r->clip, text, 1e-9, 1e9);
        break;
    case WEIGHT_DECAY:
        status = mt_cli_f64(&r->weight_decay, text, 0, 1);
        break;
    case WORKERS:
        status = mt_cli_i64(&r->workers, text, 0, 256);
        break;
    case PREFETCH:
        status = mt_cli_i64(&r->prefetch, text, 1, 4096);
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    for (const struct argp_option *flag = flags; status != MT_OK && flag->name; flag++)
        if (flag->key == key)
            argp_error(state, "--%s: %s", flag->name, mt_last_error());
    return 0;
}

const struct argp mt_recipe_argp = { .options = flags, .parser = parse };

/* ---- use ----------------------------------------------------------------------------------------- */

mt_schedule mt_recipe_schedule(const mt_recipe *r, int64_t steps)
{
    mt_schedule s = { r->schedule, .lr = r->lr, .lr_min = r->lr_min, .warmup = r->warmup };
    int64_t proper = mt_max(1, steps - r->warmup); /* after warm-up */
    if (s.lr == 0)
        s.lr = mt_hyper_default(r->optimizer).lr;
    int64_t periods = s.kind == MT_SCHEDULE_COSINE ? 1 : s.kind == MT_SCHEDULE_STEP ? 3 : 10;
    s.period = r->period ? r->period : (proper + periods - 1) / periods;
    s.gamma = s.kind == MT_SCHEDULE_STEP ? 0.1 : pow(0.01, 1 / (double)proper);
    if (r->gamma > 0)
        s.gamma = r->gamma;
    return s;
}

mt_optim *mt_recipe_optim(const mt_recipe *r, const mt_params *params)
{
    mt_hyper hyper = mt_hyper_default(r->optimizer);
    if (!isnan(r->weight_decay))
        hyper.weight_decay = r->weight_decay;
    mt_optim *optim = mt_optim_new(r->optimizer, hyper);
    for (const mt_param *p = params->item; p < params->item + params->count; p++) {
        mt_optim_group(optim, 1, p->tensor->view.rank >= 2 ? hyper.weight_decay : 0);
        mt_optim_add(optim, p->name, p->tensor);
    }
    return optim;
}

mt_loader *mt_recipe_loader(const mt_recipe *r, const mt_dataset *set, mt_sampler sampler, int64_t batch)
{
    mt_loader_config config = mt_loader_config_default(set);
    config.sampler = sampler;
    config.batch = batch;
    config.workers = (int)r->workers;
    config.prefetch = r->prefetch;
    return mt_loader_new(&config);
}
