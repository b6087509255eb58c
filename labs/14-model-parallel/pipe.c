/* pipe.c -- runs the schedule of a pipeline over a communicator; see parallel/pipe.h.
 *
 * A send does not end before its receive begins, so no rank waits for a send before it has to: the send of an
 * activation is waited for when its gradient has come, and that of a gradient before the next one is sent. The receive
 * of an action begins before the action in front of it, so that it arrives during that one.
 * With two ranks and several chunks activations and gradients go from one rank to the other. They are not mistaken for
 * each other, since a schedule needs them in the order in which that of the other rank makes them. */
#include <stdlib.h>

#include "autograd/tape.h"
#include "core/scope.h"
#include "parallel/pipe.h"
#include "ops/call.h"

/* A micro-batch in a chunk, from its forward to its backward. */
typedef struct slot {
    mt_tensor *x, *y, *dy;             /* what came in, what goes out, its gradient; NULL: there is none */
    mt_request *arriving, *sent, *got; /* the messages of x, of y and of dy */
} slot;

struct mt_pipe {
    mt_pipe_config config;
    int stage, stages, actions;
    mt_comm *comm; /* of its own; NULL after a failure */
    mt_pipe_action *action;
    slot *slot;        /* [micro, chunks] */
    mt_tensor *dx;     /* the gradient that is being sent */
    mt_tensor *before; /* what earlier steps have left in the gradient of the tied parameter; NULL: nothing */
    mt_request *sending;
    mt_status status;
};

static slot *slot_of(const mt_pipe *p, const mt_pipe_action *a)
{
    return &p->slot[a->micro * p->config.chunks + a->chunk];
}

/* Which part of the model a chunk of this rank is, and whether it is the last one. */
static int part_of(const mt_pipe *p, int chunk)
{
    return chunk * p->stages + p->stage;
}

static bool is_last(const mt_pipe *p, int chunk)
{
    return part_of(p, chunk) == p->stages * p->config.chunks - 1;
}

/* A new tensor that belongs to the caller. */
static mt_tensor *tensor_of(mt_shape shape, mt_device device)
{
    mt_scope_begin();
    mt_tensor *t = mt_retain(mt_empty(shape, MT_F32, device));
    mt_scope_end();
    return t;
}

static mt_status receive(mt_tensor **out, mt_pipe *p, mt_shape shape, int from, mt_request **request)
{
    *out = tensor_of(shape, p->config.device);
    return mt_recv(p->comm, mt_f32(*out), mt_numel(*out), MT_F32, from, request);
}

/* What this action needs from another rank begins to arrive. */
static mt_status begin_receive(mt_pipe *p, const mt_pipe_action *a)
{
    slot *s = slot_of(p, a);
    int part = part_of(p, a->chunk), next = (p->stage + 1) % p->stages, before = (p->stage + p->stages - 1) % p->stages;
    mt_status status = MT_OK;
    /* TODO 14.9: A forward needs x from the rank before, a backward dy from the next one, if there are such parts.
     * Hint: config.shape[s] is the shape of what part s passes on. */
    MT_TODO("14.9"); /* delete this line when yours stands here */
    return status;
}

/* y as forward makes it, dense, and the caller's. The graph behind it stays; temporaries do not. */
static mt_tensor *compute(mt_pipe *p, const mt_pipe_action *a, mt_tensor *x)
{
    int part = part_of(p, a->chunk);
    mt_scope_begin();
    mt_tensor *y = mt_retain(p->config.forward(p->config.user, a->chunk, a->micro, x));
    mt_scope_end();
    if (is_last(p, a->chunk))
        MT_CHECK(mt_numel(y) == 1, "pipeline: the last part returns %s, and not one loss",
                 mt_shape_text(mt_shape_of(y)));
    else
        MT_CHECK(mt_shape_equal(mt_shape_of(y), p->config.shape[part]) && mt_view_is_contiguous(&y->view),
                 "pipeline: part %d returns %s, and %s, dense, was announced", part, mt_shape_text(mt_shape_of(y)),
                 mt_shape_text(p->config.shape[part]));
    return y;
}

static mt_status forward(mt_pipe *p, const mt_pipe_action *a, double *loss)
{
    slot *s = slot_of(p, a);
    mt_status status = MT_OK;
    /* TODO 14.9: Wait for x, of which backward is to compute the gradient; compute y; send it, or add its share of
     * the mean to *loss. Hint: a send without a handle waits until the next rank receives. */
    MT_TODO("14.9"); /* delete this line when yours stands here */
    return status;
}

/* The end of a gradient's send. */
static mt_status end_send(mt_pipe *p)
{
    mt_status status = mt_wait(p->sending);
    p->sending = NULL;
    mt_release(p->dx);
    p->dx = NULL;
    return status;
}

static void empty(slot *s)
{
    mt_release(s->x);
    mt_release(s->y);
    mt_release(s->dy);
    *s = (slot){ 0 };
}

/* The gradient of the mean loss with respect to y of the last part. */
static mt_tensor *share_of_loss(const mt_pipe *p, const mt_tensor *y)
{
    mt_tensor *dy = tensor_of(mt_shape_of(y), MT_CPU);
    /* TODO 14.10: The gradient of the mean over all micro-batches. */
    MT_TODO("14.10"); /* delete this line when yours stands here */
    if (p->config.device == MT_CPU)
        return dy;
    mt_tensor *there = tensor_of(mt_shape_of(y), p->config.device);
    mt_copy(mt_f32(there), p->config.device, mt_f32(dy), MT_CPU, (int64_t)sizeof(float));
    mt_release(dy);
    return there;
}

/* The gradient of x; the caller has a reference. */
static mt_tensor *gradient_of(const mt_tensor *x)
{
    MT_CHECK(x->grad, "pipeline: a part does not use its input");
    return mt_retain(x->grad);
}

static mt_status backward(mt_pipe *p, const mt_pipe_action *a)
{
    slot *s = slot_of(p, a);
    mt_status status = MT_OK;
    if (is_last(p, a->chunk))
        s->dy = share_of_loss(p, s->y);
    /* TODO 14.10: Wait for dy and for the send of y; backward from y; then the gradient of x goes to the rank
     * before, when the one that was sent last has arrived. Nothing of the slot stays.
     * Hint: the gradient that is being sent stays in p->dx until its send has ended (end_send). */
    MT_TODO("14.10"); /* delete this line when yours stands here */
    return status;
}

/* What the gradient of the tied parameter has from earlier steps is a sum already: it is not sent again. */
static void set_aside(mt_pipe *p)
{
    const mt_tensor *tied = p->config.tied;
    if (!tied || !tied->grad || p->stages == 1)
        return;
    int64_t bytes = mt_numel(tied) * (int64_t)sizeof(float);
    p->before = tensor_of(mt_shape_of(tied), p->config.device);
    mt_copy(mt_f32(p->before), p->config.device, mt_f32(tied->grad), p->config.device, bytes);
    mt_clear(mt_f32(tied->grad), bytes, p->config.device);
}

/* The gradient of the tied parameter: its sum over the first and the last rank, and what was set aside. */
static mt_status sum_tied(mt_pipe *p)
{
    mt_tensor *tied = p->config.tied;
    bool is_end = p->stage == 0 || p->stage == p->stages - 1;
    if (!tied || p->stages == 1 || !is_end)
        return MT_OK;
    MT_CHECK(tied->grad, "pipeline: the tied parameter has no gradient on rank %d", p->stage);
    mt_tensor *theirs = tensor_of(mt_shape_of(tied), p->config.device);
    mt_status status = MT_OK;
    /* TODO 14.11: Both ranks send theirs to the other and add what comes. */
    MT_TODO("14.11"); /* delete this line when yours stands here */
    if (status == MT_OK && p->before)
        mt_kernels(p->config.device)->scale_bwd(mt_f32(tied->grad), mt_f32(p->before), 1, mt_numel(tied));
    mt_release(p->before);
    p->before = NULL;
    if (status != MT_OK) /* the buffer is still the communicator's: it leaves first */
        mt_comm_free(p->comm), p->comm = NULL;
    mt_release(theirs);
    return status;
}

/* Leaves the communicator before anything is freed that a message could still read or write. */
static void leave(mt_pipe *p)
{
    mt_comm_free(p->comm);
    p->comm = NULL;
    for (int i = 0; i < p->actions / 2; i++)
        empty(&p->slot[i]);
    mt_release(p->dx);
    mt_release(p->before);
    p->dx = p->before = NULL;
    p->sending = NULL;
}

mt_status mt_pipe_step(mt_pipe *p, double *loss)
{
    *loss = 0;
    if (p->status != MT_OK)
        return mt_fail(p->status, "pipeline: an earlier step has failed");
    mt_status status = MT_OK;
    set_aside(p);
    /* TODO 14.9: All actions in order. The receive of the next one begins before an action computes. */
    MT_TODO("14.9"); /* delete this line when yours stands here */
    if (status == MT_OK)
        status = end_send(p);
    if (status == MT_OK)
        status = sum_tied(p);
    if (status != MT_OK)
        leave(p);
    return p->status = status;
}

/* ---- life ------------------------------------------------------------------------------------------ */

mt_status mt_pipe_new(mt_pipe **out, mt_comm *comm, const mt_pipe_config *config)
{
    if (comm->size == 1 && config->chunks > 1)
        return mt_fail(MT_ERR_ARGUMENT, "pipeline: one rank has one chunk, and not %d", config->chunks);
    int64_t slots = (int64_t)mt_max(config->micro, 1) * mt_max(config->chunks, 1);
    mt_pipe *p = mt_calloc(1, sizeof *p);
    *p = (mt_pipe){ .config = *config, .stage = comm->rank, .stages = comm->size, .actions = (int)(2 * slots) };
    p->action = mt_calloc(2 * slots, sizeof *p->action);
    p->slot = mt_calloc(slots, sizeof *p->slot);
    mt_status status = mt_pipe_schedule(p->action, config->kind, p->stage, p->stages, config->micro, config->chunks);
    if (status == MT_OK)
        status = mt_comm_split(&p->comm, comm, 0, comm->rank);
    if (status == MT_OK)
        *out = p;
    else
        mt_pipe_free(p);
    return status;
}

void mt_pipe_free(mt_pipe *p)
{
    if (!p)
        return;
    leave(p);
    free(p->action);
    free(p->slot);
    free(p);
}

mt_traffic mt_pipe_traffic(const mt_pipe *p)
{
    return p->comm ? p->comm->sent : (mt_traffic){ 0 };
}
