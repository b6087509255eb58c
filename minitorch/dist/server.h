/* server.h -- a parameter server and asynchronous SGD. Rank 0 has the weights; each other rank is a worker, which pulls
 * them, computes a gradient, and pushes it. Unit: solutions/13-data-parallel/server.c
 *
 * The server takes a step with each gradient as soon as it is there, and waits for no other worker. What other workers
 * push between the pull and the push of one is not in the weights of its gradient, which is then stale. A real server
 * takes the message that comes first, so that no run is like another; here the order of all pulls and pushes follows
 * from the speeds of the workers in virtual time, every rank computes it for itself, and a run can be repeated.
 *
 *     int64_t count = mt_server_order(events, updates, seconds, workers, bound);
 *     status = mt_server_run(comm, &server, events, count);        // on every rank, with the same events
 *
 * Sources: Dean et al. 2012, "Large scale distributed deep networks"; Ho et al. 2013, "More effective distributed ML
 * via a stale synchronous parallel parameter server"; Li et al. 2014, "Scaling distributed machine learning with the
 * parameter server". */
#pragma once

#include "dist/comm.h"

MT_C_BEGIN

/* One pull or push. */
typedef struct mt_server_event {
    double seconds;    /* when, in virtual time, in which a message takes no time */
    int64_t staleness; /* of a push: how many updates the server has made since this worker's pull; of a pull: 0 */
    int worker;        /* 0, 1, ..: rank worker + 1 */
    bool is_push;      /* the worker sends its gradient; false: the server sends the weights */
} mt_server_event;

/* mt_server_order -- the events of a run up to its push number `updates`, in order; their number. events has room for
 * 2 updates + workers.
 *   seconds [workers]   from a worker's pull to its push, > 0
 *   bound               how many pushes a worker may be ahead of another one, >= 0
 * All workers pull at time 0. A worker that has pushed c gradients pulls again when every worker has pushed at least
 * c - bound: at the time of its own push, or of the push of another one that it has waited for. After each push the
 * workers that may pull do so, in order of their numbers; of pushes at the same time that of the lowest worker is
 * first. Nothing follows the last push; without updates there are no events. bound 0: all gradients of a round are of
 * the same weights (synchronous SGD); INT64_MAX: no worker ever waits.
 * Aborts: workers < 1, updates or bound < 0, seconds that are not positive numbers.   Lab 13.24 */
int64_t mt_server_order(mt_server_event *events, int64_t updates, const double *seconds, int workers, int64_t bound);

/* What a rank has. */
typedef struct mt_server {
    int64_t n;     /* parameters */
    float *params; /* [n] on the server the weights; on a worker those that it has pulled last */
    float *grad;   /* [n] for the gradient that is pushed; on the server, for one that arrives */
    double lr;     /* of the server: the weights change by -lr times a gradient */

    /* compute -- of a worker: overwrites grad with the gradient at params; called once before each push. */
    void (*compute)(float *grad, const float *params, void *user);
    void *user;
} mt_server;

/* mt_server_run -- on all ranks: rank 0 sends its weights to a worker that pulls, and takes a step with the gradient of
 * one that pushes, in the order of the events; a worker does its own. Each event is one message of n f32. A long run
 * may be made of several calls: what a worker has pulled stays in its params.
 * Fails: as the communicator; the arrays are undefined then.   Lab 13.23 */
mt_status mt_server_run(mt_comm *comm, mt_server *server, const mt_server_event *events, int64_t count);

MT_C_END
