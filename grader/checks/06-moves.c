/* 06-moves.c -- kernels that move elements on the device: how the checks of broadcasting run, whose operands are views
 * of any rank; signatures, oracles and edges of transposes and rows of a table. Rows: 06-cuda.c. */
#include "checks/06-cuda.h"
#include "checks/answer.h"
#include "checks/oracle.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- broadcasting -------------------------------------------------------------------------------- */

enum { RANK = MT_MAX_RANK };

typedef struct shape_case {
    const char *part;
    int rank;
    int64_t dim[RANK];
    unsigned a, b; /* dimensions in which the operand repeats, when the row is about that: bit d */
} shape_case;

static const shape_case shape_cases[] = {
    { "[N,1] and [1,C]", 2, { 33, 31 }, 2, 1 },
    { "a scalar and [N,C]", 2, { 31, 67 }, 3, 0 },
    { "[N,C] and [C]", 2, { 7, 127 }, 0, 1 },
    { "[C] and [N,C]", 2, { 40, 32 }, 1, 0 },
    { "rank 3", 3, { 5, 7, 33 }, 5, 2 },
    { "rank 3", 3, { 9, 4, 31 }, 4, 3 },
    { "rank 4", 4, { 3, 5, 4, 9 }, 5, 10 },
    { "rank 4", 4, { 2, 3, 33, 5 }, 8, 2 },
    { "rank 1", 1, { 1025 }, 1, 0 },
    { "one element", 1, { 1 }, 1, 1 },
    { "no elements", 2, { 0, 31 }, 1, 0 },
    { "dimensions of 1", 4, { 7, 1, 1, 37 }, 6, 9 },
    { "two scalars", 2, { 37, 41 }, 3, 3 },
    { "rank 0", 0, { 0 }, 0, 0 },
    { "rank 8", 8, { 2, 3, 2, 2, 2, 3, 2, 3 }, 0x55, 0x92 },
};
static const shape_case many = { "more than 1,024 blocks, and runs than blocks in y", 2, { 65549, 4 }, 1, 2 };
static const shape_case whole = { "rows of neighbours that are not aligned", 2, { 40, 32 }, 0, 0 };
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

static const struct {
    const char *function;
    char sign;
} operations[] = {
    { "mt_add_fwd_cuda", '+' }, { "mt_sub_fwd_cuda", '-' }, { "mt_mul_fwd_cuda", '*' }, { "mt_div_fwd_cuda", '/' }
};

static double result_of(char sign, double a, double b)
{
    return sign == '+' ? a + b : sign == '-' ? a - b : sign == '*' ? a * b : a / b;
}

/* l NULL: strides and offsets are drawn, as the row is about. */
static bool broadcast_by(mg_run *run, cuda_about about, const shape_case *s, const layout *l, int which)
{
    mt_shape shape = { .rank = s->rank };
    for (int d = 0; d < s->rank; d++)
        shape.dim[d] = s->dim[d];
    mg_begin(run, operations[which].function);
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
        out.v[i] = result_of(operations[which].sign, a.data[element_of(&a, s, i)], b.data[element_of(&b, s, i)]);
        out.e[i] = 4 * MG_U * fabs(out.v[i]) + FLT_MIN; /* a division may have the error of two operations */
    }
    return mg_call_and_judge(run, &out, 1);
}

/* The four operations. */
static bool broadcast(mg_run *run, cuda_about about, const shape_case *s, const layout *l)
{
    bool good = true;
    for (int which = 0; which < MT_COUNT(operations) && good; which++)
        good = broadcast_by(run, about, s, l, which);
    return good;
}

static void unaligned(mg_run *run, cuda_about about)
{
    bool good = true;
    mg_part(run, "arrays that are not aligned", NULL);
    mg_unaligned(run, true);
    good = broadcast(run, about, &whole, NULL);
    mg_part(run, "one array that is not aligned", NULL);
    for (int k = 0; k < 6 && good; k++) { /* each of three in two ways */
        mg_unaligned_one(run, k);
        good = broadcast(run, about, &whole, NULL);
    }
}

void mg_06_broadcast(mg_run *run, const void *one_case)
{
    static const shape_case counted = { "counted", 2, { 256, 256 }, 0, 1 };
    const cuda_case *c = one_case;
    bool good = true;
    if (c->about == CU_COUNT) {
        if (broadcast_by(run, CU_REPEATED, &counted, NULL, 0))
            mg_device_credit(run, c->count, 8.0 * MG_06_COUNTED);
        return;
    }
    for (int i = 0; i < MT_COUNT(shape_cases) && good; i++) {
        mg_part(run, shape_cases[i].part, NULL);
        good = broadcast(run, c->about, &shape_cases[i], NULL);
    }
    if (good && c->about == CU_SAME)
        unaligned(run, c->about);
    mg_part(run, c->about == CU_REPEATED ? many.part : whole.part, NULL);
    if (good && c->about == CU_REPEATED)
        broadcast(run, c->about, &many, NULL);
    for (int i = 0; i < MT_COUNT(layouts) && c->about == CU_VIEWS && good; i++)
        good = broadcast(run, c->about, &whole, &layouts[i]);
}

/* ---- transpose ------------------------------------------------------------------------------------- */

static void transpose(mg_trial *t)
{
    const int64_t N = t->size[0], C = t->size[1];
    for (int64_t i = 0; i < N * C; i++)
        t->v[0][i % C * N + i / C] = t->x[1][i];
}

static void special_in_x(mg_trial *t)
{
    mg_nan_at(t, 1);
    t->f[1][mt_rng_below(mg_rng(t->run), mg_count_of(t, 1))] = INFINITY;
}

#define TRANSPOSE(name)                                           \
    { .function = "mt_transpose_" name "_cuda",                   \
      .sizes = "NC",                                              \
      .operand = { MG_WRITTEN("out", "CN"), MG_READ("x", "NC") }, \
      .oracle = transpose,                                        \
      .nan = special_in_x,                                        \
      .dist = NORMAL(0, 1),                                       \
      .grid = "NC" }
const mg_kernel mg_06_naive_transpose = TRANSPOSE("naive"), mg_06_tiled_transpose = TRANSPOSE("tiled");
const mg_special mg_06_many_tiles[] = { { "more than 1,024 tiles", NULL, { 1057, 1055 } }, { 0 } };

/* Without conflicts a tile is written and read by a wavefront for 32 elements each. */
void mg_06_credit_tiles(mg_run *run, const mg_kernel_row *row)
{
    if (mg_device_moves(run, "06.6 tiled transpose: traffic", mg_moved(row)))
        mg_device_credit(run, row->count, 2.0 * (double)(row->size[0] * row->size[1]) / 32);
}

/* ---- rows of a table -------------------------------------------------------------------------------- */

static void gather(mg_trial *t)
{
    const int64_t C = t->size[2];
    for (int64_t i = 0; i < t->size[0] * C; i++)
        t->v[0][i] = t->x[1][t->label[i / C] * C + i % C];
}

static void scatter(mg_trial *t)
{
    const int64_t C = t->size[2];
    for (int64_t i = 0; i < t->size[0] * C; i++)
        t->v[0][t->label[i / C] * C + i % C] += t->x[1][i];
}

static void room_for_all(mg_trial *t)
{
    t->size[1] = mt_max(t->size[0], t->size[1]);
}

static void distinct_ids(mg_trial *t)
{
    int64_t *order = mt_calloc(mt_max(t->size[1], 1), sizeof *order);
    mt_rng_permutation(mg_rng(t->run), order, t->size[1]);
    for (int64_t n = 0; n < t->size[0]; n++)
        t->label[n] = (int32_t)order[n];
    free(order);
}

/* One to three ids that repeat. */
void mg_06_few_ids(mg_trial *t)
{
    const int64_t kinds = mg_pick(mg_rng(t->run), 1, 3);
    for (int64_t n = kinds; n < t->size[0]; n++)
        t->label[n] = t->label[mt_rng_below(mg_rng(t->run), kinds)];
}

const mg_kernel mg_06_gather = {
    .function = "mt_gather_rows_fwd_cuda",
    .sizes = "NVC",
    .operand = { MG_WRITTEN("out", "NC"), MG_READ("table", "VC"), MG_LABELS("id", "N", .classes = 'V') },
    .oracle = gather,
    .dist = NORMAL(0, 1),
    .least = { 0, 1, 0 },
    .grid = "N",
};
/* Sums are exact in any order of the atomics. */
#define SCATTER(...)                                                                    \
    { .function = "mt_gather_rows_bwd_cuda",                                            \
      .sizes = "NVC",                                                                   \
      .operand = { MG_ADDED("dtable", "VC", .dist = SIXTEENTHS), MG_READ("dout", "NC"), \
                   MG_LABELS("id", "N", .classes = 'V') },                              \
      .oracle = scatter,                                                                \
      .dist = SIXTEENTHS,                                                               \
      .least = { 0, 1, 0 },                                                             \
      .grid = "N",                                                                      \
      __VA_ARGS__ }
const mg_kernel mg_06_scatter = SCATTER(), mg_06_scatter_once = SCATTER(.fit = room_for_all, .draw = distinct_ids);
