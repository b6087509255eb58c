/* steps.h -- OUT/steps.csv: a row of figures after each step, for what follows a run (apps/follow.c).
 *
 *     const mt_steps_config config = { .device = MT_CPU, .tokens = 1024, .flops = 6e9, .peak = 2e11 };
 *     mt_status status = mt_steps_open(&steps, dir, &config);   // before the first step
 *     status = mt_steps_row(steps, step, loss, samples);        // after each
 *     mt_steps_close(steps); */
#pragma once

#include "core/device.h"

MT_C_BEGIN

typedef struct mt_steps mt_steps; /* opaque */

typedef struct mt_steps_config {
    mt_device device; /* whose memory is shown */
    int64_t begun;    /* steps that were done when the process began: above 0 after a restart */
    double tokens;    /* of a sample; 0: samples have none */
    double flops;     /* of the model for a sample, and */
    double peak;      /* FLOP/s of all devices; 0: unknown, there is no MFU */
    bool waits;       /* several ranks: measure how long the calling thread waits for others, by spans (core/span.h) */
} mt_steps_config;

/* mt_steps_open -- called by the thread that will take the steps. MT_ERR_IO: the file cannot be written; so does a row
 * fail. */
mt_status mt_steps_open(mt_steps **out, const char *dir, const mt_steps_config *config);

/* mt_steps_row -- a step has ended, of so many samples in all ranks. NULL is allowed, here and below. */
mt_status mt_steps_row(mt_steps *steps, int64_t step, double loss, int64_t samples);

void mt_steps_close(mt_steps *steps);

MT_C_END
