/* oracle_mlp.h -- the perceptron of kernels/manual_mlp.h in double precision, bounds carried from layer to layer. */
#pragma once

#include "checks/digits.h"
#include "checks/oracle.h"

enum { MG_MLP_LAYERS = 3 };

/* mg_mlp_layers -- linear layers of these widths: in, hidden ..., classes, then zeros where there are fewer than three.
 * */
int mg_mlp_layers(const int64_t width[MG_MLP_LAYERS + 1]);

/* mg_mlp_count -- their parameters: w0 b0 w1 b1 w2 b2, one after the other, w [in,out]. */
int64_t mg_mlp_count(const int64_t width[MG_MLP_LAYERS + 1]);

/* mg_oracle_mlp -- logits v, e [N,classes] of x [N,width[0]]; and, when label is given, the mean loss in loss[0] with
 * its bound in loss[1], and its gradient in grad_v, grad_e [count]. Where a ReLU's input is nearer to 0 than its bound
 * either slope is right, and the bounds say so. */
void mg_oracle_mlp(double *v, double *e, double loss[2], double *grad_v, double *grad_e, const double *params,
                   const int64_t width[MG_MLP_LAYERS + 1], const double *x, const int32_t *label, int64_t N);

/* mg_mlp_accuracy -- share of the images whose largest logit is their label's; pixels are bytes / 255. */
double mg_mlp_accuracy(const float *params, const int64_t width[MG_MLP_LAYERS + 1], const mg_digits *digits);
