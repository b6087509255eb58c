/* selective.c -- forward keeps all but the results that take few FLOPs to compute again. */
#include "memory/segment.h"

#include "autograd/tape.h"
#include "amp/autocast.h"

/* In place of t an empty tensor is kept, which has its type. */
static bool drop(mt_saved *saved, const mt_tensor *t)
{
    bool dropped = false;
    /* TODO 10.4: Which tensors need not be kept.
     * Hint: a tensor can be dropped if the node that produced it can compute it `again`. In its place saved->tensor
     * becomes a tensor without elements, of the same type and device, to which the node holds a reference. */
    MT_TODO("10.4"); /* delete this line when yours stands here */
    return dropped;
}

static mt_tensor *compute_again(const mt_saved *saved)
{
    mt_tensor *t = NULL;
    /* TODO 10.4: The values of a dropped tensor.
     * Hint: its producer computes it `again`. If forward had kept a copy of another type, as mt_autocast_operand makes
     * it, the values must be converted. */
    MT_TODO("10.4"); /* delete this line when yours stands here */
    return t;
}

mt_tensor *mt_selective_forward(mt_module *module, mt_tensor *x)
{
    static const mt_keeper keeper = { drop, compute_again };
    mt_tensor *out = x;
    /* TODO 10.4: The module's forward, with the keeper for what it saves.
     * Hint: a keeper is asked about all that is saved between its begin and its end (autograd/tape.h). */
    MT_TODO("10.4"); /* delete this line when yours stands here */
    return out;
}
