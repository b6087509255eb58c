/* calls_09_training.c -- how the worker calls the scaler and the master update of lab 09. Doubles are sent as the bits
 * of an i64. */
#include "amp/master.h"
#include "amp/scaler.h"
#include "worker/aborts.h"
#include "worker/calls_09.h"
#include "worker/gradients.h"

#include <string.h>

/* ---- scaler ---------------------------------------------------------------------------------------------- */

void mg_call_scaler_new(const mg_value *v) /* the scaler [5] */
{
    const mt_scaler s = mt_scaler_new();
    memcpy(v[0].i64s, (int64_t[]){ s.exponent, s.interval, s.good, s.skipped, s.in_a_row }, 5 * sizeof(int64_t));
}

/* trace [n,4] = exponent, good, skipped, in a row; applied [n]; finite [n]; the scaler at first [5] */
void mg_call_scaler(const mg_value *v)
{
    const int64_t *at = v[3].i64s;
    mt_scaler s = { .exponent = at[0], .interval = at[1], .good = at[2], .skipped = at[3], .in_a_row = at[4] };
    for (int64_t i = 0; i < v[2].count; i++) {
        v[1].i64s[i] = mt_scaler_update(&s, v[2].i64s[i]);
        memcpy(v[0].i64s + 4 * i, (int64_t[]){ s.exponent, s.good, s.skipped, s.in_a_row }, 4 * sizeof(int64_t));
    }
}

void mg_call_unscale(const mg_value *v) /* norm [1]; scale, max_norm [2]; sizes [count]; arrays */
{
    int64_t count;
    double number[2];
    mt_grad_array *arrays = mg_gradients(v + 2, &count);
    memcpy(number, v[1].ptr, sizeof number);
    double norm = mt_unscale_grads_cpu(arrays, count, number[0], number[1]);
    memcpy(v[0].ptr, &norm, sizeof norm);
    free(arrays);
}

void mg_call_unscale_aborts(const mg_value *v) /* aborted [1]; the rest as for mg_call_unscale */
{
    v[0].i64s[0] = mg_aborts(mg_call_unscale, v);
}

/* ---- master ---------------------------------------------------------------------------------------------- */

void mg_call_master(const mg_value *v) /* param, m, v, copy; grad, hyper; rows, cols, step, the copy's type */
{
    mt_hyper hyper;
    memcpy(&hyper, v[5].ptr, sizeof hyper);
    mt_update u = { .param = v[0].f32,
                    .grad = v[4].f32,
                    .state = { v[1].f32, v[2].f32 },
                    .rows = v[6].i64,
                    .cols = v[7].i64,
                    .step = v[8].i64,
                    .hyper = &hyper };
    mt_adamw_master_update_cpu(&u, v[3].ptr, (mt_dtype)v[9].i64);
}

void mg_call_master_aborts(const mg_value *v) /* as for mg_call_master, then aborted [1] */
{
    v[10].i64s[0] = mg_aborts(mg_call_master, v);
}
