/* copies.h -- how the checks of step 09.5 tell the worker what happens to some parameters and activations: one row of
 * three numbers per event.
 *
 *     { MG_COPY, 0, MT_BF16 }, { MG_WRITE, 0, 0 }, { MG_COPY, 0, MT_BF16 }
 *
 * Each event has a scope of its own, as each micro-batch has. */
#ifndef MG_WORKER_COPIES_H
#define MG_WORKER_COPIES_H

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
    MG_ACTIVATION, /* wants no gradient */
};

/* The network of row "types in a network": its ops, and for each the types of the result and of what it saves. */
enum { MG_NET_OPS = 7, MG_NET_COLUMNS = 5, MG_NET_NONE = -1 };

#endif
