/* divided_saving.c -- checkpoints of a divided model: each rank names its values to rank 0, one after the other. */
#include <stdlib.h>

#include "autograd/tape.h"
#include "core/scope.h"
#include "parallel/divided.h"

typedef mt_divided divided;

/* The memory of a value; NULL: it is not a number. */
static void *bytes_of(const mt_state_item *i, int64_t *bytes)
{
    *bytes = i->tensor ? mt_numel(i->tensor) * (int64_t)sizeof(float) : (int64_t)sizeof(int64_t);
    return i->tensor ? mt_data(i->tensor) : i->integer ? (void *)i->integer : (void *)i->real;
}

static const mt_state_item *find(const mt_state lists[2], const char *name)
{
    const mt_state_item *item = mt_state_find(&lists[0], name);
    return item ? item : mt_state_find(&lists[1], name);
}

/* Between the whole value and the part of it that a rank has, whose place among those of its stage is `tensor`; saving:
 * to the whole. Returns the bytes of the part; of part NULL, only that. */
static int64_t copy_part(const divided *d, const mt_state_item *whole, void *part, int tensor, bool saving)
{
    int64_t bytes, elements;
    void *all = bytes_of(whole, &bytes);
    if (whole->tensor) {
        elements = mt_gpt2_parts_copy(d->parts, whole->name, all, mt_numel(whole->tensor), part, tensor, saving);
        return elements * (int64_t)sizeof(float);
    }
    if (part)
        memcpy(saving ? all : part, saving ? part : all, (size_t)bytes);
    return bytes;
}

/* What a rank tells rank 0 of a value: which bytes of its part these are. With ZeRO, a piece of the optimizer's. */
typedef struct named {
    char name[MT_STATE_NAME]; /* "": there is no other value */
    int64_t begin, bytes;
} named;

/* Rank 0: those bytes of the value, from the rank or to it; of rank 0 itself, values. */
static mt_status serve(divided *d, const mt_state whole[2], int rank, const named *v, void *values, bool saving)
{
    const mt_state_item *item = find(whole, v->name);
    MT_CHECK(item, "rank %d has a value %s, which a run alone has not", rank, v->name);
    int tensor = rank % d->tensor->size;
    char *part = mt_calloc(copy_part(d, item, NULL, tensor, saving), 1), *at = part + v->begin;
    mt_status status = MT_OK;
    copy_part(d, item, part, tensor, false);
    if (rank > 0)
        status = saving ? mt_recv(d->base.comm, at, v->bytes, MT_U8, rank, NULL)
                        : mt_send(d->base.comm, at, v->bytes, MT_U8, rank, NULL);
    else
        memcpy(saving ? at : values, saving ? values : at, (size_t)v->bytes);
    if (saving)
        copy_part(d, item, part, tensor, true);
    free(part);
    return status;
}

/* One value of this rank, elements `begin` and so on of its part. */
static mt_status exchange(divided *d, const mt_state_item *own, int64_t begin, const mt_state whole[2], bool saving)
{
    named v = { .begin = begin * (int64_t)sizeof(float) };
    mt_state_item here = *own;
    mt_status status = MT_OK;
    mt_scope_begin();
    if (own->tensor)
        here.tensor = mt_to_device(own->tensor, MT_CPU);
    void *values = bytes_of(&here, &v.bytes);
    memcpy(v.name, own->name, sizeof v.name);
    if (d->base.comm->rank == 0) {
        status = serve(d, whole, 0, &v, values, saving);
    } else {
        status = mt_send(d->base.comm, &v, sizeof v, MT_U8, 0, NULL);
        if (status == MT_OK)
            status = saving ? mt_send(d->base.comm, values, v.bytes, MT_U8, 0, NULL)
                            : mt_recv(d->base.comm, values, v.bytes, MT_U8, 0, NULL);
    }
    if (here.tensor != own->tensor && !saving)
        mt_copy(mt_data(own->tensor), d->device, values, MT_CPU, v.bytes);
    if (own->tensor && !saving)
        mt_written(own->tensor);
    mt_scope_end();
    return status;
}

/* Whether a tensor is the state of a piece of a parameter, which no other replica has; *begin: its first element. */
static bool is_piece(const divided *d, const mt_tensor *tensor, int64_t *begin)
{
    int64_t end;
    *begin = 0;
    for (int64_t i = 0; d->zero && tensor && i < d->optim->count; i++)
        for (int s = 0; s < MT_UPDATE_STATES; s++)
            if (d->optim->param[i].state[s] == tensor) {
                mt_zero_piece(d->zero, i, d->data->rank, d->data->size, begin, &end);
                return true;
            }
    return false;
}

mt_status mt_divided_move(mt_team *team, const mt_state own[2], const mt_state whole[2], bool saving)
{
    divided *d = (divided *)team;
    named v = { .name = "" };
    for (int list = 0; list < 2; list++)
        for (const mt_state_item *i = own[list].item; i < own[list].item + own[list].count; i++) {
            int64_t begin;
            bool piece = is_piece(d, i->tensor, &begin), first = piece || d->data->rank == 0;
            if (!i->setting && (!saving || (first && mt_divided_first(d, i->name))))
                MT_TRY(exchange(d, i, begin, whole, saving));
        }
    if (d->base.comm->rank > 0)
        return mt_send(d->base.comm, &v, sizeof v, MT_U8, 0, NULL);
    for (int rank = 1; rank < d->base.comm->size; rank++)
        for (;;) {
            MT_TRY(mt_recv(d->base.comm, &v, sizeof v, MT_U8, rank, NULL));
            if (!*v.name)
                break;
            MT_TRY(serve(d, whole, rank, &v, NULL, saving));
        }
    return MT_OK;
}
