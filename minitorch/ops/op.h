/* op.h -- what the writers of ops share: dense inputs, results, checks. */
#ifndef MT_OPS_OP_H
#define MT_OPS_OP_H

#include "autograd/tape.h"
#include "core/scope.h"
#include "ops/ops.h"
#include "ops/tables.h"
#include "prof/span.h"

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

/* x with its elements side by side: x itself when they are. */
static inline mt_tensor *mt_dense(mt_tensor *x)
{
    return mt_view_is_contiguous(&x->view) ? x : mt_contiguous(x);
}

/* An uninitialised f32 result on like's device. */
static inline mt_tensor *mt_result(mt_shape shape, const mt_tensor *like)
{
    return mt_empty(shape, MT_F32, mt_device_of(like));
}

/* The gradient of input i as dense memory to add to; NULL when it wants none. */
static inline float *mt_grad_data(mt_node *node, int i)
{
    mt_tensor *grad = mt_grad_of_input(node, i);
    return grad ? mt_f32(grad) : NULL;
}

/* Each row's share [N] of the gradient of a mean over N rows, in the current scope. */
mt_tensor *mt_mean_shares(mt_tensor *dout, int64_t N);

static inline const float *mt_saved_data(mt_node *node, int i)
{
    return mt_f32(mt_saved_tensor(node, i));
}

/* A tensor as strided kernels take it. */
static inline mt_strided mt_strided_of(const mt_tensor *t)
{
    return (mt_strided){ t->storage->data, t->view };
}

/* Abort unless t is f32 and backward has not freed it / a and b are, on one device / they are on one device. */
void mt_op_check(const char *op, const mt_tensor *t);
void mt_op_check_pair(const char *op, const mt_tensor *a, const mt_tensor *b);
void mt_op_check_device(const char *op, const mt_tensor *a, const mt_tensor *b);

/* A shape without its last dimension's size / with another one. Aborts: rank 0. */
int64_t mt_last_dim(const char *op, const mt_tensor *t);
mt_shape mt_with_last_dim(mt_shape shape, int64_t size);

#endif
