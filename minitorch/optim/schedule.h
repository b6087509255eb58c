/* schedule.h -- the learning rate as a function of the step: it has no state to save.
 *
 *     mt_schedule schedule = { MT_SCHEDULE_COSINE, .lr = 2.5e-4, .period = steps - 500, .warmup = 500 };
 *     mt_optim_set_lr(optim, mt_schedule_at(&schedule, step));      // step = 0, 1, 2, ...
 *
 * Warm-up comes first; the schedule itself begins with its step 0 (t) when warm-up is over.
 * Unit: solutions/04-optimizers/schedules.c */
#pragma once

#include "core/base.h"

MT_C_BEGIN

typedef enum mt_schedule_kind {
    MT_SCHEDULE_CONSTANT,    /* lr */
    MT_SCHEDULE_STEP,        /* lr gamma^floor(t / period) */
    MT_SCHEDULE_EXPONENTIAL, /* lr gamma^t */
    MT_SCHEDULE_COSINE,      /* lr_min + (lr - lr_min) (1 + cos(pi t / period)) / 2; lr_min from t = period on */
    MT_SCHEDULE_TRIANGULAR,  /* from lr_min to lr in period steps, back in as many, and again */
    MT_SCHEDULE_TRIANGULAR2, /* the same, each triangle half as high above lr_min as the one before */
    MT_SCHEDULE_EXP_RANGE,   /* the same as triangular, its height above lr_min times gamma^t */
    MT_SCHEDULE_LINEAR,      /* from lr in a straight line to lr_min at t = period; lr_min from there on */
    MT_SCHEDULE_WSD,         /* warm-up, stable, decay: lr for `stable` steps, then as linear */
} mt_schedule_kind;

#define MT_SCHEDULE_KINDS 9

typedef struct mt_schedule {
    mt_schedule_kind kind;
    double lr;      /* the largest rate: at the start, or at the peak of a triangle */
    double lr_min;  /* the smallest: at the end of cosine, linear and wsd, or between triangles */
    int64_t period; /* steps between drops (step), in total (cosine, linear), of the decay (wsd), in half a triangle; at
                       least 1 there */
    double gamma;   /* factor of a drop (step), of every step (exponential, exp-range) */
    int64_t warmup; /* steps of linear warm-up; 0: none */
    int64_t stable; /* steps at lr between warm-up and decay (wsd) */
} mt_schedule;

/* mt_schedule_at -- the learning rate of step 0, 1, 2 ... During warm-up: the first rate of the schedule times
 * (step + 1) / warmup, so that the first step is not 0 and the last step of warm-up has the full rate.
 * Aborts: step or warmup < 0; period < 1 where there is one, during warm-up, too.
 * Sources: Loshchilov and Hutter 2016, arXiv:1608.03983 (cosine); Smith 2015, arXiv:1506.01186 (cyclical);
 * Goyal et al. 2017, arXiv:1706.02677 (warm-up); Hu et al. 2024, arXiv:2404.06395 (wsd).   Lab 04.8; linear and wsd
 * are given. */
double mt_schedule_at(const mt_schedule *schedule, int64_t step);

/* Given, in rules.c: "constant", "step", "exponential", "cosine", "triangular", "triangular2", "exp-range", "linear",
 * "wsd". */
const char *mt_schedule_name(mt_schedule_kind kind);
extern const char *const mt_schedule_names[]; /* the same, for MT_CHOICE (cli/cli.h) */

MT_C_END
