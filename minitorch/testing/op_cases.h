/* op_cases.h -- every op of ops/ops.h, with the shapes that break kernels: one table that tests and lab 06's parity
 * walk.
 *
 *     for (int64_t i = 0; i < mt_op_case_count; i++) {
 *         mt_op_want *want = mt_op_want_new(&mt_op_cases[i], seed);       // values and gradients, in double
 *         ... run the op on some device, in some layout ...
 *         const char *words = mt_op_want_values(want, out);               // NULL: within the derived tolerance
 *
 * An oracle is written from an op's formula, calls none of its code, and computes error bounds (approx.h). Expected
 * gradients are differences of the oracle (gradcheck.h has their error), so they need no derivative. For an input with
 * many elements only some, evenly spread, are checked. */
#pragma once

#include "core/tensor.h"
#include "testing/approx.h"

MT_C_BEGIN

enum { MT_CASE_INPUTS = 3 };

typedef struct mt_op_case mt_op_case;

/* Where an op's inputs are drawn from. */
typedef enum mt_case_draw {
    MT_DRAW_UNIFORM, /* low .. high */
    MT_DRAW_CLEAR,   /* the same, and 0.1 or more away from 0: corners and poles */
    MT_DRAW_APART,   /* no two closer than 1/16: the largest stays the largest when one moves a little */
} mt_case_draw;

typedef struct mt_op_spec {
    const char *name;
    mt_case_draw draw;
    float low, high;
    mt_tensor *(*run)(mt_tensor *const *in, const mt_op_case *c);
    void (*oracle)(mt_approx *out, const mt_approx *const *in, const mt_op_case *c); /* all dense; out has c->out */
    double grad_scale; /* the largest intermediate of a gradient that may cancel, per unit of dout; 0: none */
} mt_op_spec;

struct mt_op_case {
    const mt_op_spec *op;
    mt_shape in[MT_CASE_INPUTS];
    mt_shape out;
    int inputs; /* of type f32; they come first */
    int ids;    /* 0 or 1: then input `inputs` is i32, each 0 .. below-1 */
    int64_t below;
    int64_t arg[4]; /* the op's own: dimensions, start, stop, step */
};

extern const mt_op_case mt_op_cases[];
extern const int64_t mt_op_case_count;

/* mt_op_case_text -- "add [3,1,5] [4,1]"; lent until this thread's next call. */
const char *mt_op_case_text(const mt_op_case *c);

/* ---- what should come out ------------------------------------------------------------------------ */

typedef struct mt_op_want {
    const mt_op_case *op_case;
    mt_device device;          /* where mt_op_input makes inputs: set it before; MT_CPU at first */
    float *in[MT_CASE_INPUTS]; /* dense values of the f32 inputs */
    int32_t *id;               /* dense values of the ids */
    float *dout;               /* dense, of the output's shape: what backward is handed */
    mt_approx *out;
    double *grad[MT_CASE_INPUTS],
        *grad_error[MT_CASE_INPUTS]; /* made when first asked for; an error of -1: not looked at */
} mt_op_want;

mt_op_want *mt_op_want_new(const mt_op_case *c, uint64_t seed);
void mt_op_want_free(mt_op_want *want);

/* mt_op_want_values -- NULL when out, of any layout on any device, has the shape and values it should have; else
 * words. */
const char *mt_op_want_values(const mt_op_want *want, const mt_tensor *out);

/* mt_op_want_grad -- the same for the gradient of input i after `times` backward passes; grad may be any view. */
const char *mt_op_want_grad(mt_op_want *want, int i, const mt_tensor *grad, int times);

/* ---- inputs as tensors ----------------------------------------------------------------------------- */

typedef enum mt_layout {
    MT_DENSE,
    MT_STRIDED, /* every dimension strided: a permuted slice of a larger leaf */
} mt_layout;

/* mt_op_input -- input i as the scope's tensor. leaf NULL: it wants no gradient. *leaf NULL: *leaf is made, where the
 * gradient arrives. Else *leaf, made by an earlier call, is seen again.
 * mt_op_input_grad -- that gradient, seen as the input saw its leaf; *rest, when not NULL, is the sum of |gradient| of
 * what the input did not see. */
mt_tensor *mt_op_input(const mt_op_want *want, int i, mt_layout layout, mt_tensor **leaf);
mt_tensor *mt_op_input_grad(const mt_op_want *want, int i, mt_layout layout, const mt_tensor *leaf, double *rest);

/* ---- a whole trial -------------------------------------------------------------------------------------- */

/* mt_op_trial -- run the op forward and twice backward in a scope of its own, with inputs in this layout on
 * want->device; NULL when values and all gradients are as wanted, else words. */
const char *mt_op_trial(mt_op_want *want, mt_layout layout);

MT_C_END
