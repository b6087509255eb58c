/* capstone.h -- the last task of lab 15: a cluster with a budget as a file, a student's plan as another one, and what
 * becomes of the plan in the simulator (cluster.h): seconds, dollars, goodput, and whether that is within the budget.
 *
 *     mt_capstone c;
 *     mt_capstone_plan plan;
 *     mt_capstone_score score;
 *     mt_status status = mt_capstone_read(&c, json, "cluster.json");
 *     if (status == MT_OK)
 *         status = mt_capstone_plan_read(&plan, &c, item, "entry.json: \"plan\"");
 *     if (status == MT_OK)
 *         status = mt_capstone_run(&score, &c, &plan, c.seed);
 *     mt_capstone_free(&c);
 *
 * The formats: labs/15-scale/README.md, with examples beside it. Both files are data: every key is checked (keys.h). */
#pragma once

#include "plan/keys.h"
#include "plan/planner.h"

MT_C_BEGIN

/* Devices of one kind, of which a run takes the first ones. */
typedef struct mt_capstone_pool {
    const char *name;
    mt_plan_problem problem;       /* of this pool: device, devices, model, batch, ... */
    double each, all, latency;     /* of the network: bytes/s of a transfer, of all of a machine; seconds */
    double mtbf;                   /* seconds to the failure of a device, mean; INFINITY: none fails */
    double slow_every, slow_lasts; /* seconds from one slow time of a device to the next, and of one; means */
    double slow_factor;            /* a device computes so many times longer then; 1: none is slow */
} mt_capstone_pool;

typedef struct mt_capstone {
    const char *name;
    mt_capstone_pool *pool; /* [pools] */
    int64_t pools;
    double storage;       /* bytes/s at which a checkpoint is saved */
    double restart;       /* seconds from a failure until the run goes on */
    double days, dollars; /* the budget */
    int64_t runs;         /* futures: failures and slow times are drawn anew in each; the score is their mean */
    int64_t seed;
    const cJSON *train; /* budgets of real training, by size; NULL: none */
} mt_capstone;

typedef struct mt_capstone_plan {
    const char *pool;
    int64_t at; /* the pool's index */
    mt_plan_strategy strategy;
    int64_t buckets;    /* of gradients */
    int64_t save_every; /* steps; 0: at the end only */
} mt_capstone_plan;

/* Means over all futures. */
typedef struct mt_capstone_score {
    double days, dollars;
    double share;                                   /* goodput */
    double work, waiting, saving, lost, restarting; /* hours */
    double failures;
    double step; /* seconds, when nothing is slow */
    double planned_step, planned_days,
        planned_dollars; /* of mt_plan_estimate_of: no failures, nothing slow, nothing saved */
    int64_t peak;        /* bytes of a device */
    int64_t rented;      /* devices: whole machines */
    bool within;         /* the budget; and none took twice its days, beyond which nothing fails any more */
} mt_capstone_score;

/* mt_capstone_read -- borrows texts of the JSON. MT_ERR_ARGUMENT, nothing to free, with the key and what to write: what
 * mt_keys_read refuses; no pool; links that lead back to themselves; a network that is not a link; more failures than
 * can be drawn; a model that fits no pool, with what would fit. */
mt_status mt_capstone_read(mt_capstone *out, const cJSON *json, const char *where);
void mt_capstone_free(mt_capstone *capstone);

/* mt_capstone_plan_read -- borrows texts of the JSON. MT_ERR_ARGUMENT: what mt_keys_read refuses; no such pool; a
 * division that the model, the batch or train_gpt2 refuses; more ranks than the pool has devices; more memory than a
 * device has, with what would fit. */
mt_status mt_capstone_plan_read(mt_capstone_plan *out, const mt_capstone *capstone, const cJSON *json,
                                const char *where);

/* mt_capstone_run -- the same for the same seed. Fails as mt_cluster_train. */
mt_status mt_capstone_run(mt_capstone_score *out, const mt_capstone *capstone, const mt_capstone_plan *plan,
                          int64_t seed);

/* mt_capstone_train -- the budget of training a size: FLOPs, and windows of the validation text, a multiple of 4.
 * MT_ERR_ARGUMENT: the cluster has none for it, or no number there. */
mt_status mt_capstone_train(double *flops, int64_t *windows, const mt_capstone *capstone, const char *size,
                            const char *where);

MT_C_END
