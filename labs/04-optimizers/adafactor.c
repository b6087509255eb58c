/* adafactor.c -- Adam's second moment in little memory: an R x C matrix of averages becomes R row means and C
 * column means, and v_ij = r_i c_j / mean(r), which is right whenever g^2 has rank one.
 *
 * Sums are double; each is computed by one thread in a fixed order, or in a fixed number of parts. */
#include "optim/updates.h"

#include <inttypes.h>
#include <math.h>

enum {
    PARALLEL_FROM = 1 << 15, /* elements from which waking the other threads (2 us) pays */
    COLUMNS = 256,           /* columns summed together: their sums stay in the L1 cache */
    PARTS = 64,              /* of a sum over all elements: a fixed number, each of neighbouring rows */
};

static const double LEAST_RMS = 1e-3;  /* smallest rms that a parameter counts as */
static const double DECAY_POWER = 0.8; /* beta2 of step t is 1 - t^-0.8: no bias correction; first 0, then towards 1 */

/* state = beta state + (1 - beta) mean, for row means r and column means c of g^2 + eps. */
static void average_rows(float *r, const float *g, int64_t R, int64_t C, double eps, double beta)
{
    /* TODO 04.7: Update every r[i] with the mean of g^2 + eps over row i.
     * Hint: a running average, as Adam's v is (optim/updates.h). Sum in double. eps keeps the mean of a row without
     * gradients above 0. */
    MT_TODO("04.7"); /* delete this line when yours stands here */
}

static void average_columns(float *c, const float *g, int64_t R, int64_t C, double eps, double beta)
{
    /* TODO 04.7: The same for columns.
     * Hint: read along rows, in memory order, with the sums of up to COLUMNS neighbouring columns in a local array.
     * Threads may divide the groups of columns. */
    MT_TODO("04.7"); /* delete this line when yours stands here */
}

static double mean(const float *a, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += a[i];
    return sum / (double)n;
}

/* Element j of a row of u, the gradient divided by its usual size. row_root = sqrt(r_i / mean(r)). Two roots and not
 * the root of a product: r and c may both be as small as eps, whose square underflows f32. */
static inline float divided(float g, float row_root, float c)
{
    return g / (row_root * sqrtf(c));
}

/* Sums over all elements of u^2 and p^2. */
static void sum_squares(double *of_u, double *of_p, const mt_update *u, double mean_r)
{
    double u_part[PARTS] = { 0 }, p_part[PARTS] = { 0 };
    const float *r = u->state[0], *c = u->state[1];
    int64_t R = u->rows, C = u->cols;
#pragma omp parallel for if (R * C >= PARALLEL_FROM)
    for (int64_t part = 0; part < PARTS; part++) {
        for (int64_t i = R * part / PARTS; i < R * (part + 1) / PARTS; i++) {
            const float *g = u->grad + i * C, *p = u->param + i * C;
            float row_root = (float)sqrt(r[i] / mean_r);
            double u_sum = 0, p_sum = 0;
#pragma omp simd reduction(+ : u_sum, p_sum)
            for (int64_t j = 0; j < C; j++) {
                double x = divided(g[j], row_root, c[j]);
                u_sum += x * x;
                p_sum += (double)p[j] * p[j];
            }
            u_part[part] += u_sum;
            p_part[part] += p_sum;
        }
    }
    *of_u = *of_p = 0;
    for (int part = 0; part < PARTS; part++) {
        *of_u += u_part[part];
        *of_p += p_part[part];
    }
}

void mt_adafactor_update_cpu(const mt_update *u)
{
    int64_t R = u->rows, C = u->cols;
    double lr = u->hyper->lr, beta = 1 - pow((double)u->step, -DECAY_POWER), u_squares, p_squares;
    MT_CHECK(u->step >= 1, "adafactor: step %" PRId64 ", but the first is 1", u->step);
    if (R * C == 0)
        return;
    average_rows(u->state[0], u->grad, R, C, u->hyper->eps, beta);
    average_columns(u->state[1], u->grad, R, C, u->hyper->eps, beta);
    double mean_r = mean(u->state[0], R);
    sum_squares(&u_squares, &p_squares, u, mean_r);
    /* TODO 04.7: The step: lr times the parameter's rms times u, where u is scaled to an rms of at most 1.
     * Hint: sum_squares() has left the sums that both rms need. The parameter's rms counts as LEAST_RMS at least;
     * when does u's rms change the step? divided() gives an element of u. Weight decay is decoupled. */
    MT_TODO("04.7"); /* delete this line when yours stands here */
}
