/* schedule.c -- names of schedules, for command lines and metrics. */
#include "optim/schedule.h"

#include <string.h>

static const char *const names[MT_SCHEDULE_KINDS] = {
    [MT_SCHEDULE_CONSTANT] = "constant",       [MT_SCHEDULE_STEP] = "step",
    [MT_SCHEDULE_EXPONENTIAL] = "exponential", [MT_SCHEDULE_COSINE] = "cosine",
    [MT_SCHEDULE_TRIANGULAR] = "triangular",   [MT_SCHEDULE_TRIANGULAR2] = "triangular2",
    [MT_SCHEDULE_EXP_RANGE] = "exp-range",
};

const char *mt_schedule_name(mt_schedule_kind kind)
{
    return names[kind];
}

mt_status mt_schedule_parse(const char *name, mt_schedule_kind *out)
{
    for (int kind = 0; kind < MT_SCHEDULE_KINDS; kind++) {
        if (strcmp(name, names[kind]) == 0) {
            *out = (mt_schedule_kind)kind;
            return MT_OK;
        }
    }
    return mt_fail(MT_ERR_ARGUMENT,
                   "there is no schedule \"%s\": use constant, step, exponential, cosine, triangular, "
                   "triangular2 or exp-range",
                   name);
}
