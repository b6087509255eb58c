/* calls_14_pipe.c -- the functions of pipe.h that the worker calls: the schedule and the division of layers. */
#include <stdio.h>

#include "parallel/pipe.h"
#include "worker/calls_14.h"

static void keep_words(const mg_value *to)
{
    snprintf((char *)to->u8, (size_t)to->count, "%s", mt_last_error());
}

void mg_call_pipe_schedule(const mg_value *v)
{
    for (int64_t s = 0; s < ARRAY(status)->count; s++) {
        mt_pipe_action *out = (mt_pipe_action *)(U8(actions) + s * (ARRAY(actions)->count / ARRAY(status)->count));
        I64(status)
        [s] = mt_pipe_schedule(out, (mt_pipe_kind)N(kind), (int)(N(stage) + s), (int)N(stages), (int)N(micro),
                               (int)N(chunks));
        if (I64(status)[s] != MT_OK)
            keep_words(ARRAY(words));
    }
}

void mg_call_pipe_partition(const mg_value *v)
{
    I64(status)[0] = mt_pipe_partition(I64(begin), I64(cost), N(layers), (int)N(stages));
    if (I64(status)[0] != MT_OK)
        keep_words(ARRAY(words));
}
