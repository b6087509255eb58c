/* updates.h -- update rules: one kernel per optimizer, on raw pointers; no tensors, no allocation.
 *
 * Letters, for one element: p parameter, g gradient, t step (1 for the first), lr learning rate, wd weight decay. All
 * arrays are dense f32 and must not alias. Any size may be 0: then no state changes either. Elements are independent
 * (Adafactor: rows and columns are summed in double, in a fixed order; Muon: matrices are multiplied), so the number of
 * threads changes no bit; one thread is enough. Elements may be computed in f32. With eps 0 a parameter whose v is 0
 * becomes NaN. The gradient is only read. Several threads may call a kernel at once, for different parameters.
 * Bytes per element are counted for arrays larger than the caches: every array is read or written once.
 * Units of solutions/04-optimizers: adamw.c (AdamW, in passes and fused), adafactor.c, muon.c, updates.c (others). */
#pragma once

#include "core/base.h"

MT_C_BEGIN

/* In double, because 1 - beta loses digits in f32: 0.999f is off by 1.3e-8, so 1 - 0.999f has a relative error of
 * 1.3e-5. */
typedef struct mt_hyper {
    double lr;           /* learning rate; set anew for every step by a schedule */
    double momentum;     /* momentum, nesterov, muon: the factor of the previous step */
    double beta1;        /* adam, adamw, lion: decay of the average of g */
    double beta2;        /* rmsprop, adam, adamw: decay of the average of g^2; lion: of the average of g */
    double eps;          /* added to a denominator; adafactor adds it to g^2 */
    double weight_decay; /* 0: none */
} mt_hyper;

enum { MT_UPDATE_STATES = 2 };

typedef struct mt_update {
    float *param;                   /* [rows,cols]  updated */
    const float *grad;              /* [rows,cols] */
    float *state[MT_UPDATE_STATES]; /* updated; zeros before the first step; see each kernel */
    float *scratch;                 /* AdamW in passes: [2,rows,cols]; Muon: [4,rows,cols]; unused by the others */
    int64_t rows, cols;             /* a vector is one row */
    int64_t step;                   /* t, from 1 */
    const mt_hyper *hyper;
} mt_update;

typedef void mt_update_fn(const mt_update *u);

static inline int64_t mt_update_count(const mt_update *u)
{
    return u->rows * u->cols;
}

/* ---- the kernels; wd is added to the gradient (g += wd p) unless it is called decoupled -------------- */

/* mt_sgd_update_cpu -- p -= lr g.   No state. Moves 12 B per element.   Lab 04.1 */
mt_update_fn mt_sgd_update_cpu;

/* mt_momentum_update_cpu -- b = momentum b + g;  p -= lr b.
 * mt_nesterov_update_cpu -- the same b; p holds the point ahead, p - lr momentum b in terms of momentum's p, and g is
 *   the gradient there. The step follows from that: derive it (labs/04-optimizers/README.md).
 *   state[0] = b [rows,cols].   Move 20 B per element.
 * Source: Polyak 1964; Sutskever et al. 2013, in the form of torch.optim.SGD.   Lab 04.1 */
mt_update_fn mt_momentum_update_cpu;
mt_update_fn mt_nesterov_update_cpu;

/* mt_rmsprop_update_cpu -- v = beta2 v + (1 - beta2) g^2;  p -= lr g / (sqrt(v) + eps).
 *   state[0] = v [rows,cols].   Moves 20 B per element.   Source: Hinton 2012, lecture 6e.   Lab 04.2 */
mt_update_fn mt_rmsprop_update_cpu;

/* mt_adam_update_cpu -- m = beta1 m + (1 - beta1) g;  v = beta2 v + (1 - beta2) g^2;
 *   p -= lr m_hat / (sqrt(v_hat) + eps),  m_hat = m / (1 - beta1^t),  v_hat = v / (1 - beta2^t)
 *   state[0] = m, state[1] = v, both [rows,cols].   Moves 28 B per element.   Aborts: t < 1.
 * Source: Kingma and Ba 2014, arXiv:1412.6980, algorithm 1: eps is outside the root. (Inside it, 1e-8 would act like
 * 1e-4 outside.)   Lab 04.3 */
mt_update_fn mt_adam_update_cpu;

/* mt_adamw_update_cpu -- Adam with decoupled decay: p -= lr (m_hat / (sqrt(v_hat) + eps) + wd p); m and v do not depend
 * on wd.
 *   state as Adam's.   Moves 28 B per element: reads p g m v, writes p m v.
 * mt_adamw_multipass_update_cpu -- the same with a pass for each of m, v, m_hat, v_hat, p.
 *   scratch [2,rows,cols].   Moves 56 B per element (64 with the lines of m_hat and v_hat that a store fetches first).
 * Source: Loshchilov and Hutter 2017, arXiv:1711.05101, in the form of torch.optim.AdamW.   Lab 04.4-5 */
mt_update_fn mt_adamw_update_cpu;
mt_update_fn mt_adamw_multipass_update_cpu;

/* mt_lion_update_cpu -- p -= lr (sign(beta1 m + (1 - beta1) g) + wd p);  then m = beta2 m + (1 - beta2) g.
 *   state[0] = m [rows,cols]; sign(0) = 0; wd is decoupled.   Moves 20 B per element.
 * Source: Chen et al. 2023, arXiv:2302.06675, algorithm 2.   Lab 04.6 */
mt_update_fn mt_lion_update_cpu;

/* mt_adafactor_update_cpu -- Adam's v from its row and column means only, and no m.
 *   r_i = b r_i + (1 - b) mean_j(g_ij^2 + eps);  c_j likewise over i;  b = 1 - t^-0.8
 *   u_ij = g_ij / sqrt(r_i c_j / mean(r))
 *   p -= lr max(0.001, rms(p)) u / max(1, rms(u)) + lr wd p
 *   state[0] = r [rows], state[1] = c [cols]. With one row, c is the full average of g^2 and r cancels: a vector is not
 *   factored.   Moves 28 B per element in four passes.   Aborts: t < 1.
 * lr is the schedule's. The paper's min(0.01, 1 / sqrt(t)) and that of torch.optim.Adafactor, min(lr, 1 / sqrt(t)), are
 * not in here: for the same steps give such an lr.
 * Source: Shazeer and Stern 2018, arXiv:1804.04235, algorithms 4 and 5 (clipping threshold 1).   Lab 04.7 */
mt_update_fn mt_adafactor_update_cpu;

/* mt_muon_update_cpu -- momentum, and a step in which all directions of the matrix have about the same length.
 *   b = momentum b + g;  d = g + momentum b;  X = d / (|d| + eps), where |d| is the root of the sum of squares
 *   five times: S = X X^T;  X = 3.4445 X + (-4.775 S + 2.0315 S S) X      (Newton-Schulz)
 *   p -= lr (0.2 sqrt(max(rows, cols)) X + wd p)
 *   state[0] = b [rows,cols];  scratch [4,rows,cols], of any contents. A matrix with more rows than columns is
 *   transposed for the products, so that S is the smaller one. Each singular value s of X becomes 3.4445 s -
 *   4.775 s^3 + 2.0315 s^5, five times; those from 0.003 to 1 end between 0.68 and 1.21. X has the same sizes for
 *   gradients of any size: squares are added in double. Products: mt_matmul_cpu (kernels/matmul.h).
 *   A vector is a matrix with one row; mt_update_for gives vectors and tables AdamW instead.
 * Sources: Jordan et al. 2024, kellerjordan.github.io/posts/muon; 0.2 sqrt(max(rows, cols)), which makes the step as
 * long as AdamW's, so that one rate and one decay are for both: Liu et al. 2025, arXiv:2502.16982.   Lab 04.11 */
mt_update_fn mt_muon_update_cpu;

/* FLOPs of the products of mt_muon_update_cpu. */
static inline int64_t mt_muon_flops(int64_t rows, int64_t cols)
{
    int64_t m = mt_min(rows, cols), n = mt_max(rows, cols);
    return 5 * (2 * m * m * n + 2 * m * m * m + 2 * m * n * m);
}

/* ---- the table of the rules: optim/rules.c ------------------------------ */

typedef enum mt_update_kind {
    MT_SGD,
    MT_MOMENTUM,
    MT_NESTEROV,
    MT_RMSPROP,
    MT_ADAM,
    MT_ADAMW,
    MT_LION,
    MT_ADAFACTOR,
    MT_MUON,
} mt_update_kind;

#define MT_UPDATE_KINDS 9

typedef enum mt_state_size { MT_STATE_NONE, MT_STATE_LIKE_PARAM, MT_STATE_ROWS, MT_STATE_COLS } mt_state_size;

typedef struct mt_update_rule {
    const char *name; /* as on a command line: "adamw" */
    mt_update_fn *update;
    mt_state_size state_size[MT_UPDATE_STATES];
    const char *state_name[MT_UPDATE_STATES]; /* name under which it is saved, as in PyTorch */
    mt_hyper defaults;                        /* hyper-parameters of the paper, or of PyTorch */
    bool whole;                               /* an element's step depends on others: no part can be updated alone */
    int64_t scratch;                          /* floats of scratch for each element */
} mt_update_rule;

extern const mt_update_rule mt_update_rules[MT_UPDATE_KINDS]; /* indexed by mt_update_kind */

/* mt_update_for -- the rule of a parameter whose optimizer is of this kind: Muon has AdamW for all but the matrices of
 * products, that is for vectors and for tables, of which a sample reads some rows. */
mt_update_kind mt_update_for(mt_update_kind kind, bool matrix);

/* mt_hyper_default -- the rule's defaults, to change a field or two of. */
mt_hyper mt_hyper_default(mt_update_kind kind);

extern const char *const mt_update_names[]; /* the rules' names, for MT_CHOICE (cli/cli.h) */

/* mt_update_state_floats -- floats in state `which` of a parameter [rows,cols]; 0 when the rule has no such state. */
int64_t mt_update_state_floats(mt_update_kind kind, int which, int64_t rows, int64_t cols);

MT_C_END
