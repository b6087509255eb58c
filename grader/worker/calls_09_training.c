/* calls_09_training.c -- how the worker calls the scaler and the updates of lab 09. Doubles are sent as the bits
 * of an i64. */
#include "amp/master.h"
#include "amp/scaler.h"
#include "amp/state8.h"
#include "worker/calls_09.h"
#include "worker/gradients.h"

#include <string.h>

/* ---- scaler ---------------------------------------------------------------------------------------------- */

void mg_call_scaler_new(const mg_value *v)
{
    const mt_scaler s = mt_scaler_new();
    memcpy(I64(scaler), (int64_t[]){ s.exponent, s.interval, s.good, s.skipped, s.in_a_row }, 5 * sizeof(int64_t));
}

/* trace [n,4] = exponent, good, skipped, in a row; applied [n]; finite [n]; the scaler at first [5] */
void mg_call_scaler(const mg_value *v)
{
    const int64_t *at = I64(scaler);
    mt_scaler s = { .exponent = at[0], .interval = at[1], .good = at[2], .skipped = at[3], .in_a_row = at[4] };
    for (int64_t i = 0; i < ARRAY(finite)->count; i++) {
        I64(applied)[i] = mt_scaler_update(&s, I64(finite)[i]);
        memcpy(I64(trace) + 4 * i, (int64_t[]){ s.exponent, s.good, s.skipped, s.in_a_row }, 4 * sizeof(int64_t));
    }
}

void mg_call_unscale(const mg_value *v)
{
    int64_t count;
    double number[2];
    mt_grad_array *arrays = mg_gradients(v, &count);
    memcpy(number, I64(scale, max_norm), sizeof number);
    double norm = mt_unscale_grads_cpu(arrays, count, number[0], number[1]);
    memcpy(I64(norm), &norm, sizeof norm);
    free(arrays);
}

/* ---- master ---------------------------------------------------------------------------------------------- */

/* Without moments. */
static mt_update update_of(const mg_value *v, mt_hyper *hyper)
{
    memcpy(hyper, I64(hyper), sizeof *hyper);
    return (mt_update){
        .param = F(param), .grad = F(grad), .rows = N(rows), .cols = N(cols), .step = N(step), .hyper = hyper
    };
}

void mg_call_master(const mg_value *v)
{
    mt_hyper hyper;
    mt_update u = update_of(v, &hyper);
    u.state[0] = F(m), u.state[1] = F(v);
    mt_adamw_master_update_cpu(&u, ARRAY(copy)->ptr, (mt_dtype)N(dtype));
}

/* ---- moments of 8 bits ----------------------------------------------------------------------------------- */

void mg_call_encode8(const mg_value *v)
{
    mt_encode8_cpu(&(mt_moment8){ U8(code), F(scale), N(sign) }, F(x), N(n), N(step), N(first));
}

void mg_call_decode8(const mg_value *v)
{
    mt_decode8_cpu(F(out), &(mt_moment8){ U8(code), F(scale), N(sign) }, N(n));
}

void mg_call_adam8(const mg_value *v)
{
    mt_hyper hyper;
    mt_update u = update_of(v, &hyper);
    mt_adam8_update_cpu(&u, N(decoupled) ? mt_adamw_update_cpu : mt_adam_update_cpu,
                        (mt_moment8[]){ { U8(m), F(m_scale), true }, { U8(v), F(v_scale), false } });
}
