/* op_want.c -- what an op's case should give: inputs drawn, values from the oracle, gradients from its differences.
 *
 * The difference is gradcheck.h's, of fourth order with h = 2^-10, but of all outputs at once: that gives the whole
 * Jacobian J, and with it the tolerance of each gradient g = sum over outputs of dout * J. A backward kernel rounds
 * each term a few times (RULE: for the slope itself) and adds them up; the magnitude is the sum of |dout * J|. */
#include "core/scope.h"
#include "ops/ops.h"
#include "testing/gradcheck.h"
#include "testing/op_cases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    RULE = 12,        /* roundings of one slope: two calls of the C library's functions and four operations */
    MOST = 300,       /* elements of an input that are moved; fewer where the op is large */
    BUDGET = 1 << 17, /* so that elements moved times elements computed stay below this */
    FEWEST = 8,
};

/* Error of the differences per unit of dout: 1.5/h times 2e-16 of values below 100, h^4/30 of fifth derivatives below
 * 1e4 (1/x at 0.5 has the largest). */
#define DIFFERENCES 5e-10

static void *array(int64_t n, size_t size)
{
    void *a = mt_calloc(n + 1, size);
    return a;
}

/* ---- drawing -------------------------------------------------------------------------------------- */

static float *draw(const mt_op_spec *op, int64_t n, mt_rng *rng)
{
    float *x = array(n, sizeof *x);
    mt_rng_fill_uniform(rng, x, n, op->low, op->high);
    for (int64_t i = 0; i < n && op->draw == MT_DRAW_CLEAR; i++)
        if (fabsf(x[i]) < 0.1f)
            x[i] += x[i] < 0 ? -0.1f : 0.1f;
    if (op->draw == MT_DRAW_APART) {
        int64_t *place = array(n, sizeof *place);
        mt_rng_permutation(rng, place, n);
        for (int64_t i = 0; i < n; i++)
            x[i] = (float)(place[i] - n / 2) / 16;
        free(place);
    }
    return x;
}

/* ---- the oracle ------------------------------------------------------------------------------------- */

typedef struct oracle_run {
    mt_approx *in[MT_CASE_INPUTS];
    int64_t size[MT_CASE_INPUTS], out_size;
} oracle_run;

static oracle_run oracle_inputs(const mt_op_want *want)
{
    const mt_op_case *c = want->op_case;
    oracle_run run = { .out_size = mt_shape_numel(c->out) };
    for (int i = 0; i < c->inputs + c->ids; i++) {
        run.size[i] = mt_shape_numel(c->in[i]);
        run.in[i] = array(run.size[i], sizeof *run.in[i]);
        for (int64_t n = 0; n < run.size[i]; n++)
            run.in[i][n] = mt_approx_exact(i < c->inputs ? (double)want->in[i][n] : (double)want->id[n]);
    }
    return run;
}

static void evaluate(mt_approx *out, const oracle_run *run, const mt_op_case *c)
{
    c->op->oracle(out, (const mt_approx *const *)run->in, c);
}

/* column [out] = the derivatives of all outputs by one number; exactly 0 where an output does not depend on it. */
static void jacobian_column(double *column, mt_approx *out, const oracle_run *run, const mt_op_case *c,
                            mt_approx *moved)
{
    mt_approx *below = out + run->out_size;
    double x = moved->value;
    memset(column, 0, (size_t)run->out_size * sizeof *column);
    for (int k = 1; k <= 2; k++) {
        moved->value = x - k * MT_STEP_F64;
        evaluate(below, run, c);
        moved->value = x + k * MT_STEP_F64;
        evaluate(out, run, c);
        for (int64_t o = 0; o < run->out_size; o++)
            column[o] += (k == 1 ? 8 : -1) * (out[o].value - below[o].value) / (12 * MT_STEP_F64);
    }
    moved->value = x;
}

static void oracle_free(oracle_run *run)
{
    for (int i = 0; i < MT_CASE_INPUTS; i++)
        free(run->in[i]);
}

static void want_grads(mt_op_want *want, const oracle_run *run, int i)
{
    const mt_op_case *c = want->op_case;
    int64_t n = run->size[i], work = mt_max(1, mt_max(n, run->out_size));
    int64_t most = mt_min(n, mt_max(FEWEST, mt_min(MOST, BUDGET / work)));
    want->grad[i] = array(n, sizeof(double));
    want->grad_error[i] = array(n, sizeof(double));
    double *column = array(run->out_size, sizeof *column);
    mt_approx *out = array(2 * run->out_size, sizeof *out);
    for (int64_t k = 0; k < n; k++)
        want->grad_error[i][k] = -1;
    for (int64_t s = 0; s < most; s++) {
        int64_t k = s * n / most, terms = 0;
        double sum = 0, magnitude = 0, largest = 0;
        jacobian_column(column, out, run, c, &run->in[i][k]);
        for (int64_t o = 0; o < run->out_size; o++) {
            sum += want->dout[o] * column[o];
            magnitude += fabs(want->dout[o] * column[o]);
            terms += column[o] != 0;
            if (column[o] != 0 || c->op->grad_scale > 0) /* a slope of 0 may be a difference of rounded numbers */
                largest = fmax(largest, fabs(want->dout[o]));
        }
        want->grad[i][k] = sum;
        want->grad_error[i][k] = mt_tolerance((double)(RULE + terms), magnitude + c->op->grad_scale * largest) +
                                 DIFFERENCES * (double)terms * largest;
    }
    free(column);
    free(out);
}

mt_op_want *mt_op_want_new(const mt_op_case *c, uint64_t seed)
{
    mt_op_want *want = array(1, sizeof *want);
    mt_rng rng = mt_rng_new(seed, MT_STREAM_TEST);
    want->op_case = c;
    for (int i = 0; i < c->inputs; i++)
        want->in[i] = draw(c->op, mt_shape_numel(c->in[i]), &rng);
    if (c->ids) {
        int64_t n = mt_shape_numel(c->in[c->inputs]);
        want->id = array(n, sizeof *want->id);
        for (int64_t k = 0; k < n; k++)
            want->id[k] = (int32_t)mt_rng_below(&rng, c->below);
    }
    oracle_run run = oracle_inputs(want);
    want->dout = array(run.out_size, sizeof *want->dout);
    mt_rng_fill_uniform(&rng, want->dout, run.out_size, -1, 1);
    want->out = array(run.out_size, sizeof *want->out);
    evaluate(want->out, &run, c);
    oracle_free(&run);
    return want;
}

void mt_op_want_free(mt_op_want *want)
{
    for (int i = 0; i < MT_CASE_INPUTS; i++) {
        free(want->in[i]);
        free(want->grad[i]);
        free(want->grad_error[i]);
    }
    free(want->id);
    free(want->dout);
    free(want->out);
    free(want);
}

/* ---- comparing ------------------------------------------------------------------------------------------ */

static _Thread_local char complaint[512];

/* The elements of t in row-major order. free() them. */
static float *elements(const mt_tensor *t)
{
    float *x = array(mt_numel(t), sizeof *x);
    mt_scope_begin();
    mt_tensor *alias = mt_scope_adopt(mt_tensor_alias(t)), *here = mt_to_device(alias, MT_CPU);
    mt_copy_strided(x, here->storage->data, &here->view, sizeof *x);
    mt_scope_end();
    return x;
}

static const char *with_case(const mt_op_want *want, const char *words)
{
    if (words)
        snprintf(complaint, sizeof complaint, "%s: %s", mt_op_case_text(want->op_case), words);
    return words ? complaint : NULL;
}

static const char *wrong_shape(const mt_op_want *want, const char *what, const mt_tensor *t, mt_shape shape)
{
    snprintf(complaint, sizeof complaint, "%s: %s is %s %s, expected f32 %s", mt_op_case_text(want->op_case), what,
             mt_dtype_name(t->dtype), mt_shape_text(mt_view_shape(&t->view)), mt_shape_text(shape));
    return complaint;
}

const char *mt_op_want_values(const mt_op_want *want, const mt_tensor *out)
{
    mt_shape shape = want->op_case->out;
    int64_t n = mt_shape_numel(shape);
    if (!mt_shape_equal(shape, mt_view_shape(&out->view)) || out->dtype != MT_F32)
        return wrong_shape(want, "out", out, shape);
    float *got = elements(out);
    double *value = array(n, sizeof *value), *error = array(n, sizeof *error);
    for (int64_t i = 0; i < n; i++) {
        value[i] = want->out[i].value;
        error[i] = want->out[i].error;
    }
    const char *words = with_case(want, mt_compare("out", got, value, error, n));
    free(got);
    free(value);
    free(error);
    return words;
}

/* `times` passes add the same gradient so often: one more rounding each. */
const char *mt_op_want_grad(mt_op_want *want, int i, const mt_tensor *grad, int times)
{
    mt_shape shape = want->op_case->in[i];
    int64_t n = mt_shape_numel(shape), kept = 0;
    char name[16];
    if (!mt_shape_equal(shape, mt_view_shape(&grad->view)) || grad->dtype != MT_F32)
        return wrong_shape(want, "a gradient", grad, shape);
    if (!want->grad[i]) {
        oracle_run run = oracle_inputs(want);
        want_grads(want, &run, i);
        oracle_free(&run);
    }
    float *got = elements(grad);
    double *value = array(n, sizeof *value), *error = array(n, sizeof *error);
    for (int64_t k = 0; k < n; k++) {
        if (want->grad_error[i][k] < 0)
            continue;
        got[kept] = got[k];
        value[kept] = times * want->grad[i][k];
        error[kept++] = times * want->grad_error[i][k] + mt_tolerance(times, fabs(times * want->grad[i][k]));
    }
    snprintf(name, sizeof name, "grad%d", i);
    const char *words = with_case(want, mt_compare(name, got, value, error, kept));
    free(got);
    free(value);
    free(error);
    return words;
}

/* ---- inputs as tensors -------------------------------------------------------------------------------------- */

/* The leaf behind a strided input: dimensions in reverse, the first stretched to 2 n + 1, of which 1, 3, 5 ... are
 * seen. */
static mt_shape leaf_shape(mt_shape shape)
{
    mt_shape leaf = { .rank = mt_max(1, shape.rank), .dim = { 1 } };
    for (int d = 0; d < shape.rank; d++)
        leaf.dim[d] = shape.dim[shape.rank - 1 - d];
    leaf.dim[0] = 2 * leaf.dim[0] + 1;
    return leaf;
}

static mt_tensor *see(mt_tensor *leaf, mt_shape shape)
{
    int order[MT_MAX_RANK];
    mt_tensor *odd = mt_slice(leaf, 0, 1, leaf->view.shape[0], 2);
    for (int d = 0; d < shape.rank; d++)
        order[d] = shape.rank - 1 - d;
    return shape.rank == 0 ? mt_reshape(odd, MT_SCALAR) : mt_permute(odd, order);
}

/* Copy dense data into the elements that a view on the CPU sees; an element has 4 bytes. */
static void write_seen(const mt_tensor *seen, const char *data)
{
    for (int64_t n = 0; n < mt_numel(seen); n++) {
        int64_t index[MT_MAX_RANK];
        mt_view_unravel(&seen->view, n, index);
        memcpy((char *)seen->storage->data + 4 * mt_view_at(&seen->view, index), data + 4 * n, 4);
    }
}

mt_tensor *mt_op_input(const mt_op_want *want, int i, mt_layout layout, mt_tensor **leaf)
{
    const mt_op_case *c = want->op_case;
    mt_shape shape = c->in[i];
    mt_dtype dtype = i < c->inputs ? MT_F32 : MT_I32;
    const void *data = i < c->inputs ? (const void *)want->in[i] : (const void *)want->id;
    if (leaf && *leaf)
        return layout == MT_DENSE ? *leaf : see(*leaf, shape);
    mt_tensor *base = layout == MT_DENSE ? mt_from(shape, dtype, data) : mt_zeros(leaf_shape(shape), dtype, MT_CPU);
    if (layout == MT_STRIDED)
        write_seen(see(base, shape), data);
    base = mt_to_device(base, want->device);
    base->requires_grad = dtype == MT_F32 && leaf;
    if (leaf)
        *leaf = base;
    return layout == MT_DENSE ? base : see(base, shape);
}

mt_tensor *mt_op_input_grad(const mt_op_want *want, int i, mt_layout layout, const mt_tensor *leaf, double *rest)
{
    mt_tensor *grad = leaf->grad, *seen = layout == MT_DENSE ? grad : see(grad, want->op_case->in[i]);
    double all = 0, in_sight = 0;
    float *x = elements(grad), *y = elements(seen);
    for (int64_t n = 0; n < mt_numel(grad); n++)
        all += fabs((double)x[n]);
    for (int64_t n = 0; n < mt_numel(seen); n++)
        in_sight += fabs((double)y[n]);
    free(x);
    free(y);
    if (rest)
        *rest = all - in_sight;
    return seen;
}
