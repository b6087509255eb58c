/* comm_thread.c -- see comm_thread.h. */
#include "dist/comm_thread.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dist/collectives.h"
#include "core/span.h"

/* One call. It leaves the queue when it has run, and is freed by the one who waits for it. */
typedef struct job {
    mt_request base;
    mt_comm_thread *thread;
    struct job *next;
    mt_collective call;
    bool done;
    mt_status status;
} job;

struct mt_comm_thread {
    mt_comm *channel;
    mt_clock *clock;
    bool checked, stop, ended;
    int64_t calls;    /* so far */
    mt_status failed; /* of the first call that failed */
    char words[400];  /* about it: mt_last_error is of a thread */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    job *first, **last; /* all jobs that nobody has waited for yet, in the order of their calls */
};

/* ---- running a collective ----------------------------------------------------------------------- */

/* What two ranks compare before their data moves. */
typedef struct announced {
    int64_t call, n;
    int32_t kind, dtype, op, root;
} announced;

static void say(char words[120], const announced *a)
{
    mt_collective c = { (mt_collective_kind)a->kind, NULL, NULL, a->n, (mt_dtype)a->dtype, (mt_reduce)a->op, a->root };
    mt_collective_words(words, &c, a->call);
}

/* Around the ring, each rank compares itself with the one before: if all pairs agree, all ranks do. */
static mt_status compare(mt_comm *comm, const announced *mine)
{
    announced theirs;
    mt_request *sent;
    int before = (comm->rank + comm->size - 1) % comm->size;
    mt_status status = mt_send(comm, mine, sizeof *mine, MT_U8, (comm->rank + 1) % comm->size, &sent);
    if (status == MT_OK)
        status = mt_recv(comm, &theirs, sizeof theirs, MT_U8, before, NULL);
    if (status == MT_OK)
        status = mt_wait(sent);
    if (status != MT_OK || memcmp(mine, &theirs, sizeof theirs) == 0)
        return status;
    char here[120], there[120];
    say(here, mine);
    say(there, &theirs);
    return mt_fail(MT_ERR_UNAVAILABLE, "rank %d calls %s, root %d, and rank %d calls %s, root %d",
                   mt_comm_number(comm, comm->rank), here, mine->root, mt_comm_number(comm, before), there,
                   theirs.root);
}

static mt_status all_reduce(mt_comm *comm, const mt_collective *c)
{
    mt_algorithm by = mt_collective_choice(comm, c->n * mt_dtype_size(c->dtype));
    return mt_collective_all_reduce(by, comm, c->out, c->n, c->dtype, c->op);
}

/* The ring works in place on all parts, and in may not change. */
static mt_status reduce_scatter(mt_comm *comm, const mt_collective *c)
{
    int64_t part = c->n * mt_dtype_size(c->dtype);
    char *all = mt_realloc(NULL, part * comm->size, 1);
    memcpy(all, c->in, (size_t)(part * comm->size));
    mt_status status = mt_ring_reduce_scatter(comm, all, c->n * comm->size, c->dtype, c->op);
    if (status == MT_OK)
        memcpy(c->out, all + part * comm->rank, (size_t)part);
    free(all);
    return status;
}

static mt_status all_gather(mt_comm *comm, const mt_collective *c)
{
    int64_t part = c->n * mt_dtype_size(c->dtype);
    char *mine = (char *)c->out + part * comm->rank;
    if (mine != c->in)
        memcpy(mine, c->in, (size_t)part);
    return mt_ring_all_gather(comm, c->out, c->n * comm->size, c->dtype);
}

static mt_status run(mt_comm_thread *t, const mt_collective *c)
{
    MT_SPAN(mt_collective_name(c->kind));
    mt_comm *comm = t->channel;
    announced mine = { t->calls++, c->n, c->kind, c->dtype, c->op, c->root };
    uint8_t nothing = 0;
    mt_count_work(0, c->n * mt_dtype_size(c->dtype));
    mt_status status = t->checked && comm->size > 1 ? compare(comm, &mine) : MT_OK;
    if (status != MT_OK)
        return status;
    switch (c->kind) {
    case MT_ALL_REDUCE:
        return all_reduce(comm, c);
    case MT_REDUCE_SCATTER:
        return c->n ? reduce_scatter(comm, c) : MT_OK;
    case MT_ALL_GATHER:
        return c->n ? all_gather(comm, c) : MT_OK;
    case MT_BROADCAST:
        return mt_tree_broadcast(comm, c->out, c->n, c->dtype, c->root);
    case MT_BARRIER:
        return mt_doubling_all_reduce(comm, &nothing, 1, MT_U8, MT_MAX);
    }
    return MT_OK;
}

/* ---- the thread --------------------------------------------------------------------------------- */

static job *next_job(mt_comm_thread *t)
{
    for (job *j = t->first; j; j = j->next)
        if (!j->done)
            return j;
    return NULL;
}

/* After a failure the ranks no longer agree on what comes next: all later calls fail with the same words. */
static mt_status run_or_fail(mt_comm_thread *t, const mt_collective *call)
{
    if (t->failed == MT_OK && (t->failed = run(t, call)) != MT_OK)
        snprintf(t->words, sizeof t->words, "%s: %s", mt_collective_name(call->kind), mt_last_error());
    return t->failed;
}

static void *loop(void *arg)
{
    mt_comm_thread *t = arg;
    char name[16];
    snprintf(name, sizeof name, "rank %d sends", mt_comm_number(t->channel, t->channel->rank));
    pthread_setname_np(pthread_self(), name); /* in profiles */
    mt_comm_behind = true;
    pthread_mutex_lock(&t->lock);
    for (job *j; (j = next_job(t)) != NULL || !t->stop;) {
        if (!j) {
            t->clock->wait(t->clock, &t->changed, &t->lock);
            continue;
        }
        pthread_mutex_unlock(&t->lock);
        mt_status status = run_or_fail(t, &j->call);
        pthread_mutex_lock(&t->lock);
        j->status = status;
        j->done = true;
        t->clock->wake(t->clock, &t->changed);
    }
    t->ended = true;
    t->clock->wake(t->clock, &t->changed);
    pthread_mutex_unlock(&t->lock);
    t->clock->leave(t->clock);
    return NULL;
}

mt_comm_thread *mt_comm_thread_new(mt_comm *channel, mt_clock *clock, bool checked)
{
    mt_comm_thread *t = mt_calloc(1, sizeof *t);
    *t = (mt_comm_thread){ .channel = channel, .clock = clock, .checked = checked };
    t->last = &t->first;
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->changed, NULL);
    clock->enter(clock);
    int error = pthread_create(&t->thread, NULL, loop, t);
    MT_CHECK(error == 0, "no thread for communication: %s", strerror(error));
    return t;
}

mt_status mt_comm_thread_free(mt_comm_thread *t)
{
    if (!t)
        return MT_OK;
    pthread_mutex_lock(&t->lock);
    t->stop = true;
    t->clock->wake(t->clock, &t->changed);
    while (!t->ended)
        t->clock->wait(t->clock, &t->changed, &t->lock);
    pthread_mutex_unlock(&t->lock);
    pthread_join(t->thread, NULL); /* it no longer waits for anybody: this thread stays in the clock */
    for (job *j = t->first, *next; j; j = next) {
        next = j->next;
        free(j);
    }
    pthread_cond_destroy(&t->changed);
    pthread_mutex_destroy(&t->lock);
    mt_status failed = t->failed;
    free(t);
    return failed;
}

/* ---- the caller --------------------------------------------------------------------------------- */

static mt_status wait_for_job(mt_request *request)
{
    job *j = (job *)request, **at;
    mt_comm_thread *t = j->thread;
    pthread_mutex_lock(&t->lock);
    while (!j->done)
        t->clock->wait(t->clock, &t->changed, &t->lock);
    for (at = &t->first; *at != j; at = &(*at)->next)
        continue;
    *at = j->next;
    if (!j->next)
        t->last = at;
    pthread_mutex_unlock(&t->lock);
    mt_status status = j->status == MT_OK ? MT_OK : mt_fail(j->status, "%s", t->words);
    free(j);
    return status;
}

/* A caller that only waits runs the call itself when nothing is before it: to wake a thread, and to be woken by it,
 * takes as long as a message. */
static mt_status run_here(mt_comm_thread *t, const mt_collective *call)
{
    MT_SPAN(MT_SPAN_WAIT);
    mt_comm_behind = true;
    mt_status status = run_or_fail(t, call);
    mt_comm_behind = false;
    return status == MT_OK ? MT_OK : mt_fail(status, "%s", t->words);
}

mt_status mt_comm_thread_call(mt_comm_thread *t, const mt_collective *call, mt_request **request)
{
    pthread_mutex_lock(&t->lock);
    bool idle = !next_job(t);
    pthread_mutex_unlock(&t->lock);
    if (!request && idle)
        return run_here(t, call);
    job *j = mt_calloc(1, sizeof *j);
    *j = (job){ .base.wait = wait_for_job, .thread = t, .call = *call };
    pthread_mutex_lock(&t->lock);
    *t->last = j;
    t->last = &j->next;
    t->clock->wake(t->clock, &t->changed);
    pthread_mutex_unlock(&t->lock);
    if (!request)
        return mt_wait(&j->base);
    *request = &j->base;
    return MT_OK;
}
