/* server.c -- a parameter server, its workers, and the order of what they do; see dist/server.h. */
#include "dist/server.h"

#include <math.h>
#include <stdlib.h>

static mt_status serve(mt_comm *comm, mt_server *s, const mt_server_event *events, int64_t count)
{
    mt_status status = MT_OK;
    float lr = (float)s->lr;
    /* LAB 13.23 BEGIN  The server: weights to who pulls, a step with the gradient of who pushes.
     * Hint: worker w is rank w + 1. A gradient takes effect before the next event. */
    for (int64_t e = 0; e < count && status == MT_OK; e++) {
        int rank = events[e].worker + 1;
        if (!events[e].is_push) {
            status = mt_send(comm, s->params, s->n, MT_F32, rank, NULL);
            continue;
        }
        status = mt_recv(comm, s->grad, s->n, MT_F32, rank, NULL);
        for (int64_t i = 0; i < s->n && status == MT_OK; i++)
            s->params[i] -= lr * s->grad[i];
    }
    /* LAB 13.23 END */
    return status;
}

static mt_status work(mt_comm *comm, mt_server *s, const mt_server_event *events, int64_t count)
{
    mt_status status = MT_OK;
    /* LAB 13.23 BEGIN  A worker: of all events those that are its own. */
    for (int64_t e = 0; e < count && status == MT_OK; e++) {
        if (events[e].worker + 1 != comm->rank)
            continue;
        if (!events[e].is_push) {
            status = mt_recv(comm, s->params, s->n, MT_F32, 0, NULL);
            continue;
        }
        s->compute(s->grad, s->params, s->user);
        status = mt_send(comm, s->grad, s->n, MT_F32, 0, NULL);
    }
    /* LAB 13.23 END */
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
    /* LAB 13.24 BEGIN  No worker has pushed less than its number of pushes minus the bound.
     * Hint: the bound may be INT64_MAX: no int64_t has a sum with it, but one has a difference of two numbers of
     * pushes. */
    for (int other = 0; other < workers; other++)
        may = may && all[w].pushed - all[other].pushed <= bound;
    /* LAB 13.24 END */
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
    /* LAB 13.24 BEGIN  For each update: those pull that may, then the worker pushes whose gradient is ready first.
     * Hint: the time of a pull is that of the push before it. */
    double now = 0;
    for (int64_t made = 0; made < updates; made++) {
        int first = -1;
        for (int w = 0; w < workers; w++) {
            if (!all[w].computes && may_pull(all, workers, w, bound)) {
                events[count++] = (mt_server_event){ .seconds = now, .worker = w };
                all[w].pulled = made;
                all[w].ready = now + seconds[w];
                all[w].computes = true;
            }
            if (all[w].computes && (first < 0 || all[w].ready < all[first].ready))
                first = w;
        }
        now = all[first].ready;
        events[count++] = (mt_server_event){ now, made - all[first].pulled, first, true };
        all[first].pushed++;
        all[first].computes = false;
    }
    /* LAB 13.24 END */
    free(all);
    return count;
}
