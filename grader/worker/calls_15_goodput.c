/* calls_15_goodput.c -- how the worker calls the unit goodput.c. */
#include <stdio.h>
#include <string.h>

#include "plan/goodput.h"
#include "worker/calls_15.h"

/* numbers [2]: mtbf, interval, bits; job */
void mg_call_goodput_interval(const mg_value *v)
{
    mt_goodput_job job;
    memcpy(&job, v[1].i64s, sizeof job);
    double numbers[2] = { 0 };
    numbers[0] = mt_goodput_mtbf(&job);
    numbers[1] = mt_goodput_interval(&job);
    memcpy(v[0].i64s, numbers, sizeof numbers);
}

void mg_call_goodput_stretch(const mg_value *v) /* stretch, bits; job */
{
    mt_goodput_job job;
    memcpy(&job, v[1].i64s, sizeof job);
    double stretch = mt_goodput_stretch(&job);
    memcpy(v[0].i64s, &stretch, sizeof stretch);
}

/* status; run; words; job; work, interval [2] bits */
void mg_call_goodput_of(const mg_value *v)
{
    mt_goodput_job job;
    mt_goodput run = { .seconds = MG_15_UNCHANGED };
    double number[2];
    memcpy(&job, v[3].i64s, sizeof job);
    memcpy(number, v[4].i64s, sizeof number);
    v[0].i64s[0] = mt_goodput_of(&run, &job, number[0], number[1]);
    memcpy(v[1].i64s, &run, sizeof run);
    snprintf((char *)v[2].u8, (size_t)v[2].count, "%s", v[0].i64s[0] == MT_OK ? "" : mt_last_error());
}
