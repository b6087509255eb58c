/* calls_14.c -- the functions of lab 14 that the worker calls: a mesh. */
#include "worker/calls_14.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "parallel/mesh.h"
#include "dist/threads.h"

/* ---- communicators that count themselves ------------------------------------------------------------------- */

typedef struct counter {
    int64_t splits, open, fails;
    const mt_comm *made[MG_MESH_AXES]; /* by the first splits */
} counter;

typedef struct counted {
    mt_comm base;
    mt_comm *inner;
    counter *counter;
} counted;

static mt_comm *new_counted(mt_comm *inner, counter *count);

static mt_status collective(mt_comm *comm, const mt_collective *call, mt_request **request)
{
    mt_comm *inner = ((counted *)comm)->inner;
    return inner->engine->collective(inner, call, request);
}

static mt_status split(mt_comm **out, mt_comm *comm, int color, int key)
{
    counted *c = (counted *)comm;
    mt_comm *made;
    int64_t number = c->counter->splits++;
    if (number == c->counter->fails)
        return mt_fail(MT_ERR_UNAVAILABLE, "the checker's split fails");
    mt_status status = mt_comm_split(&made, c->inner, color, key);
    if (status == MT_OK)
        *out = new_counted(made, c->counter);
    if (status == MT_OK && number < MG_MESH_AXES)
        c->counter->made[number] = *out;
    return status;
}

static void free_counted(mt_comm *comm)
{
    counted *c = (counted *)comm;
    c->counter->open--;
    mt_comm_free(c->inner);
    free(c);
}

static const mt_comm_engine engine = {
    .name = "counted", .collective = collective, .split = split, .free = free_counted
};

static mt_comm *new_counted(mt_comm *inner, counter *count)
{
    counted *c = malloc(sizeof *c);
    MT_CHECK(c, "out of memory");
    *c = (counted){ .base = { .rank = inner->rank, .size = inner->size, .engine = &engine }, inner, count };
    count->open++;
    return &c->base;
}

/* ---- a mesh --------------------------------------------------------------------------------------------------- */

/* Whether a message has all three extents, and the number of ranks. */
static bool names(const char *message, const int64_t *numbers, int size)
{
    const int64_t each[] = { numbers[MG_MESH_DP], numbers[MG_MESH_PP], numbers[MG_MESH_TP], size };
    bool all = true;
    for (int i = 0; i < MT_COUNT(each); i++) {
        char digits[24];
        snprintf(digits, sizeof digits, "%d", (int)each[i]);
        all = all && strstr(message, digits);
    }
    return all;
}

static int64_t axis_of(const mt_mesh *mesh, const mt_comm *made)
{
    for (int axis = 0; axis < MG_MESH_AXES; axis++)
        if (made && mesh->comm[axis] == made)
            return axis;
    return -1;
}

/* The numbers of all ranks of an axis, by messages round a ring: a collective would make a thread for each. */
static mt_status members(int64_t *all, const mt_comm *axis, int64_t own)
{
    mt_comm *comm = ((const counted *)axis)->inner;
    int size = comm->size, next = (comm->rank + 1) % size, before = (comm->rank + size - 1) % size;
    mt_status status = MT_OK;
    all[comm->rank] = own;
    for (int step = 0, at = comm->rank; step < size - 1 && status == MT_OK; step++, at = (at + size - 1) % size) {
        mt_request *sent;
        status = mt_send(comm, &all[at], 1, MT_I64, next, &sent);
        if (status == MT_OK)
            status = mt_recv(comm, &all[(at + size - 1) % size], 1, MT_I64, before, NULL);
        if (status == MT_OK)
            status = mt_wait(sent);
    }
    return status;
}

/* results [P,MG_MESH_RESULTS], members [P,MG_MESH_AXES,MG_MESH_RANKS] (-1: none); numbers */
static mt_status make(mt_comm *comm, void *user)
{
    const mg_value *v = user;
    static const char no_words[] = "no message";
    const int64_t *numbers = I64(dp, pp, tp, failing split);
    counter count = { .fails = numbers[MG_MESH_FAILS] };
    counted world = { .base = { .rank = comm->rank, .size = comm->size, .engine = &engine }, comm, &count };
    mt_mesh nothing = { 0 }, *mesh = &nothing;
    mt_fail(MT_OK, "%s", no_words);
    mt_status status =
        mt_mesh_new(&mesh, &world.base, (int)numbers[MG_MESH_DP], (int)numbers[MG_MESH_PP], (int)numbers[MG_MESH_TP]);
    bool is_new = mesh != &nothing, said = mt_last_error()[0] && strcmp(mt_last_error(), no_words) != 0;
    said = said && (status != MT_ERR_ARGUMENT || names(mt_last_error(), numbers, comm->size));
    for (int axis = 0; axis < MG_MESH_AXES && is_new && status == MT_OK; axis++) {
        int64_t all[MG_MESH_RANKS], rank = comm->rank,
                                    *to = I64(members) + (rank * MG_MESH_AXES + axis) * MG_MESH_RANKS;
        if (members(all, mesh->comm[axis], rank) == MT_OK)
            memcpy(to, all, (size_t)mesh->comm[axis]->size * sizeof *all);
    }
    const mt_mesh *order = is_new && status == MT_OK ? mesh : &nothing;
    int64_t result[MG_MESH_RESULTS] = { 0, 0, 0, is_new, said };
    for (int number = 0; number < MG_MESH_AXES; number++)
        result[MG_MESH_FIRST + number] = axis_of(order, count.made[number]);
    if (is_new)
        mt_mesh_free(mesh);
    mt_mesh_free(NULL); /* is allowed */
    result[MG_MESH_STATUS] = status, result[MG_MESH_SPLITS] = count.splits, result[MG_MESH_OPEN] = count.open;
    memcpy(I64(results) + comm->rank * MG_MESH_RESULTS, result, sizeof result);
    return MT_OK;
}

void mg_call_mesh(const mg_value *v)
{
    mt_ranks_run((int)(ARRAY(results)->count / MG_MESH_RESULTS), &(mt_wires){ .deadline = 1 }, make, (void *)v);
}

const mg_function mg_calls_14[] = {
    { "mt_mesh_new", mg_call_mesh },
    { "mt_tp_copy, mt_tp_reduce", mg_call_tp_pair },
    { "mt_tp_column_linear, mt_tp_row_linear", mg_call_tp_products },
    { "mt_tp_shard", mg_call_tp_shard },
    { "a layer", mg_call_tp_layer },
    { "mt_tp_range_of", mg_call_tp_range },
    { "mt_tp_embedding", mg_call_tp_embedding },
    { "mt_tp_cross_entropy", mg_call_tp_cross_entropy },
    { "mt_tp_classifier", mg_call_tp_classifier },
    { "mt_tp_norm", mg_call_tp_norm },
    { "mt_sp_gather, mt_sp_scatter", mg_call_sp_tokens },
    { "a block", mg_call_sp_block },
    { "mt_pipe_schedule", mg_call_pipe_schedule },
    { "mt_pipe_partition", mg_call_pipe_partition },
    { "mt_pipe_step", mg_call_pipe_step },
    { NULL, NULL },
};
