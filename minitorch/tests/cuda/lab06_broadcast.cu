/* lab06_broadcast.cu -- test_lab06.cu's part on operands that are views: dense, repeated, transposed, cut out. */
#include "cuda/kernels_cuda.h"
#include "tests/cuda/arrays.h"

#include <math.h>

typedef struct operand {
    const char *name;
    float *host;
    mt_strided device;
} operand;

static mt_view view(int rank, const int64_t *shape, const int64_t *stride, int64_t offset)
{
    mt_view v = {};
    v.rank = rank;
    v.offset = offset;
    for (int d = 0; d < rank; d++)
        v.shape[d] = shape[d], v.stride[d] = stride[d];
    return v;
}

static float at(const operand *o, int64_t i)
{
    const mt_view *v = &o->device.view;
    int64_t place = v->offset;
    for (int d = v->rank - 1; d >= 0; d--) {
        place += i % v->shape[d] * v->stride[d];
        i /= v->shape[d];
    }
    return o->host[place];
}

static double value(int op, double a, double b)
{
    return op == 0 ? a + b : op == 1 ? a - b : op == 2 ? a * b : a / b;
}

static void compare(const operand *a, const operand *b, int64_t N, int64_t C, int shift)
{
    static mt_binary_fwd_fn *const ops[] = { mt_add_fwd_cuda, mt_sub_fwd_cuda, mt_mul_fwd_cuda, mt_div_fwd_cuda };
    for (int op = 0; op < MT_COUNT(ops); op++) {
        float *out = unwritten(N * C, shift);
        double *want = (double *)host_array(N * C, sizeof *want), *by = (double *)host_array(N * C, sizeof *by);
        for (int64_t i = 0; i < N * C; i++) {
            want[i] = value(op, at(a, i), at(b, i));
            by[i] = mt_tolerance(1, fabs(want[i]));
        }
        ops[op](out, &a->device, &b->device);
        verdict(mt_compare(a->name, from_device(out, N * C), want, by, N * C), b->name, N, C);
    }
}

/* Every pair of kinds of operands. Where 4 divides C, a shape [N,C] also as [N,C/4,4], so that there are dimensions
 * that do not merge. */
void test_broadcast(int64_t N, int64_t C, int shift)
{
    int64_t shape[] = { N, C }, folded[] = { N, C / 4, 4 };
    float *x = numbers(60, 2 * N * C + 8, 0.5f, 2), *on = to_device(x, 2 * N * C + 8, shift);
    int64_t dense[] = { C, 1 }, row[] = { 0, 1 }, column[] = { 1, 0 }, scalar[] = { 0, 0 }, turned[] = { 1, N },
            apart[] = { 2 * C, 2 }, dense3[] = { C, 4, 1 }, turned3[] = { 4, 1, N * C / 4 }, repeat3[] = { 4, 0, 1 };
    const operand flat[] = {
        { "dense", x, { on, view(2, shape, dense, 0) } },     { "a row", x, { on, view(2, shape, row, 3) } },
        { "a column", x, { on, view(2, shape, column, 1) } }, { "a scalar", x, { on, view(2, shape, scalar, 5) } },
        { "turned", x, { on, view(2, shape, turned, 2) } },   { "every other", x, { on, view(2, shape, apart, 1) } },
    };
    const operand deep[] = {
        { "dense 3", x, { on, view(3, folded, dense3, 0) } },
        { "turned 3", x, { on, view(3, folded, turned3, 1) } },
        { "repeated 3", x, { on, view(3, folded, repeat3, 2) } },
    };
    for (int a = 0; a < MT_COUNT(flat); a++)
        compare(&flat[a], &flat[(a + shift + 1) % MT_COUNT(flat)], N, C, shift);
    for (int a = 0; C % 4 == 0 && a < MT_COUNT(deep); a++)
        compare(&deep[a], &deep[(a + 1) % MT_COUNT(deep)], N, C, shift);
}
