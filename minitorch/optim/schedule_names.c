/* schedule_names.c -- names of schedules, for command lines and metrics. Their rates: unit schedules.c of lab 04. */
#include "optim/schedule.h"

const char *const mt_schedule_names[] = {
    [MT_SCHEDULE_CONSTANT] = "constant",       [MT_SCHEDULE_STEP] = "step",
    [MT_SCHEDULE_EXPONENTIAL] = "exponential", [MT_SCHEDULE_COSINE] = "cosine",
    [MT_SCHEDULE_TRIANGULAR] = "triangular",   [MT_SCHEDULE_TRIANGULAR2] = "triangular2",
    [MT_SCHEDULE_EXP_RANGE] = "exp-range",     NULL,
};

const char *mt_schedule_name(mt_schedule_kind kind)
{
    return mt_schedule_names[kind];
}
