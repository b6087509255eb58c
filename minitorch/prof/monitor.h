/* monitor.h -- the figures of a training run for Prometheus, while it runs: http://127.0.0.1:PORT/metrics in the text
 * format 0.0.4. A thread of its own answers; training only notes each step under a lock that is held for microseconds,
 * and no result depends on it.
 *
 *     const mt_monitor_config config = { .port = 9100, .device = MT_CPU, .tokens = 1024, .flops = 6e9, .peak = 2e11 };
 *     mt_status status = mt_monitor_open(&monitor, &config);   // before the first step
 *     mt_monitor_step(monitor, step, loss, samples);           // after each
 *     mt_monitor_close(monitor); */
#pragma once

#include "core/device.h"

MT_C_BEGIN

typedef struct mt_monitor mt_monitor; /* opaque */

typedef struct mt_monitor_config {
    int64_t port;     /* of 127.0.0.1 */
    mt_device device; /* whose memory is shown */
    int64_t begun;    /* steps that were done when the process began: above 0 after a restart */
    double tokens;    /* of a sample; 0: samples have none */
    double flops;     /* of the model for a sample, and */
    double peak;      /* FLOP/s of all devices; 0: unknown, there is no MFU */
    bool waits;       /* several ranks: measure how long the calling thread waits for others, by spans (core/span.h) */
} mt_monitor_config;

/* mt_monitor_open -- called by the thread that will take the steps. MT_ERR_ARGUMENT, with words: the port is taken, or
 * may not be used. */
mt_status mt_monitor_open(mt_monitor **out, const mt_monitor_config *config);

/* mt_monitor_step -- a step has ended, of so many samples in all ranks. NULL is allowed. */
void mt_monitor_step(mt_monitor *monitor, int64_t step, double loss, int64_t samples);

void mt_monitor_close(mt_monitor *monitor); /* waits for the thread; NULL is allowed */

MT_C_END
