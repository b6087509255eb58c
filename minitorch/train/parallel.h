/* parallel.h -- a team (train/team.h) over any communicator: its ranks average their gradients (dist/ddp.h), or share
 * the optimizer's state too (dist/zero.h), or send gradients with fewer bits (dist/compress.h). */
#pragma once

#include "dist/comm.h"
#include "models/gpt2.h"
#include "train/team.h"

MT_C_BEGIN

/* mt_parallel_run -- run(team, user) of this rank; comm and config are borrowed. What an engine calls on each rank. */
mt_status mt_parallel_run(mt_comm *comm, const mt_team_config *config, mt_team_rank *run, void *user);

/* mt_divided_run -- the same for ranks among which the model is divided (divided.c): config->pp or tp is above 1. */
mt_status mt_divided_run(mt_comm *comm, const mt_team_config *config, mt_team_rank *run, void *user);

mt_status mt_parallel_tell(mt_team *team, void *all, const void *mine, int64_t bytes); /* mt_team's `tell` */

/* mt_divided_check -- whether this model, and steps of so many micro-batches, can be divided so: what mt_divided_run
 * would find out on every rank. MT_ERR_ARGUMENT, with words. */
mt_status mt_divided_check(const mt_team_config *config, const mt_gpt2_config *model, int64_t micro);

MT_C_END
