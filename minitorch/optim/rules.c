/* rules.c -- the table of update rules. */
#include "optim/updates.h"

#define LIKE MT_STATE_LIKE_PARAM
#define ROWS MT_STATE_ROWS
#define COLS MT_STATE_COLS

/* clang-format off */
const mt_update_rule mt_update_rules[MT_UPDATE_KINDS] = {
    /* name, kernel, what its states are like, their names, usual hyper-parameters */
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
                       { .lr = 0.01, .eps = 1e-30 } },
};
/* clang-format on */

const char *const mt_update_names[] = { "sgd",   "momentum", "nesterov",  "rmsprop", "adam",
                                        "adamw", "lion",     "adafactor", NULL };

mt_hyper mt_hyper_default(mt_update_kind kind)
{
    return mt_update_rules[kind].defaults;
}

int64_t mt_update_state_floats(mt_update_kind kind, int which, int64_t rows, int64_t cols)
{
    const int64_t count[] = { [MT_STATE_LIKE_PARAM] = rows * cols, [MT_STATE_ROWS] = rows, [MT_STATE_COLS] = cols };
    return count[mt_update_rules[kind].state_size[which]];
}
