/* update_oracle.h -- what an optimizer's kernel must compute, in double, with the tolerance of every number (approx.h).
 *
 *     mt_update_oracle *oracle = mt_update_oracle_new(MT_ADAM, hyper, rows, cols, param);
 *     every step:  kernel(&u);  mt_update_oracle_step(oracle, grad);
 *     const char *words = mt_update_oracle_check(oracle, u.param, u.state);    // NULL: all within tolerance
 *
 * How errors grow. In an average a = beta a + (1 - beta) x old errors decay by beta, so k roundings a step converge to
 * k / (1 - beta) of them. A parameter is the sum of its steps and of their errors, so its tolerance grows with the
 * number of steps. Gradients are given from outside, so no error feeds back through them; through coupled weight decay
 * it does, and its bound grows like (1 + lr wd / (sqrt(v) + eps))^t: keep that near 1. Where Lion's average is so near
 * zero that an f32 computation may see the other sign, the step has an error of two.
 *
 * Muon has one bound for a whole matrix: of the root of the sum of squares of its errors. No singular value is above
 * 1.21, and up to there the polynomial's slope is at most 4: so an iteration makes old errors at most 4 times as large,
 * and adds those of its own products (update_oracle.c). */
#pragma once

#include "optim/updates.h"
#include "testing/approx.h"

MT_C_BEGIN

typedef struct mt_update_oracle {
    mt_update_kind kind;
    mt_hyper hyper; /* may be changed between steps */
    int64_t rows, cols;
    int64_t step; /* steps made */
    mt_approx *param, *state[MT_UPDATE_STATES];
    double whole; /* Muon: the error of the whole parameter, beside that of each element */
} mt_update_oracle;

mt_update_oracle *mt_update_oracle_new(mt_update_kind kind, mt_hyper hyper, int64_t rows, int64_t cols,
                                       const float *param);
void mt_update_oracle_step(mt_update_oracle *oracle, const float *grad);
const char *mt_update_oracle_check(const mt_update_oracle *oracle, const float *param, float *const *state);
void mt_update_oracle_free(mt_update_oracle *oracle);

MT_C_END
