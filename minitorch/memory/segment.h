/* segment.h -- activation recomputation: backward computes what forward did not keep.
 *
 *     block->run = mt_segment_forward;       // of all that the block computes, forward keeps its input x only
 *     block->run = mt_selective_forward;     // all but what takes few FLOPs: results of layernorm and GELU
 *     block->run = NULL;                     // all that backward reads
 *
 * Losses and gradients have the same bits in the three cases; but under autocast selective recomputation computes GELU
 * from an input that is kept in 16 bits, so that its gradients differ by such roundings. A segment costs its forward
 * once more; one that holds other segments computes those twice more. Segments of L equal layers keep least together
 * when there are sqrt(L).
 *
 *     forward   x --> [ ln_1  attn  add  ln_2  mlp  add ] --> out      without recording; out gets one node, "segment"
 *     backward  x --> [ ln_1  attn  add  ln_2  mlp  add ] --> again    recorded; then a walk back from `again`
 *
 * The module must live as long as the graph. Its forward may depend on x, its parameters, the random-number streams of
 * its dropout layers, the cast policy, keepers (autograd/tape.h) and the mode, on nothing else that changes.
 * Units: solutions/10-memory/segment.c, selective.c
 * Source: Chen et al. 2016, arXiv:1604.06174; selective: Korthikanti et al. 2022, arXiv:2205.05198. */
#pragma once

#include "nn/module.h"

MT_C_BEGIN

/* The three cases. */
typedef enum mt_recompute {
    MT_RECOMPUTE_NONE,
    MT_RECOMPUTE_SELECTIVE, /* the results of both layernorms and of GELU */
    MT_RECOMPUTE_BLOCK,     /* everything inside the block */
} mt_recompute;

enum { MT_RECOMPUTES = 3 };

/* mt_segment_forward -- the module's forward as one node, whose edges are x and all parameters of the module's tree,
 * and which saves x, exactly. Inside mt_no_grad: just the module's forward. A parameter that forward does not use is
 * reported ready (mt_grad_ready) all the same, with the gradient it has, NULL or of an earlier backward.   Lab 10.2 */
mt_tensor *mt_segment_forward(mt_module *module, mt_tensor *x);

/* mt_segment_backward -- computes the result again, as forward did: from the same x, with the same random numbers and
 * in the same types, whatever policy is in force now; then walks back from it. Each parameter's gradient is added to
 * once, and is ready when all its consumers outside of the segment have delivered, too. Random-number streams, policy
 * and keepers are afterwards as they were before.
 * Aborts: x or a parameter was written in place since forward; the module's mode is another; inside mt_no_grad.
 * Lab 10.3 */
void mt_segment_backward(mt_node *node, mt_tensor *dout);

/* mt_selective_forward -- the module's forward; results of ops that can compute them again (mt_node.again) are not
 * kept for backward where they are inputs of other ops, nor are their 16-bit copies.   Lab 10.4 */
mt_tensor *mt_selective_forward(mt_module *module, mt_tensor *x);

MT_C_END
