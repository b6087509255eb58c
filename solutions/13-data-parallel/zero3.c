/* zero3.c -- parameters are gathered when they are read, and freed soon after; see dist/zero3.h. */
#include "dist/zero3.h"

#include <stdlib.h>
#include <string.h>

#include "autograd/tape.h"
#include "core/scope.h"
#include "memory/flat.h"
#include "dist/zero.h"

typedef struct bucket {
    mt_zero3 *owner;
    mt_storage *memory; /* of its parameters, [size * length] floats; memory->data is NULL: it is closed */
    int64_t begin, end; /* elements of this rank's part, counted from the bucket's first */
    int64_t length;     /* of the longest part */
    float *part;        /* [end - begin] what this rank keeps */
    int64_t last_read;  /* when: larger is later, 0 never */
    mt_tensor *const *first, *const *last; /* its parameters */
} bucket;

struct mt_zero3 {
    mt_comm *comm;
    bucket *bucket; /* [buckets] */
    int64_t buckets;
    int64_t reads;   /* so far */
    bool whole;      /* nothing is closed */
    mt_tensor *kept; /* the memory of all parts */
    mt_status status;
};

static bool is_open(const bucket *b)
{
    return b->memory->data != NULL;
}

static void close_bucket(bucket *b)
{
    mt_free(b->memory->data, b->memory->bytes, b->memory->device);
    b->memory->data = NULL;
    for (mt_tensor *const *param = b->first; param < b->last; param++)
        mt_tensor_keep_cast(*param, NULL);
}

static void open_memory(bucket *b)
{
    mt_memory_use before = mt_alloc_for(MT_USE_PARAMETER);
    b->memory->data = mt_alloc(b->memory->bytes, b->memory->device);
    mt_alloc_for(before);
    mt_clear(b->memory->data, b->memory->bytes, b->memory->device);
}

/* to [n] = from [n], on the bucket's device */
static void copy(const bucket *b, float *to, const float *from, int64_t n)
{
    mt_copy(to, b->memory->device, from, b->memory->device, n * (int64_t)sizeof(float));
}

static void open_bucket(bucket *b)
{
    mt_zero3 *z = b->owner;
    open_memory(b);
    float *all = b->memory->data; /* [size, length] */
    if (z->status != MT_OK)
        return;
    /* LAB 13.19 BEGIN  All parts of the bucket, from all ranks.
     * Hint: parts have b->length elements, but for the last ones, which may be shorter or empty. What this rank gives
     * may lie at its place in `all` already. A failure is kept in z->status. */
    copy(b, all + b->begin, b->part, b->end - b->begin);
    z->status = mt_all_gather(z->comm, all, all + z->comm->rank * b->length, b->length, MT_F32, NULL);
    /* LAB 13.19 END */
}

void mt_zero3_read(mt_storage *memory)
{
    bucket *b = memory->user;
    mt_zero3 *z = b->owner;
    b->last_read = ++z->reads;
    if (z->whole)
        return;
    /* LAB 13.20 BEGIN  Close what is not among the two buckets that were read last, then open this one.
     * Hint: b->last_read is the largest of all now. An open bucket with two others read after it is not needed by the
     * op that runs now, which reads two parameters at most. Close first: so three are never open. */
    for (bucket *old = z->bucket; old < z->bucket + z->buckets; old++) {
        int later = 0;
        for (const bucket *other = z->bucket; other < z->bucket + z->buckets; other++)
            later += other->last_read > old->last_read;
        if (later >= 2 && is_open(old))
            close_bucket(old);
    }
    if (!is_open(b))
        open_bucket(b);
    /* LAB 13.20 END */
}

void mt_zero3_close(mt_zero3 *z)
{
    z->whole = false;
    for (bucket *b = z->bucket; b < z->bucket + z->buckets; b++)
        if (is_open(b))
            close_bucket(b);
}

mt_status mt_zero3_whole(mt_zero3 *z)
{
    z->whole = true;
    for (bucket *b = z->bucket; b < z->bucket + z->buckets; b++)
        if (!is_open(b))
            open_bucket(b);
    return mt_zero3_status(z);
}

void mt_zero3_keep(mt_zero3 *z)
{
    for (bucket *b = z->bucket; b < z->bucket + z->buckets; b++)
        if (is_open(b))
            copy(b, b->part, (float *)b->memory->data + b->begin, b->end - b->begin);
    mt_zero3_close(z);
}

mt_status mt_zero3_status(const mt_zero3 *z)
{
    return z->status == MT_OK ? MT_OK : mt_fail(z->status, "a parameter could not be gathered from all ranks");
}

mt_tensor *mt_zero3_part(const mt_zero3 *z, int64_t index, int64_t first, int64_t n)
{
    return mt_flat_part(z->kept, z->bucket[index].part - mt_f32(z->kept) + first, MT_SHAPE(n));
}

/* ---- life --------------------------------------------------------------------------------------- */

/* The memory of the parameters becomes a part of the bucket's, which is open. */
static void move_params(bucket *b, const int64_t *place, int64_t begin)
{
    open_memory(b);
    for (mt_tensor *const *at = b->first; at < b->last; at++) {
        mt_tensor *param = *at;
        int64_t offset = place[at - b->first] - begin;
        copy(b, (float *)b->memory->data + offset, mt_f32(param), mt_numel(param));
        mt_storage_release(param->storage);
        param->storage = mt_storage_retain(b->memory);
        param->view.offset = offset;
        mt_written(param);
    }
}

mt_zero3 *mt_zero3_new(mt_comm *comm, const mt_ddp *ddp, mt_tensor *const *param, const int64_t *place)
{
    int64_t all = 0, at = 0;
    mt_device device = mt_ddp_buckets(ddp) > 0 ? param[0]->storage->device : MT_CPU;
    mt_zero3 *z = malloc(sizeof *z);
    MT_CHECK(z, "out of memory");
    *z = (mt_zero3){ .comm = comm, .buckets = mt_ddp_buckets(ddp) };
    z->bucket = mt_calloc(z->buckets + 1, sizeof *z->bucket);
    for (int64_t i = 0; i < z->buckets; i++) {
        const mt_bucket *of = mt_ddp_bucket(ddp, i);
        bucket *b = &z->bucket[i];
        *b = (bucket){ .owner = z, .first = param + of->first, .last = param + of->last };
        mt_zero_part(&b->begin, &b->end, of, 0, comm->size);
        b->length = b->end - b->begin;
        mt_zero_part(&b->begin, &b->end, of, comm->rank, comm->size);
        b->begin -= of->begin, b->end -= of->begin;
        all += b->end - b->begin;
        b->memory = mt_calloc(1, sizeof *b->memory);
        *b->memory = (mt_storage){ .bytes = b->length * comm->size * (int64_t)sizeof(float),
                                   .device = device,
                                   .refs = 1,
                                   .use = mt_zero3_read,
                                   .user = b };
    }
    mt_memory_use before = mt_alloc_for(MT_USE_PARAMETER);
    mt_scope_begin();
    z->kept = mt_retain(mt_zeros(MT_SHAPE(all), MT_F32, device));
    mt_scope_end();
    mt_alloc_for(before);
    for (int64_t i = 0; i < z->buckets; i++) {
        bucket *b = &z->bucket[i];
        b->part = mt_f32(z->kept) + at;
        at += b->end - b->begin;
        move_params(b, place + mt_ddp_bucket(ddp, i)->first, mt_ddp_bucket(ddp, i)->begin);
        mt_zero3_keep(z);
    }
    return z;
}

void mt_zero3_free(mt_zero3 *z)
{
    if (!z)
        return;
    for (bucket *b = z->bucket; b < z->bucket + z->buckets; b++) {
        b->memory->use = NULL;
        mt_storage_release(b->memory);
    }
    mt_release(z->kept);
    free(z->bucket);
    free(z);
}
