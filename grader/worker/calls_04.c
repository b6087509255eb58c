/* calls_04.c -- how the worker calls the optimizers, schedules, clipping and the program of lab 04.
 *
 * Doubles are sent as the bits of an i64, so that hyper-parameters, learning rates and norms are exact. */
#include "optim/clip.h"
#include "optim/program.h"
#include "optim/schedule.h"
#include "optim/updates.h"
#include "worker/aborts.h"
#include "worker/gradients.h"

#include <stdlib.h>
#include <string.h>

/* ---- updates: as many steps in a row as there are gradients ----------------------------------- */

/* param, two states, scratch; grads [steps,rows,cols], hyper; rows, cols, the number of the first step, steps */
static void updates(mt_update_fn *update, const mg_value *v)
{
    mt_hyper hyper;
    mt_update u = { .param = v[0].f32,
                    .state = { v[1].f32, v[2].f32 },
                    .scratch = v[3].f32,
                    .rows = v[6].i64,
                    .cols = v[7].i64,
                    .hyper = &hyper };
    memcpy(&hyper, v[5].i64s, sizeof hyper);
    for (int64_t t = 0; t < v[9].i64; t++) {
        u.grad = v[4].f32 + t * mt_update_count(&u);
        u.step = v[8].i64 + t;
        update(&u);
    }
}

// clang-format off
#define UPDATES(CALL)                    \
    CALL(mt_sgd_update_cpu)              \
    CALL(mt_momentum_update_cpu)         \
    CALL(mt_nesterov_update_cpu)         \
    CALL(mt_rmsprop_update_cpu)          \
    CALL(mt_adam_update_cpu)             \
    CALL(mt_adamw_update_cpu)            \
    CALL(mt_adamw_multipass_update_cpu)  \
    CALL(mt_lion_update_cpu)             \
    CALL(mt_adafactor_update_cpu)
#define UPDATE(fn)                                                                    \
    static void fn##_(const mg_value *v) { updates(fn, v); }                          \
    static void fn##_aborts(const mg_value *v) { v[10].i64s[0] = mg_aborts(fn##_, v); }
#define UPDATE_ENTRIES(fn) { #fn, fn##_ }, { "may abort: " #fn, fn##_aborts },
UPDATES(UPDATE)
// clang-format on

/* ---- schedules -------------------------------------------------------------------------------- */

static double as_double(int64_t bits)
{
    double number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

static int64_t as_bits(double number)
{
    int64_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits;
}

static void schedule_at(const mg_value *v) /* lr [n]; step [n]; lr, lr_min, gamma as one array; kind, period, warmup */
{
    mt_schedule s = {
        .kind = (mt_schedule_kind)v[3].i64,
        .lr = as_double(v[2].i64s[0]),
        .lr_min = as_double(v[2].i64s[1]),
        .gamma = as_double(v[2].i64s[2]),
        .period = v[4].i64,
        .warmup = v[5].i64,
    };
    for (int64_t i = 0; i < v[0].count; i++)
        v[0].i64s[i] = as_bits(mt_schedule_at(&s, v[1].i64s[i]));
}

static void schedule_at_aborts(const mg_value *v)
{
    v[6].i64s[0] = mg_aborts(schedule_at, v);
}

/* ---- norm and clipping ------------------------------------------------------------------------ */

static void grad_norm(const mg_value *v) /* norm [1]; sizes [count]; arrays */
{
    int64_t count;
    mt_grad_array *arrays = mg_gradients(v + 1, &count);
    v[0].i64s[0] = as_bits(mt_grad_norm_cpu(arrays, count));
    free(arrays);
}

static void clip_grad_norm(const mg_value *v) /* norm [1]; max_norm [1], sizes [count]; arrays */
{
    int64_t count;
    mt_grad_array *arrays = mg_gradients(v + 2, &count);
    v[0].i64s[0] = as_bits(mt_clip_grad_norm_cpu(arrays, count, as_double(v[1].i64s[0])));
    free(arrays);
}

static void clip_aborts(const mg_value *v) /* aborted [1]; max_norm [1], sizes [count]; arrays */
{
    v[0].i64s[0] = mg_aborts(clip_grad_norm, v);
}

/* ---- a program ----------------------------------------------------------------------------------- */

static void program_digits(const mg_value *v) /* answer; train [count,pixels], label, asked [n,pixels]; seed */
{
    int64_t count = v[2].count, asked = v[0].count, pixels = v[1].count / count;
    mt_digits train = { .image = v[1].u8, .label = v[2].u8, .count = count, .pixels = pixels };
    mt_program_digits(v[0].u8, &train, &(mt_digits){ .image = v[3].u8, .count = asked, .pixels = pixels },
                      (uint64_t)v[4].i64);
}

// clang-format off
const mg_function mg_calls_04[] = {
    UPDATES(UPDATE_ENTRIES)
    { "mt_schedule_at", schedule_at },
    { "may abort: mt_schedule_at", schedule_at_aborts },
    { "mt_grad_norm_cpu", grad_norm },
    { "mt_clip_grad_norm_cpu", clip_grad_norm },
    { "may abort: mt_clip_grad_norm_cpu", clip_aborts },
    { "mt_program_digits", program_digits },
    { NULL, NULL },
};
