/* 04-optimizers.c -- lab 04, update rules, learning rates, clipping, a program: every row, its points and its hint. The
 * oracle of the update rules computes their tolerances, too (testing/update_oracle.h). */
#include "checks/04-optimizers.h"

// clang-format off

#define ZEROS_HINT "if all gradients were 0, the step is 0 / (sqrt(0) + eps) = 0; without eps it is 0 / 0, which is NaN"

/* ---- 04.1 SGD, momentum, Nesterov */
#define SGD(about)      "mt_sgd_update_cpu", MT_SGD, about
#define MOMENTUM(about) "mt_momentum_update_cpu", MT_MOMENTUM, about
#define NESTEROV(about) "mt_nesterov_update_cpu", MT_NESTEROV, about
static const update_case sgd_cases[] = {
    { { 2, "every size", "p -= lr * (g + decay * p), element by element; any size may be 0" }, SGD(UP_SIZES) },
    { { 1, "weight decay", "decay is part of the gradient: p -= lr * (g + decay * p)" }, SGD(UP_DECAY) },
    { { 1, "any number of threads", THREADS_HINT }, SGD(UP_THREADS) },
};
static const update_case momentum_cases[] = {
    { { 2, "every size",
        "b = momentum * b + g, where g contains decay * p; then p -= lr * b, with the new b" }, MOMENTUM(UP_SIZES) },
    { { 1, "weight decay", "add decay * p to g before b is updated" }, MOMENTUM(UP_DECAY) },
    { { 2, "1,000 steps",
        "multiply b by lr in the update of p, not g in the update of b: a schedule changes lr between steps" },
      MOMENTUM(UP_LONG) },
};
static const update_case nesterov_cases[] = {
    { { 3, "every size",
        "compute three steps by the handout's equations (f = p^2 / 2, lr 0.1, momentum 0.9) and by your formula, and "
        "compare; each g contains decay * p" },
      NESTEROV(UP_SIZES) },
    { { 1, "weight decay", "every use of g means the gradient with decay * p in it" }, NESTEROV(UP_DECAY) },
    { { 2, "1,000 steps", "b is the same as for momentum: only the step differs" }, NESTEROV(UP_LONG) },
};

/* ---- 04.2 RMSprop */
#define RMSPROP(about) "mt_rmsprop_update_cpu", MT_RMSPROP, about
static const update_case rmsprop_cases[] = {
    { { 2, "every size",
        "v averages the SQUARE of g, where g contains decay * p; the step is divided by the root of v" },
      RMSPROP(UP_SIZES) },
    { { 2, "eps outside the root", "divide by sqrt(v) + eps, not by sqrt(v + eps)" }, RMSPROP(UP_EPS) },
    { { 1, "weight decay", "add decay * p to g before v is updated" }, RMSPROP(UP_DECAY) },
    { { 1, "elements without a gradient", ZEROS_HINT }, RMSPROP(UP_ZEROS) },
    { { 2, "1,000 steps",
        "v becomes beta2 * v + (1 - beta2) * g^2 in every step, also where g = 0" }, RMSPROP(UP_LONG) },
};

/* ---- 04.3 Adam */
#define ADAM(about) "mt_adam_update_cpu", MT_ADAM, about
static const update_case adam_cases[] = {
    { { 2, "every size",
        "m averages g, and v averages g^2, where g contains decay * p; the step is lr * m_hat / (sqrt(v_hat) + eps)" },
      ADAM(UP_SIZES) },
    { { 3, "first steps", "m and v start at 0: divide by 1 - beta^t with t = u->step, which is 1 in the first step" },
      ADAM(UP_FIRST) },
    { { 2, "eps outside the root", "divide by sqrt(v_hat) + eps, as in Adam's paper; the textbook has sqrt(v + eps)" },
      ADAM(UP_EPS) },
    { { 1, "weight decay", "Adam adds decay * p to g before m and v are updated (AdamW does not)" },
      ADAM(UP_DECAY) },
    { { 1, "elements without a gradient", ZEROS_HINT }, ADAM(UP_ZEROS) },
    { { 1, "resumed", RESUMED_HINT }, ADAM(UP_RESUMED) },
    { { 2, "1,000 steps", "the small errors of all steps add up: compute 1 - beta in double" }, ADAM(UP_LONG) },
    { { 1, "any number of threads", THREADS_HINT }, ADAM(UP_THREADS) },
};

/* ---- 04.4 AdamW in passes, 04.5 fused */
#define PASSES(about) "mt_adamw_multipass_update_cpu", MT_ADAMW, about
#define FUSED(about)  "mt_adamw_update_cpu", MT_ADAMW, about
static const update_case passes_cases[] = {
    { { 2, "every size",
        "there are five loops, for m, v, m_hat, v_hat and p; the first half of scratch holds m_hat, the second v_hat" },
      PASSES(UP_SIZES) },
    { { 2, "decoupled decay", "m and v use the gradient without decay; subtract lr * decay * p from p separately" },
      PASSES(UP_DECAY) },
    { { 1, "first steps",
        "divide m and v by 1 - beta^t, each with its own beta; t = u->step is 1 in the first step" },
      PASSES(UP_FIRST) },
    { { 1, "eps outside the root", "divide by sqrt(v_hat) + eps, not by sqrt(v_hat + eps)" }, PASSES(UP_EPS) },
    { { 1, "any number of threads", THREADS_HINT }, PASSES(UP_THREADS) },
    { { 2, "1,000 steps", "m and v must not be overwritten by m_hat and v_hat: the next step needs them uncorrected" },
      PASSES(UP_LONG) },
};
static const update_case fused_cases[] = {
    { { 2, "every size",
        "one loop computes all five formulas for one element after the other; scratch is NULL here" },
      FUSED(UP_SIZES) },
    { { 2, "decoupled decay", "m and v use the gradient without decay; subtract lr * decay * p from p separately" },
      FUSED(UP_DECAY) },
    { { 1, "first steps", "m_hat and v_hat come from the m and v of this step, not from the old ones" },
      FUSED(UP_FIRST) },
    { { 1, "resumed", RESUMED_HINT }, FUSED(UP_RESUMED) },
    { { 1, "any number of threads",
        "m_hat and v_hat must be local variables in the loop's body, so that each thread has its own" },
      FUSED(UP_THREADS) },
    { { 2, "1,000 steps", "store m and v without correction; keep m_hat and v_hat in registers" }, FUSED(UP_LONG) },
};
static const mg_case traffic_cases[] = {
    { 8, "one pass over memory", "one loop that reads p, g, m, v once and writes p, m, v once, and no other array" },
};

/* ---- 04.6 Lion */
#define LION(about) "mt_lion_update_cpu", MT_LION, about
static const update_case lion_cases[] = {
    { { 2, "every size",
        "the step is lr times the sign of beta1 * m + (1 - beta1) * g, with the m from before this step" },
      LION(UP_SIZES) },
    { { 2, "first steps", "there are two averages: beta1 for the step, beta2 for the m that is stored" },
      LION(UP_FIRST) },
    { { 1, "elements without a gradient", "the sign of 0 is 0" }, LION(UP_ZEROS) },
    { { 1, "decoupled decay",
        "the step is lr * (sign + decay * p); the decay is in neither m nor the sign" }, LION(UP_DECAY) },
    { { 2, "1,000 steps", "update p with the old m, then m, in every step" }, LION(UP_LONG) },
};

/* ---- 04.7 Adafactor */
#define ADAFACTOR(about) "mt_adafactor_update_cpu", MT_ADAFACTOR, about
static const update_case adafactor_cases[] = {
    { { 3, "every size", "state[0] has a mean for each row, over its columns; state[1] one for each column" },
      ADAFACTOR(UP_SIZES) },
    { { 1, "vectors",
        "with one row r cancels in r / mean(r), and c is the average of g^2 itself" }, ADAFACTOR(UP_VECTOR) },
    { { 2, "large steps",
        "divide all of u by rms(u), the root of the mean of u^2, if that is above 1" }, ADAFACTOR(UP_CLIPPED) },
    { { 1, "parameters near zero", "the step is lr times the rms of p, which counts as 0.001 at least" },
      ADAFACTOR(UP_TINY) },
    { { 1, "elements without a gradient", "add eps to g^2, so that no mean is 0" }, ADAFACTOR(UP_ZEROS) },
    { { 1, "decoupled decay", "subtract lr * decay * p separately, without the factor of the rms" },
      ADAFACTOR(UP_DECAY) },
    { { 1, "any number of threads", THREADS_HINT }, ADAFACTOR(UP_THREADS) },
    { { 1, "1,000 steps", "beta is 1 - t^-0.8: 0 in the first step, then closer and closer to 1" },
      ADAFACTOR(UP_LONG) },
};

/* ---- 04.8 schedules */
static const schedule_case schedule_cases[] = {
    { { 1, "step", "lr is multiplied by gamma floor(t / period) times, first at t = period" },
      MT_SCHEDULE_STEP, false },
    { { 2, "cosine",
        "the height above lr_min is (lr - lr_min) (1 + cos(pi t / period)) / 2; from t = period on it is 0" },
      MT_SCHEDULE_COSINE, false },
    { { 1, "triangular", "the rate rises during one period and falls during the next; the maximum is at t = period" },
      MT_SCHEDULE_TRIANGULAR, false },
    { { 1, "triangular2", "each triangle (2 * period steps) is half as high above lr_min as the one before" },
      MT_SCHEDULE_TRIANGULAR2, false },
    { { 1, "exp-range", "the height of the triangle above lr_min is multiplied by gamma^t" },
      MT_SCHEDULE_EXP_RANGE, false },
    { { 2, "warm-up",
        "step s < warmup has (s + 1) / warmup times the first rate; at s = warmup the schedule begins with t = 0 "
        "(with <= in place of < the rate is inf or NaN where warmup is 0)" },
      MT_SCHEDULE_CONSTANT, true },
};

/* ---- 04.9 norm and clipping */
static const clip_case norm_cases[] = {
    { { 2, "every size",
        "the norm is one root of one sum over the elements of all arrays; add up in double" }, CLIP_NORM },
    { { 1, "large and small elements", "1e20 squared overflows f32: square in double; do not add an eps to the norm" },
      CLIP_RANGE },
};
static const clip_case clip_cases[] = {
    { { 2, "one factor for all",
        "multiply by max_norm / norm with the norm of all arrays together and no eps: clipping each array changes the "
        "direction" },
      CLIP_ALL },
    { { 2, "short gradients stay", "if the norm is not above max_norm, no bit may change" }, CLIP_SHORT },
    { { 1, "nothing left", "max_norm may be 0, and so may the norm: 0 / 0 is NaN" }, CLIP_NOTHING },
    { { 2, "inf and NaN", "if the norm is not finite, return it and change nothing" }, CLIP_INFINITE },
    { { 1, "any number of threads",
        "divide the sum into parts that do not depend on the number of threads, and add the parts in order" },
      CLIP_THREADS },
};

/* ---- 04.10 the student's own program */
static const mg_case program_cases[] = {
    { 8, "digits",
      "first, are the gradients cleared after each update? then print the loss of each epoch: while it falls, more "
      "epochs help, later a wider hidden layer" },
};

/* ---- 04.11 Muon */
#define MUON(about) "mt_muon_update_cpu", MT_MUON, about
static const update_case muon_cases[] = {
    { { 4, "every size",
        "S = X X^T has the shorter side of the matrix, so one with more rows than columns is transposed" },
      MUON(UP_SIZES) },
    { { 1, "decoupled decay", "subtract lr * decay * p separately; neither b nor X depends on it" }, MUON(UP_DECAY) },
    { { 1, "small gradients",
        "X = d / (|d| + eps) is as large for gradients of 1e-30: add up their squares in double" },
      MUON(UP_SMALL) },
    { { 1, "elements without a gradient", "a row and a column of zeros stay 0 in every product; 0 / (0 + eps) is 0" },
      MUON(UP_ZEROS) },
    { { 1, "any number of threads", THREADS_HINT }, MUON(UP_THREADS) },
    { { 2, "1,000 steps", "b is not divided by its norm: only its copy X is" }, MUON(UP_LONG) },
};

#define UPDATE_GROUP(step, title, rule) MG_GROUP(step, title, mg_04_update, rule##_cases)

static const mg_group groups[] = {
    UPDATE_GROUP("04.1", "SGD", sgd),
    UPDATE_GROUP("04.1", "momentum", momentum),
    UPDATE_GROUP("04.1", "Nesterov", nesterov),
    UPDATE_GROUP("04.2", "RMSprop", rmsprop),
    UPDATE_GROUP("04.3", "Adam", adam),
    UPDATE_GROUP("04.4", "AdamW in passes", passes),
    UPDATE_GROUP("04.5", "AdamW fused", fused),
    MG_GROUP("04.5", "AdamW fused", mg_04_traffic, traffic_cases),
    UPDATE_GROUP("04.6", "Lion", lion),
    UPDATE_GROUP("04.7", "Adafactor", adafactor),
    MG_GROUP("04.8", "schedule", mg_04_schedule, schedule_cases),
    MG_GROUP("04.9", "norm", mg_04_clip, norm_cases),
    MG_GROUP("04.9", "clipping", mg_04_clip, clip_cases),
    MG_GROUP("04.10", "own program", mg_04_program, program_cases),
    UPDATE_GROUP("04.11", "Muon", muon),
};

// clang-format on

const mg_lab mg_lab_04 = { "04-optimizers", groups, MT_COUNT(groups) };
