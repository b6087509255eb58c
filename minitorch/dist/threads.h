/* threads.h -- ranks that are threads of one process: for tests, for training on the cores of one machine, and, on a
 * simulated clock (testing/clock_sim.h), for experiments whose times are exact and the same in every run.
 *
 * A send and its receive begin and end together: neither ends before the other was called. The bytes are copied as late
 * as possible, when one of the two is waited for, so that a missing mt_wait shows as wrong data. */
#pragma once

#include "core/clock.h"
#include "dist/comm.h"

MT_C_BEGIN

/* How the ranks are connected. All zero: the machine's clock, messages that take no time, no deadline, no checks. */
typedef struct mt_wires {
    mt_clock *clock; /* NULL: mt_clock_real() */

    /* What a message takes: between ranks of a node as `nodes` says, else by `network`, to which each rank has a link
     * of its own. A rank sends one message at a time and receives one at a time; both at once is possible. */
    mt_network network;
    mt_nodes nodes;

    double deadline; /* seconds after which a message that has found no partner fails; 0: never */
    bool checked;    /* collectives are compared across the ranks before their data moves (dist/comm_thread.h) */
} mt_wires;

/* mt_comm_threads -- ranks [size] receives a communicator for each rank; each is used, and freed, by one thread. */
void mt_comm_threads(mt_comm **ranks, int size, const mt_wires *wires);

/* mt_ranks_run -- run(comm, user) in a thread for each of size ranks, with communicators that are freed after it; waits
 * for all of them. The calling thread takes part in the clock. The status of the lowest rank that failed, of those
 * that did not fail because of another one (MT_ERR_UNAVAILABLE) if there are any; its message names it. */
mt_status mt_ranks_run(int size, const mt_wires *wires, mt_status (*run)(mt_comm *comm, void *user), void *user);

MT_C_END
