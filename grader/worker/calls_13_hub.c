/* calls_13_hub.c -- see hub.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/storage.h"
#include "dist/collectives.h"
#include "testing/clock_sim.h"
#include "worker/calls_13_training.h"
#include "worker/sharing.h"

/* Collective number k. */
typedef struct meeting {
    mt_collective call; /* of the first rank that called it */
    int called;
    bool fails;
    void *in[MG_HUB_RANKS];                /* copies */
    mg_told told[MG_HUB_RANKS];            /* by each rank, when it called */
    const mt_collective *of[MG_HUB_RANKS]; /* of ranks that have not waited for it */
    double ends;
} meeting;

struct mg_hub {
    mt_clock *clock;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int size;
    const int64_t *numbers;
    double ends; /* of the last that has begun */
    meeting meeting[MG_HUB_ROWS];
    mt_status (*run)(mg_hub_rank *rank, void *user);
    void *user;
    mg_hub_rank rank[MG_HUB_RANKS];
};

typedef struct ticket {
    mt_request base;
    mg_hub_rank *rank;
    int64_t number;
    mt_collective call;
} ticket;

mt_clock *mg_hub_clock(const mg_hub_rank *rank)
{
    return rank->hub->clock;
}

int64_t mg_hub_now(const mg_hub_rank *rank)
{
    return llround(1e9 * rank->hub->clock->now(rank->hub->clock));
}

static int64_t bytes_of(const mt_collective *call)
{
    return call->n * mt_dtype_size(call->dtype);
}

/* What the collective brings to a rank. */
static void deliver(const mg_hub_rank *r, const meeting *m, const mt_collective *c)
{
    int64_t bytes = bytes_of(c);
    int64_t from = c->kind == MT_REDUCE_SCATTER ? r->base.rank * bytes : 0;
    char *out = c->out;
    for (int rank = 0; rank < r->hub->size && bytes > 0; rank++)
        if (c->kind == MT_ALL_GATHER)
            memcpy(out + rank * bytes, m->in[rank], (size_t)bytes);
        else if (c->kind == MT_BROADCAST && rank == c->root)
            memcpy(out, m->in[rank], (size_t)bytes);
        else if ((c->kind == MT_ALL_REDUCE || c->kind == MT_REDUCE_SCATTER) && rank == 0)
            memcpy(out, (char *)m->in[0] + from, (size_t)bytes);
        else if (c->kind == MT_ALL_REDUCE || c->kind == MT_REDUCE_SCATTER)
            mt_reduce_into(out, (char *)m->in[rank] + from, c->n, c->dtype, c->op);
}

/* Elements that a rank gives, and that it gets. */
static int64_t given(const mg_hub *hub, const mt_collective *c)
{
    return c->n * (c->kind == MT_REDUCE_SCATTER ? hub->size : 1);
}

static int64_t got(const mg_hub *hub, const mt_collective *c)
{
    return c->n * (c->kind == MT_ALL_GATHER ? hub->size : 1);
}

static bool overlap(const char *a, int64_t n, const char *b, int64_t m)
{
    return n > 0 && m > 0 && a < b + m && b < a + n;
}

/* Ranks are threads, here and in dist/threads.h: what one gets must not be where another has what it gives or gets. */
static void check_apart(const mg_hub *hub, const meeting *m, const mt_collective *c, int rank)
{
    int64_t size = mt_dtype_size(c->dtype), in = given(hub, c) * size, out = got(hub, c) * size;
    for (int r = 0; r < hub->size; r++) {
        const mt_collective *o = m->of[r];
        int64_t width = o ? mt_dtype_size(o->dtype) : 0;
        if (!o ||
            (!overlap(c->out, out, o->out, got(hub, o) * width) &&
             !overlap(c->out, out, o->in, given(hub, o) * width) && !overlap(c->in, in, o->out, got(hub, o) * width)))
            continue;
        MT_CHECK(false,
                 "ranks %d and %d use the same memory in a collective: it is static, which ranks as threads of one "
                 "program share, or was freed before the handle was waited for",
                 r, rank);
    }
}

static mt_status wait_for(mt_request *request)
{
    ticket *t = (ticket *)request;
    mg_hub *hub = t->rank->hub;
    meeting *m = &hub->meeting[t->number];
    mt_status status = MT_OK;
    mg_share_pause();
    double until = hub->clock->now(hub->clock) + MG_HUB_DEADLINE;
    pthread_mutex_lock(&hub->lock);
    while (m->called < hub->size && !m->fails && hub->clock->now(hub->clock) < until)
        hub->clock->wait_for(hub->clock, &hub->changed, &hub->lock, until - hub->clock->now(hub->clock));
    m->of[t->rank->base.rank] = NULL;
    pthread_mutex_unlock(&hub->lock);
    if (m->fails || m->called < hub->size)
        status = mt_fail(MT_ERR_UNAVAILABLE, "collective %lld of the ranks fails", (long long)t->number);
    else if (m->ends > hub->clock->now(hub->clock))
        hub->clock->sleep(hub->clock, m->ends - hub->clock->now(hub->clock));
    if (status == MT_OK)
        deliver(t->rank, m, &t->call);
    else
        t->rank->knows_failure = true;
    t->rank->row[t->number][MG_HUB_WAITED] = mg_hub_now(t->rank);
    mg_share_resume();
    for (int rank = 0; rank < m->called; rank++)
        mg_share_hear(&m->told[rank]);
    free(t);
    return status;
}

static void note(mg_hub_rank *r, const mt_collective *c)
{
    const char *in = c->in;
    bool is_inside = r->array && in >= r->array && in <= r->array + r->bytes;
    const int64_t row[MG_HUB_COLUMNS] = { c->kind,       c->n, c->dtype,        c->op, is_inside ? in - r->array : -1,
                                          mg_hub_now(r), -1,   r->knows_failure };
    memcpy(r->row[r->calls], row, sizeof row);
}

static mt_status begin(mg_hub_rank *r, const mt_collective *c, ticket **begun)
{
    mt_comm *comm = &r->base;
    mg_hub *hub = r->hub;
    MT_CHECK(r->calls < MG_HUB_ROWS, "rank %d: more than %d collectives", comm->rank, MG_HUB_ROWS);
    if (hub->numbers[MG_HUB_FAILS] == MG_HUB_AT_ONCE + r->calls) {
        note(r, c);
        r->knows_failure = true;
        return mt_fail(MT_ERR_UNAVAILABLE, "collective %lld of the ranks fails at once", (long long)r->calls++);
    }
    if (r->seen)
        r->seen(r, c);
    meeting *m = &hub->meeting[r->calls];
    ticket *t = malloc(sizeof *t);
    size_t bytes = (size_t)bytes_of(c) * (c->kind == MT_REDUCE_SCATTER ? (size_t)hub->size : 1);
    void *copy = malloc(bytes + 1);
    MT_CHECK(t && copy, "out of memory");
    if (bytes > 0)
        memcpy(copy, c->in, bytes);
    *t = (ticket){ .base.wait = wait_for, .rank = r, .number = r->calls, .call = *c };
    note(r, c);
    pthread_mutex_lock(&hub->lock);
    if (m->called++ == 0)
        m->call = *c;
    m->in[comm->rank] = copy;
    check_apart(hub, m, c, comm->rank);
    m->of[comm->rank] = &t->call;
    m->fails |= m->call.kind != c->kind || m->call.n != c->n || m->call.dtype != c->dtype || m->call.op != c->op ||
                m->call.root != c->root || hub->numbers[MG_HUB_FAILS] == r->calls;
    r->calls++;
    if (m->called == hub->size) {
        double takes =
            (double)hub->numbers[MG_HUB_LATENCY] + (double)hub->numbers[MG_HUB_BYTE_TIME] * (double)bytes_of(c);
        m->ends = hub->ends = fmax(hub->ends, hub->clock->now(hub->clock)) + 1e-9 * takes;
    }
    hub->clock->wake(hub->clock, &hub->changed);
    pthread_mutex_unlock(&hub->lock);
    *begun = t;
    return MT_OK;
}

static mt_status collective(mt_comm *comm, const mt_collective *c, mt_request **request)
{
    ticket *t = NULL;
    mg_hub_rank *r = (mg_hub_rank *)comm;
    if (r->calls < MG_HUB_ROWS)
        mg_share_tell(&r->hub->meeting[r->calls].told[comm->rank]);
    mg_share_pause();
    mt_status status = begin(r, c, &t);
    mg_share_resume();
    return status == MT_OK ? mt_begun(&t->base, request) : status;
}

static mt_status refuse(mt_comm *comm, void *data, int64_t bytes, int peer, bool is_send, mt_request **request)
{
    (void)data, (void)bytes, (void)peer, (void)is_send, (void)request;
    MT_CHECK(false, "rank %d: this unit asks for collectives only", comm->rank);
    return MT_ERR_ARGUMENT;
}

static const mt_comm_engine engine = { "hub", collective, refuse, NULL, NULL };

static mt_status run_rank(mt_comm *comm, void *user)
{
    mg_hub *hub = user;
    return hub->run(&hub->rank[comm->rank], hub->user);
}

void mg_on_hub(int size, const int64_t *numbers, int64_t *rows, mt_status (*run)(mg_hub_rank *rank, void *user),
               void *user)
{
    mg_hub *hub = calloc(1, sizeof *hub);
    mt_wires wires = { .clock = mt_clock_sim_new() };
    MT_CHECK(hub && size <= MG_HUB_RANKS, "no memory, or too many ranks");
    *hub = (mg_hub){ .clock = wires.clock, .size = size, .numbers = numbers, .run = run, .user = user };
    pthread_mutex_init(&hub->lock, NULL);
    pthread_cond_init(&hub->changed, NULL);
    for (int rank = 0; rank < size; rank++) {
        hub->rank[rank].base = (mt_comm){ .rank = rank, .size = size, .engine = &engine };
        hub->rank[rank].hub = hub;
        hub->rank[rank].row = (int64_t(*)[MG_HUB_COLUMNS])rows + (ptrdiff_t)rank * MG_HUB_ROWS;
    }
    mt_storage_release(mt_storage_new(1, MT_CPU)); /* what it does once is not searched for races */
    if (size == 1) /* in this thread, so that threads of OpenMP are searched for races */
        run(&hub->rank[0], user);
    else
        mt_ranks_run(size, &wires, run_rank, hub); /* each says what it has to say by itself */
    for (int k = 0; k < MG_HUB_ROWS; k++)
        for (int rank = 0; rank < size; rank++)
            free(hub->meeting[k].in[rank]);
    mt_clock_sim_free(wires.clock);
    mg_keeps = mg_keeps || numbers[MG_HUB_FAILS] >= 0; /* nobody need wait for the handles behind a failure */
    free(hub);
}
