/* 02-backprop.c -- lab 02, kernels forward and backward and a perceptron trained with them: every row, its points and
 * its hint. Tolerances are derived in oracle.h. */
#include "checks/02-backprop.h"

// clang-format off

#define PLAIN          .dist = NORMAL(0, 2)
#define SIZES(n, i, o) .N = n, .I = i, .O = o /* -1: random */

/* ---- 02.1, 02.2 linear */
static const linear_case linear_fwd_cases[] = {
    { { 3, "random shapes", "out[n,o] = b[o] + the sum over i of x[n,i] * w[i,o]; w is [I,O]" }, SIZES(-1, -1, -1) },
    { { 1, "no bias", "b may be NULL: then out must be overwritten, not added to" }, SIZES(-1, -1, -1),
      .no_bias = true },
    { { 1, "one of each", "a single number: x * w + b" }, SIZES(1, 1, 1) },
    { { 1, "no rows", "with N = 0 nothing may be written" }, SIZES(0, -1, -1) },
    { { 1, "no inputs", "with I = 0 every row of out is b" }, SIZES(-1, 0, -1) },
};
static const linear_case linear_bwd_cases[] = {
    { { 4, "dx", "dx [N,I] = dout [N,O] times w [I,O] transposed" }, SIZES(-1, -1, -1), .wanted = WANT_DX },
    { { 4, "dw", "dw [I,O] = x [N,I] transposed times dout [N,O]" }, SIZES(-1, -1, -1), .wanted = WANT_DW },
    { { 2, "db", "b is added to every row in forward, so db is the sum of dout over all rows" },
      SIZES(-1, -1, -1), .wanted = WANT_DB },
    { { 2, "adds to what is there", "gradients accumulate: use +=, not =" }, SIZES(-1, -1, -1), .wanted = WANT_ALL,
      .held = true },
};
static const mg_case linear_traffic_cases[] = {
    { 2, "bytes moved for db", "sum along the rows of dout, which uses all 16 numbers of each cache line" },
};

/* ---- 02.3 to 02.5 activations */
static const act_case relu_fwd_cases[] = {
    { { 2, "values", "max(x, 0), element by element" }, MG_RELU, PLAIN },
    { { 1, "in place", "out may be x itself: read x[i] before writing out[i]" }, MG_RELU, PLAIN, .in_place = true },
};
static const act_case relu_nan_cases[] = {
    { { 1, "NaN stays NaN",
        "a comparison with NaN is false: with x < 0 ? 0 : x a NaN stays NaN, so diverged values remain visible; and in "
        "backward nothing is added where saved <= 0, not 0 * dout, and dout everywhere else" },
      MG_RELU, PLAIN },
};
static const act_case relu_bwd_cases[] = {
    { { 2, "saved is out", "dx += dout, except where saved <= 0: at exactly 0 the slope is 0" }, MG_RELU, PLAIN },
    { { 1, "saved is x", "where the saved value is negative the slope is 0" }, MG_RELU, PLAIN,
      .use_x = true },
    { { 1, "adds to what is there", "gradients accumulate: use +=, not =" }, MG_RELU, PLAIN, .held = true },
};
static const act_case sigmoid_fwd_cases[] = {
    { { 2, "values", "1 / (1 + exp(-x)), to a few roundings of 1" },
      MG_SIGMOID, .dist = NORMAL(0, 4) },
    { { 1, "large inputs", "exp overflows float above 88, and inf / inf is NaN: use exp(-|x|) only" }, MG_SIGMOID,
      .dist = UNIFORM(-120, 120) },
};
static const act_case sigmoid_bwd_cases[] = {
    { { 2, "slope", "from the output alone: dx += dout * out * (1 - out)" }, MG_SIGMOID, PLAIN, .held = true },
};
static const act_case tanh_fwd_cases[] = {
    { { 2, "values", "tanh(x); results near 0 need full relative precision too" }, MG_TANH, PLAIN },
    { { 1, "large inputs", "for large |x| the result is -1 or 1; exp(2x) overflows, tanhf does not" }, MG_TANH,
      .dist = UNIFORM(-120, 120) },
};
static const act_case tanh_bwd_cases[] = {
    { { 2, "slope", "from the output alone: dx += dout * (1 - out * out)" }, MG_TANH, PLAIN, .held = true },
};
static const act_case gelu_fwd_cases[] = {
    { { 3, "values",
        "x * Phi(x) with Phi(x) = (1 + erf(x / sqrt 2)) / 2; the tanh form is another function, and 1 / 2 in C is 0" },
      MG_GELU, PLAIN },
    { { 1, "in place", "out may be x itself: read x[i] before writing out[i]" }, MG_GELU, PLAIN, .in_place = true },
};
static const act_case gelu_bwd_cases[] = {
    { { 3, "slope", "the derivative of a product has two terms: Phi(x) + x * phi(x), phi the normal density" }, MG_GELU,
      PLAIN },
    { { 1, "adds to what is there", "gradients accumulate: use +=, not =" }, MG_GELU, PLAIN, .held = true },
};
static const act_case gelu_tanh_fwd_cases[] = {
    { { 2, "values", "x/2 * (1 + tanh(sqrt(2/pi) * (x + 0.044715 x^3)))" }, MG_GELU_TANH, PLAIN },
};
static const act_case gelu_tanh_bwd_cases[] = {
    { { 2, "slope",
        "dx += dout * slope, not =; compare your slope with (f(x + h) - f(x - h)) / 2h of your forward, at x = 0, 1 "
        "and -1 with h = 0.01" },
      MG_GELU_TANH, PLAIN, .held = true },
};

/* ---- 02.6 softmax */
static const row_case softmax_fwd_cases[] = {
    { { 3, "random rows",
        "row n begins at element n * C: exp(x - max) divided by the sum over all C columns" }, -1, -1, PLAIN },
    { { 1, "large logits",
        "exp(90) overflows float: subtract the row's maximum first, which may be far below 0" },
      -1, 10, .dist = NORMAL(0, 1000), .far = true },
    { { 1, "large negative logits", "all exponentials underflow, and 0 / 0 is NaN: subtract the row's maximum first, "
        "which begins with the row's first element, not with 0" },
      -1, 10, .dist = UNIFORM(-130, -110), .far = true },
    { { 1, "one column", "the answer is exactly 1" }, 7, 1, PLAIN },
    { { 1, "no rows", "with N = 0 nothing may be written" }, 0, 10, PLAIN },
    { { 1, "in place", "out may be x itself: once p[c] is written, x[c] is gone, so the last pass must use p" },
      -1, -1, PLAIN, .in_place = true },
};
static const mg_case softmax_nan_cases[] = {
    { 1, "NaN stays NaN", "a NaN makes its row NaN and no other: fmaxf and a comparison can hide it" },
};
static const row_case softmax_bwd_cases[] = {
    { { 3, "random rows", "each output depends on every input of its row: out * (dout - sum of dout * out)" }, -1, -1,
      PLAIN },
    { { 1, "adds to what is there", "gradients accumulate: use +=, not =" }, -1, -1, PLAIN, .held = true },
};

/* ---- 02.7 cross-entropy */
static const row_case cross_entropy_fwd_cases[] = {
    { { 3, "random rows",
        "loss = log(sum of exp(x - max)) - (x[label] - max), and probs is the softmax; softmax_row (02.6) leaves max "
        "and sum" },
      -1, -1, PLAIN },
    { { 2, "large logits",
        "log(softmax) is log(0) if the label's logit is much smaller than the maximum: use log(sum) - (x - max)" },
      -1, 10, .dist = NORMAL(0, 1000), .far = true },
    { { 1, "in place", "probs may be the array logits: read what the loss needs before overwriting it" }, -1, -1, PLAIN,
      .in_place = true },
    { { 1, "no rows", "with N = 0 nothing may be written" }, 0, 10, PLAIN },
};
static const row_case cross_entropy_bwd_cases[] = {
    { { 4, "random rows",
        "row n: dloss[n] * (probs - 1) at its label, dloss[n] * probs elsewhere; dloss contains the factor 1/N" },
      -1, -1, PLAIN },
    { { 1, "adds to what is there", "gradients accumulate: use +=, not =" }, -1, -1, PLAIN, .held = true },
};

/* ---- 02.8, 02.9 */
static const init_case init_cases[] = {
    { { 3, "He", "normal with standard deviation sqrt(2 / fan_in); the variance is 2 / fan_in" }, .xavier = false },
    { { 3, "Xavier", "uniform between -a and a with a = sqrt(6 / (fan_in + fan_out))" }, .xavier = true },
};
static const mg_case mlp_forward_cases[] = {
    { 3, "logits", "three linear layers, ReLU after the first two only" },
};
static const mg_case mlp_backward_cases[] = {
    { 5, "loss and gradient",
      "the factor 1/N of the mean is in dloss; clear grads and dact first; go through the layers in reverse order" },
};
static const mg_case mlp_sgd_cases[] = {
    { 2, "update", "params -= learning_rate * grads" },
};
static const mg_case train_cases[] = {
    { 8, "trained on digits",
      "if the rows above pass, look for a gradient that is right in the first call and wrong in later ones" },
};

#define GROUP(step, title, run)    MG_GROUP(step, title, mg_02_##run, run##_cases)
#define ACT(step, title, run, act) MG_GROUP(step, title, mg_02_act_##run, act##_##run##_cases)

static const mg_group groups[] = {
    GROUP("02.1", "linear", linear_fwd),
    GROUP("02.2", "linear backward", linear_bwd),
    GROUP("02.2", "linear backward", linear_traffic),
    ACT("02.3", "ReLU", fwd, relu),
    ACT("02.3", "ReLU backward", bwd, relu),
    GROUP("02.3", "ReLU", relu_nan),
    ACT("02.4", "sigmoid", fwd, sigmoid),
    ACT("02.4", "sigmoid backward", bwd, sigmoid),
    ACT("02.4", "tanh", fwd, tanh),
    ACT("02.4", "tanh backward", bwd, tanh),
    ACT("02.5", "GELU", fwd, gelu),
    ACT("02.5", "GELU backward", bwd, gelu),
    ACT("02.5", "GELU by tanh", fwd, gelu_tanh),
    ACT("02.5", "GELU by tanh, backward", bwd, gelu_tanh),
    GROUP("02.6", "softmax", softmax_fwd),
    GROUP("02.6", "softmax", softmax_nan),
    GROUP("02.6", "softmax backward", softmax_bwd),
    GROUP("02.7", "cross-entropy", cross_entropy_fwd),
    GROUP("02.7", "cross-entropy backward", cross_entropy_bwd),
    GROUP("02.8", "initialisation", init),
    GROUP("02.9", "perceptron forward", mlp_forward),
    GROUP("02.9", "perceptron backward", mlp_backward),
    GROUP("02.9", "perceptron", mlp_sgd),
    GROUP("02.9", "perceptron", train),
};

// clang-format on

const mg_lab mg_lab_02 = { "02-backprop", groups, MT_COUNT(groups) };
