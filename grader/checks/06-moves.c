/* 06-moves.c -- how the checks of kernels that move elements run: broadcasting, transposes, rows of a table.
 * Rows: 06-cuda.c. */
#include "checks/06-cuda.h"
#include "checks/answer.h"
#include "checks/oracle.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- broadcasting -------------------------------------------------------------------------------- */

enum { RANK = MT_MAX_RANK };

typedef struct shape_case {
    int rank;
    int64_t dim[RANK];
    unsigned a, b; /* dimensions in which the operand repeats, when the row is about that: bit d */
} shape_case;

/* [N,1] + [1,C]; scalar + [N,C]; [N,C] + [C] both ways; of rank 3 and 4; one of each. */
static const shape_case shape_cases[] = {
    { 2, { 33, 31 }, 2, 1 },      { 2, { 31, 67 }, 3, 0 },      { 2, { 7, 127 }, 0, 1 },
    { 2, { 40, 32 }, 1, 0 },      { 3, { 5, 7, 33 }, 5, 2 },    { 3, { 9, 4, 31 }, 4, 3 },
    { 4, { 3, 5, 4, 9 }, 5, 10 }, { 4, { 2, 3, 33, 5 }, 8, 2 }, { 1, { 1025 }, 1, 0 },
    { 1, { 1 }, 1, 1 },           { 2, { 0, 31 }, 1, 0 },       { 4, { 7, 1, 1, 37 }, 6, 9 },
    { 2, { 37, 41 }, 3, 3 },      { 0, { 0 }, 0, 0 },           { 8, { 2, 3, 2, 2, 2, 3, 2, 3 }, 0x55, 0x92 },
};
/* More than 1,024 blocks of 256, and more runs than blocks in y. */
static const shape_case many = { 2, { 65549, 4 }, 1, 2 };
static const shape_case whole = { 2, { 40, 32 }, 0, 0 }; /* groups of four elements */
/* Views of these with rows of neighbours: one operand's begin, or its rows, is not at a multiple of 16 bytes. */
typedef struct layout {
    int64_t offset[2], gap[2]; /* of a and b; behind each row */
} layout;
static const layout layouts[] = {
    { { 1, 0 }, { 0, 0 } }, { { 0, 2 }, { 0, 0 } }, { { 0, 0 }, { 1, 0 } }, { { 0, 0 }, { 0, 2 } }
};

typedef struct operand {
    float *data;
    int64_t stride[RANK], offset;
} operand;

static operand add_rows(mg_run *run, const char *name, const shape_case *s, const layout *l, int which, mg_dist dist)
{
    operand o = { .stride = { s->dim[1] + l->gap[which], 1 }, .offset = l->offset[which] };
    o.data = mg_input(run, name, MT_SHAPE(o.offset + s->dim[0] * o.stride[0]), dist);
    return o;
}

/* Views: any order of dimensions, every element or every second, gaps at the end of each dimension, not from the
 * start. */
static operand add_operand(mg_run *run, const char *name, const shape_case *s, cuda_about about, unsigned repeats,
                           mg_dist dist)
{
    operand o = { 0 };
    int64_t order[RANK] = { 0, 1, 2, 3, 4, 5, 6, 7 }, span = 1;
    if (about == CU_VIEWS)
        mt_rng_permutation(mg_rng(run), order, s->rank);
    for (int i = s->rank - 1; i >= 0; i--) {
        int64_t d = order[i], step = about == CU_VIEWS ? mg_pick(mg_rng(run), 1, 2) : 1;
        if (about == CU_REPEATED && repeats >> d & 1)
            continue;
        o.stride[d] = span * step;
        span *= s->dim[d] * step + (about == CU_VIEWS ? mg_pick(mg_rng(run), 0, 2) : 0);
    }
    o.offset = about == CU_VIEWS ? mg_pick(mg_rng(run), 1, 40) : 0;
    o.data = mg_input(run, name, MT_SHAPE(o.offset + span), dist);
    return o;
}

/* One number for each dimension; none for missing dimensions. */
static void add_numbers(mg_run *run, const char *name, const int64_t value[RANK], int rank)
{
    char numbered[24];
    for (int d = 0; d < rank; d++) {
        snprintf(numbered, sizeof numbered, "%s%d", name, d);
        mg_i64(run, numbered, value[d]);
    }
}

static int64_t element_of(const operand *o, const shape_case *s, int64_t i)
{
    int64_t at = o->offset;
    for (int d = s->rank - 1; d >= 0; d--) {
        at += i % s->dim[d] * o->stride[d];
        i /= s->dim[d];
    }
    return at;
}

static double result_of(char op, double a, double b)
{
    return op == '+' ? a + b : op == '-' ? a - b : op == '*' ? a * b : a / b;
}

/* l NULL: strides and offsets are drawn, as the row is about. */
static bool broadcast(mg_run *run, cuda_about about, const shape_case *s, const layout *l, int which)
{
    static const char *const functions[] = { "mt_add_fwd_cuda", "mt_sub_fwd_cuda", "mt_mul_fwd_cuda",
                                             "mt_div_fwd_cuda" };
    mt_shape shape = { .rank = s->rank };
    for (int d = 0; d < s->rank; d++)
        shape.dim[d] = s->dim[d];
    mg_begin(run, functions[which]);
    mg_answer out = mg_overwritten(run, "out", shape);
    const mg_dist of_a = NORMAL(0, 1), of_b = MIXED(-1, 1);
    operand a = l ? add_rows(run, "a", s, l, 0, of_a) : add_operand(run, "a", s, about, s->a, of_a);
    operand b = l ? add_rows(run, "b", s, l, 1, of_b) : add_operand(run, "b", s, about, s->b, of_b);
    b.data[b.offset] = 0; /* whose quotient is infinite */
    int64_t last = mt_shape_numel(shape) - 1;
    if (about == CU_SAME && last > 0) { /* the quotient is 10, the reciprocal infinite */
        a.data[element_of(&a, s, last)] = 1e-38f;
        b.data[element_of(&b, s, last)] = 1e-39f;
    }
    mg_i64(run, "rank", s->rank);
    add_numbers(run, "dim", s->dim, s->rank);
    add_numbers(run, "stride of a", a.stride, s->rank);
    add_numbers(run, "stride of b", b.stride, s->rank);
    mg_i64(run, "offset of a", a.offset);
    mg_i64(run, "offset of b", b.offset);
    for (int64_t i = 0; i < mt_shape_numel(shape); i++) {
        out.v[i] = result_of("+-*/"[which], a.data[element_of(&a, s, i)], b.data[element_of(&b, s, i)]);
        out.e[i] = 4 * MG_U * fabs(out.v[i]) + FLT_MIN; /* a division may have the error of two operations */
    }
    return mg_call_and_judge(run, &out, 1);
}

static void unaligned(mg_run *run, cuda_about about)
{
    mg_unaligned(run, true);
    for (int k = 0; k < 4 * 7; k++) { /* all arrays, then each of three */
        if (k >= 4)
            mg_unaligned_one(run, k / 4 - 1);
        if (!broadcast(run, about, &whole, NULL, k % 4))
            return;
    }
}

void mg_06_broadcast(mg_run *run, const void *one_case)
{
    static const shape_case counted = { 2, { 256, 256 }, 0, 1 };
    const cuda_case *c = one_case;
    if (c->about == CU_COUNT) {
        if (broadcast(run, CU_REPEATED, &counted, NULL, 0))
            mg_device_credit(run, c->count, 8.0 * MG_06_COUNTED);
        return;
    }
    for (int i = 0; i < MT_COUNT(shape_cases); i++)
        for (int which = 0; which < 4; which++)
            if (!broadcast(run, c->about, &shape_cases[i], NULL, which))
                return;
    if (c->about == CU_SAME)
        unaligned(run, c->about);
    for (int which = 0; which < 4 && c->about == CU_REPEATED; which++)
        if (!broadcast(run, c->about, &many, NULL, which))
            return;
    for (int i = 0; i < MT_COUNT(layouts) && c->about == CU_VIEWS; i++)
        if (!broadcast(run, c->about, &whole, &layouts[i], i))
            return;
}

enum { MANY_ROWS = 65549 }; /* more than 16 bits hold, as ids do, and than a grid has blocks in y */

/* ---- transpose ------------------------------------------------------------------------------------- */

static bool transpose(mg_run *run, const cuda_case *c, int64_t N, int64_t C)
{
    mg_begin(run, c->function);
    mg_answer out = mg_overwritten(run, "out", MT_SHAPE(C, N));
    float *x = mg_input(run, "x", MT_SHAPE(N, C), (mg_dist)NORMAL(0, 1));
    mg_i64(run, "N", N);
    mg_i64(run, "C", C);
    if (N == 31)
        x[C - 1] = NAN, x[2 * C - 1] = INFINITY;
    for (int64_t i = 0; i < N * C; i++)
        out.v[i % C * N + i / C] = x[i];
    return mg_call_and_judge(run, &out, 1);
}

/* Without conflicts a tile is written and read by a wavefront for 32 elements each. */
static void count_transpose(mg_run *run, const cuda_case *c)
{
    enum { N = 256, C = 192 };
    bool conflicts = c->count == MG_CONFLICTS;
    if (transpose(run, c, N, C) && (!conflicts || mg_device_moves(run, "06.6 tiled transpose: traffic", 8.0 * N * C)))
        mg_device_credit(run, c->count, conflicts ? 2.0 * N * C / 32 : 8.0 * N * C);
}

void mg_06_transpose(mg_run *run, const void *one_case)
{
    const cuda_case *c = one_case;
    if (c->about == CU_COUNT) {
        count_transpose(run, c);
    } else if (transpose(run, c, 3, 0) && mg_06_shapes(run, c, transpose, 0)) {
        /* more than 1,024 tiles of 32 x 32, in both directions and in each */
        if (transpose(run, c, 1057, 1055) && transpose(run, c, 8225, 2) && transpose(run, c, 2, 8225))
            (void)(transpose(run, c, MANY_ROWS, 2) && transpose(run, c, 2, MANY_ROWS)); /* more than blocks in y */
    }
}

/* ---- rows of a table -------------------------------------------------------------------------------- */

static bool gather(mg_run *run, const cuda_case *c, int64_t N, int64_t C)
{
    int64_t V = c->about == CU_COUNT ? 100 : N == MG_06_WARPS ? MANY_ROWS : mg_pick(mg_rng(run), 1, 70);
    mg_begin(run, "mt_gather_rows_fwd_cuda");
    mg_answer out = mg_overwritten(run, "out", MT_SHAPE(N, C));
    const float *table = mg_input(run, "table", MT_SHAPE(V, C), (mg_dist)NORMAL(0, 1));
    int32_t *id = mg_in(run, "id", MT_I32, MT_SHAPE(N));
    mg_fill_labels(mg_rng(run), id, N, V);
    mg_i64(run, "N", N);
    mg_i64(run, "V", V);
    mg_i64(run, "C", C);
    for (int64_t i = 0; i < N * C; i++)
        out.v[i] = table[id[i / C] * C + i % C];
    return mg_call_and_judge(run, &out, 1);
}

void mg_06_gather(mg_run *run, const void *one_case)
{
    const cuda_case *c = one_case;
    if (c->about != CU_COUNT)
        (void)(gather(run, c, 3, 0) && mg_06_shapes(run, c, gather, MG_06_WARPS) &&
               mg_06_many_rows(run, "mt_gather_rows_fwd_cuda", "out table id V"));
    else if (gather(run, c, MG_06_ROWS, MG_06_COLS))
        mg_device_credit(run, c->count, 8.0 * MG_06_ROWS * MG_06_COLS);
}

/* Ids of rows of dtable: all different, or one to three that repeat. */
static void draw_ids(mt_rng *rng, int32_t *id, int64_t N, int64_t V, bool distinct)
{
    int64_t few[3] = { mt_rng_below(rng, V), mt_rng_below(rng, V), mt_rng_below(rng, V) }, kinds = mg_pick(rng, 1, 3);
    int64_t *order = malloc(sizeof *order * (size_t)V);
    MT_CHECK(order, "out of memory for an order");
    mt_rng_permutation(rng, order, V);
    for (int64_t n = 0; n < N; n++)
        id[n] = (int32_t)(distinct ? order[n] : few[mt_rng_below(rng, kinds)]);
    free(order);
}

static bool scatter(mg_run *run, const cuda_case *c, int64_t N, int64_t C)
{
    int64_t V = c->about == CU_COUNT ? 100 : N == MG_06_WARPS ? MANY_ROWS : N + mg_pick(mg_rng(run), 1, 9);
    mg_begin(run, "mt_gather_rows_bwd_cuda");
    float *held = mg_inout(run, "dtable", MT_F32, MT_SHAPE(V, C));
    mg_06_fill_sixteenths(mg_rng(run), held, V * C);
    mg_answer dtable = { "dtable", mg_lift(held, V * C), mg_doubles(V * C), V * C };
    const float *dout = mg_06_sixteenths(run, "dout", MT_SHAPE(N, C)); /* exact in any order of the atomics */
    int32_t *id = mg_in(run, "id", MT_I32, MT_SHAPE(N));
    draw_ids(mg_rng(run), id, N, V, c->about != CU_ONE_VALUE);
    mg_i64(run, "N", N);
    mg_i64(run, "V", V);
    mg_i64(run, "C", C);
    for (int64_t i = 0; i < N * C; i++)
        dtable.v[id[i / C] * C + i % C] += dout[i];
    return mg_call_and_judge(run, &dtable, 1);
}

void mg_06_scatter(mg_run *run, const void *one_case)
{
    const cuda_case *c = one_case;
    if (c->about != CU_COUNT)
        (void)(scatter(run, c, 3, 0) && mg_06_shapes(run, c, scatter, MG_06_WARPS) &&
               mg_06_many_rows(run, "mt_gather_rows_bwd_cuda", "dtable dout id V"));
    else if (scatter(run, c, MG_06_ROWS, MG_06_COLS))
        mg_device_credit(run, c->count, 8.0 * MG_06_ROWS * MG_06_COLS);
}
