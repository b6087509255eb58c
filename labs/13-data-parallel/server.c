/* server.c -- a parameter server, its workers, and the order of what they do; see dist/server.h. */
#include "dist/server.h"

#include <math.h>
#include <stdlib.h>

static mt_status serve(mt_comm *comm, mt_server *s, const mt_server_event *events, int64_t count)
{
    mt_status status = MT_OK;
    float lr = (float)s->lr;
    /* TODO 13.23: The server: weights to who pulls, a step with the gradient of who pushes.
     * Hint: worker w is rank w + 1. A gradient takes effect before the next event. */
    MT_TODO("13.23"); /* delete this line when yours stands here */
    return status;
}

static mt_status work(mt_comm *comm, mt_server *s, const mt_server_event *events, int64_t count)
{
    mt_status status = MT_OK;
    /* TODO 13.23: A worker: of all events those that are its own. */
    MT_TODO("13.23"); /* delete this line when yours stands here */
    return status;
}

mt_status mt_server_run(mt_comm *comm, mt_server *server, const mt_server_event *events, int64_t count)
{
    return comm->rank == 0 ? serve(comm, server, events, count) : work(comm, server, events, count);
}

/* ---- the order ---------------------------------------------------------------------------------- */

/* Where a worker is. */
typedef struct progress {
    int64_t pushed; /* gradients */
    int64_t pulled; /* how many updates were in the weights that it pulled last */
    double ready;   /* when its gradient is; only while it computes */
    bool computes;  /* it has pulled, and not yet pushed */
} progress;

/* Whether worker w, which does not compute, may pull. */
static bool may_pull(const progress *all, int workers, int w, int64_t bound)
{
    bool may = true;
    /* TODO 13.24: No worker has pushed less than its number of pushes minus the bound.
     * Hint: the bound may be INT64_MAX: no int64_t has a sum with it, but one has a difference of two numbers of
     * pushes. */
    MT_TODO("13.24"); /* delete this line when yours stands here */
    return may;
}

int64_t mt_server_order(mt_server_event *events, int64_t updates, const double *seconds, int workers, int64_t bound)
{
    int64_t count = 0;
    MT_CHECK(workers >= 1 && updates >= 0 && bound >= 0, "%d workers, %lld updates, a bound of %lld", workers,
             (long long)updates, (long long)bound);
    for (int w = 0; w < workers; w++)
        MT_CHECK(seconds[w] > 0 && isfinite(seconds[w]), "worker %d takes %g s for a gradient", w, seconds[w]);
    progress *all = mt_calloc(workers + 1, sizeof *all); /* a loop that goes too far finds one that has never pulled */
    /* TODO 13.24: For each update: those pull that may, then the worker pushes whose gradient is ready first.
     * Hint: the time of a pull is that of the push before it. */
    MT_TODO("13.24"); /* delete this line when yours stands here */
    free(all);
    return count;
}
