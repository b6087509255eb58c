/* calls_15_goodput.c -- how the worker calls the unit goodput.c. */
#include <stdio.h>
#include <string.h>

#include "plan/goodput.h"
#include "worker/calls_15.h"

/* numbers [2]: mtbf, interval, bits; job */
void mg_call_goodput_interval(const mg_value *v)
{
    mt_goodput_job job;
    memcpy(&job, I64(job), sizeof job);
    double numbers[2] = { 0 };
    numbers[0] = mt_goodput_mtbf(&job);
    numbers[1] = mt_goodput_interval(&job);
    memcpy(I64(numbers), numbers, sizeof numbers);
}

void mg_call_goodput_stretch(const mg_value *v)
{
    mt_goodput_job job;
    memcpy(&job, I64(job), sizeof job);
    double stretch = mt_goodput_stretch(&job);
    memcpy(I64(numbers), &stretch, sizeof stretch);
}

void mg_call_goodput_of(const mg_value *v)
{
    mt_goodput_job job;
    mt_goodput run = { .seconds = MG_15_UNCHANGED };
    double number[2];
    memcpy(&job, I64(job), sizeof job);
    memcpy(number, I64(work, interval), sizeof number);
    I64(status)[0] = mt_goodput_of(&run, &job, number[0], number[1]);
    memcpy(I64(run), &run, sizeof run);
    snprintf((char *)U8(words), (size_t)ARRAY(words)->count, "%s", I64(status)[0] == MT_OK ? "" : mt_last_error());
}
