/* gpt2_tasks.c -- collectives, pipelines and training steps as tasks; see gpt2_tasks.h. */
#include "plan/gpt2_tasks.h"

#include <stdlib.h>

/* ---- collectives ------------------------------------------------------------------------------------------------- */

/* A message after all that the two ranks wait for. */
static int64_t message(mt_cluster_tasks *tasks, const int64_t *rank, int from, int to, int64_t bytes, int64_t *last)
{
    return mt_cluster_send(tasks, rank[from], rank[to], bytes, (int64_t[]){ last[from], last[to] }, 2);
}

/* The message, and nothing else of both ranks meanwhile. */
static void pass(mt_cluster_tasks *tasks, const int64_t *rank, int from, int to, int64_t bytes, int64_t *last)
{
    last[from] = last[to] = message(tasks, rank, from, to, bytes, last);
}

static void swap(mt_cluster_tasks *tasks, const int64_t *rank, int a, int b, int64_t bytes, int64_t *last)
{
    int64_t there = message(tasks, rank, a, b, bytes, last), back = message(tasks, rank, b, a, bytes, last);
    last[a] = last[b] = mt_cluster_join(tasks, (int64_t[]){ there, back }, 2);
}

/* size - 1 steps: in step s rank r sends part r - s - lag to the next rank, while one arrives. */
static void ring(mt_cluster_tasks *tasks, const int64_t *rank, int size, int64_t n, int64_t size_of, int lag,
                 int64_t *last)
{
    int64_t *sent = mt_calloc(size, sizeof *sent);
    for (int step = 0; step < size - 1; step++) {
        for (int r = 0; r < size; r++) {
            int part = (r - step - lag + 2 * size) % size;
            int64_t bytes = (mt_part_begin(n, size, part + 1) - mt_part_begin(n, size, part)) * size_of;
            sent[r] = message(tasks, rank, r, (r + 1) % size, bytes, last);
        }
        for (int r = 0; r < size; r++)
            last[r] = mt_cluster_join(tasks, (int64_t[]){ sent[r], sent[(r + size - 1) % size] }, 2);
    }
    free(sent);
}

static void tree(mt_cluster_tasks *tasks, const int64_t *rank, int size, int64_t bytes, int64_t *last)
{
    int reach = 1;
    while (reach < size)
        reach *= 2;
    for (int below = reach / 2; below >= 1; below /= 2)
        for (int r = below; r < mt_min(2 * below, size); r++)
            pass(tasks, rank, r, r - below, bytes, last);
    for (int above = 1; above < size; above *= 2)
        for (int r = above; r < mt_min(2 * above, size); r++)
            pass(tasks, rank, r - above, r, bytes, last);
}

static void doubling(mt_cluster_tasks *tasks, const int64_t *rank, int size, int64_t bytes, int64_t *last)
{
    int power = 1;
    while (2 * power <= size)
        power *= 2;
    for (int r = power; r < size; r++)
        pass(tasks, rank, r, r - power, bytes, last);
    for (int bit = 1; bit < power; bit *= 2)
        for (int r = 0; r < power; r++)
            if (r < (r ^ bit))
                swap(tasks, rank, r, r ^ bit, bytes, last);
    for (int r = power; r < size; r++)
        pass(tasks, rank, r - power, r, bytes, last);
}

void mt_cluster_all_reduce(mt_cluster_tasks *tasks, mt_algorithm algorithm, const int64_t *rank, int size,
                           int64_t elements, int64_t size_of, int64_t *last)
{
    if (algorithm == MT_TREE) {
        tree(tasks, rank, size, elements * size_of, last);
    } else if (algorithm == MT_DOUBLING) {
        doubling(tasks, rank, size, elements * size_of, last);
    } else {
        ring(tasks, rank, size, elements, size_of, 1, last);
        ring(tasks, rank, size, elements, size_of, 0, last);
    }
}

void mt_cluster_hierarchy(mt_cluster_tasks *tasks, const int64_t *rank, int size, int node, int64_t elements,
                          int64_t size_of, int64_t *last)
{
    int count = size / node;
    int64_t *others = mt_calloc(2 * count, sizeof *others), *lasts = others + count;
    for (int first = 0; first < size; first += node)
        ring(tasks, rank + first, node, elements, size_of, 1, last + first);
    for (int place = 0; place < node; place++) {
        int64_t part = mt_part_begin(elements, node, place + 1) - mt_part_begin(elements, node, place);
        for (int i = 0; i < count; i++)
            others[i] = rank[i * node + place], lasts[i] = last[i * node + place];
        mt_cluster_all_reduce(tasks, MT_RING, others, count, part, size_of, lasts);
        for (int i = 0; i < count; i++)
            last[i * node + place] = lasts[i];
    }
    for (int first = 0; first < size; first += node)
        ring(tasks, rank + first, node, elements, size_of, 0, last + first);
    free(others);
}

/* A ring of equal ranks, each of this width, and equal parts at once: each rank sends 2 (size - 1) messages, `bytes`
 * together, from the moment at which the last of them takes part. */
static void equal_ring(mt_cluster_tasks *tasks, const int64_t *rank, int size, int64_t width, int64_t bytes,
                       int64_t *last)
{
    if (size == 1)
        return;
    int64_t *sent = mt_calloc(size, sizeof *sent), all = mt_cluster_join(tasks, last, size);
    for (int r = 0; r < size; r++)
        sent[r] = mt_cluster_add(
            tasks, (mt_cluster_task){ rank[r], rank[(r + 1) % size], width, 0, bytes, 2 * (size - 1), 0, 0 }, &all, 1);
    all = mt_cluster_join(tasks, sent, size);
    for (int r = 0; r < size; r++)
        last[r] = all;
    free(sent);
}

/* ---- a pipeline -------------------------------------------------------------------------------------------------- */

/* All actions of all ranks, and the numbers of their tasks, which are known before these are added. */
typedef struct plan {
    const mt_cluster_pipe *is;
    int actions;            /* of a rank */
    mt_pipe_action *action; /* [stages, actions] */
    int64_t *compute;       /* [stages, actions]; the message that follows, if there is one, is the next task */
    int *place;             /* [2, parts, micro] of an action in its rank's list */
} plan;

static int part_of(const plan *p, int stage, const mt_pipe_action *a)
{
    return a->chunk * p->is->stages + stage;
}

static int *place_of(const plan *p, bool backward, int part, int micro)
{
    return &p->place[((backward ? p->is->stages * p->is->chunks : 0) + part) * p->is->micro + micro];
}

/* Whether something goes to another rank after the action: to part + 1, or from a backward to part - 1. */
static bool sends(const plan *p, int stage, const mt_pipe_action *a)
{
    int part = part_of(p, stage, a);
    return a->backward ? part > 0 : part < p->is->stages * p->is->chunks - 1;
}

static bool receives(const plan *p, int stage, const mt_pipe_action *a)
{
    int part = part_of(p, stage, a);
    return a->backward ? part < p->is->stages * p->is->chunks - 1 : part > 0;
}

/* The message of a gradient before action i of a rank: it ends before action i is done. -1: none. */
static int64_t gradient_before(const plan *p, int stage, int i)
{
    for (const mt_pipe_action *a = p->action + stage * p->actions; --i >= 0;)
        if (a[i].backward && sends(p, stage, &a[i]))
            return p->compute[stage * p->actions + i] + 1;
    return -1;
}

/* What must have ended when action i of a rank is done. i < 0: when the rank begins. */
static int done(int64_t *after, const plan *p, int stage, int i, int64_t begins)
{
    after[0] = i < 0 ? begins : p->compute[stage * p->actions + i];
    after[1] = i >= 0 && p->action[stage * p->actions + i].backward ? gradient_before(p, stage, i) : -1;
    return 2;
}

/* The number of the message that action a waits for. */
static int64_t message_for(const plan *p, int stage, const mt_pipe_action *a)
{
    int from = part_of(p, stage, a) + (a->backward ? 1 : -1), sender = from % p->is->stages;
    return p->compute[sender * p->actions + *place_of(p, a->backward, from, a->micro)] + 1;
}

static void add_action(mt_cluster_tasks *tasks, const plan *p, int stage, int i, const int64_t *begins)
{
    const mt_cluster_pipe *is = p->is;
    const mt_pipe_action *a = &p->action[stage * p->actions + i];
    int64_t after[5];
    int n = done(after, p, stage, i - 1, begins[stage]);
    if (receives(p, stage, a))
        after[n++] = message_for(p, stage, a);
    mt_cluster_add(tasks,
                   (mt_cluster_task){ is->rank[stage], -1, is->width, (a->backward ? is->backward : is->forward)[stage],
                                      0, 0, 0, 0 },
                   after, n);
    if (!sends(p, stage, a))
        return;
    /* The receiver has called mt_recv before the action in front of the one that needs it. */
    int to = part_of(p, stage, a) + (a->backward ? -1 : 1), receiver = to % is->stages;
    n = done(after, p, stage, i, -1);
    n += done(after + n, p, receiver, *place_of(p, a->backward, to, a->micro) - 2, begins[receiver]);
    mt_cluster_add(tasks, (mt_cluster_task){ is->rank[stage], is->rank[receiver], is->width, 0, is->bytes, 1, 0, 0 },
                   after, n);
}

static mt_status read_schedules(plan *p, int64_t number)
{
    const mt_cluster_pipe *is = p->is;
    for (int stage = 0; stage < is->stages; stage++) {
        mt_pipe_action *action = p->action + stage * p->actions;
        mt_status status = mt_pipe_schedule(action, is->kind, stage, is->stages, is->micro, is->chunks);
        if (status != MT_OK)
            return status;
        for (int i = 0; i < p->actions; i++) {
            *place_of(p, action[i].backward, part_of(p, stage, &action[i]), action[i].micro) = i;
            p->compute[stage * p->actions + i] = number;
            number += 1 + sends(p, stage, &action[i]);
        }
    }
    return MT_OK;
}

mt_status mt_cluster_pipeline(mt_cluster_tasks *tasks, const mt_cluster_pipe *is, int64_t *last)
{
    int slots = (int)(mt_max(is->micro, 1) * mt_max(is->chunks, 1)), stages = mt_max(is->stages, 1);
    plan p = { .is = is, .actions = 2 * slots };
    p.action = mt_calloc(stages * p.actions, sizeof *p.action);
    p.compute = mt_calloc(stages * p.actions, sizeof *p.compute);
    p.place = mt_calloc(stages * p.actions, sizeof *p.place);
    mt_status status = is->stages == 1 && is->chunks > 1
                           ? mt_fail(MT_ERR_ARGUMENT, "pipeline: one rank has one chunk, and not %d", is->chunks)
                           : read_schedules(&p, tasks->count);
    if (status == MT_OK) {
        for (int stage = 0; stage < stages; stage++)
            for (int i = 0; i < p.actions; i++)
                add_action(tasks, &p, stage, i, last);
        for (int stage = 0; stage < stages; stage++) {
            int64_t after[3] = { gradient_before(&p, stage, p.actions) };
            int n = 1 + done(after + 1, &p, stage, p.actions - 1, -1);
            last[stage] = mt_cluster_join(tasks, after, n);
        }
        if (stages > 1 && is->tied > 0)
            swap(tasks, is->rank, 0, stages - 1, is->tied, last);
    }
    free(p.action);
    free(p.compute);
    free(p.place);
    return status;
}

/* ---- a training step --------------------------------------------------------------------------------------------- */

/* Forward and backward of a micro-batch in a stage, without messages to other stages; bytes of a micro-batch's message;
 * of the token table. */
static mt_plan_cost seconds_of(double *forward, double *backward, const mt_plan_problem *problem,
                               const mt_plan_strategy *s, int64_t stage)
{
    mt_plan_cost cost = mt_plan_cost_of(&problem->model, s, stage), alone = cost;
    alone.pipe = 0;
    double all = mt_plan_stage_seconds(problem, s, &alone, mt_plan_layers(&problem->model, s->pp, stage));
    *forward = all * (double)cost.forward / (double)(cost.forward + cost.backward + cost.again);
    *backward = all - *forward;
    return cost;
}

/* Tasks of a job with one stage: ring all-reduces of its buckets during the last backward. */
static void add_replicas(mt_cluster_tasks *tasks, const mt_plan_problem *problem, const mt_plan_strategy *s,
                         int64_t buckets, int64_t *rank)
{
    double forward, backward;
    mt_plan_cost cost = seconds_of(&forward, &backward, problem, s, 0);
    int64_t *last = mt_calloc(s->dp, sizeof *last), *ring = mt_calloc(s->dp, sizeof *ring);
    for (int64_t d = 0; d < s->dp; d++) {
        double before = forward + (double)(s->micro - 1) * (forward + backward);
        rank[d] = d * s->tp;
        last[d] = mt_cluster_add(tasks, (mt_cluster_task){ rank[d], -1, s->tp, before, 0, 0, 0, 0 }, NULL, 0);
    }
    for (int64_t b = 0; b < buckets; b++) {
        for (int64_t d = 0; d < s->dp; d++)
            ring[d] = last[d] = mt_cluster_add(
                tasks, (mt_cluster_task){ rank[d], -1, s->tp, backward / (double)buckets, 0, 0, 0, 0 }, &last[d], 1);
        int64_t bytes = cost.data / buckets + (b < cost.data % buckets);
        equal_ring(tasks, rank, (int)s->dp, s->tp, bytes, ring);
    }
    free(last);
    free(ring);
}

/* Several stages: 1F1B in each replica, then a ring of each stage. */
static mt_status add_pipelines(mt_cluster_tasks *tasks, const mt_plan_problem *problem, const mt_plan_strategy *s,
                               int64_t *rank)
{
    double *forward = mt_calloc(2 * s->pp, sizeof *forward), *backward = forward + s->pp;
    int64_t *data = mt_calloc(s->pp, sizeof *data), *last = mt_calloc(s->dp * s->pp, sizeof *last), pipe = 0;
    int64_t *ring = mt_calloc(s->dp, sizeof *ring), stream = 4 * s->samples * s->time * problem->model.width;
    mt_status status = MT_OK;
    for (int64_t stage = 0; stage < s->pp; stage++) {
        mt_plan_cost cost = seconds_of(&forward[stage], &backward[stage], problem, s, stage);
        data[stage] = cost.data;
        pipe = stage == 0 ? cost.pipe : pipe;
    }
    for (int64_t d = 0; d < s->dp && status == MT_OK; d++) {
        for (int64_t stage = 0; stage < s->pp; stage++) {
            rank[stage] = (stage * s->dp + d) * s->tp;
            last[d * s->pp + stage] = -1;
        }
        mt_cluster_pipe replica = { .kind = MT_1F1B,
                                    .stages = (int)s->pp,
                                    .micro = (int)s->micro,
                                    .chunks = 1,
                                    .width = s->tp,
                                    .rank = rank,
                                    .forward = forward,
                                    .backward = backward,
                                    .bytes = stream,
                                    .tied = pipe - s->micro * stream };
        status = mt_cluster_pipeline(tasks, &replica, last + d * s->pp);
    }
    for (int64_t stage = 0; stage < s->pp && status == MT_OK; stage++) {
        for (int64_t d = 0; d < s->dp; d++) {
            rank[d] = (stage * s->dp + d) * s->tp;
            ring[d] = last[d * s->pp + stage];
        }
        equal_ring(tasks, rank, (int)s->dp, s->tp, data[stage], ring);
    }
    free(forward);
    free(data);
    free(last);
    free(ring);
    return status;
}

mt_status mt_cluster_step(mt_cluster_tasks *tasks, const mt_plan_problem *problem, const mt_plan_strategy *s,
                          int64_t buckets)
{
    const char *why = mt_plan_refuses(&problem->model, s);
    if (why)
        return mt_fail(MT_ERR_ARGUMENT, "cluster: %s", why);
    if (buckets < 1 || s->dp > problem->devices / s->pp / s->tp)
        return mt_fail(MT_ERR_ARGUMENT, "cluster: at least one bucket, and no more ranks than devices");
    if (s->pp > 1 && s->micro > 1 << 20)
        return mt_fail(MT_ERR_ARGUMENT, "cluster: at most %d micro-batches", 1 << 20);
    int64_t *rank = mt_calloc(mt_max(s->dp, s->pp), sizeof *rank);
    mt_status status = MT_OK;
    if (s->pp == 1)
        add_replicas(tasks, problem, s, buckets, rank);
    else
        status = add_pipelines(tasks, problem, s, rank);
    free(rank);
    return status;
}
