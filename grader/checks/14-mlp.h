/* 14-mlp.h -- an MLP on one device, by which checks of lab 14 judge one whose hidden columns ranks divide. */
#pragma once

#include "checks/14-integers.h"

enum { ROWS_ = 12, WIDE = 8, TALL = RANKS * WIDE };

/* y = relu(x w1 + b1) w2 + b2 of one device, and its gradients; the hidden columns of rank r are r F .. r F + F - 1. */
typedef struct mlp {
    int64_t ranks, n, I, F, O;
    double x[ROWS_ * WIDE], dy[ROWS_ * WIDE], y[ROWS_ * WIDE], dx[ROWS_ * WIDE], h[ROWS_ * TALL], dh[ROWS_ * TALL];
    double w1[TALL * WIDE], dw1[TALL * WIDE], b1[TALL], db1[TALL], w2[TALL * WIDE], dw2[TALL * WIDE], b2[WIDE],
        db2[WIDE];
} mlp;

/* Weights are as the ranks have them: w1 [P,I,F], w2 [P,F,O]. */
static inline void compute_mlp(mlp *m)
{
    int64_t all = m->ranks * m->F;
    matrix x = { m->x, m->I, 1 }, dx = { m->dx, m->I, 1 }, y = { m->y, m->O, 1 }, dy = { m->dy, m->O, 1 };
    for (int64_t i = 0; i < m->n * all; i++)
        m->h[i] = m->b1[i % all];
    for (int64_t i = 0; i < m->n * m->O; i++)
        m->y[i] = m->b2[i % m->O], m->db2[i % m->O] += m->dy[i];
    for (int64_t r = 0; r < m->ranks; r++) {
        matrix h = { m->h + r * m->F, all, 1 }, dh = { m->dh + r * m->F, all, 1 };
        matrix w1 = { m->w1 + r * m->I * m->F, m->F, 1 }, dw1 = { m->dw1 + r * m->I * m->F, m->F, 1 };
        matrix w2 = { m->w2 + r * m->F * m->O, m->O, 1 }, dw2 = { m->dw2 + r * m->F * m->O, m->O, 1 };
        add_product(h, x, w1, m->n, m->F, m->I);
        add_product(dh, dy, transposed(w2), m->n, m->F, m->O);
        for (int64_t i = 0; i < m->n; i++)
            for (int64_t f = r * m->F; f < (r + 1) * m->F; f++) {
                bool is_on = m->h[i * all + f] > 0;
                m->h[i * all + f] *= is_on, m->dh[i * all + f] *= is_on;
                m->db1[f] += m->dh[i * all + f];
            }
        add_product(y, h, w2, m->n, m->O, m->F);
        add_product(dw2, transposed(h), dy, m->F, m->O, m->n);
        add_product(dw1, transposed(x), dh, m->I, m->F, m->n);
        add_product(dx, dh, transposed(w1), m->n, m->I, m->F);
    }
}
