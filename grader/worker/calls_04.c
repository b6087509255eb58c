/* calls_04.c -- how the worker calls the optimizers, schedules, clipping and the program of lab 04.
 *
 * Doubles are sent as the bits of an i64, so that hyper-parameters, learning rates and norms are exact. */
#include "optim/clip.h"
#include "optim/program.h"
#include "optim/schedule.h"
#include "optim/updates.h"
#include "worker/gradients.h"

#include <stdlib.h>
#include <string.h>

/* ---- updates: as many steps in a row as there are gradients ----------------------------------- */

static void updates(mt_update_fn *update, const mg_value *v, float *state0, float *state1)
{
    const float *grad = F(grad);
    const int64_t first = N(step), steps = N(steps);
    mt_hyper hyper;
    mt_update u = { .param = F(param),
                    .state = { state0, state1 },
                    .scratch = F(scratch),
                    .rows = N(rows),
                    .cols = N(cols),
                    .hyper = &hyper };
    memcpy(&hyper, I64(hyper), sizeof hyper);
    for (int64_t t = 0; t < steps; t++) {
        u.grad = grad + t * mt_update_count(&u);
        u.step = first + t;
        update(&u);
    }
}

// clang-format off
#define UPDATES(CALL)                                             \
    CALL(mt_sgd_update_cpu, state[0], state[1])                   \
    CALL(mt_momentum_update_cpu, momentum_buffer, state[1])       \
    CALL(mt_nesterov_update_cpu, momentum_buffer, state[1])       \
    CALL(mt_rmsprop_update_cpu, square_avg, state[1])             \
    CALL(mt_adam_update_cpu, exp_avg, exp_avg_sq)                 \
    CALL(mt_adamw_update_cpu, exp_avg, exp_avg_sq)                \
    CALL(mt_adamw_multipass_update_cpu, exp_avg, exp_avg_sq)      \
    CALL(mt_lion_update_cpu, exp_avg, state[1])                   \
    CALL(mt_adafactor_update_cpu, exp_avg_sq_row, exp_avg_sq_col) \
    CALL(mt_muon_update_cpu, momentum_buffer, state[1])
#define UPDATE(fn, state0, state1)            \
    static void fn##_(const mg_value *v)      \
    {                                         \
        updates(fn, v, F(state0), F(state1)); \
    }
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

static void schedule_at(const mg_value *v)
{
    mt_schedule s = {
        .kind = (mt_schedule_kind)N(kind),
        .lr = as_double(I64(numbers)[0]),
        .lr_min = as_double(I64(numbers)[1]),
        .gamma = as_double(I64(numbers)[2]),
        .period = N(period),
        .warmup = N(warmup),
    };
    for (int64_t i = 0; i < ARRAY(lr)->count; i++)
        I64(lr)[i] = as_bits(mt_schedule_at(&s, I64(step)[i]));
}

/* ---- norm and clipping ------------------------------------------------------------------------ */

static void grad_norm(const mg_value *v)
{
    int64_t count;
    mt_grad_array *arrays = mg_gradients(v, &count);
    I64(norm)[0] = as_bits(mt_grad_norm_cpu(arrays, count));
    free(arrays);
}

static void clip_grad_norm(const mg_value *v)
{
    int64_t count;
    mt_grad_array *arrays = mg_gradients(v, &count);
    I64(norm)[0] = as_bits(mt_clip_grad_norm_cpu(arrays, count, as_double(I64(max_norm)[0])));
    free(arrays);
}

/* ---- a program ----------------------------------------------------------------------------------- */

static void program_digits(const mg_value *v)
{
    int64_t count = ARRAY(label)->count, asked = ARRAY(answer)->count, pixels = ARRAY(train)->count / count;
    mt_digits train = { .image = U8(train), .label = U8(label), .count = count, .pixels = pixels };
    mt_program_digits(U8(answer), &train, &(mt_digits){ .image = U8(asked), .count = asked, .pixels = pixels },
                      (uint64_t)N(seed));
}

// clang-format off
const mg_function mg_calls_04[] = {
    UPDATES(MG_ENTRY)
    { "mt_schedule_at", schedule_at },
    { "mt_grad_norm_cpu", grad_norm },
    { "mt_clip_grad_norm_cpu", clip_grad_norm },
    { "mt_program_digits", program_digits },
    { NULL, NULL },
};
