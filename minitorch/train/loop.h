/* loop.h -- the steps of a whole run, with evaluations, rows of a log and checkpoints at intervals, and a progress
 * line.
 *
 *     mt_loop loop = { .training = { ... }, .loader = loader, .steps = 1000, .eval_every = 100, .evaluate = test };
 *     mt_status status = mt_loop_run(&loop, loop.steps); */
#pragma once

#include "cli/progress.h"
#include "models/step.h"

MT_C_BEGIN

/* What training did since the last evaluation, or since the last row of the log. */
typedef struct mt_stretch {
    double loss; /* mean over the samples of steps whose loss is finite; NaN: there are none */
    double seconds;
    int64_t steps, samples, finite; /* finite: samples in that mean */
    double begin;                   /* mt_now() before its first step */
} mt_stretch;

/* mt_loss_text -- a stretch's loss for a table: with so many decimals, or "-" for NaN. Returns text. */
const char *mt_loss_text(char text[32], double loss, int decimals);

/* The best evaluation so far, by a value that is better the smaller it is. */
typedef struct mt_best {
    double value;
    int64_t step;   /* that it was measured after; 0: none yet */
    int64_t behind; /* evaluations since then */
} mt_best;

typedef struct mt_loop mt_loop;

/* ---- extension point: what surrounds steps and evaluations; NULL: nothing */
typedef struct mt_loop_hooks {
    mt_status (*stepped)(void *user, const mt_loop *loop, const mt_step_result *result); /* a failure ends the loop */
    void (*around_evaluation)(void *user, mt_loop *loop, bool begins);                   /* before it, and after it */
    void *user;
} mt_loop_hooks;

struct mt_loop {
    mt_training training; /* all but next, targets and source, which are the loader */
    mt_loader *loader;    /* its epochs follow each other */
    int64_t step, steps;  /* done, from `begun` on; of the whole run */
    int64_t begun;        /* 0, or the steps of the run that is resumed */
    int64_t samples;      /* trained on */
    int64_t epochs;       /* for the progress line; 0: it shows steps only */
    int64_t eval_every;   /* steps; there is an evaluation after the last step too */
    int64_t log_every;    /* steps from one row of the log to the next; each evaluation has one, too; 0: only these */
    int64_t save_every; /* steps; 0: before each evaluation. Also before and after that of the last step, after the best
                             evaluation so far, and before the loop ends early without an error */
    mt_best best;       /* changed by mt_loop_note */
    int64_t patience;   /* so many evaluations in a row that are not the best end the run; 0: none do */
    double min_delta;   /* by so much the best evaluation has to be better than the one before it */
    mt_loop_hooks hooks;
    mt_status (*evaluate)(void *user, const mt_stretch *since);
    /* log -- a row, after the evaluation if the step has one. NULL: there is no log. Every rank of several calls it. A
     * failure, which must be that of every rank, ends the run with a checkpoint of this step, whose evaluation and row
     * are then made up for by the run that continues from it. */
    mt_status (*log)(void *user, const mt_stretch *since, bool evaluated);
    mt_status (*save)(void *user);       /* a checkpoint of this step; NULL: none */
    mt_status (*first_step)(void *user); /* after it, before an evaluation; NULL: nothing */
    mt_status (*agree)(void *user,
                       bool *stop); /* several ranks: whether the step was taken, and a Ctrl-C reached one */
    void *user;
    mt_progress progress; /* from mt_progress_begin */
    bool stop;            /* Ctrl-C */
    bool silent;          /* another rank prints */
    mt_stretch since;     /* sums until the evaluation; 0 at first */
    mt_stretch logged;    /* the same until the row of the log */
};

/* mt_loop_note -- the value of an evaluation, from within `evaluate`; whether it is the best so far. NaN never is, nor
 * is an evaluation before the first step. */
bool mt_loop_note(mt_loop *loop, double value);

/* mt_loop_first -- before the steps of a new run: an evaluation at step 0, with its row. A run that continues has had
 * it: nothing happens. No hook surrounds it, as there is no average of weights yet. */
mt_status mt_loop_first(mt_loop *loop);

/* mt_loop_state -- append the step, the sums since the last evaluation and the last row, the best evaluation, and the
 * rule of early stopping. What is saved within a stretch continues with the same mean loss; seconds and samples start
 * again. */
void mt_loop_state(mt_state *state, mt_loop *loop);

/* mt_loop_run -- run until `until` steps are done, or patience has ended. Ends earlier with the error of the loader or
 * of a function of the caller, with MT_ERR_ARGUMENT when a loss is not finite, with MT_ERR_STOPPED after Ctrl-C
 * (mt_cli_catch_stop). */
mt_status mt_loop_run(mt_loop *loop, int64_t until);

MT_C_END
