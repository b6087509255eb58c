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
    if (part && part != all)
        memcpy(saving ? all : part, saving ? part : all, (size_t)bytes);
    return bytes;
}

/* Rank 0, with all that another rank names. */
static mt_status serve(divided *d, const mt_state whole[2], int rank, bool saving)
{
    char name[MT_STATE_NAME];
    for (;;) {
        MT_TRY(mt_recv(d->base.comm, name, sizeof name, MT_U8, rank, NULL));
        if (!*name)
            return MT_OK;
        const mt_state_item *item = find(whole, name);
        MT_CHECK(item, "rank %d has a value %s, which a run alone has not", rank, name);
        int tensor = rank % d->tensor->size;
        int64_t bytes = copy_part(d, item, NULL, tensor, saving);
        mt_status status = MT_OK;
        void *part = mt_calloc(bytes, 1);
        if (saving)
            status = mt_recv(d->base.comm, part, bytes, MT_U8, rank, NULL);
        copy_part(d, item, part, tensor, saving);
        if (!saving)
            status = mt_send(d->base.comm, part, bytes, MT_U8, rank, NULL);
        free(part);
        MT_TRY(status);
    }
}

/* One value of this rank. */
static mt_status exchange(divided *d, const mt_state_item *own, const mt_state whole[2], bool saving)
{
    int64_t bytes;
    mt_state_item here = *own;
    mt_status status = MT_OK;
    mt_scope_begin();
    if (own->tensor)
        here.tensor = mt_to_device(own->tensor, MT_CPU);
    void *values = bytes_of(&here, &bytes);
    if (d->base.comm->rank == 0) {
        copy_part(d, find(whole, own->name), values, 0, saving);
    } else {
        status = mt_send(d->base.comm, own->name, MT_STATE_NAME, MT_U8, 0, NULL);
        if (status == MT_OK)
            status = saving ? mt_send(d->base.comm, values, bytes, MT_U8, 0, NULL)
                            : mt_recv(d->base.comm, values, bytes, MT_U8, 0, NULL);
    }
    if (here.tensor != own->tensor && !saving)
        mt_copy(mt_data(own->tensor), d->device, values, MT_CPU, bytes);
    if (own->tensor && !saving)
        mt_written(own->tensor);
    mt_scope_end();
    return status;
}

mt_status mt_divided_move(mt_team *team, const mt_state own[2], const mt_state whole[2], bool saving)
{
    static const char end[MT_STATE_NAME];
    divided *d = (divided *)team;
    for (int list = 0; list < 2; list++)
        for (int64_t i = 0; i < own[list].count; i++) {
            const mt_state_item *item = &own[list].item[i];
            if (!item->setting && (!saving || mt_divided_first(d, item->name)))
                MT_TRY(exchange(d, item, whole, saving));
        }
    if (d->base.comm->rank > 0)
        return mt_send(d->base.comm, end, sizeof end, MT_U8, 0, NULL);
    for (int rank = 1; rank < d->base.comm->size; rank++)
        MT_TRY(serve(d, whole, rank, saving));
    return MT_OK;
}
