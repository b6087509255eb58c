/* 04-optimizers.h -- the checks of lab 04: the structs of its rows, and the functions that run them. */
#pragma once

#include "check.h"
#include "optim/schedule.h"
#include "optim/updates.h"

/* What a row of an update rule tests. */
typedef enum update_about {
    UP_SIZES,   /* three steps of every awkward size */
    UP_HINTED,  /* the same, for calls that have a hint of their own (mg_part) */
    UP_FIRST,   /* the first steps with the paper's hyper-parameters, where bias and 1 - beta show */
    UP_DECAY,   /* strong weight decay */
    UP_EPS,     /* an eps as large as the gradients */
    UP_SMALL,   /* gradients of 1e-10, Lion's and Muon's of 1e-30, and an eps far below them */
    UP_LONG,    /* 1,000 steps */
    UP_PLAIN,   /* the same without weight decay, which makes every gradient differ from 0 */
    UP_RESUMED, /* averages and step number as in the middle of a training */
    UP_LATE,    /* the same after 70,000 steps: a number of 16 bits has begun anew */
    UP_LAST,    /* and after 2^32 */
    UP_ZEROS,   /* elements that never get a gradient: nothing changes, nothing is NaN */
    UP_THREADS, /* the same bits with any number of threads */
    UP_VECTOR,  /* one row only (adafactor) */
    UP_CLIPPED, /* gradients that grow a hundredfold from one step to the next (adafactor) */
    UP_TINY,    /* parameters near zero (adafactor) */
} update_about;

#define RESUMED_HINT "a step may depend on its arguments only: a static counter or buffer is lost when training resumes"
#define THREADS_HINT \
    "compute each element in one thread with local variables; the order of sums must not depend on the threads"

typedef struct update_case {
    mg_case head;
    const char *function;
    mt_update_kind kind;
    update_about about;
} update_case;

typedef struct schedule_case {
    mg_case head;
    mt_schedule_kind kind;
    bool warmup; /* with a warm-up of some steps */
} schedule_case;

/* What a row tests of the norm, or of clipping. */
typedef enum clip_about {
    CLIP_NORM,     /* mt_grad_norm_cpu of every awkward size, several arrays */
    CLIP_RANGE,    /* elements whose squares are out of range of f32 */
    CLIP_ALL,      /* the norm is above the limit */
    CLIP_SHORT,    /* it is not */
    CLIP_NOTHING,  /* no arrays, a limit of 0, gradients of 0 */
    CLIP_INFINITE, /* an element is inf or NaN */
    CLIP_THREADS,  /* the same bits with any number of threads */
} clip_about;

typedef struct clip_case {
    mg_case head;
    clip_about about;
} clip_case;

/* 04-updates.c */
void mg_04_update(mg_run *run, const void *one_case); /* an update_case */

/* 04-traffic.c */
void mg_04_traffic(mg_run *run, const void *one_case); /* an mg_case */

/* 04-schedules.c, 04-clip.c */
void mg_04_schedule(mg_run *run, const void *one_case); /* a schedule_case */
void mg_04_clip(mg_run *run, const void *one_case);     /* a clip_case */

/* 04-program.c */
void mg_04_program(mg_run *run, const void *one_case); /* an mg_case */
