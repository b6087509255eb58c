/* mlp.h -- a perceptron of any depth, made of the layers of nn/.
 *
 *   x [N,width[0]] -> linear -> ReLU -> ... -> linear -> logits [N,width[layers]]
 *
 * The same numbers as the one written by hand (kernels/manual_mlp.h), to the bit, when it starts from the same rng. */
#pragma once

#include "nn/module.h"
#include "optim/updates.h"

MT_C_BEGIN

/* mt_mlp_new -- layers linear layers with ReLU between them, He weights drawn from rng in that order, biases zero.
 *   width [layers + 1]   inputs, hidden ..., outputs.   Aborts: layers or a width < 1. */
mt_module *mt_mlp_new(const int64_t *width, int layers, mt_rng *rng);

/* mt_mlp_state -- append layers and widths as integers, to save them or to load them before a model exists.
 *   width [MT_MLP_MOST + 1] */
enum { MT_MLP_MOST = 3 };
void mt_mlp_state(mt_state *state, int64_t *width, int64_t *layers);

/* mt_mlp_hidden -- for an option (MT_PARSED): "256,128" or "512" into int64_t width[2], the second 0 for one hidden
 * layer. */
mt_status mt_mlp_hidden(const char *text, void *width);

/* Learning rates that suit a perceptron on MNIST, by optimizer. */
extern const double mt_mlp_usual_rate[MT_UPDATE_KINDS];

/* mt_mlp_flops -- what the products of one training step need for one sample: per weight 2 forward, 2 for its own
 * gradient and 2 for its input's, which the first layer does not need. */
int64_t mt_mlp_flops(const int64_t *width, int layers);

MT_C_END
