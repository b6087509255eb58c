/* manual_mlp.h -- a perceptron of up to two hidden layers whose backward pass is written by hand from the kernels of
 * lab 02.
 *
 *   x [N,in] -> linear -> ReLU -> linear -> ReLU -> linear -> logits [N,classes] -> softmax cross-entropy, mean over N
 *
 * No tensor, no tape: lab 03 does this for any graph. bench_stack compares the time of both.
 * Unit: solutions/02-backprop/manual_mlp.c.   Lab 02.9 */
#pragma once

#include "core/base.h"
#include "core/rng.h"

MT_C_BEGIN

#define MT_MLP_LAYERS 3 /* most linear layers: two hidden and the last */

typedef struct mt_manual_mlp {
    int layers;                       /* linear layers, 1 .. MT_MLP_LAYERS */
    int64_t width[MT_MLP_LAYERS + 1]; /* in, hidden ..., classes: width[0 .. layers] */
    int64_t classes;                  /* width[layers] */
    int64_t max_batch;                /* most rows of one call */
    int64_t count;                    /* number of parameters */
    float *params, *grads;            /* [count] each: w0 b0 w1 b1 w2 b2, one after the other */
    float *w[MT_MLP_LAYERS];          /* into params: [width[l], width[l+1]] */
    float *b[MT_MLP_LAYERS];          /* into params: [width[l+1]] */
    float *dw[MT_MLP_LAYERS];         /* into grads, shaped as w */
    float *db[MT_MLP_LAYERS];         /* into grads, shaped as b */
    float *act[MT_MLP_LAYERS];        /* output of layer l, after ReLU for all but the last: [max_batch, width[l+1]] */
    float *dz[MT_MLP_LAYERS];         /* gradient of the loss with respect to what layer l gives before ReLU */
    float *dact[MT_MLP_LAYERS - 1];   /* gradient after ReLU, of hidden layers only; dz and dact are shaped as act */
    float *probs;                     /* [max_batch, classes] */
    float *loss, *dloss;              /* [max_batch] */
    float *block;                     /* the memory all of these lie in, block_bytes long */
    int64_t block_bytes;
} mt_manual_mlp;

/* mt_manual_mlp_new -- allocate; parameters are zero until mt_manual_mlp_init. Fewer layers: zeros end the widths,
 * { 784, 512, 10, 0 }.   Aborts: a width or max_batch < 1, no layer.   Given, with _free and _init, in models/. */
mt_manual_mlp *mt_manual_mlp_new(const int64_t width[MT_MLP_LAYERS + 1], int64_t max_batch);
void mt_manual_mlp_free(mt_manual_mlp *mlp);

/* mt_manual_mlp_init -- He initialisation of the weights, zero biases. */
void mt_manual_mlp_init(mt_manual_mlp *mlp, mt_rng *rng);

/* mt_manual_mlp_forward -- logits of N rows, in mlp->act[layers - 1]; they stay until the next forward.
 *   x [N, width[0]].   Aborts: N > max_batch.   Lab 02.9 */
const float *mt_manual_mlp_forward(mt_manual_mlp *mlp, const float *x, int64_t N);

/* mt_manual_mlp_backward -- after forward on the same x: the mean loss of the batch; mlp->grads is OVERWRITTEN with its
 * gradient (zeroed, then accumulated into).   label [N], each 0 .. classes-1.   N = 0: loss 0, gradient 0.
 * Lab 02.9 */
double mt_manual_mlp_backward(mt_manual_mlp *mlp, const float *x, const int32_t *label, int64_t N);

/* mt_manual_mlp_sgd -- params -= learning_rate * grads.   Lab 02.9 */
void mt_manual_mlp_sgd(mt_manual_mlp *mlp, float learning_rate);

MT_C_END
