/* local.h -- ranks that train by themselves for a while, and then bring their parameters together: local SGD, DiLoCo,
 * and a variant in which what a rank has learnt arrives late. Unit: solutions/13-data-parallel/local.c
 *
 *     for (each round) {
 *         ... H steps of any optimizer on local, on this rank's samples, without communication ...
 *         status = mt_outer_step(comm, &outer, local);      // 1 / H of the bytes of an all-reduce in every step
 *     }
 *
 * A round changes the parameters of rank r by -d_r = local_r - global. The mean of all d is treated as a gradient:
 *     velocity = momentum velocity + mean d
 *     global  -= lr (mean d + momentum velocity)            (Nesterov, as in optim/updates.h)
 * With lr 1 and momentum 0 this is the mean of the parameters of all ranks (local SGD); DiLoCo takes 0.7 and 0.9.
 * Sources: Stich 2018, arXiv:1805.09767; Douillard et al. 2023, arXiv:2311.08105. */
#pragma once

#include "dist/comm.h"

MT_C_BEGIN

typedef struct mt_outer {
    int64_t n;       /* parameters */
    float *global;   /* [n] those that all ranks have: at first the same on each, with which local begins */
    float *velocity; /* [n] zeros at first */
    double lr, momentum;

    /* What is late: pending[q] is added to in round t and applied in a later one. */
    int64_t max_delay; /* rounds, >= 0 */
    float *pending;    /* [max_delay + 1, n] zeros at first */
    uint64_t seed;
    int64_t round; /* 0 at first */
} mt_outer;

/* mt_outer_delay -- by how many rounds the d of a rank and round is late, 0 .. max_delay, all equally likely: a
 * function of (seed, rank, round) only, so that a run is repeated exactly whatever the machine does. Given. */
int64_t mt_outer_delay(const mt_outer *outer, int rank, int64_t round);

/* mt_outer_step -- the end of a round: d of this rank is put aside for the round in which it is due; the d of all ranks
 * that are due in this round are added up and divided by the number of ranks; global and velocity are updated, local
 * [n] becomes global, and round is one more. Global has the same bits on all ranks. With max_delay 0 nothing is late.
 * What is pending at the end of training is lost, unless max_delay rounds with d = 0 follow.
 * Fails: as the communicator; the arrays are undefined then.   Lab 13.17-18 */
mt_status mt_outer_step(mt_comm *comm, mt_outer *outer, float *local);

MT_C_END
