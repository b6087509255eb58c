/* loader.c -- the loader around its ring: slots with buffers, worker threads, places, statistics.
 *
 * The caller plans: it writes into a free slot which samples it wants, so that sampling needs no lock. Workers fill. The
 * ring (data/ring.h) hands slots to and fro. A slot belongs to one thread at a time, so nothing in it needs a lock. */
#include "data/loader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/scope.h"
#include "data/ring.h"
#include "prof/span.h"

typedef struct slot {
    mt_tensor *x, *y;
    void *x_data, *y_data; /* their first elements */
    bool x_pinned, y_pinned;
    int64_t *index;        /* [batch] */
    int64_t count;         /* samples planned */
    mt_loader_place place; /* of this batch */
    int64_t skipped;       /* what became of it, with the next two */
    mt_status status;
    char message[1024]; /* the worker's mt_last_error, carried over to the caller's thread */
} slot;

struct mt_loader {
    mt_loader_config config;
    int64_t steps, slots;
    slot *slot;
    mt_ring ring;
    pthread_t *thread;        /* [workers] */
    int running;              /* of them were started */
    bool started;             /* slots are planned and workers run */
    slot *lent;               /* what the caller holds; NULL: nothing */
    int64_t *order;           /* [count] of epoch order_epoch; empty with a batch source */
    int64_t order_bytes;      /* its size */
    int64_t order_epoch;      /* -1: none yet */
    mt_loader_place plan, at; /* the next batch to plan, and to give */
    mt_status status;
    char message[1024];
    double begin; /* of the first next; negative: there was none */
    mt_loader_stats stats;
};

/* ---- slots ---------------------------------------------------------------------------------- */

/* A tensor of our own, whether or not a scope is open. */
static mt_tensor *buffer_new(const mt_field *field, int64_t batch)
{
    mt_shape shape = { .rank = field->shape.rank + 1, .dim = { batch } };
    MT_CHECK(shape.rank <= MT_MAX_RANK, "samples of rank %d cannot be batched", field->shape.rank);
    memcpy(shape.dim + 1, field->shape.dim, (size_t)field->shape.rank * sizeof *shape.dim);
    mt_tensor *t = mt_empty(shape, field->dtype, MT_CPU);
    return mt_scope_depth() > 0 ? mt_retain(t) : t;
}

static bool pin(const mt_pinner *pinner, mt_tensor *t)
{
    if (!pinner)
        return false;
    bool pinned = pinner->pin(t->storage->data, t->storage->bytes) == MT_OK;
    if (!pinned)
        mt_log_message(MT_LOG_WARN, "loader: a buffer stays in ordinary memory: %s", mt_last_error());
    return pinned;
}

static void slot_init(slot *s, const mt_loader_config *config)
{
    s->x = buffer_new(&config->set->x, config->batch);
    s->y = buffer_new(&config->set->y, config->batch);
    s->x_data = s->x->storage->data;
    s->y_data = s->y->storage->data;
    s->x_pinned = pin(config->pinner, s->x);
    s->y_pinned = pin(config->pinner, s->y);
    s->index = mt_alloc(config->batch * (int64_t)sizeof *s->index, MT_CPU);
}

static void slot_destroy(slot *s, const mt_loader_config *config)
{
    if (s->x_pinned)
        config->pinner->unpin(s->x_data);
    if (s->y_pinned)
        config->pinner->unpin(s->y_data);
    mt_release(s->x);
    mt_release(s->y);
    mt_free(s->index, config->batch * (int64_t)sizeof *s->index, MT_CPU);
}

/* The samples of batch number step of an epoch of the sampler; returns how many. */
static int64_t sample(mt_loader *l, int64_t *index, mt_loader_place place)
{
    const mt_loader_config *config = &l->config;
    if (l->order_epoch != place.epoch) {
        mt_sampler_order(l->order, &config->sampler, place.epoch);
        l->order_epoch = place.epoch;
    }
    return mt_sampler_batch(index, &config->sampler, l->order, place.step, config->batch);
}

/* plan -- write into the next slot which samples it is to hold, and hand it to the workers. */
static void plan(mt_loader *l, slot *s)
{
    const mt_batch_source *source = &l->config.source;
    if (l->plan.step == l->steps)
        l->plan = (mt_loader_place){ l->plan.epoch + 1, 0 };
    s->count = l->config.batch;
    if (source->pick)
        source->pick(s->index, source, l->plan.step, s->count);
    else
        s->count = sample(l, s->index, l->plan);
    s->place = l->plan;
    l->plan.step++;
    mt_ring_plan(&l->ring);
}

static void fill(mt_loader *l, slot *s)
{
    MT_SPAN("load batch");
    const mt_loader_config *config = &l->config;
    mt_collation how = { config->set, config->seed, s->place.epoch, config->on_bad, &l->ring.stopped };
    if (config->set->soon)
        config->set->soon(config->set, s->index, s->count);
    s->status = mt_collate(s->x_data, s->y_data, s->index, &s->skipped, &how, s->count);
    if (s->status != MT_OK || s->skipped > 0)
        snprintf(s->message, sizeof s->message, "%s", mt_last_error());
}

/* load -- what a claimed ticket asks for. */
static void load(mt_loader *l, int64_t ticket)
{
    slot *s = &l->slot[ticket % l->slots];
    fill(l, s);
    if (s->status != MT_ERR_STOPPED || !l->ring.stopped) /* else it is half a batch, and nobody takes it */
        mt_ring_finish(&l->ring, ticket);
}

/* ---- workers -------------------------------------------------------------------------------- */

static void *work(void *user)
{
    mt_loader *l = user;
    mt_clock *clock = l->config.clock;
    int64_t ticket;
    pthread_setname_np(pthread_self(), "loader"); /* in profiles and debuggers */
    while (mt_ring_claim(&l->ring, &ticket))
        load(l, ticket);
    clock->leave(clock);
    return NULL;
}

static mt_status start(mt_loader *l)
{
    mt_clock *clock = l->config.clock;
    l->started = true;
    for (int64_t i = 0; i < l->slots; i++)
        plan(l, &l->slot[i]);
    for (; l->running < l->config.workers; l->running++) {
        clock->enter(clock);
        int problem = pthread_create(&l->thread[l->running], NULL, work, l);
        if (problem) {
            clock->leave(clock);
            return mt_fail(MT_ERR_UNAVAILABLE, "cannot start worker %d of %d: %s: ask for fewer", l->running + 1,
                           l->config.workers, strerror(problem));
        }
    }
    return MT_OK;
}

/* halt -- no worker runs, nothing is planned. */
static void halt(mt_loader *l)
{
    mt_clock *clock = l->config.clock;
    mt_ring_stop(&l->ring);
    clock->leave(clock); /* while we wait in a way that no clock sees */
    while (l->running > 0)
        pthread_join(l->thread[--l->running], NULL);
    clock->enter(clock);
    l->stats.produced += l->ring.finished;
    l->stats.ready_max = mt_max(l->stats.ready_max, l->ring.ready_max);
    mt_ring_reset(&l->ring);
}

/* ---- making and ending ---------------------------------------------------------------------- */

mt_loader_config mt_loader_config_default(const mt_dataset *set)
{
    return (mt_loader_config){ .set = set, .sampler = mt_sampler_sequential(set->count), .batch = 64 };
}

mt_loader *mt_loader_new(const mt_loader_config *config)
{
    mt_loader *l = calloc(1, sizeof *l);
    MT_CHECK(l, "out of memory");
    MT_CHECK(config->workers >= 0 && config->prefetch >= 0, "%d workers, prefetch %" PRId64, config->workers,
             config->prefetch);
    MT_CHECK(config->batch >= 1, "a batch of %" PRId64 " samples", config->batch);
    int64_t count = config->source.pick ? config->source.set->count : config->sampler.count;
    MT_CHECK(count == config->set->count, "a sampler of %" PRId64 " samples for a set of %" PRId64, count,
             config->set->count);
    l->config = *config;
    if (!config->clock)
        l->config.clock = mt_clock_real();
    int64_t ahead = config->prefetch ? config->prefetch : 2 * config->workers;
    l->slots = config->workers ? ahead + 1 : 1; /* and the one in the caller's hands */
    l->steps = config->source.pick ? config->source.steps
                                   : mt_sampler_steps(&config->sampler, config->batch, config->drop_last);
    l->slot = calloc((size_t)l->slots, sizeof *l->slot);
    l->thread = calloc((size_t)config->workers + 1, sizeof *l->thread);
    MT_CHECK(l->slot && l->thread, "out of memory");
    for (int64_t i = 0; i < l->slots; i++)
        slot_init(&l->slot[i], &l->config);
    l->order_bytes = config->source.pick ? 0 : count * (int64_t)sizeof *l->order;
    l->order = mt_alloc(l->order_bytes, MT_CPU);
    l->order_epoch = -1;
    l->begin = -1;
    mt_ring_init(&l->ring, l->slots, l->config.clock);
    return l;
}

void mt_loader_free(mt_loader *l)
{
    if (!l)
        return;
    halt(l);
    mt_ring_destroy(&l->ring);
    for (int64_t i = 0; i < l->slots; i++)
        slot_destroy(&l->slot[i], &l->config);
    mt_free(l->order, l->order_bytes, MT_CPU);
    free(l->slot);
    free(l->thread);
    free(l);
}

void mt_loader_stop(mt_loader *l)
{
    mt_ring_stop(&l->ring);
}

/* ---- batches -------------------------------------------------------------------------------- */

static bool failed(mt_loader *l, mt_status status, const char *message)
{
    l->status = status;
    snprintf(l->message, sizeof l->message, "%s", message);
    return false;
}

/* lend -- give the caller a filled slot. */
static void lend(mt_loader *l, slot *s, mt_batch *out)
{
    if (s->skipped > 0)
        mt_log_message(MT_LOG_WARN, "loader: %" PRId64 " bad samples skipped, the last: %s", s->skipped, s->message);
    s->x->view.shape[0] = s->y->view.shape[0] = s->count;
    l->at.step++;
    l->lent = s;
    l->stats.consumed++;
    l->stats.skipped += s->skipped;
    *out = (mt_batch){ s->x, s->y, s->index, s->count, s->place.epoch, s->place.step };
}

/* The next batch in its turn; at the end of the epoch l->at moves on to the next. */
static bool advance(mt_loader *l, mt_batch *out)
{
    int64_t ticket;
    if (!l->started && l->steps > 0 && start(l) != MT_OK)
        return failed(l, MT_ERR_UNAVAILABLE, mt_last_error());
    if (l->lent)
        plan(l, l->lent);
    l->lent = NULL;
    if (l->at.step == l->steps) {
        l->at = (mt_loader_place){ l->at.epoch + 1, 0 };
        return false;
    }
    if (l->config.workers == 0 && mt_ring_claim(&l->ring, &ticket))
        load(l, ticket);
    if (!mt_ring_take(&l->ring, &ticket))
        return failed(l, MT_ERR_STOPPED, "the loader was stopped");
    slot *s = &l->slot[ticket % l->slots];
    if (s->status != MT_OK)
        return failed(l, s->status, s->message);
    lend(l, s, out);
    return true;
}

bool mt_loader_next(mt_loader *l, mt_batch *out)
{
    MT_SPAN("next batch");
    mt_clock *clock = l->config.clock;
    double begin = clock->now(clock);
    bool got = l->status == MT_OK && advance(l, out);
    double end = clock->now(clock);
    if (l->begin < 0)
        l->begin = begin;
    l->stats.stall_seconds += end - begin;
    l->stats.seconds = end - l->begin;
    mt_loader_status(l); /* an error's words are in mt_last_error() already now */
    return got;
}

mt_status mt_loader_status(const mt_loader *l)
{
    return l->status == MT_OK ? MT_OK : mt_fail(l->status, "%s", l->message);
}

int64_t mt_loader_steps(const mt_loader *l)
{
    return l->steps;
}

/* ---- places and statistics ------------------------------------------------------------------ */

mt_loader_place mt_loader_place_of(const mt_loader *l)
{
    return l->at;
}

mt_status mt_loader_seek(mt_loader *l, mt_loader_place place)
{
    if (place.epoch < 0 || place.step < 0 || place.step > l->steps)
        return mt_fail(MT_ERR_ARGUMENT,
                       "epoch %" PRId64 ", step %" PRId64 ": an epoch of this loader has %" PRId64
                       " steps: was the place saved with another batch size or data set?",
                       place.epoch, place.step, l->steps);
    halt(l);
    l->started = false;
    l->lent = NULL;
    l->plan = l->at = place;
    l->status = MT_OK;
    return MT_OK;
}

mt_loader_stats mt_loader_stats_of(mt_loader *l)
{
    mt_loader_stats stats = l->stats;
    pthread_mutex_lock(&l->ring.lock);
    stats.produced += l->ring.finished;
    stats.ready_max = mt_max(stats.ready_max, l->ring.ready_max);
    pthread_mutex_unlock(&l->ring.lock);
    stats.stall_percent = stats.seconds > 0 ? 100 * stats.stall_seconds / stats.seconds : 0;
    return stats;
}
