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
    /* TODO 04.11: One iteration.
     * Hint: three calls of mt_matmul_cpu (kernels/matmul.h), and loops between them that combine matrices. x^T is x
     * with MT_TRANS. The last product may be added to what stands in next. */
    MT_TODO("04.11"); /* delete this line when yours stands here */
}

/* Where element (i,j) of a matrix of R x C is when the shorter side comes first. */
static inline int64_t place(int64_t i, int64_t j, int64_t rows, int64_t cols)
{
    return rows <= cols ? i * cols + j : j * rows + i;
}

/* Updates the momentum; x = d / (|d| + eps), the shorter side first. d [rows,cols] is free. */
static void direction(float *x, float *d, const mt_update *u)
{
    /* TODO 04.11: The momentum, Nesterov's direction d, and x.
     * Hint: b and d are those of 04.1's Nesterov, but without decay. Add squares in double: no gradient is too small
     * for that. place() tells where an element of d goes in x. */
    MT_TODO("04.11"); /* delete this line when yours stands here */
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
    /* TODO 04.11: The step.
     * Hint: its formula is in optim/updates.h; element (i,j) is in x where direction() has put it. */
    MT_TODO("04.11"); /* delete this line when yours stands here */
}
