/* muon.c -- a step for a matrix as a whole: momentum, whose singular values five iterations then bring near 1, so that
 * the step is about as long in every direction of the matrix.
 *
 * Products are lab 01's (mt_matmul_cpu); the sum of squares is double. Their work outweighs all other loops. */
#include "kernels/matmul.h"
#include "optim/updates.h"

#include <math.h>

enum { TIMES = 5 };

/* What becomes of a singular value s: A s + B s^3 + C s^5. It grows 3.4445 times where it is small. */
static const float A = 3.4445f, B = -4.7750f, C = 2.0315f;

/* next = A x + (B s + C s s) x  with s = x x^T.   x, next [m,n];  s, p [m,m] are free. */
static void newton_schulz(float *next, const float *x, float *s, float *p, int64_t m, int64_t n)
{
    /* LAB 04.11 BEGIN  One iteration.
     * Hint: three calls of mt_matmul_cpu (kernels/matmul.h), and loops between them that combine matrices. x^T is x
     * with MT_TRANS. The last product may be added to what stands in next. */
    mt_matmul_cpu(s, x, x, m, m, n, MT_NO_TRANS, MT_TRANS, MT_OVERWRITE);
    mt_matmul_cpu(p, s, s, m, m, m, MT_NO_TRANS, MT_NO_TRANS, MT_OVERWRITE);
    for (int64_t i = 0; i < m * m; i++)
        p[i] = B * s[i] + C * p[i];
    for (int64_t i = 0; i < m * n; i++)
        next[i] = A * x[i];
    mt_matmul_cpu(next, p, x, m, n, m, MT_NO_TRANS, MT_NO_TRANS, MT_ACCUMULATE);
    /* LAB 04.11 END */
}

/* Where element (i,j) of a matrix of R x C is when the shorter side comes first. */
static inline int64_t place(int64_t i, int64_t j, int64_t rows, int64_t cols)
{
    return rows <= cols ? i * cols + j : j * rows + i;
}

/* Updates the momentum; x = d / (|d| + eps), the shorter side first. d [rows,cols] is free. */
static void direction(float *x, float *d, const mt_update *u)
{
    /* LAB 04.11 BEGIN  The momentum, Nesterov's direction d, and x.
     * Hint: b and d are those of 04.1's Nesterov, but without decay. Add squares in double: no gradient is too small
     * for that. place() tells where an element of d goes in x. */
    const float momentum = (float)u->hyper->momentum;
    double squares = 0;
    for (int64_t i = 0; i < u->rows * u->cols; i++) {
        u->state[0][i] = momentum * u->state[0][i] + u->grad[i];
        d[i] = u->grad[i] + momentum * u->state[0][i];
        squares += (double)d[i] * d[i];
    }
    const double norm = sqrt(squares) + u->hyper->eps;
    for (int64_t i = 0; i < u->rows; i++)
        for (int64_t j = 0; j < u->cols; j++)
            x[place(i, j, u->rows, u->cols)] = (float)(d[i * u->cols + j] / norm);
    /* LAB 04.11 END */
}

void mt_muon_update_cpu(const mt_update *u)
{
    const int64_t rows = u->rows, cols = u->cols, m = mt_min(rows, cols), n = mt_max(rows, cols);
    float *x = u->scratch, *next = x + m * n, *s = next + m * n, *p = s + m * m;
    if (m == 0)
        return;
    direction(x, next, u);
    for (int i = 0; i < TIMES; i++) {
        newton_schulz(next, x, s, p, m, n);
        float *before = x;
        x = next, next = before;
    }
    /* LAB 04.11 BEGIN  The step.
     * Hint: its formula is in optim/updates.h; element (i,j) is in x where direction() has put it. */
    const float lr = (float)u->hyper->lr, decay = (float)u->hyper->weight_decay, size = (float)(0.2 * sqrt((double)n));
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < cols; j++) {
            float *at = &u->param[i * cols + j];
            *at -= lr * (size * x[place(i, j, rows, cols)] + decay * *at);
        }
    /* LAB 04.11 END */
}
