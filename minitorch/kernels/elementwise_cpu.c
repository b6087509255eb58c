/* elementwise_cpu.c -- add, subtract, multiply, divide with broadcasting, forward and backward; copies and sums through
 * views.
 *
 * A gradient whose operand was repeated is a sum over the repeats. They split the dimensions in two: threads share the
 * elements of the gradient, and each thread walks all repeats of a few of them, adding in double. So every element is
 * computed by one thread, in one order, and no two threads add to the same one. */
#include "kernels/kernels.h"
#include "kernels/nd.h"

enum {
    PIECE = 16384, /* elements of a plain walk */
    SUMS = 128,    /* elements whose sums one thread keeps: 1 KiB of doubles */
    LANES = 8,     /* additions that do not wait for each other */
};

/* out[i] = value of a[i], b[i];  d[i] += g[i] * slope;  sum[i] += g[i] * slope, all of them into sum[0] when to is
 * 0. */
typedef void value_row(float *out, const float *a, int64_t sa, const float *b, int64_t sb, int64_t n);
typedef void slope_row(float *d, int64_t sd, const float *g, int64_t sg, const float *a, int64_t sa, const float *b,
                       int64_t sb, int64_t n);
typedef void slope_sum(double *sum, int64_t to, const float *g, int64_t sg, const float *a, int64_t sa, const float *b,
                       int64_t sb, int64_t n);

/* ---- forward -------------------------------------------------------------------------------------- */

typedef struct values {
    float *out;
    const float *a, *b;
    value_row *row;
} values;

static void value_piece(const mt_nd *it, int64_t i, int64_t n, void *user)
{
    const values *v = user;
    v->row(v->out + it->at[0] + i, v->a + it->at[1] + i * it->step[1], it->step[1], v->b + it->at[2] + i * it->step[2],
           it->step[2], n);
}

static void forward(float *out, const mt_strided *a, const mt_strided *b, value_row *row)
{
    mt_view dense = mt_view_contiguous(mt_view_shape(&a->view));
    values v = { out, a->data, b->data, row };
    mt_nd all = mt_nd_begin((const mt_view *[]){ &dense, &a->view, &b->view }, 3);
    mt_nd_for(&all, PIECE, 1, value_piece, &v);
}

/* ---- backward ------------------------------------------------------------------------------------- */

/* The gradient d, what arrives g, and the operands a, b that the slope reads. */
typedef struct slopes {
    float *d;
    const float *g, *a, *b;
    slope_row *row;
    slope_sum *sum;
    mt_nd repeats; /* the walk over one element's repeats, from it.at = 0 */
} slopes;

static void slope_piece(const mt_nd *it, int64_t i, int64_t n, void *user)
{
    const slopes *s = user;
    s->row(s->d + it->at[0] + i * it->step[0], it->step[0], s->g + it->at[1] + i * it->step[1], it->step[1],
           s->a + it->at[2] + i * it->step[2], it->step[2], s->b + it->at[3] + i * it->step[3], it->step[3], n);
}

/* n elements of the gradient, over all their repeats: the inner loop runs along whichever has the smaller stride in
 * g. */
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
        for (int64_t k = 0; k < count; k++)
            s->sum(along ? sum + k : sum, !along, s->g + at[1] + r.at[1] + k * outer->step[1], inner->step[1],
                   s->a + at[2] + r.at[2] + k * outer->step[2], inner->step[2],
                   s->b + at[3] + r.at[3] + k * outer->step[3], inner->step[3], length);
    }
    for (int64_t i = 0; i < n; i++)
        s->d[at[0] + i * it->step[0]] += (float)sum[i];
}

static void backward(const mt_strided *d, const mt_strided *g, const mt_strided *a, const mt_strided *b, slope_row *row,
                     slope_sum *sum)
{
    slopes s = { .d = d->data, .g = g->data, .a = a->data, .b = b->data, .row = row, .sum = sum };
    mt_nd all;
    mt_nd_split(&all, &s.repeats, (const mt_view *[]){ &d->view, &g->view, &a->view, &b->view });
    int64_t repeats = s.repeats.runs * s.repeats.run;
    if (repeats == 1)
        mt_nd_for(&all, PIECE, 1, slope_piece, &s);
    else
        mt_nd_for(&all, SUMS, repeats, sum_piece, &s);
}

/* An operand that is not given is not read: anything of the right shape stands for it. */
static void binary_backward(const mt_strided *d, const float *dout, const mt_strided *a, const mt_strided *b,
                            slope_row *row, slope_sum *sum)
{
    if (!d || !d->data)
        return;
    mt_strided g = { .data = (float *)dout, .view = mt_view_contiguous(mt_view_shape(&d->view)) };
    backward(d, &g, a ? a : &g, b ? b : &g, row, sum);
}

/* ---- rows: written once, inlined for the strides that occur most, so that these are vectorised ------ */

#define STRIDES(row, ...)                      \
    do {                                       \
        if (sa == 1 && sb == 1)                \
            row(__VA_ARGS__, a, 1, b, 1, n);   \
        else if (sa == 1 && sb == 0)           \
            row(__VA_ARGS__, a, 1, b, 0, n);   \
        else if (sa == 0 && sb == 1)           \
            row(__VA_ARGS__, a, 0, b, 1, n);   \
        else                                   \
            row(__VA_ARGS__, a, sa, b, sb, n); \
    } while (0)

#define INLINE static inline __attribute__((always_inline)) void

#define VALUE_ROW(name, value)                                                                                \
    INLINE name##_any(float *restrict out, const float *a, int64_t sa, const float *b, int64_t sb, int64_t n) \
    {                                                                                                         \
        for (int64_t i = 0; i < n; i++) {                                                                     \
            float x = a[i * sa], y = b[i * sb];                                                               \
            out[i] = value;                                                                                   \
        }                                                                                                     \
    }                                                                                                         \
    static void name##_row(float *out, const float *a, int64_t sa, const float *b, int64_t sb, int64_t n)     \
    {                                                                                                         \
        STRIDES(name##_any, out);                                                                             \
    }

/* to[i] += g[i] * slope, in the type of to. */
#define SLOPE_LOOP(function, type, slope)                                                                  \
    INLINE function(type *restrict to, int64_t st, const float *g, int64_t sg, const float *a, int64_t sa, \
                    const float *b, int64_t sb, int64_t n)                                                 \
    {                                                                                                      \
        for (int64_t i = 0; i < n; i++) {                                                                  \
            float x = a[i * sa], y = b[i * sb];                                                            \
            (void)x, (void)y;                                                                              \
            to[i * st] += g[i * sg] * (slope);                                                             \
        }                                                                                                  \
    }

#define SLOPE_ROW(name, slope)                                                                              \
    SLOPE_LOOP(name##_any, float, slope)                                                                    \
    SLOPE_LOOP(name##_add, double, slope)                                                                   \
    static void name##_row(float *d, int64_t sd, const float *g, int64_t sg, const float *a, int64_t sa,    \
                           const float *b, int64_t sb, int64_t n)                                           \
    {                                                                                                       \
        if (sd == 1 && sg == 1)                                                                             \
            STRIDES(name##_any, d, 1, g, 1);                                                                \
        else                                                                                                \
            name##_any(d, sd, g, sg, a, sa, b, sb, n);                                                      \
    }                                                                                                       \
    static void name##_sum(double *sum, int64_t to, const float *g, int64_t sg, const float *a, int64_t sa, \
                           const float *b, int64_t sb, int64_t n)                                           \
    {                                                                                                       \
        double lane[LANES] = { 0 };                                                                         \
        if (to == 1 && sg == 1) {                                                                           \
            STRIDES(name##_add, sum, 1, g, 1);                                                              \
        } else if (to == 1) {                                                                               \
            name##_add(sum, 1, g, sg, a, sa, b, sb, n);                                                     \
        } else {                                                                                            \
            for (int64_t i = 0; i < n; i += LANES)                                                          \
                name##_add(lane, 1, g + i * sg, sg, a + i * sa, sa, b + i * sb, sb, mt_min(LANES, n - i));  \
            for (int l = 0; l < LANES; l++)                                                                 \
                sum[0] += lane[l];                                                                          \
        }                                                                                                   \
    }

#define BINARY(name, value, slope_a, slope_b)                                                                    \
    VALUE_ROW(name, value)                                                                                       \
    SLOPE_ROW(name##_da, slope_a)                                                                                \
    SLOPE_ROW(name##_db, slope_b)                                                                                \
    void mt_##name##_fwd_cpu(float *out, const mt_strided *a, const mt_strided *b)                               \
    {                                                                                                            \
        forward(out, a, b, name##_row);                                                                          \
    }                                                                                                            \
    void mt_##name##_bwd_cpu(const mt_strided *da, const mt_strided *db, const float *dout, const mt_strided *a, \
                             const mt_strided *b)                                                                \
    {                                                                                                            \
        binary_backward(da, dout, a, b, name##_da_row, name##_da_sum);                                           \
        binary_backward(db, dout, a, b, name##_db_row, name##_db_sum);                                           \
    }

BINARY(add, x + y, 1, 1)
BINARY(sub, x - y, 1, -1)
BINARY(mul, x *y, y, x)
BINARY(div, x / y, 1 / y, -(x / y) / y)

/* ---- through views ---------------------------------------------------------------------------------- */

void mt_add_strided_cpu(const mt_strided *dst, const mt_strided *src)
{
    backward(dst, src, src, src, add_da_row, add_da_sum);
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
