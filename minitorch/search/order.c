/* order.c -- see order.h. */
#include "search/order.h"

#include <math.h>
#include <stdlib.h>

mt_order mt_order_new(const mt_search *search, int64_t workers)
{
    MT_CHECK(workers > 0, "%d workers", (int)workers);
    int64_t most = mt_search_trials(search) * mt_search_rungs(search); /* no trial is twice on a rung */
    return (mt_order){ .search = search,
                       .workers = workers,
                       .job = mt_calloc(most, sizeof(mt_job)),
                       .told = mt_calloc(most, sizeof(mt_job)),
                       .ends = mt_calloc(most, sizeof(int64_t)) };
}

void mt_order_free(mt_order *order)
{
    free(order->job);
    free(order->told);
    free(order->ends);
    *order = (mt_order){ 0 };
}

/* The running job that ends first, of equal ones the oldest; -1: none runs. */
static int64_t first_to_end(const mt_order *o, int64_t *running)
{
    int64_t first = -1;
    *running = 0;
    for (int64_t i = 0; i < o->count; i++)
        if (o->job[i].state == MT_JOB_RUNNING) {
            ++*running;
            if (first < 0 || o->ends[i] < o->ends[first])
                first = i;
        }
    return first;
}

mt_order_event mt_order_next(mt_order *o)
{
    for (;;) {
        int64_t running, first = first_to_end(o, &running);
        mt_job next;
        /* A worker that becomes free first learns all that ended at the same time. */
        bool later = first < 0 || o->ends[first] > o->now;
        if (later && running < o->workers && mt_search_next(o->search, o->job, o->count, &next)) {
            o->ends[o->count] = o->now + next.steps;
            o->cost += next.steps;
            o->job[o->count] = o->told[o->count] = next;
            return (mt_order_event){ MT_ORDER_BEGIN, o->count++ };
        }
        if (first < 0)
            return (mt_order_event){ MT_ORDER_END, -1 };
        if (o->told[first].state == MT_JOB_RUNNING)
            return (mt_order_event){ MT_ORDER_WAIT, first };
        o->job[first] = o->told[first];
        o->now = o->ends[first];
    }
}

void mt_order_tell(mt_order *o, int64_t job, mt_job_state state, double value)
{
    MT_CHECK(job >= 0 && job < o->count && o->told[job].state == MT_JOB_RUNNING, "job %d does not run", (int)job);
    MT_CHECK(state == MT_JOB_FAILED || (state == MT_JOB_DONE && isfinite(value)), "a value of %g", value);
    o->told[job].state = state;
    o->told[job].value = state == MT_JOB_DONE ? value : 0;
}
