/* rules.c -- the table of update rules. */
#include "optim/updates.h"

#include <stdio.h>
#include <string.h>

const mt_update_rule mt_update_rules[MT_UPDATE_KINDS] = {
    [MT_SGD] = {
        .name = "sgd",
        .update = mt_sgd_update_cpu,
        .defaults = { .lr = 0.01 },
    },
    [MT_MOMENTUM] = {
        .name = "momentum",
        .update = mt_momentum_update_cpu,
        .state_size = { MT_STATE_LIKE_PARAM },
        .state_name = { "momentum_buffer" },
        .defaults = { .lr = 0.01, .momentum = 0.9 },
    },
    [MT_NESTEROV] = {
        .name = "nesterov",
        .update = mt_nesterov_update_cpu,
        .state_size = { MT_STATE_LIKE_PARAM },
        .state_name = { "momentum_buffer" },
        .defaults = { .lr = 0.01, .momentum = 0.9 },
    },
    [MT_RMSPROP] = {
        .name = "rmsprop",
        .update = mt_rmsprop_update_cpu,
        .state_size = { MT_STATE_LIKE_PARAM },
        .state_name = { "square_avg" },
        .defaults = { .lr = 0.01, .beta2 = 0.99, .eps = 1e-8 },
    },
    [MT_ADAM] = {
        .name = "adam",
        .update = mt_adam_update_cpu,
        .state_size = { MT_STATE_LIKE_PARAM, MT_STATE_LIKE_PARAM },
        .state_name = { "exp_avg", "exp_avg_sq" },
        .defaults = { .lr = 1e-3, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8 },
    },
    [MT_ADAMW] = {
        .name = "adamw",
        .update = mt_adamw_update_cpu,
        .state_size = { MT_STATE_LIKE_PARAM, MT_STATE_LIKE_PARAM },
        .state_name = { "exp_avg", "exp_avg_sq" },
        .defaults = { .lr = 1e-3, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8, .weight_decay = 0.01 },
    },
    [MT_LION] = {
        .name = "lion",
        .update = mt_lion_update_cpu,
        .state_size = { MT_STATE_LIKE_PARAM },
        .state_name = { "exp_avg" },
        .defaults = { .lr = 1e-4, .beta1 = 0.9, .beta2 = 0.99 },
    },
    [MT_ADAFACTOR] = {
        .name = "adafactor",
        .update = mt_adafactor_update_cpu,
        .state_size = { MT_STATE_ROWS, MT_STATE_COLS },
        .state_name = { "exp_avg_sq_row", "exp_avg_sq_col" },
        .defaults = { .lr = 0.01, .eps = 1e-30 },
    },
};

mt_hyper mt_hyper_default(mt_update_kind kind)
{
    return mt_update_rules[kind].defaults;
}

mt_status mt_update_parse(const char *name, mt_update_kind *out)
{
    char names[128] = "";
    for (int kind = 0; kind < MT_UPDATE_KINDS; kind++) {
        if (strcmp(name, mt_update_rules[kind].name) == 0) {
            *out = (mt_update_kind)kind;
            return MT_OK;
        }
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%s", kind ? ", " : "", mt_update_rules[kind].name);
    }
    return mt_fail(MT_ERR_ARGUMENT, "there is no optimizer \"%s\": use one of %s", name, names);
}

int64_t mt_state_count(mt_update_kind kind, int which, int64_t rows, int64_t cols)
{
    switch (mt_update_rules[kind].state_size[which]) {
    case MT_STATE_LIKE_PARAM:
        return rows * cols;
    case MT_STATE_ROWS:
        return rows;
    case MT_STATE_COLS:
        return cols;
    default:
        return 0;
    }
}
