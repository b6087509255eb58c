/* 14-integers.h -- what checks of lab 14 share: inputs are small integers, and so is everything that is computed of
 * them: below 2^24, so that f32 has it exactly, in whatever order it is added. So no row has a tolerance. */
#pragma once

#include "check.h"
#include "checks/fill.h"

#include <stdlib.h>

enum { RANKS = 4 };

/* f32 [..] with integers of -most .. most. */
static inline const float *integers(mg_run *run, float *x, int64_t n, int64_t most)
{
    for (int64_t i = 0; i < n; i++)
        x[i] = (float)mg_pick(mg_rng(run), -most, most);
    return x;
}

static inline const float *input(mg_run *run, const char *name, mt_shape shape, int64_t most)
{
    return integers(run, mg_in(run, name, MT_F32, shape), mt_shape_numel(shape), most);
}

/* c [M,N] += a [M,K] b [K,N]; each matrix with the distances of its rows and columns. */
typedef struct matrix {
    double *at;
    int64_t row, column;
} matrix;

static inline void add_product(matrix c, matrix a, matrix b, int64_t M, int64_t N, int64_t K)
{
    for (int64_t i = 0; i < M; i++)
        for (int64_t j = 0; j < N; j++)
            for (int64_t k = 0; k < K; k++)
                c.at[i * c.row + j * c.column] += a.at[i * a.row + k * a.column] * b.at[k * b.row + j * b.column];
}

static inline matrix transposed(matrix m)
{
    return (matrix){ m.at, m.column, m.row };
}

static inline void lift(double *to, const float *from, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        to[i] = (double)from[i];
}

/* An output that all ranks have alike. */
static inline bool expect_alike(mg_run *run, const char *name, const double *one, int64_t ranks, int64_t n)
{
    double *all = malloc((size_t)(ranks * n) * sizeof *all);
    MT_CHECK(all, "out of memory");
    for (int64_t i = 0; i < ranks * n; i++)
        all[i] = one[i % n];
    bool good = mg_expect(run, name, all, NULL);
    free(all);
    return good;
}
