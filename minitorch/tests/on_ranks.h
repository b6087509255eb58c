/* on_ranks.h -- for tests: a function runs on several ranks, in simulated time. */
#pragma once

#include "dist/threads.h"
#include "testing/clock_sim.h"

/* A communicator of one rank. */
static inline mt_comm *alone(void)
{
    mt_comm *comm;
    mt_comm_threads(&comm, 1, &(mt_wires){ 0 });
    return comm;
}

/* What a run on a clock of its own ended with. */
typedef struct trial {
    mt_status status;
    double seconds;
} trial;

static inline trial run(int size, mt_wires wires, mt_status (*rank)(mt_comm *comm, void *user), void *user)
{
    trial t = { 0 };
    wires.clock = mt_clock_sim_new();
    t.status = mt_ranks_run(size, &wires, rank, user);
    t.seconds = wires.clock->now(wires.clock);
    mt_clock_sim_free(wires.clock);
    return t;
}
