/* loader.c -- slots with buffers, worker threads, the position in the data, statistics.
 *
 * The caller plans: it writes the numbers of the wanted samples into a free slot, so sampling needs no lock. Workers
 * fill slots. The ring (data/ring.h) passes slots between them; a slot belongs to one thread at a time, so nothing in
 * it needs a lock. */
#include "data/loader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/scope.h"
#include "data/ring.h"
#include "core/span.h"

typedef struct slot {
    mt_batch batch;
    int64_t *index; /* [batch] the numbers of its samples */
    /* Set by whoever fills the batch: */
    int64_t skipped;
    mt_status status;
    char message[1024]; /* the worker's mt_last_error, for the caller's thread */
} slot;

struct mt_loader {
    mt_loader_config config;
    int64_t steps, slots;
    slot *slot;
    mt_ring ring;
    pthread_t *thread; /* [workers] */
    int running;       /* workers started */
    bool started;      /* slots are planned and workers run */
    slot *lent;        /* the slot in the caller's hands; NULL: none */
    int64_t *order;    /* of all samples in epoch order_epoch (-1: none yet); NULL with a batch source */
    int64_t order_epoch;
    mt_loader_place plan, at; /* the next batch to plan, and to give */
    mt_status status;
    char message[1024];
    double begin; /* of the first mt_loader_next; negative: there was none */
    mt_loader_stats stats;
};

/* ---- slots ---------------------------------------------------------------------------------- */

/* A tensor owned by the loader, even inside a scope. */
static mt_tensor *buffer_new(const mt_field *field, int64_t batch)
{
    mt_shape shape = { .rank = field->shape.rank + 1, .dim = { batch } };
    MT_CHECK(shape.rank <= MT_MAX_RANK, "samples of rank %d cannot be batched", field->shape.rank);
    memcpy(shape.dim + 1, field->shape.dim, (size_t)field->shape.rank * sizeof *shape.dim);
    mt_tensor *t = mt_empty(shape, field->dtype, MT_CPU);
    return mt_scope_depth() > 0 ? mt_retain(t) : t;
}

/* The samples of the batch at l->plan; returns how many. */
static int64_t pick(mt_loader *l, int64_t *index)
{
    const mt_loader_config *c = &l->config;
    if (c->source.pick) {
        c->source.pick(index, &c->source, l->plan.step, c->batch);
        return c->batch;
    }
    if (l->order_epoch != l->plan.epoch)
        mt_sampler_order(l->order, &c->sampler, l->order_epoch = l->plan.epoch);
    return mt_sampler_batch(index, &c->sampler, l->order, l->plan.step, c->batch);
}

/* plan -- write the samples of the next batch into a slot, and pass it to the workers. */
static void plan(mt_loader *l, slot *s)
{
    mt_batch *b = &s->batch;
    if (l->plan.step == l->steps)
        l->plan = (mt_loader_place){ l->plan.epoch + 1, 0 };
    *b = (mt_batch){ b->x, b->y, s->index, pick(l, s->index), l->plan.epoch, l->plan.step };
    l->plan.step++;
    mt_ring_plan(&l->ring);
}

static void fill(mt_loader *l, slot *s)
{
    MT_SPAN("load batch");
    const mt_loader_config *config = &l->config;
    const mt_batch *b = &s->batch;
    mt_collation how = { config->set, config->seed, b->epoch, config->on_bad, &l->ring.stopped };
    if (config->set->soon)
        config->set->soon(config->set, s->index, b->count);
    mt_memory_use before = mt_alloc_for(MT_USE_OTHER);
    s->status = mt_collate(b->x->storage->data, b->y->storage->data, s->index, &s->skipped, &how, b->count);
    mt_alloc_for(before);
    if (s->status != MT_OK || s->skipped > 0)
        snprintf(s->message, sizeof s->message, "%s", mt_last_error());
}

/* load -- fill the slot of a claimed ticket. */
static void load(mt_loader *l, int64_t ticket)
{
    slot *s = &l->slot[ticket % l->slots];
    fill(l, s);
    if (s->status != MT_ERR_STOPPED || !l->ring.stopped) /* else it is half a batch, which is never taken */
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

/* halt -- end all workers and forget what was planned. */
static void halt(mt_loader *l)
{
    mt_clock *clock = l->config.clock;
    mt_ring_stop(&l->ring);
    clock->leave(clock); /* a clock does not see pthread_join */
    while (l->running > 0)
        pthread_join(l->thread[--l->running], NULL);
    clock->enter(clock);
    mt_ring_reset(&l->ring);
    l->started = false;
    l->lent = NULL;
}

/* ---- making and ending ---------------------------------------------------------------------- */

mt_loader_config mt_loader_config_default(const mt_dataset *set)
{
    return (mt_loader_config){ .set = set, .sampler = mt_sampler_sequential(set->count), .batch = 64 };
}

mt_loader *mt_loader_new(const mt_loader_config *c)
{
    bool by_source = c->source.pick != NULL;
    int64_t count = by_source ? c->source.set->count : c->sampler.count;
    int64_t ahead = c->prefetch ? c->prefetch : 2 * c->workers;
    mt_loader *l = mt_calloc(1, sizeof *l);
    MT_CHECK(c->workers >= 0 && c->prefetch >= 0, "%d workers, prefetch %" PRId64, c->workers, c->prefetch);
    MT_CHECK(c->batch >= 1, "a batch of %" PRId64 " samples", c->batch);
    MT_CHECK(count == c->set->count, "a sampler of %" PRId64 " samples for a set of %" PRId64, count, c->set->count);
    l->config = *c;
    if (!c->clock)
        l->config.clock = mt_clock_real();
    l->steps = by_source ? c->source.steps : mt_sampler_steps(&c->sampler, c->batch, c->drop_last);
    l->slots = c->workers ? ahead + 1 : 1; /* one more for the caller */
    l->slot = mt_calloc(l->slots, sizeof *l->slot);
    for (slot *s = l->slot; s < l->slot + l->slots; s++) {
        s->batch.x = buffer_new(&c->set->x, c->batch);
        s->batch.y = buffer_new(&c->set->y, c->batch);
        s->index = mt_calloc(c->batch, sizeof *s->index);
    }
    l->thread = mt_calloc(c->workers + 1, sizeof *l->thread);
    l->order = by_source ? NULL : mt_calloc(count + 1, sizeof *l->order);
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
    for (slot *s = l->slot; s < l->slot + l->slots; s++) {
        mt_release(s->batch.x);
        mt_release(s->batch.y);
        free(s->index);
    }
    free(l->order);
    free(l->slot);
    free(l->thread);
    free(l);
}

void mt_loader_stop(mt_loader *l)
{
    mt_ring_stop(&l->ring);
}

/* ---- batches -------------------------------------------------------------------------------- */

/* lend -- give the caller a filled slot. */
static void lend(mt_loader *l, slot *s, mt_batch *out)
{
    if (s->skipped > 0)
        mt_warn("loader: %" PRId64 " bad samples skipped, the last: %s", s->skipped, s->message);
    s->batch.x->view.shape[0] = s->batch.y->view.shape[0] = s->batch.count;
    l->at.step++;
    l->lent = s;
    l->stats.skipped += s->skipped;
    *out = s->batch;
}

/* The next batch; without one, the end of an epoch: l->at moves on to the next. */
static mt_status advance(mt_loader *l, mt_batch *out, bool *got)
{
    int64_t ticket;
    MT_TRY(l->started || l->steps == 0 ? MT_OK : start(l));
    if (l->lent)
        plan(l, l->lent);
    l->lent = NULL;
    if (l->at.step == l->steps) {
        l->at = (mt_loader_place){ l->at.epoch + 1, 0 };
        return MT_OK;
    }
    if (l->config.workers == 0 && mt_ring_claim(&l->ring, &ticket))
        load(l, ticket);
    if (!mt_ring_take(&l->ring, &ticket))
        return mt_fail(MT_ERR_STOPPED, "the loader was stopped");
    slot *s = &l->slot[ticket % l->slots];
    if (s->status != MT_OK)
        return mt_fail(s->status, "%s", s->message);
    lend(l, s, out);
    *got = true;
    return MT_OK;
}

bool mt_loader_next(mt_loader *l, mt_batch *out)
{
    MT_SPAN("next batch");
    mt_clock *clock = l->config.clock;
    double begin = clock->now(clock);
    bool got = false;
    if (mt_loader_status(l) == MT_OK && (l->status = advance(l, out, &got)) != MT_OK)
        snprintf(l->message, sizeof l->message, "%s", mt_last_error());
    double end = clock->now(clock);
    if (l->begin < 0)
        l->begin = begin;
    l->stats.stall_seconds += end - begin;
    l->stats.seconds = end - l->begin;
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

int64_t mt_loader_ahead(const mt_loader *l, int64_t ahead)
{
    int64_t step = l->at.step + ahead, batch = l->config.batch;
    if (step >= l->steps)
        return 0;
    return l->config.source.pick ? batch : mt_min(batch, mt_sampler_length(&l->config.sampler) - step * batch);
}

/* ---- position and statistics ---------------------------------------------------------------- */

mt_loader_place mt_loader_place_of(const mt_loader *l)
{
    return l->at;
}

void mt_loader_state(mt_state *state, mt_loader *l)
{
    mt_state_integer(state, &l->at.epoch, "loader.epoch");
    mt_state_integer(state, &l->at.step, "loader.step");
}

mt_status mt_loader_seek(mt_loader *l, mt_loader_place place)
{
    if (place.epoch < 0 || place.step < 0 || place.step > l->steps)
        return mt_fail(MT_ERR_ARGUMENT,
                       "epoch %" PRId64 ", step %" PRId64 ": an epoch of this loader has %" PRId64
                       " steps: was the position saved with another batch size or data set?",
                       place.epoch, place.step, l->steps);
    halt(l);
    l->plan = l->at = place;
    l->status = MT_OK;
    return MT_OK;
}

mt_loader_stats mt_loader_stats_of(const mt_loader *l)
{
    mt_loader_stats stats = l->stats;
    stats.stall_percent = stats.seconds > 0 ? 100 * stats.stall_seconds / stats.seconds : 0;
    return stats;
}
