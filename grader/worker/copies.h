/* copies.h -- how the checks of steps 09.5 and 09.9 tell the worker what happens to some parameters and activations: a
 * row of numbers per event, in step 09.5
 *
 *     { MG_COPY, 0, MT_BF16 }, { MG_WRITE, 0, 0 }, { MG_COPY, 0, MT_BF16 }
 *
 * Each event has a scope of its own, as each micro-batch has. */
#pragma once

#include "core/view.h"

enum { MG_COPIES_COLUMNS = 3, MG_COPIES_TENSORS = 4, MG_COPIES_MOST = 64 /* events */ };

/* Events: what, to which tensor, into which type. */
enum {
    MG_COPY,  /* mt_autocast_operand */
    MG_WRITE, /* new contents, then mt_written */
};

/* Kinds of tensors. */
enum {
    MG_PARAMETER,
    MG_NEIGHBOUR,  /* a parameter in the memory of the tensor before it, right behind it */
    MG_DATA,       /* wants no gradient */
    MG_ACTIVATION, /* computed from a parameter */
};

/* The network of row "types in a network": its ops, and for each the types of the result and of what it saves. */
enum { MG_NET_OPS = 7, MG_NET_COLUMNS = 5, MG_NET_NONE = -1 };

/* Step 09.9: each event saves one tensor: its kind, the type of mt_autocast_begin, that of a second one inside the
 * first or MG_NET_NONE, and what else happens. */
enum { MG_SAVE_COLUMNS = 4, MG_SAVE_MOST = 24 /* events */ };

/* Kinds of what is saved. */
enum {
    MG_SAVE_RESULT, /* of an op, [R,C]; as parameters, data and integers also [R,1,C] or [R,1,1,C] */
    MG_SAVE_CUBE,   /* the second half of [2R,1,1,1,C] */
    MG_SAVE_COLUMN, /* [R C,1]; [R,C,1] if R is odd */
    MG_SAVE_VECTOR, /* [R C] */
    MG_SAVE_VIEW,   /* a transposed result, [C,R] */
    MG_SAVE_PARAMETER,
    MG_SAVE_DATA, /* wants no gradient */
    MG_SAVE_IDS,  /* integers */
};

/* mg_shape_code -- a number for each shape, of dimensions below 1000. */
static inline int64_t mg_shape_code(mt_shape shape)
{
    int64_t code = 0;
    for (int d = 0; d < shape.rank; d++)
        code = 1000 * code + shape.dim[d];
    return code;
}

enum {
    MG_SAVED,           /* nothing else */
    MG_SAVED_TWICE,     /* by two ops */
    MG_SAVED_OPERAND,   /* a product has read it before, and saves its operand */
    MG_OPERAND_SAVED,   /* a product reads it afterwards */
    MG_WRITTEN_BEFORE,  /* read by a product, written, then saved */
    MG_WRITTEN_BETWEEN, /* saved, written, then read by a product */
    MG_WRITTEN_AFTER,   /* saved, then written */
    MG_INNER_ENDED,     /* saved under the inner autocast, and once more when it has ended */
};
