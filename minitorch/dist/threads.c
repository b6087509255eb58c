/* threads.c -- messages between threads, and their times; see threads.h.
 *
 * A message is in a list of its rank until it has been waited for. Whoever begins second finds the first in the other
 * rank's list: the two are then a pair, and the network says when both end. */
#include "dist/threads.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dist/comm_thread.h"

/* What all communicators that were split from one have in common. */
typedef struct world {
    mt_wires wires;
    pthread_mutex_t lock; /* of everything below, of groups and of members */
    int groups;
    double *sends_until, *receives_until; /* when a rank's current message ends, by its number in the first group */
} world;

typedef struct member member;

/* The ranks of one communicator, or of its channel. */
typedef struct group {
    world *world;
    int size, left;
    int *numbers; /* [size] ranks in the first group */
    member **members;
} group;

typedef struct post {
    mt_request base;
    member *owner;
    struct post *next;
    int peer;
    bool is_send;
    char *data;
    int64_t bytes, expected; /* by the pair */
    bool paired;
    struct post *pair; /* NULL: not found yet, or it has ended */
    char *arrived;     /* data of a receive whose send ended before it */
    double ends;
} post;

struct member {
    mt_comm base;
    group *group;
    int number; /* in the first group */
    bool gone;
    post *posts; /* in order */
    pthread_cond_t changed;
    mt_comm_thread *thread; /* NULL before the first collective, and in a channel */
};

/* ---- pairs; all with the world's lock held ------------------------------------------------------ */

/* What p copies, or leaves for its pair, when it ends. */
static void deliver(post *p)
{
    post *pair = p->pair;
    const char *from = p->is_send ? p->data : p->arrived ? p->arrived : pair ? pair->data : NULL;
    char *into = p->data;
    if (p->is_send && pair)
        into = pair->arrived = malloc((size_t)p->bytes + 1);
    MT_CHECK(into || p->bytes == 0, "out of memory");
    if (from && into != from && p->bytes > 0)
        memcpy(into, from, (size_t)p->bytes);
    if (pair)
        pair->pair = NULL;
}

static void unlink_post(post *p)
{
    post **at = &p->owner->posts;
    while (*at != p)
        at = &(*at)->next;
    *at = p->next;
}

static post *find_pair(const post *p)
{
    const member *peer = p->owner->group->members[p->peer];
    post *other = peer->gone || p->owner->gone ? NULL : peer->posts;
    while (other && (other->paired || other->is_send == p->is_send || other->peer != p->owner->base.rank))
        other = other->next;
    return other;
}

static const mt_network *between(const mt_wires *wires, int a, int b)
{
    return wires->nodes.size > 0 && a / wires->nodes.size == b / wires->nodes.size ? &wires->nodes.inside
                                                                                   : &wires->network;
}

/* The message begins when both are there and both ranks have ended the one before it in this direction. */
static void make_pair(post *a, post *b)
{
    world *w = a->owner->group->world;
    const post *send = a->is_send ? a : b, *receive = a->is_send ? b : a;
    double *sends = &w->sends_until[send->owner->number], *receives = &w->receives_until[receive->owner->number];
    double begins = fmax(w->wires.clock->now(w->wires.clock), fmax(*sends, *receives));
    const mt_network *link = between(&w->wires, send->owner->number, receive->owner->number);
    *sends = *receives = begins + link->latency + (double)send->bytes * link->byte_time;
    a->ends = b->ends = *sends;
    a->paired = b->paired = true;
    a->pair = b;
    b->pair = a;
    a->expected = b->bytes;
    b->expected = a->bytes;
    w->wires.clock->wake(w->wires.clock, &b->owner->changed);
}

/* ---- waiting ------------------------------------------------------------------------------------ */

/* Why a message that has no pair will never have one, or MT_OK. */
static mt_status hopeless(const post *p, double until)
{
    const group *g = p->owner->group;
    mt_clock *clock = g->world->wires.clock;
    const char *what = p->is_send ? "send to" : "receive from";
    int peer = g->numbers[p->peer];
    if (p->owner->gone)
        return mt_fail(MT_ERR_UNAVAILABLE, "%s rank %d: rank %d has failed before", what, peer, p->owner->number);
    /* Before what the peer did: of ranks whose deadlines end together one is always first. */
    if (clock->now(clock) >= until)
        return mt_fail(MT_ERR_UNAVAILABLE, "%s rank %d: rank %d did not take part within %g s", what, peer, peer,
                       g->world->wires.deadline);
    if (g->members[p->peer]->gone)
        return mt_fail(MT_ERR_UNAVAILABLE, "%s rank %d: rank %d has failed or left", what, peer, peer);
    return MT_OK;
}

/* The end of a message that has a pair. */
static mt_status end_pair(post *p)
{
    if (p->bytes == p->expected) {
        deliver(p);
        return MT_OK;
    }
    if (p->pair)
        p->pair->pair = NULL;
    return mt_fail(MT_ERR_UNAVAILABLE, "rank %d %s %" PRId64 " bytes, and rank %d %s %" PRId64, p->owner->number,
                   p->is_send ? "sends" : "expects", p->bytes, p->owner->group->numbers[p->peer],
                   p->is_send ? "expects" : "sends", p->expected);
}

/* After a failure, or when the rank leaves: nobody waits for its messages any more, and their buffers may go. What
 * others have begun with it fails. A message that has a pair is still delivered. */
static void leave(member *m)
{
    mt_clock *clock = m->group->world->wires.clock;
    m->gone = true;
    for (post *p = m->posts; p; p = p->next) {
        if (p->is_send && p->pair && p->bytes == p->expected)
            deliver(p);
        else if (p->pair)
            p->pair->pair = NULL;
        p->pair = NULL;
    }
    for (int rank = 0; rank < m->group->size; rank++)
        clock->wake(clock, &m->group->members[rank]->changed);
}

static mt_status wait_for_post(mt_request *request)
{
    post *p = (post *)request;
    world *w = p->owner->group->world;
    mt_clock *clock = w->wires.clock;
    mt_status status = MT_OK;
    double until = w->wires.deadline > 0 ? clock->now(clock) + w->wires.deadline : INFINITY;
    pthread_mutex_lock(&w->lock);
    while ((!p->paired || p->owner->gone) && (status = hopeless(p, until)) == MT_OK)
        clock->wait_for(clock, &p->owner->changed, &w->lock, until - clock->now(clock));
    double rest = status == MT_OK ? p->ends - clock->now(clock) : 0;
    if (rest > 0) {
        pthread_mutex_unlock(&w->lock);
        clock->sleep(clock, rest);
        pthread_mutex_lock(&w->lock);
    }
    if (status == MT_OK)
        status = end_pair(p);
    unlink_post(p);
    if (status != MT_OK)
        leave(p->owner);
    pthread_mutex_unlock(&w->lock);
    free(p->arrived);
    free(p);
    return status;
}

static mt_status begin(mt_comm *comm, void *data, int64_t bytes, int peer, bool is_send, mt_request **request)
{
    member *m = (member *)comm;
    world *w = m->group->world;
    post *p = mt_calloc(1, sizeof *p), **last = &m->posts;
    *p = (post){
        .base.wait = wait_for_post, .owner = m, .peer = peer, .is_send = is_send, .data = data, .bytes = bytes
    };
    pthread_mutex_lock(&w->lock);
    post *pair = find_pair(p);
    while (*last)
        last = &(*last)->next;
    *last = p;
    if (pair)
        make_pair(p, pair);
    pthread_mutex_unlock(&w->lock);
    return mt_begun(&p->base, request);
}

static mt_status threads_collective(mt_comm *comm, const mt_collective *call, mt_request **request)
{
    member *m = (member *)comm;
    const mt_wires *wires = &m->group->world->wires;
    if (!m->thread)
        m->thread = mt_comm_thread_new(comm->channel, wires->clock, wires->checked);
    return mt_comm_thread_call(m->thread, call, request);
}

/* ---- groups ------------------------------------------------------------------------------------- */

static mt_status threads_split(mt_comm **out, mt_comm *comm, int color, int key);
static void threads_free(mt_comm *comm);

static const mt_comm_engine threads_engine = {
    .name = "threads",
    .collective = threads_collective,
    .message = begin,
    .split = threads_split,
    .free = threads_free,
};

/* A group of the ranks with these numbers, in this order. */
static group *new_group(world *w, const int *numbers, int size)
{
    group *g = mt_calloc(1, sizeof *g);
    *g = (group){ .world = w, .size = size, .members = mt_calloc(size, sizeof(member *)) };
    g->numbers = mt_calloc(size, sizeof *g->numbers);
    memcpy(g->numbers, numbers, (size_t)size * sizeof *numbers);
    for (int rank = 0; rank < size; rank++) {
        member *m = g->members[rank] = mt_calloc(1, sizeof *m);
        m->base = (mt_comm){ .rank = rank, .size = size, .engine = &threads_engine, .network = w->wires.network };
        m->group = g;
        m->number = numbers[rank];
        m->base.numbers = g->numbers;
        pthread_cond_init(&m->changed, NULL);
    }
    w->groups++;
    return g;
}

static group *new_group_with_channel(world *w, const int *numbers, int size)
{
    group *g = new_group(w, numbers, size), *channel = new_group(w, numbers, size);
    for (int rank = 0; rank < size; rank++)
        g->members[rank]->base.channel = &channel->members[rank]->base;
    return g;
}

void mt_comm_threads(mt_comm **ranks, int size, const mt_wires *wires)
{
    MT_CHECK(size >= 1, "%d ranks", size);
    world *w = mt_calloc(1, sizeof *w);
    int *numbers = mt_calloc(size, sizeof *numbers);
    w->wires = *wires;
    if (!w->wires.clock)
        w->wires.clock = mt_clock_real();
    w->sends_until = mt_calloc(size, sizeof(double));
    w->receives_until = mt_calloc(size, sizeof(double));
    pthread_mutex_init(&w->lock, NULL);
    for (int rank = 0; rank < size; rank++)
        numbers[rank] = rank;
    group *g = new_group_with_channel(w, numbers, size);
    for (int rank = 0; rank < size; rank++) {
        ranks[rank] = &g->members[rank]->base;
        ranks[rank]->nodes = ranks[rank]->channel->nodes = wires->nodes;
    }
    free(numbers);
}

/* The last member to leave frees the group. */
static void leave_group(member *m)
{
    group *g = m->group;
    leave(m);
    for (post *p; (p = m->posts) != NULL; free(p)) {
        m->posts = p->next;
        free(p->arrived);
    }
    if (++g->left < g->size)
        return;
    for (int rank = 0; rank < g->size; rank++) {
        pthread_cond_destroy(&g->members[rank]->changed);
        free(g->members[rank]);
    }
    g->world->groups--;
    free(g->members);
    free(g->numbers);
    free(g);
}

static void threads_free(mt_comm *comm)
{
    member *m = (member *)comm, *channel = (member *)comm->channel;
    world *w = m->group->world;
    pthread_mutex_lock(&w->lock);
    leave(m);
    leave(channel);
    pthread_mutex_unlock(&w->lock);
    mt_comm_thread_free(m->thread);
    pthread_mutex_lock(&w->lock);
    leave_group(m);
    leave_group(channel);
    bool last = w->groups == 0;
    pthread_mutex_unlock(&w->lock);
    if (last) {
        pthread_mutex_destroy(&w->lock);
        free(w->sends_until);
        free(w->receives_until);
        free(w);
    }
}

/* ---- splitting ---------------------------------------------------------------------------------- */

/* Rank 0 knows all wishes: new communicators, in the order of the ranks of comm. */
static void divide(mt_comm **made, const group *old, mt_split_wish *wishes)
{
    world *w = old->world;
    int size = old->size, *numbers = mt_calloc(size, sizeof *numbers);
    mt_split_sort(wishes, size);
    for (int begin = 0, end; begin < size; begin = end) {
        for (end = begin; end < size && wishes[end].color == wishes[begin].color; end++)
            numbers[end] = old->numbers[wishes[end].rank];
        pthread_mutex_lock(&w->lock);
        group *g = new_group_with_channel(w, numbers + begin, end - begin);
        pthread_mutex_unlock(&w->lock);
        for (int i = begin; i < end; i++)
            made[wishes[i].rank] = &g->members[i - begin]->base;
    }
    free(numbers);
}

static mt_status threads_split(mt_comm **out, mt_comm *comm, int color, int key)
{
    mt_status status = MT_OK;
    mt_comm *mine = NULL;
    mt_split_wish my_wish = { color, key, comm->rank, 0 };
    if (comm->rank > 0) {
        status = begin(comm, &my_wish, sizeof my_wish, 0, true, NULL);
        if (status == MT_OK)
            status = begin(comm, &mine, sizeof mine, 0, false, NULL);
    } else {
        mt_comm **made = mt_calloc(comm->size, sizeof(mt_comm *));
        mt_split_wish *wishes = mt_calloc(comm->size, sizeof *wishes);
        wishes[0] = my_wish;
        for (int rank = 1; rank < comm->size && status == MT_OK; rank++)
            status = begin(comm, &wishes[rank], sizeof my_wish, rank, false, NULL);
        if (status == MT_OK)
            divide(made, ((member *)comm)->group, wishes);
        for (int rank = 1; rank < comm->size && status == MT_OK; rank++)
            status = begin(comm, &made[rank], sizeof mine, rank, true, NULL);
        mine = made[0];
        free(wishes);
        free(made);
    }
    if (status == MT_OK)
        *out = mine;
    return status;
}
