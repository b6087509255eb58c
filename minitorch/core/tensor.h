/* tensor.h -- a view into a storage, with a type, a gradient and a node on the tape.
 *
 * A tensor made here or by an op belongs to the current scope (core/scope.h) and is freed at its end, unless mt_retain
 * adds a reference, which mt_release drops again. Without a scope it belongs to the caller, who releases it. A view
 * keeps the storage alive, not the tensor it was made from. */
#pragma once

#include "core/dtype.h"
#include "core/rng.h"
#include "core/storage.h"
#include "core/view.h"

MT_C_BEGIN

typedef struct mt_node mt_node; /* autograd/tape.h */

typedef struct mt_tensor {
    mt_view view; /* shape, stride and offset, in elements */
    mt_dtype dtype;
    mt_dtype precision;            /* of f32 values: the type of the operands that they were computed from */
    mt_storage *storage;           /* shared by all views of the same memory */
    struct mt_tensor *grad;        /* gradient of the last backward, same shape; NULL before. It has one reference, this
                                    * tensor's, which mt_zero_grad releases, as the tensor's own end does: mt_retain
                                    * it to keep it longer; who puts another here gives a reference away */
    struct mt_tensor *grad_memory; /* of a leaf: where backward puts grad; NULL: new memory. One reference too */
    mt_node *node;                 /* the operation that computed it; NULL for a leaf or without a tape */
    struct mt_tensor *cast;        /* its values in another type (mt_tensor_keep_cast); NULL: none. One reference too */
    int64_t cast_version;          /* storage->version when they were made */
    bool requires_grad;            /* a leaf for which backward computes a gradient */
    int waiting;                   /* gradients missing in this backward; used by the tape */
    int refs;                      /* scopes and mt_retain */
    int scoped;                    /* how many of the refs belong to scopes */
} mt_tensor;

/* ---- making ---------------------------------------------------------------------------------- */

mt_tensor *mt_empty(mt_shape shape, mt_dtype dtype, mt_device device); /* uninitialised */
mt_tensor *mt_zeros(mt_shape shape, mt_dtype dtype, mt_device device);
mt_tensor *mt_zeros_for(mt_memory_use use, mt_shape shape, mt_device device); /* f32; the caller's, for that use */
mt_tensor *mt_full(mt_shape shape, float value);                              /* f32 on the CPU */
mt_tensor *mt_from(mt_shape shape, mt_dtype dtype, const void *data);         /* a copy of row-major data, CPU */
mt_tensor *mt_uniform(mt_shape shape, float low, float high, mt_rng *rng);    /* f32 on the CPU */
mt_tensor *mt_normal(mt_shape shape, float mean, float stddev, mt_rng *rng);

/* ---- under the ops: no history (reshape, slice and their like are ops/ops.h) ------------------------ */

mt_tensor *mt_tensor_view(const mt_tensor *t, mt_view view); /* t's memory seen through another view */
mt_tensor *mt_tensor_packed(const mt_tensor *t);             /* a dense copy, row-major */

/* mt_to_device -- t itself, with one more reference, when it is on that device; else a contiguous copy there, which is
 * not recorded: no gradient flows back through it. */
mt_tensor *mt_to_device(mt_tensor *t, mt_device device);

/* ---- reading ------------------------------------------------------------------------------------ */

static inline mt_shape mt_shape_of(const mt_tensor *t)
{
    return mt_view_shape(&t->view);
}

static inline mt_device mt_device_of(const mt_tensor *t)
{
    return t->storage->device;
}

static inline const char *mt_text_of(const mt_tensor *t)
{
    return mt_shape_text(mt_shape_of(t));
}

int64_t mt_numel(const mt_tensor *t);
int64_t mt_dim(const mt_tensor *t, int dim);             /* negative dims count from the end */
float *mt_f32(const mt_tensor *t);                       /* first element; aborts unless f32 and contiguous */
void *mt_data(const mt_tensor *t);                       /* first element, any dtype; aborts unless contiguous */
double mt_get(const mt_tensor *t, const int64_t *index); /* one element of any dtype, view and device */
double mt_item(const mt_tensor *t);                      /* the only element, f32; aborts when there are more */
void mt_print(const mt_tensor *t);                       /* shape and up to 8 values a row, on stdout */

/* ---- lifetime ------------------------------------------------------------------------------------ */

mt_tensor *mt_retain(mt_tensor *t);
void mt_release(mt_tensor *t); /* NULL is allowed */

/* mt_tensor_alias -- another tensor over the same memory, without node, gradient and requires_grad; it belongs to the
 * caller. */
mt_tensor *mt_tensor_alias(const mt_tensor *t);

/* mt_tensor_keep_cast -- keep `cast`, the values that t has now in another type, with t: until t is freed or keeps
 * another. NULL: t keeps none. */
void mt_tensor_keep_cast(mt_tensor *t, mt_tensor *cast);

/* mt_tensor_drop -- release t's memory early; reading or viewing t aborts from then on. Backward does this to results
 * that only the scope still holds. */
void mt_tensor_drop(mt_tensor *t);

/* mt_tensor_on_release -- what to do when a tensor with a node is freed; the tape sets it (autograd/node.c). */
void mt_tensor_on_release(void (*release)(mt_node *node));

MT_C_END
