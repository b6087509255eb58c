/* replicas.h -- a team (train/team.h) over any communicator: its ranks average their gradients (dist/ddp.h), or share
 * the optimizer's state too (dist/zero.h), and may send gradients with fewer bits (dist/compress.h). */
#pragma once

#include "dist/comm.h"
#include "train/team.h"

MT_C_BEGIN

/* mt_replicas_run -- run(team, user) of this rank; comm and config are borrowed. What an engine calls on each rank. */
mt_status mt_replicas_run(mt_comm *comm, const mt_team_config *config, mt_team_rank *run, void *user);

mt_status mt_replicas_tell(mt_team *team, void *all, const void *mine, int64_t bytes); /* mt_team's `tell` */

/* What ranks tell each other of a step. */
typedef struct mt_told {
    double loss, square; /* square: of the norm of gradients that no other rank tells */
    int64_t samples;     /* 0: another rank tells the loss of these */
    int64_t stop;        /* a Ctrl-C */
} mt_told;

/* mt_replicas_told -- what all ranks have told, [size], added up in order of rank, and so with the same bits on each.
 * The loss is the mean over all samples. */
mt_told mt_replicas_told(const mt_told *all, int size);

/* ---- extension point: ranks that divide one model among them (config->pp or tp is above 1) ------------------- */
typedef struct mt_team_divider {
    mt_status (*run)(mt_comm *comm, const mt_team_config *config, mt_team_rank *run, void *user); /* as above */

    /* fits -- whether this model, and steps of so many micro-batches, can be divided so: what `run` would find out on
     * every rank. MT_ERR_ARGUMENT, with words. */
    mt_status (*fits)(const mt_team_config *config, const struct mt_gpt2_config *model, int64_t micro);
} mt_team_divider;
extern const mt_team_divider *mt_team_divide; /* NULL: this program cannot */

MT_C_END
