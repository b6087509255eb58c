/* calls_13_server.c -- how the worker calls step 13.23: a server and its workers, in the order that the check gives. */
#include "dist/server.h"
#include "worker/calls_13.h"
#include "worker/calls_13_training.h"
#include "worker/server.h"

static const mt_server_event *events;
static int64_t count;

/* One rank, for its gradient. */
typedef struct own {
    mt_comm *comm;
    const float *salt;
    int64_t n;
} own;

static void compute(float *grad, const float *params, void *user)
{
    const own *o = user;
    mg_ranks_work(o->comm, false, 0, 0, 0);
    mg_server_gradient(grad, params, o->salt, o->n);
}

/* The array of each rank is parameters, gradient and salt, n of each; the run is two calls. */
static mt_status run(mt_comm *comm, void *data, const int64_t *numbers)
{
    int64_t n = numbers[MG_CALL_N] / 3, first = numbers[MG_CALL_ROOT];
    float *params = data;
    own o = { comm, params + 2 * n, n };
    mt_server s = { n, params, params + n, mg_number(numbers[MG_CALL_LATENCY]), compute, &o };
    mt_status status = mt_server_run(comm, &s, events, first);
    return status == MT_OK ? mt_server_run(comm, &s, events + first, count - first) : status;
}

void mg_call_server(const mg_value *v)
{
    events = ARRAY(events)->ptr;
    count = ARRAY(events)->count * (int64_t)sizeof(int64_t) / (int64_t)sizeof *events;
    mg_on_ranks(v, run);
}
