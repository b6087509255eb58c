/* elementwise_cpu.c -- add, subtract, multiply, divide with broadcasting, forward and backward; copies and sums through
 * views; the table of these kernels.
 *
 * The gradient of an operand that was repeated is a sum over the repeats. They split the dimensions in two: threads
 * share the elements of the gradient, and each thread walks all repeats of a few of them, adding in double. So every
 * element is computed by one thread, in one order, and no two threads add to the same one. */
#include "ops/kernels_nd.h"
#include "ops/nd.h"

const mt_nd_table mt_nd_cpu = { MT_ND_KERNELS(MT_KERNEL_CPU) };

enum {
    PIECE = 16384, /* elements of a plain walk */
    SUMS = 128,    /* elements whose sums one thread keeps: 1 KiB of doubles */
    LANES = 8,     /* additions that do not wait for each other */
};

/* ---- rows -------------------------------------------------------------------------------------------
 * Each loop is written once, for any function of two operands and any strides, and inlined with both as constants for
 * the functions there are and the strides that occur most, so that the compiler vectorises it. */

typedef enum function { ADD, SUB, MUL, DIV, ONE, MINUS_ONE, A, B, ONE_OVER_B, MINUS_A_OVER_BB } function;
typedef enum loop { VALUES, SLOPES, SLOPE_SUMS } loop;

/* Where the operands of n elements begin, and their strides; g is the gradient that arrives. */
typedef struct row {
    const float *g, *a, *b;
    int64_t sg, sa, sb, n;
} row;

#define INLINE static inline __attribute__((always_inline))

INLINE float value_of(function f, float a, float b)
{
    float slope = f == ONE ? 1 : f == MINUS_ONE ? -1 : f == A ? a : f == B ? b : f == ONE_OVER_B ? 1 / b : -(a / b) / b;
    return f == ADD ? a + b : f == SUB ? a - b : f == MUL ? a * b : f == DIV ? a / b : slope;
}

/* out[i] = f(a[i], b[i]) */
INLINE void value_loop(float *restrict out, row r, function f)
{
    for (int64_t i = 0; i < r.n; i++)
        out[i] = value_of(f, r.a[i * r.sa], r.b[i * r.sb]);
}

/* d[i] += g[i] * f(a[i], b[i]) */
INLINE void slope_loop(float *restrict d, int64_t sd, row r, function f)
{
    for (int64_t i = 0; i < r.n; i++)
        d[i * sd] += r.g[i * r.sg] * value_of(f, r.a[i * r.sa], r.b[i * r.sb]);
}

/* sum[i] += g[i] * f(a[i], b[i]) */
INLINE void sum_loop(double *restrict sum, row r, function f)
{
    for (int64_t i = 0; i < r.n; i++)
        sum[i] += r.g[i * r.sg] * value_of(f, r.a[i * r.sa], r.b[i * r.sb]);
}

INLINE void run_loop(loop which, void *to, int64_t st, row r, function f)
{
    if (which == VALUES)
        value_loop(to, r, f);
    else if (which == SLOPES)
        slope_loop(to, st, r, f);
    else
        sum_loop(to, r, f);
}

INLINE void with_strides(loop which, void *to, int64_t st, row r, function f)
{
    bool dense = st == 1 && r.sg == 1;
    if (dense && r.sa == 1 && r.sb == 1)
        run_loop(which, to, 1, (row){ r.g, r.a, r.b, 1, 1, 1, r.n }, f);
    else if (dense && r.sa == 1 && r.sb == 0)
        run_loop(which, to, 1, (row){ r.g, r.a, r.b, 1, 1, 0, r.n }, f);
    else if (dense && r.sa == 0 && r.sb == 1)
        run_loop(which, to, 1, (row){ r.g, r.a, r.b, 1, 0, 1, r.n }, f);
    else
        run_loop(which, to, st, r, f);
}

/* One loop over a row: elements of `to` are st apart, in sums and values side by side. */
static void run(loop which, void *to, int64_t st, row r, function f)
{
    switch (f) {
#define CONSTANT(f)                        \
    case f:                                \
        with_strides(which, to, st, r, f); \
        break
        CONSTANT(ADD);
        CONSTANT(SUB);
        CONSTANT(MUL);
        CONSTANT(DIV);
        CONSTANT(ONE);
        CONSTANT(MINUS_ONE);
        CONSTANT(A);
        CONSTANT(B);
        CONSTANT(ONE_OVER_B);
        CONSTANT(MINUS_A_OVER_BB);
    }
}

/* sum[0] += all of the row, in LANES sums side by side. */
static void add_to_one_sum(double *sum, row r, function f)
{
    double lane[LANES] = { 0 };
    for (int64_t i = 0; i < r.n; i += LANES) {
        row part = { r.g + i * r.sg, r.a + i * r.sa, r.b + i * r.sb, r.sg, r.sa, r.sb, mt_min(LANES, r.n - i) };
        run(SLOPE_SUMS, lane, 1, part, f);
    }
    for (int l = 0; l < LANES; l++)
        sum[0] += lane[l];
}

/* ---- forward -------------------------------------------------------------------------------------- */

typedef struct forward_call {
    float *out;
    const float *a, *b;
    function f;
} forward_call;

static void value_piece(const mt_nd *it, int64_t i, int64_t n, void *user)
{
    const forward_call *c = user;
    row r = { NULL, c->a + it->at[1] + i * it->step[1], c->b + it->at[2] + i * it->step[2], 1, it->step[1], it->step[2],
              n };
    run(VALUES, c->out + it->at[0] + i, 1, r, c->f);
}

static void forward(float *out, const mt_strided *a, const mt_strided *b, function f)
{
    mt_view dense = mt_view_contiguous(mt_view_shape(&a->view));
    forward_call c = { out, a->data, b->data, f };
    mt_nd all = mt_nd_begin((const mt_view *[]){ &dense, &a->view, &b->view }, 3);
    mt_nd_for(&all, PIECE, 1, value_piece, &c);
}

/* ---- backward ------------------------------------------------------------------------------------- */

/* The gradient d, what arrives g, and the operands a, b that the slope reads. */
typedef struct slopes {
    float *d;
    const float *g, *a, *b;
    function slope;
    mt_nd repeats; /* the walk over one element's repeats, from it.at = 0 */
} slopes;

static void slope_piece(const mt_nd *it, int64_t i, int64_t n, void *user)
{
    const slopes *s = user;
    row r = { s->g + it->at[1] + i * it->step[1],
              s->a + it->at[2] + i * it->step[2],
              s->b + it->at[3] + i * it->step[3],
              it->step[1],
              it->step[2],
              it->step[3],
              n };
    run(SLOPES, s->d + it->at[0] + i * it->step[0], it->step[0], r, s->slope);
}

/* n elements of the gradient, over all their repeats: the inner loop runs along whichever lies denser in g. */
static void sum_piece(const mt_nd *it, int64_t first, int64_t n, void *user)
{
    const slopes *s = user;
    double sum[SUMS] = { 0 };
    int64_t at[4];
    for (int v = 0; v < 4; v++)
        at[v] = it->at[v] + first * it->step[v];
    for (mt_nd r = s->repeats; r.runs > 0; mt_nd_next(&r)) {
        bool along = r.run > 1 && (r.step[1] < it->step[1] || n == 1);
        const mt_nd *outer = along ? it : &r, *inner = along ? &r : it;
        int64_t count = along ? n : r.run, length = along ? r.run : n;
        for (int64_t k = 0; k < count; k++) {
            row part = { s->g + at[1] + r.at[1] + k * outer->step[1],
                         s->a + at[2] + r.at[2] + k * outer->step[2],
                         s->b + at[3] + r.at[3] + k * outer->step[3],
                         inner->step[1],
                         inner->step[2],
                         inner->step[3],
                         length };
            if (along)
                add_to_one_sum(sum + k, part, s->slope);
            else
                run(SLOPE_SUMS, sum, 1, part, s->slope);
        }
    }
    for (int64_t i = 0; i < n; i++)
        s->d[at[0] + i * it->step[0]] += (float)sum[i];
}

/* The dimensions of view in which d repeats, or those in which it does not. */
static mt_view part(const mt_view *view, const mt_view *d, bool repeated)
{
    mt_view out = { .offset = repeated ? 0 : view->offset };
    for (int i = 0; i < d->rank; i++)
        if ((d->stride[i] == 0 && d->shape[i] != 1) == repeated) {
            out.shape[out.rank] = view->shape[i];
            out.stride[out.rank++] = view->stride[i];
        }
    return out;
}

static void backward(const mt_strided *d, const mt_strided *g, const mt_strided *a, const mt_strided *b, function slope)
{
    mt_view kept[4], repeated[4];
    const mt_view *views[4] = { &d->view, &g->view, &a->view, &b->view }, *at[4], *rest[4];
    for (int v = 0; v < 4; v++) {
        kept[v] = part(views[v], &d->view, false);
        repeated[v] = part(views[v], &d->view, true);
        at[v] = &kept[v];
        rest[v] = &repeated[v];
    }
    slopes s = { .d = d->data, .g = g->data, .a = a->data, .b = b->data, .slope = slope };
    mt_nd all = mt_nd_begin(at, 4);
    if (repeated[0].rank == 0) {
        mt_nd_for(&all, PIECE, 1, slope_piece, &s);
        return;
    }
    s.repeats = mt_nd_begin(rest, 4);
    mt_nd_for(&all, SUMS, s.repeats.runs * s.repeats.run, sum_piece, &s);
}

/* An operand that is not given is not read: anything of the right shape stands for it. */
static void binary_backward(const mt_strided *d, const float *dout, const mt_strided *a, const mt_strided *b,
                            function slope)
{
    if (!d || !d->data)
        return;
    mt_strided g = { .data = (float *)dout, .view = mt_view_contiguous(mt_view_shape(&d->view)) };
    backward(d, &g, a ? a : &g, b ? b : &g, slope);
}

/* ---- kernels ---------------------------------------------------------------------------------------- */

#define KERNELS(name, value, slope_a, slope_b)                                                                   \
    void mt_##name##_fwd_cpu(float *out, const mt_strided *a, const mt_strided *b)                               \
    {                                                                                                            \
        forward(out, a, b, value);                                                                               \
    }                                                                                                            \
    void mt_##name##_bwd_cpu(const mt_strided *da, const mt_strided *db, const float *dout, const mt_strided *a, \
                             const mt_strided *b)                                                                \
    {                                                                                                            \
        binary_backward(da, dout, a, b, slope_a);                                                                \
        binary_backward(db, dout, a, b, slope_b);                                                                \
    }

KERNELS(add, ADD, ONE, ONE)
KERNELS(sub, SUB, ONE, MINUS_ONE)
KERNELS(mul, MUL, B, A)
KERNELS(div, DIV, ONE_OVER_B, MINUS_A_OVER_BB)

void mt_add_strided_cpu(const mt_strided *dst, const mt_strided *src)
{
    backward(dst, src, src, src, ONE);
}

typedef struct copy {
    float *to;
    const float *from;
} copy;

static void copy_piece(const mt_nd *it, int64_t i, int64_t n, void *user)
{
    const copy *c = user;
    int64_t to = it->step[0], from = it->step[1];
    float *restrict d = c->to + it->at[0] + i * to;
    const float *s = c->from + it->at[1] + i * from;
    if (to == 1 && from == 1)
        for (int64_t k = 0; k < n; k++)
            d[k] = s[k];
    else
        for (int64_t k = 0; k < n; k++)
            d[k * to] = s[k * from];
}

void mt_copy_to_strided_cpu(const mt_strided *dst, const mt_strided *src)
{
    copy c = { dst->data, src->data };
    mt_nd all = mt_nd_begin((const mt_view *[]){ &dst->view, &src->view }, 2);
    mt_nd_for(&all, PIECE, 1, copy_piece, &c);
}
