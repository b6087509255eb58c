/* planner.h -- how should this model be trained, on what, for how much? The best of all ways to divide a training run
 * among devices, within their memory, their number, and limits of days and dollars.
 *
 *     mt_plan_problem problem = { .model = model, .device = *mt_plan_device_named("A100"), .devices = 64,
 *                                 .batch = 512, .time = 1024, .tokens = 10e9, .dtype = MT_BF16,
 *                                 .efficiency = 0.5, .days = 7, .dollars = INFINITY, .goal = MT_PLAN_CHEAPEST };
 *     mt_plan_answer answer;
 *     if (mt_plan_best(&answer, &problem) != MT_OK)
 *         puts(mt_last_error());                             // and answer.why, answer.strategy: the nearest miss
 *
 * Unit: solutions/15-scale/planner.c */
#pragma once

#include "plan/cost.h"

MT_C_BEGIN

typedef struct mt_plan_device {
    const char *name;
    double half, single;  /* nominal FLOP/s of products: of 16 bits, of f32 (0: not published) */
    int64_t memory;       /* bytes */
    double link, network; /* bytes/s that a device sends to another one of its machine; of another machine */
    double latency;       /* seconds of a message */
    int64_t machine;      /* devices of a machine */
    double dollars;       /* an hour; 0: not known */
    const char *source;
    double watts;     /* nominal power of a device; 0: not known */
    double bandwidth; /* bytes/s of its memory */
} mt_plan_device;

typedef enum mt_plan_goal { MT_PLAN_FASTEST, MT_PLAN_CHEAPEST } mt_plan_goal;

typedef struct mt_plan_problem {
    mt_plan_model model;
    mt_plan_device device;
    int64_t devices;     /* a plan may leave some unused */
    int64_t batch, time; /* samples of a step, over all replicas and micro-batches; tokens of a sample */
    double tokens;       /* to train on */
    mt_dtype dtype;
    double efficiency;    /* share of the nominal FLOP/s that products reach, > 0 */
    double overhead;      /* seconds that forward and backward of a layer take beside them, of a micro-batch */
    double days, dollars; /* limits; INFINITY: none */
    mt_plan_goal goal;    /* fewest days, or fewest dollars */
    int64_t zero;         /* the highest stage of ZeRO that may be used; */
    int64_t zero_divided; /* with pp * tp > 1; train_gpt2 has stage 1 for a divided model */
    bool sequence;        /* plans with tp > 1 divide tokens, too; tp that does not divide `time` is left out */

    /* What mt_plan_best calls for an estimate; NULL: mt_plan_estimate_of. For tests that count. */
    struct mt_plan_estimate (*estimate)(const struct mt_plan_problem *problem, const mt_plan_strategy *strategy);
} mt_plan_problem;

/* The whole run. A step is `busy` seconds of the slowest stage, for each of its micro-batches, `bubble`, and `data`:
 *     step = (micro + pp - 1) * busy of a micro-batch + data */
typedef struct mt_plan_estimate {
    int64_t peak;              /* bytes, of the stage that needs the most */
    double busy, bubble, data; /* seconds of a step */
    double step;
    double days, dollars;
    double mfu, hfu;
} mt_plan_estimate;

typedef enum mt_plan_why {
    MT_PLAN_FOUND,
    MT_PLAN_NO_MEMORY,  /* nothing fits; the nearest is what needs the least memory */
    MT_PLAN_NO_DAYS,    /* what fits takes too long; the nearest is the fastest */
    MT_PLAN_NO_DOLLARS, /* what fits in days costs too much; the nearest is the cheapest of these */
} mt_plan_why;

typedef struct mt_plan_answer {
    mt_plan_why why;
    mt_plan_strategy strategy; /* the best, or the nearest */
    mt_plan_estimate estimate; /* of it */
} mt_plan_answer;

/* mt_plan_stage_seconds -- what a stage does for one micro-batch: forward, backward and what is computed again, at
 * efficiency times nominal speed; `overhead` of each of its layers; its tensor and pipeline messages, which nothing
 * hides. Messages of a group use the link if the group is within a machine: ranks are numbered as in parallel/mesh.h
 * (tensor, then data, then pipe, each machine full). A collective of the tensor group has 2 (tp - 1) messages one after
 * the other.   Lab 15.6 */
double mt_plan_stage_seconds(const mt_plan_problem *problem, const mt_plan_strategy *strategy, const mt_plan_cost *cost,
                             int64_t layers);

/* mt_plan_data_seconds -- what the step waits for the messages of data parallelism. Without a pipeline the last
 * micro-batch's backward hides them (lab 13), two thirds of its `busy` seconds; with one, nothing does (lab 14).
 * Lab 15.6 */
double mt_plan_data_seconds(const mt_plan_problem *problem, const mt_plan_strategy *strategy, const mt_plan_cost *cost,
                            double busy);

/* mt_plan_utilisation -- model FLOP/s and hardware FLOP/s over the nominal ones: a step takes `seconds` on `devices`
 * of `nominal` FLOP/s each; flops: forward and backward; again: what was computed twice.   Lab 15.7 */
void mt_plan_utilisation(double *mfu, double *hfu, double flops, double again, double seconds, int64_t devices,
                         double nominal);

/* mt_plan_estimate_of -- of any strategy with dp * micro * samples = batch.   Lab 15.7 */
mt_plan_estimate mt_plan_estimate_of(const mt_plan_problem *problem, const mt_plan_strategy *strategy);

/* mt_plan_best -- over all dp, pp, tp, samples, ZeRO and recomputation: the strategy that fits the memory and the
 * limits, with the fewest days or dollars (goal). It is the best of the full grid, which it does not walk: it asks for
 * few estimates (problem->estimate).
 * Fails: MT_ERR_ARGUMENT, with *out and a message that say what would fit; or, with *out unchanged, a problem that is
 * none: no devices, samples longer than the context, a speed, efficiency or limit that is not positive, a
 * price below 0.   Lab 15.8-9 */
mt_status mt_plan_best(mt_plan_answer *out, const mt_plan_problem *problem);

/* ---- given: plan/strategies.c -------------------------------------------------------------------------------- */

/* mt_plan_grid -- all ways to divide the batch and the model, in order of their devices: strategies of which dp, pp, tp
 * differ (samples 1, no ZeRO, nothing computed again), *count of them; free it. dp divides the batch, tp the heads. */
mt_plan_strategy *mt_plan_grid(int64_t *count, const mt_plan_problem *problem);

/* mt_plan_next -- the next strategy with the same dp, pp and tp: false after the last one. Samples are divisors of
 * batch / dp; ZeRO as the problem allows, 0 with dp = 1. */
bool mt_plan_next(mt_plan_strategy *strategy, const mt_plan_problem *problem);

static inline double mt_plan_nominal(const mt_plan_problem *p)
{
    return p->dtype == MT_F32 ? p->device.single : p->device.half;
}

/* ---- given: plan/devices.c ----------------------------------------------------------------------------------- */

extern const mt_plan_device mt_plan_devices[]; /* ended by a name NULL */

/* mt_plan_device_named -- "V100", "A100" and so on; NULL, with mt_last_error listing the names: none of these. */
const mt_plan_device *mt_plan_device_named(const char *name);

/* mt_plan_gpt3 -- GPT-3 on 1,024 A100s in 16 bits: 300 G tokens, in batches of 1,536 samples of 2,048; no limits. */
mt_plan_problem mt_plan_gpt3(void);

MT_C_END
