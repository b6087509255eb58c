/* calls_14_pipe.c -- the functions of pipe.h that the worker calls: the schedule and the division of layers. */
#include <stdio.h>

#include "parallel/pipe.h"
#include "worker/calls_14.h"

static void keep_words(const mg_value *to)
{
    snprintf((char *)to->u8, (size_t)to->count, "%s", mt_last_error());
}

/* status [n], actions [n,...] as bytes, words, kind, first of the n stages, stages, micro, chunks */
void mg_call_pipe_schedule(const mg_value *v)
{
    for (int64_t s = 0; s < v[0].count; s++) {
        mt_pipe_action *out = (mt_pipe_action *)(v[1].u8 + s * (v[1].count / v[0].count));
        v[0].i64s[s] = mt_pipe_schedule(out, (mt_pipe_kind)v[3].i64, (int)(v[4].i64 + s), (int)v[5].i64, (int)v[6].i64,
                                        (int)v[7].i64);
        if (v[0].i64s[s] != MT_OK)
            keep_words(&v[2]);
    }
}

/* status [1], begin, words, cost, layers, stages */
void mg_call_pipe_partition(const mg_value *v)
{
    v[0].i64s[0] = mt_pipe_partition(v[1].i64s, v[3].i64s, v[4].i64, (int)v[5].i64);
    if (v[0].i64s[0] != MT_OK)
        keep_words(&v[2]);
}
