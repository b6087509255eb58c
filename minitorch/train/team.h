/* team.h -- the ranks that train one model together (data parallelism), as a program sees them. Each rank has its own
 * share of every micro-batch; after each step all have the same parameters.
 *
 *     { "team", 0, NULL, MT_GROUP(options, team, mt_team_options), "Several ranks:" },       // in its option table
 *     status = mt_team_check(&o.team, &o.recipe, o.batch);
 *     status = mt_team_run(&o.team, train, &o);                  // train(team, &o) on each rank
 *
 * A run alone has no team: NULL, which every function here takes. How ranks are started is in ranks.c, what they do
 * with each other in parallel.c (with dist/ddp.h, dist/zero.h or dist/compress.h); a program is linked with both of
 * them to have --ranks (Makefile). */
#pragma once

#include "train/recipe.h"

typedef enum mt_compression { MT_PLAIN, MT_ONE_BIT, MT_TOP_K } mt_compression;

typedef struct mt_team_config {
    int64_t ranks; /* 0 or 1: alone */
    int64_t zero;  /* stage of dist/zero.h; 0: every rank has the whole optimizer */
    mt_compression compress;
    int64_t bucket_bytes; /* 0: 1 MiB */
    double deadline;      /* seconds after which a rank that does not take part ends the run; 0: 600 */
    const char *engine;   /* what connects the ranks (ranks.c); NULL: threads, or under mpirun mpi */
} mt_team_config;

extern const mt_option mt_team_options[];

/* One rank of a team. Functions are collective: every rank calls them, in the same order. They fail when a rank has
 * failed, with words that name it; the run then ends. */
typedef struct mt_team mt_team;
struct mt_team {
    int rank, size;

    /* join -- after model and optimizer were made, before the first step: from now on they belong to the team.
     * Gradients get the memory they need (mt_optim_flat). */
    mt_status (*join)(mt_team *team, mt_module *model, mt_optim *optim);

    /* step -- as mt_train_step, on all samples of all ranks; result: of all of them. *stop becomes true on every rank
     * when a Ctrl-C has reached one. */
    mt_status (*step)(mt_team *team, bool *stepped, bool *stop, mt_step_result *result, const mt_training *training,
                      int64_t step);

    mt_status (*mean)(mt_team *team, double *value); /* over all ranks, with the same bits on each */

    /* list -- not collective: append what mt_optim_state of a run alone would; a rank that has a part of the state only
     * appends zeros. gather -- before rank 0 saves: its list ends with `list`, and gets the state of all ranks; NULL on
     * other ranks. share -- after rank 0 has loaded: its values, for every rank; rest ends with `list`. */
    void (*list)(mt_team *team, mt_state *rest);
    mt_status (*gather)(mt_team *team, const mt_state *rest);
    mt_status (*share)(mt_team *team, const mt_state *model, const mt_state *rest);

    void (*leave)(mt_team *team); /* not collective; before the optimizer is freed */
};

/* mt_team_check -- puts defaults in the place of zeros. MT_ERR_ARGUMENT, with words, where these do not go together.
 * batch: samples of a micro-batch of all ranks. */
mt_status mt_team_check(mt_team_config *config, const mt_recipe *recipe, int64_t batch);

/* mt_team_text -- the strategy, for people: "2 ranks (threads), ZeRO stage 1, buckets of 1.0 MB". Lent until the
 * next call of the thread. */
const char *mt_team_text(const mt_team_config *config);

/* mt_team_run -- run(team, user) on each rank, or run(NULL, user) alone. The status of the rank that failed. */
typedef mt_status mt_team_rank(mt_team *team, void *user);
mt_status mt_team_run(const mt_team_config *config, mt_team_rank *run, void *user);

/* mt_team_share -- this rank's part of the batches of a source: its samples of each. */
mt_batch_source mt_team_share(const mt_team *team, mt_batch_source source);

/* mt_team_state -- `list` of a team, or mt_optim_state. */
void mt_team_state(const mt_team *team, mt_state *rest, mt_optim *optim);

static inline int mt_team_size(const mt_team *team)
{
    return team ? team->size : 1;
}

/* Whether this rank writes files and prints. */
static inline bool mt_team_first(const mt_team *team)
{
    return !team || team->rank == 0;
}

/* ---- extension point: ranks.c defines it where it is linked ------------------------------------------------ */
typedef struct mt_team_starter {
    mt_status (*run)(const mt_team_config *config, mt_team_rank *run, void *user);
    mt_status (*prepare)(mt_team_config *config); /* the first of mt_team_check; may start the program again as ranks */
} mt_team_starter;
extern const mt_team_starter *mt_team_start;
