/* 02-backprop.c -- lab 02, kernels forward and backward and a perceptron trained with them: every row, its points and
 * its hint. Tolerances are derived in oracle.h. */
#include "checks/02-backprop.h"

// clang-format off

#define ADD         "gradients accumulate: use +=, not ="
#define AT_ONCE     "out may be x itself: read x[i] before writing out[i]"
#define ELEMENTS (MG_EVERYTHING & ~MG_BITS) /* the last elements may be rounded otherwise than whole vectors */

/* ---- 02.1, 02.2 linear */
static const mg_kernel_row linear_fwd_cases[] = {
    { { 3, "random shapes", "out[n,o] = b[o] + the sum over i of x[n,i] * w[i,o]; w is [I,O]" }, { &mg_02_linear_fwd },
      .asks = MG_EVERYTHING },
    { { 1, "no bias", "b may be NULL: then out must be overwritten, not added to" },
      { &mg_02_linear_fwd }, .asks = MG_ANY_SIZE,
      .null = "b" },
    { { 1, "one of each", "every size is 1: out is x * w + b" }, { &mg_02_linear_fwd }, .size = { 1, 1, 1 } },
    { { 1, "no rows", "with N = 0 nothing may be written", MG_EASY }, { &mg_02_linear_fwd }, .size = { MG_ZERO } },
    { { 1, "no inputs", "with I = 0 every row of out is b" }, { &mg_02_linear_fwd }, .size = { 0, MG_ZERO } },
};
/* db may also be summed in one part for each thread (variant bias-gradient-by-rows): its bits are not compared. */
static const mg_kernel_row linear_bwd_cases[] = {
    { { 4, "dx", "dx [N,I] = dout [N,O] times w [I,O] transposed" },
      { &mg_02_linear_bwd }, .asks = MG_EVERYTHING, .null = "dw db" },
    { { 4, "dw", "dw [I,O] = x [N,I] transposed times dout [N,O]" },
      { &mg_02_linear_bwd }, .asks = MG_EVERYTHING, .null = "dx db" },
    { { 2, "db", "b is added to every row in forward, so db is the sum of dout over all rows" }, { &mg_02_linear_bwd },
      .asks = MG_EVERYTHING & ~MG_BITS, .null = "dx dw" },
    { { 2, "adds to what is there", ADD }, { &mg_02_linear_bwd },
      .asks = MG_ANY_SIZE | MG_SUBSETS | MG_RACES, .held = true },
};
/* A cache of 32 KiB has 512 lines, and dout more rows: a sum of one column after the other loads a line for each
 * number. */
static const mg_kernel_row linear_traffic_cases[] = {
    { { 2, "bytes moved for db",
        "add up dout row by row: then all 16 numbers of each cache line are used", MG_COUNTS },
      { &mg_02_linear_bwd }, .size = { 1009, 1, 983 }, .null = "dx dw", .held = true,
      .bar = "02.2", .moves = "dout db db", .cache = MG_L1 },
};

/* ---- 02.3 to 02.5 activations */
static const mg_kernel_row relu_fwd_cases[] = {
    { { 2, "values", "max(x, 0), element by element" }, { &mg_02_relu_fwd }, .asks = ELEMENTS, .special = mg_02_far },
    { { 1, "in place", AT_ONCE }, { &mg_02_relu_fwd }, .in_place = true, .special = mg_02_far },
};
static const mg_kernel_row relu_nan_cases[] = {
    { { 1, "NaN stays NaN",
        "a comparison with NaN is false: choose the one with which a NaN stays NaN, so that diverged values remain "
        "visible; backward adds nothing (not 0 * dout) where saved <= 0, and dout everywhere else" },
      { &mg_02_relu_fwd, &mg_02_relu_bwd_of_x }, .asks = MG_NAN },
};
static const mg_kernel_row relu_bwd_cases[] = {
    { { 2, "saved is out",
        "add dout to dx, except where saved <= 0: at exactly 0 the slope is 0" }, { &mg_02_relu_bwd },
      .asks = ELEMENTS, .special = mg_02_far },
    { { 1, "saved is x", "where the saved value is negative the slope is 0" },
      { &mg_02_relu_bwd_of_x }, .special = mg_02_far },
    { { 1, "adds to what is there", ADD }, { &mg_02_relu_bwd }, .held = true, .special = mg_02_far },
};
static const mg_kernel_row sigmoid_fwd_cases[] = {
    { { 2, "values", "the result is 1 / (1 + exp(-x)), exact to a few roundings of 1" },
      { &mg_02_sigmoid_fwd }, .asks = ELEMENTS | MG_IN_PLACE,
      .dist = NORMAL(0, 4), .special = mg_02_far_to_infinity },
    { { 1, "large inputs",
        "exp overflows float above 88, and inf / inf is NaN: write both signs of x such that no exponent is positive" },
      { &mg_02_sigmoid_fwd },
      .dist = UNIFORM(-120, 120), .special = mg_02_far_to_infinity },
};
static const mg_kernel_row sigmoid_bwd_cases[] = {
    { { 2, "slope",
        "the slope follows from the output alone: dx += dout * out * (1 - out)" },
      { &mg_02_sigmoid_bwd }, .asks = ELEMENTS,
      .held = true, .special = mg_02_far },
};
static const mg_kernel_row tanh_fwd_cases[] = {
    { { 2, "values", "the result is tanh(x); near 0 it needs its full relative precision, too" }, { &mg_02_tanh_fwd },
      .asks = ELEMENTS | MG_IN_PLACE, .special = mg_02_far_to_infinity },
    { { 1, "large inputs", "for large |x| the result is -1 or 1; exp(2x) overflows, tanhf does not" },
      { &mg_02_tanh_fwd },
      .dist = UNIFORM(-120, 120), .special = mg_02_far_to_infinity },
};
static const mg_kernel_row tanh_bwd_cases[] = {
    { { 2, "slope", "the slope follows from the output alone: dx += dout * (1 - out * out)" },
      { &mg_02_tanh_bwd }, .asks = ELEMENTS, .held = true,
      .special = mg_02_far },
};
static const mg_kernel_row gelu_fwd_cases[] = {
    { { 3, "values",
        "the result is x * Phi(x), Phi(x) = (1 + erf(x / sqrt 2)) / 2; the tanh form differs, and 1 / 2 in C is 0" },
      { &mg_02_gelu_fwd }, .asks = ELEMENTS | MG_NAN, .special = mg_02_far_cubed },
    { { 1, "in place", AT_ONCE }, { &mg_02_gelu_fwd }, .in_place = true, .special = mg_02_far_cubed },
};
static const mg_kernel_row gelu_bwd_cases[] = {
    { { 3, "slope", "the derivative of a product has two terms: Phi(x) + x * phi(x), where phi is the normal density" },
      { &mg_02_gelu_bwd }, .asks = ELEMENTS, .special = mg_02_far_cubed },
    { { 1, "adds to what is there", ADD }, { &mg_02_gelu_bwd }, .held = true, .special = mg_02_far_cubed },
};
static const mg_kernel_row gelu_tanh_fwd_cases[] = {
    { { 2, "values", "the result is x/2 * (1 + tanh(sqrt(2/pi) * (x + 0.044715 x^3)))" }, { &mg_02_gelu_tanh_fwd },
      .asks = ELEMENTS | MG_IN_PLACE | MG_NAN, .special = mg_02_far_cubed },
};
static const mg_kernel_row gelu_tanh_bwd_cases[] = {
    { { 2, "slope",
        "add dout * slope to dx; compare your slope with (f(x + h) - f(x - h)) / 2h, where f is your forward, at x = "
        "0, 1 and -1 with h = 0.01" },
      { &mg_02_gelu_tanh_bwd }, .asks = ELEMENTS, .held = true, .special = mg_02_far_cubed_slope },
};

/* ---- 02.6 softmax */
static const mg_kernel_row softmax_fwd_cases[] = {
    { { 3, "random rows",
        "row n begins at element n * C; each result is exp(x - max) divided by the sum over all C columns" },
      { &mg_02_softmax_fwd },
      .asks = MG_EVERYTHING, .special = mg_02_softmax_edges },
    { { 1, "large logits",
        "exp(90) overflows float: subtract the row's maximum first, which may be far below 0" },
      { &mg_02_softmax_fwd }, .size = { 0, 10 }, .dist = NORMAL(0, 1000), .special = mg_02_far_logits },
    { { 1, "large negative logits", "all exponentials underflow, and 0 / 0 is NaN: subtract the row's maximum first, "
        "and begin its search with the row's first element, not with 0" },
      { &mg_02_softmax_fwd }, .size = { 0, 10 }, .dist = UNIFORM(-130, -110), .special = mg_02_negative_logits },
    { { 1, "one column", "the answer is exactly 1", MG_EASY }, { &mg_02_softmax_fwd }, .size = { 7, 1 } },
    { { 1, "no rows", "with N = 0 nothing may be written", MG_EASY }, { &mg_02_softmax_fwd }, .size = { MG_ZERO, 10 } },
    { { 1, "in place", "out may be x itself: once p[c] is written, x[c] is gone, so the last pass must use p" },
      { &mg_02_softmax_fwd }, .in_place = true },
    { { 1, "NaN stays NaN", "a NaN makes its row NaN and no other: fmaxf and a comparison can hide it" },
      { &mg_02_softmax_fwd }, .asks = MG_NAN },
};
static const mg_kernel_row softmax_bwd_cases[] = {
    { { 3, "random rows",
        "each output depends on every input of its row: dx += out * (dout - the row's sum of dout * out)" },
      { &mg_02_softmax_bwd }, .asks = MG_EVERYTHING },
    { { 1, "adds to what is there", ADD }, { &mg_02_softmax_bwd }, .held = true },
};

/* ---- 02.7 cross-entropy */
static const mg_kernel_row cross_entropy_fwd_cases[] = {
    { { 3, "random rows",
        "loss = log(sum of exp(x - max)) - (x[label] - max), and probs is the softmax; softmax_row (02.6) leaves max "
        "and sum" },
      { &mg_02_cross_entropy_fwd }, .asks = MG_EVERYTHING, .special = mg_02_wrong_labels },
    { { 2, "large logits",
        "log(softmax) is log(0) if the label's logit is much smaller than the maximum: use log(sum) - (x - max)" },
      { &mg_02_cross_entropy_fwd }, .asks = MG_ORDINARY | MG_NAN, .size = { 0, 10 }, .dist = NORMAL(0, 1000),
      .special = mg_02_far_logits },
    { { 1, "in place", "probs may be the array logits: read what the loss needs before overwriting it" },
      { &mg_02_cross_entropy_fwd }, .in_place = true },
    { { 1, "no rows", "with N = 0 nothing may be written", MG_EASY },
      { &mg_02_cross_entropy_fwd }, .size = { MG_ZERO, 10 } },
};
static const mg_kernel_row cross_entropy_bwd_cases[] = {
    { { 4, "random rows",
        "row n gets dloss[n] * (probs - 1) at its label and dloss[n] * probs elsewhere; dloss contains the factor "
        "1/N" },
      { &mg_02_cross_entropy_bwd }, .asks = MG_EVERYTHING },
    { { 1, "adds to what is there", ADD }, { &mg_02_cross_entropy_bwd }, .held = true },
};

/* ---- 02.8, 02.9 */
static const init_case init_cases[] = {
    { { 3, "He",
        "the numbers are normal with standard deviation sqrt(2 / fan_in); 2 / fan_in is the variance" },
      .xavier = false },
    { { 3, "Xavier",
        "the numbers are uniform between -a and a with a = sqrt(6 / (fan_in + fan_out))" }, .xavier = true },
};
static const mg_case mlp_forward_cases[] = {
    { 3, "logits", "a ReLU follows each linear layer but the last" },
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

#define KERNEL(step, title, rows)    MG_GROUP(step, title, mg_kernel_run, rows##_cases)
#define GROUP(step, title, run)      MG_GROUP(step, title, mg_02_##run, run##_cases)

static const mg_group groups[] = {
    KERNEL("02.1", "linear", linear_fwd),
    KERNEL("02.2", "linear backward", linear_bwd),
    KERNEL("02.2", "linear backward", linear_traffic),
    KERNEL("02.3", "ReLU", relu_fwd),
    KERNEL("02.3", "ReLU backward", relu_bwd),
    KERNEL("02.3", "ReLU", relu_nan),
    KERNEL("02.4", "sigmoid", sigmoid_fwd),
    KERNEL("02.4", "sigmoid backward", sigmoid_bwd),
    KERNEL("02.4", "tanh", tanh_fwd),
    KERNEL("02.4", "tanh backward", tanh_bwd),
    KERNEL("02.5", "GELU", gelu_fwd),
    KERNEL("02.5", "GELU backward", gelu_bwd),
    KERNEL("02.5", "GELU by tanh", gelu_tanh_fwd),
    KERNEL("02.5", "GELU by tanh, backward", gelu_tanh_bwd),
    KERNEL("02.6", "softmax", softmax_fwd),
    KERNEL("02.6", "softmax backward", softmax_bwd),
    KERNEL("02.7", "cross-entropy", cross_entropy_fwd),
    KERNEL("02.7", "cross-entropy backward", cross_entropy_bwd),
    GROUP("02.8", "initialisation", init),
    GROUP("02.9", "perceptron forward", mlp_forward),
    GROUP("02.9", "perceptron backward", mlp_backward),
    GROUP("02.9", "perceptron", mlp_sgd),
    GROUP("02.9", "perceptron", train),
};

// clang-format on

const mg_lab mg_lab_02 = { "02-backprop", groups, MT_COUNT(groups) };
