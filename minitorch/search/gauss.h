/* gauss.h -- a Gaussian process: what values of a function are likely, given some of them.
 *
 * Covariance: Matern 5/2 with a length for each dimension, plus noise; mean 0 and variance 1, so values must be
 * standardised. Lengths and noise are entries of small tables, moved one at a time to a neighbour while the likelihood
 * grows.
 * Source: Rasmussen and Williams 2006, algorithm 2.1; expected improvement: Jones et al. 1998. */
#pragma once

#include "search/space.h"

MT_C_BEGIN

enum { MT_GAUSS_POINTS = 128 };

typedef struct mt_gauss {
    const mt_space *space; /* borrowed */
    int64_t count;
    mt_point point[MT_GAUSS_POINTS];
    double value[MT_GAUSS_POINTS];
    double length[MT_SPACE_DIMENSIONS], noise;                /* chosen by fit */
    double along[MT_SPACE_DIMENSIONS][MT_GAUSS_POINTS];       /* the points' coordinates, a row a dimension */
    double factor[MT_GAUSS_POINTS * MT_GAUSS_POINTS];         /* U of K = U^T U, rows of MT_GAUSS_POINTS */
    int64_t factors;                                          /* how many fit has made */
    double weight[MT_GAUSS_POINTS], scratch[MT_GAUSS_POINTS]; /* K^-1 value */
} mt_gauss;

/* mt_gauss_fit -- space, count > 0, point and value are given, the rest is filled. */
void mt_gauss_fit(mt_gauss *g);

/* mt_gauss_predict -- mean and standard deviation (without noise) of the value at a point. */
void mt_gauss_predict(mt_gauss *g, const mt_point *at, double *mean, double *deviation);

/* mt_gauss_improvement -- by how much a value of this distribution falls below `best`, on average. */
double mt_gauss_improvement(double mean, double deviation, double best);

/* mt_cholesky -- a [n,n] with rows of `stride`, symmetric, of which the upper half is read and becomes U with
 * U^T U = a; false: not positive definite. */
bool mt_cholesky(double *a, int64_t n, int64_t stride);

MT_C_END
