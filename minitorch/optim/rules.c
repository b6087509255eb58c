/* rules.c -- the table of update rules, the kernel of a rule on a device, and the names of schedules (for command lines
 * and metrics; their rates: unit schedules.c of lab 04). */
#include "optim/rules.h"
#include "optim/schedule.h"

#define LIKE MT_STATE_LIKE_PARAM
#define ROWS MT_STATE_ROWS
#define COLS MT_STATE_COLS

/* clang-format off */
const mt_update_rule mt_update_rules[MT_UPDATE_KINDS] = {
    /* name, kernel, what its states are like, their names, usual hyper-parameters, whole, scratch */
    [MT_SGD]       = { "sgd",       mt_sgd_update_cpu,       { 0 },          { 0 }, { .lr = 0.01 } },
    [MT_MOMENTUM]  = { "momentum",  mt_momentum_update_cpu,  { LIKE },       { "momentum_buffer" },
                       { .lr = 0.01, .momentum = 0.9 } },
    [MT_NESTEROV]  = { "nesterov",  mt_nesterov_update_cpu,  { LIKE },       { "momentum_buffer" },
                       { .lr = 0.01, .momentum = 0.9 } },
    [MT_RMSPROP]   = { "rmsprop",   mt_rmsprop_update_cpu,   { LIKE },       { "square_avg" },
                       { .lr = 0.01, .beta2 = 0.99, .eps = 1e-8 } },
    [MT_ADAM]      = { "adam",      mt_adam_update_cpu,      { LIKE, LIKE }, { "exp_avg", "exp_avg_sq" },
                       { .lr = 1e-3, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8 } },
    [MT_ADAMW]     = { "adamw",     mt_adamw_update_cpu,     { LIKE, LIKE }, { "exp_avg", "exp_avg_sq" },
                       { .lr = 1e-3, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8, .weight_decay = 0.01 } },
    [MT_LION]      = { "lion",      mt_lion_update_cpu,      { LIKE },       { "exp_avg" },
                       { .lr = 1e-4, .beta1 = 0.9, .beta2 = 0.99 } },
    [MT_ADAFACTOR] = { "adafactor", mt_adafactor_update_cpu, { ROWS, COLS }, { "exp_avg_sq_row", "exp_avg_sq_col" },
                       { .lr = 0.01, .eps = 1e-30 }, .whole = true },
    [MT_MUON]      = { "muon",      mt_muon_update_cpu,      { LIKE },       { "momentum_buffer" },
                       { .lr = 1e-3, .momentum = 0.95, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8,
                         .weight_decay = 0.01 }, .whole = true, .scratch = 4 },
};
/* clang-format on */

const char *const mt_update_names[] = { "sgd",   "momentum", "nesterov",  "rmsprop", "adam",
                                        "adamw", "lion",     "adafactor", "muon",    NULL };

mt_update_kind mt_update_for(mt_update_kind kind, bool matrix)
{
    return kind == MT_MUON && !matrix ? MT_ADAMW : kind;
}

mt_hyper mt_hyper_default(mt_update_kind kind)
{
    return mt_update_rules[kind].defaults;
}

int64_t mt_update_state_floats(mt_update_kind kind, int which, int64_t rows, int64_t cols)
{
    const int64_t count[] = { [MT_STATE_LIKE_PARAM] = rows * cols, [MT_STATE_ROWS] = rows, [MT_STATE_COLS] = cols };
    return count[mt_update_rules[kind].state_size[which]];
}

/* ---- on a device ----------------------------------------------------------------------------------------- */

static const mt_optim_kernels *kernels_of(mt_device device)
{
    static const mt_optim_kernels cpu = { .clip_grad_norm = mt_clip_grad_norm_cpu };
    MT_CHECK(device == MT_CPU || mt_cuda, "this program has no update rules for cuda: use the cpu");
    return device == MT_CPU ? &cpu : mt_cuda->optim;
}

static mt_update_fn *find(mt_device device, mt_update_kind kind)
{
    return device == MT_CPU ? mt_update_rules[kind].update : kernels_of(device)->update[kind];
}

mt_status mt_update_available(mt_device device, mt_update_kind kind)
{
    if (find(device, kind))
        return MT_OK;
    return mt_fail(MT_ERR_UNAVAILABLE, "the optimizer %s has no kernel for %s: use another one, or another device",
                   mt_update_names[kind], mt_device_name(device));
}

mt_update_fn *mt_update_on(mt_device device, mt_update_kind kind)
{
    MT_CHECK(mt_update_available(device, kind) == MT_OK, "%s", mt_last_error());
    return find(device, kind);
}

double mt_clip_grad_norm_on(mt_device device, const mt_grad_array *arrays, int64_t count, double max_norm)
{
    return kernels_of(device)->clip_grad_norm(arrays, count, max_norm);
}

bool mt_update_together(mt_device device, mt_update_kind kind, const mt_update *u, int64_t count, mt_update_list **list)
{
    const mt_optim_kernels *kernels = kernels_of(device);
    return kernels->update_together && kernels->update_together(kind, u, count, list);
}

void mt_update_list_free(mt_update_list *list)
{
    if (list)
        kernels_of(MT_CUDA)->list_free(list);
}

/* ---- schedules ------------------------------------------------------------------------------------------- */

const char *const mt_schedule_names[] = {
    [MT_SCHEDULE_CONSTANT] = "constant",
    [MT_SCHEDULE_STEP] = "step",
    [MT_SCHEDULE_EXPONENTIAL] = "exponential",
    [MT_SCHEDULE_COSINE] = "cosine",
    [MT_SCHEDULE_TRIANGULAR] = "triangular",
    [MT_SCHEDULE_TRIANGULAR2] = "triangular2",
    [MT_SCHEDULE_EXP_RANGE] = "exp-range",
    [MT_SCHEDULE_LINEAR] = "linear",
    [MT_SCHEDULE_WSD] = "wsd",
    NULL,
};

const char *mt_schedule_name(mt_schedule_kind kind)
{
    return mt_schedule_names[kind];
}
