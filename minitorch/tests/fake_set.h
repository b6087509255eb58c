/* fake_set.h -- a data set for the loader's tests: sample i holds i and random numbers; loading takes time and may
 * fail. */
#pragma once

#include <stdatomic.h>
#include <string.h>

#include "core/clock.h"
#include "data/dataset.h"

typedef struct fake_set {
    mt_dataset base;
    mt_clock *clock;           /* NULL: samples take no time */
    double seconds;            /* for one sample */
    int64_t bad_every, bad_at; /* sample i is bad when i % bad_every == bad_at; 0: none is */
    mt_status bad_status;
    atomic_int loaded; /* samples read */
} fake_set;

/* x = { index, three random numbers }, y = index. */
static mt_status fake_get(const mt_dataset *base, int64_t index, mt_rng *rng, void *x, void *y)
{
    const fake_set *set = (const fake_set *)base;
    float values[4] = { (float)index };
    int32_t label = (int32_t)index;
    if (set->clock)
        set->clock->sleep(set->clock, set->seconds);
    if (set->bad_every && index % set->bad_every == set->bad_at)
        return mt_fail(set->bad_status, "sample-%d.png: truncated", (int)index);
    ((fake_set *)base)->loaded++;
    mt_rng_fill_uniform(rng, values + 1, 3, 0, 1);
    memcpy(x, values, sizeof values);
    memcpy(y, &label, sizeof label);
    return MT_OK;
}

static fake_set fake_set_of(int64_t count)
{
    return (fake_set){
        .base = { .count = count, .x = { MT_F32, MT_SHAPE(4) }, .y = { MT_I32, MT_SCALAR }, .get = fake_get },
        .bad_status = MT_ERR_FORMAT
    };
}
