/* 07-run.c -- how the checks of lab 07 run: products of awkward sizes, counts. The rows and their
 * points are in 07-matmul.c; the linear layer is in 07-linear.c. */
#include "checks/07-matmul.h"
#include "checks/answer.h"
#include "checks/oracle.h"
#include "checks/product.h"
#include "rows/run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- one product ---------------------------------------------------------------------------- */

static double element(const float *x, int64_t ld, mt_trans trans, int64_t i, int64_t j)
{
    return fabs((double)x[trans ? j * ld + i : i * ld + j]);
}

/* Adds the effect of rounding the operands to 16 bits to the tolerance: a relative error of `unit` each, or 2^-25 below
 * the smallest normal f16. Second order: unit^2 < unit / 100. */
static void allow_rounding(double *tolerance, const mg_product *p, double unit)
{
    const mt_matmul_dims *d = &p->dims;
    for (int64_t i = 0; i < d->M; i++)
        for (int64_t j = 0; j < d->N; j++)
            for (int64_t k = 0; k < d->K; k++) {
                double a = element(p->a, d->lda, d->trans_a, i, k), b = element(p->b, d->ldb, d->trans_b, k, j);
                tolerance[i * d->ldc + j] += 2.01 * unit * a * b + 0x1p-25 * (a + b);
            }
}

static bool expect(mg_run *run, const mg_product *p, double unit)
{
    if (unit == 0)
        return mg_product_expect(run, p, NULL);
    int64_t count = mg_product_span(&p->dims);
    double *want = mg_doubles(count), *tolerance = mg_doubles(count);
    mg_oracle_matmul(want, tolerance, p->c0, p->a, p->b, &p->dims);
    allow_rounding(tolerance, p, unit);
    bool good = mg_expect(run, "c", want, tolerance);
    free(want);
    free(tolerance);
    return good;
}

/* Multiplies A by so much: 2^50 is far outside the range of f16, but not of bf16. */
static void scale(const mg_product *p, float by)
{
    const mt_matmul_dims *d = &p->dims;
    float *a = (float *)p->a; /* memory of the run, not yet sent */
    for (int64_t i = 0; i < d->M && by != 1; i++)
        for (int64_t k = 0; k < d->K; k++)
            a[d->trans_a ? k * d->lda + i : i * d->lda + k] *= by;
}

static bool check_product(mg_run *run, const char *function, mt_matmul_dims dims, double unit, float by)
{
    mg_product p = { .dims = dims };
    mg_product_describe(run, function, &p);
    scale(&p, by);
    return mg_call(run) && expect(run, &p, unit);
}

/* One number x of A, or of B, is NaN or infinite, and meets zeros, or 1, -1, 0 ..., in a row of B or a column of A: 0
 * times either is NaN. So a whole row, or column, of C is not finite. */
static bool not_finite(mg_run *run, const char *function, double unit, float x, bool in_b)
{
    enum { M = 7, N = 6, K = 5, i = 4, j = 3, k = 2 };
    static const float met[] = { 1, -1, 0 };
    mg_product p = { .dims = mg_product_tight(M, N, K, MT_NO_TRANS, MT_NO_TRANS) };
    mg_product_describe(run, function, &p);
    float *a = (float *)p.a, *b = (float *)p.b; /* memory of the run, not yet sent */
    for (int64_t n = 0; n < (in_b ? M : N); n++)
        *(in_b ? &a[n * K + k] : &b[k * N + n]) = isnan(x) ? 0 : met[n % 3];
    double *want = mg_doubles(M * N), *tolerance = mg_doubles(M * N);
    mg_oracle_matmul(want, tolerance, p.c0, p.a, p.b, &p.dims);
    allow_rounding(tolerance, &p, unit);
    *(in_b ? &b[k * N + j] : &a[i * K + k]) = x;
    for (int64_t n = 0; n < (in_b ? M : N); n++)
        want[in_b ? n * N + j : i * N + n] = isnan(x) || met[n % 3] == 0 ? (double)NAN : (double)(x * met[n % 3]);
    mg_hint(run, "one number of %c is %s: products with it count like any other, and 0 times it is NaN",
            in_b ? 'B' : 'A', isnan(x) ? "NaN" : "infinite");
    bool good = mg_call(run) && mg_expect(run, "c", want, tolerance);
    free(want);
    free(tolerance);
    return good;
}

/* ---- rows of values ------------------------------------------------------------------------- */

/* Sizes that every row tries, -1 for a random one: 0, 1, the sizes of a warp and of every tile plus and minus
 * one, and each dimension once much longer than the others. K = 0 comes twice, the second time adding to C. */
enum { STRAIGHT, A_TURNED, B_TURNED, BOTH_TURNED }; /* bit 0: A is transposed, bit 1: B is */
static const struct shape {
    const char *part;
    int64_t M, N, K;
    mt_write write;          /* of strides */
    int transposes, strides; /* which operands are transposed in the rows about these */
    bool far;                /* A is beyond the range of f16, where only the range of bf16 is needed */
} shapes[] = {
    { NULL, -1, -1, -1, MT_ACCUMULATE, A_TURNED, STRAIGHT },
    { NULL, -1, -1, -1, MT_OVERWRITE, B_TURNED, A_TURNED, true },
    { NULL, 31, 33, 17, MT_OVERWRITE, BOTH_TURNED, B_TURNED },
    { NULL, 65, 31, 33, MT_ACCUMULATE, A_TURNED, BOTH_TURNED, true },
    { NULL, 129, 131, 36, MT_OVERWRITE, B_TURNED, STRAIGHT },
    { "one element", 1, 1, 1, MT_OVERWRITE, BOTH_TURNED, A_TURNED, true },
    { "no rows", 0, 5, 7, MT_OVERWRITE, A_TURNED, B_TURNED },
    { "no columns", 5, 0, 7, MT_OVERWRITE, B_TURNED, BOTH_TURNED, true },
    { "sums of nothing", 6, 5, 0, MT_OVERWRITE, BOTH_TURNED, STRAIGHT },
    { "sums of nothing", 5, 6, 0, MT_ACCUMULATE, A_TURNED, A_TURNED, true },
    { "one row", 1, -1, -1, MT_ACCUMULATE, B_TURNED, B_TURNED },
    { "one column", -1, 1, -1, MT_ACCUMULATE, BOTH_TURNED, BOTH_TURNED, true },
    { "one product an element", -1, -1, 1, MT_OVERWRITE, A_TURNED, STRAIGHT },
    { "whole tiles", 16, 16, 16, MT_OVERWRITE, B_TURNED, A_TURNED, true },
    { "whole tiles", 32, 64, 127, MT_OVERWRITE, BOTH_TURNED, B_TURNED },
    { "whole tiles", 127, 65, 8, MT_ACCUMULATE, A_TURNED, BOTH_TURNED, true },
    { "one long dimension", 3, 301, 5, MT_ACCUMULATE, B_TURNED, STRAIGHT },
    { "one long dimension", 263, 3, 5, MT_ACCUMULATE, BOTH_TURNED, A_TURNED, true },
    { "one long dimension", 5, 7, 517, MT_OVERWRITE, A_TURNED, B_TURNED },
};

static int64_t size_or_random(mt_rng *rng, int64_t size)
{
    return size >= 0 ? size : mg_pick_size(rng, 1, 70);
}

static mt_matmul_dims vary(mt_rng *rng, ladder_about about, const struct shape *s)
{
    int64_t M = size_or_random(rng, s->M), N = size_or_random(rng, s->N), K = size_or_random(rng, s->K);
    int trans = about == LD_TRANS ? s->transposes : about == LD_STRIDES ? s->strides : STRAIGHT;
    mt_matmul_dims d = mg_product_tight(M, N, K, trans & 1, trans >> 1);
    if (about == LD_STRIDES) {
        d.lda += mg_pick(rng, 1, 9);
        d.ldb += mg_pick(rng, 1, 9);
        d.ldc += mg_pick(rng, 1, 9);
        d.write = s->write;
    }
    return d;
}

/* Whole sixteenths up to 3, in every 16-bit type: products are whole 256ths, and 1,000 of them exact in f32, in any
 * order. In f16 a sum of 64 or more has steps of a 16th. */
static void exact_sums(mg_run *run, const char *function)
{
    mg_product p = { .dims = mg_product_tight(40, 33, 1000, MT_NO_TRANS, MT_NO_TRANS) };
    mg_product_describe(run, function, &p);
    float *x[] = { (float *)p.a, (float *)p.b }; /* memory of the run, not yet sent */
    const int64_t count[] = { 40 * 1000, 1000 * 33 };
    for (int o = 0; o < 2; o++)
        for (int64_t i = 0; i < count[o]; i++)
            x[o][i] = (float)(mt_rng_below(mg_rng(run), 97) - 48) / 16;
    double *want = mg_doubles(40 * 33), *tolerance = mg_doubles(40 * 33);
    mg_oracle_matmul(want, tolerance, p.c0, p.a, p.b, &p.dims);
    if (mg_call(run))
        mg_expect(run, "c", want, NULL);
    free(want);
    free(tolerance);
}

/* Rows of 1, 2 or 3 floats more than whole groups of four, each at a multiple of 16 bytes: NaN lies behind them. */
static mt_matmul_dims vary_groups(int64_t rest, int turned)
{
    mt_matmul_dims d = mg_product_tight(4 + rest, 8 + rest, 12 + rest, turned & 1, turned >> 1 & 1);
    d.lda = (d.lda | 3) + 1;
    d.ldb = (d.ldb | 3) + 1;
    d.ldc = (d.ldc | 3) + 1;
    d.write = rest % 2 ? MT_OVERWRITE : MT_ACCUMULATE;
    return d;
}

/* One row of one operand or of the result, and the next would be 2^32 numbers further. */
static mt_matmul_dims long_rows(int operand)
{
    mt_matmul_dims d = mg_product_tight(1, 5, 1, MT_NO_TRANS, MT_NO_TRANS);
    *(operand == 0 ? &d.lda : operand == 1 ? &d.ldb : &d.ldc) = INT64_C(1) << 32;
    return d;
}

/* x 1 and 1 x: what f16 cannot hold is infinite, and its least numbers, 2^-24 and some more, do not become 0. */
static bool ends_of_f16(mg_run *run, const char *function)
{
    enum { SIZE = 5 };
    static const float x[SIZE] = { 70000, -70000, 65504, 0x1.02p-16f, 0x1p-24f };
    bool good = true;
    mg_part(run, "the ends of f16",
            "convert operands to f16 by __float2half or half(x): the result is infinite beyond 65504, and is not 0 "
            "below 2^-14");
    for (int o = 0; o < 2 && good; o++) {
        mg_product p = { .dims = mg_product_tight(SIZE, SIZE, 1, MT_NO_TRANS, MT_NO_TRANS) };
        mg_product_describe(run, function, &p);
        float *a = (float *)p.a, *b = (float *)p.b; /* memory of the run, not yet sent */
        double want[SIZE * SIZE];
        for (int i = 0; i < SIZE; i++) {
            a[i] = o ? 1 : x[i];
            b[i] = o ? x[i] : 1;
        }
        for (int i = 0; i < SIZE * SIZE; i++) {
            float factor = x[o ? i % SIZE : i / SIZE];
            want[i] = fabsf(factor) > 65504 ? copysign(INFINITY, factor) : factor;
        }
        good = mg_call(run) && mg_expect(run, "c", want, NULL);
    }
    return good;
}

/* What the header says must abort: a negative size, even where another is 0, or a leading dimension too small. */
static const struct {
    mt_matmul_dims dims;
    const char *what;
} refused[] = {
    { { 3, 5, 7, 7, 4, 5, MT_NO_TRANS, MT_NO_TRANS, MT_OVERWRITE }, "ldb = 4 for rows of 5" },
    { { 3, 5, 7, 6, 5, 5, MT_NO_TRANS, MT_NO_TRANS, MT_OVERWRITE }, "lda = 6 for rows of 7" },
    { { 3, 5, 7, 7, 5, 4, MT_NO_TRANS, MT_NO_TRANS, MT_OVERWRITE }, "ldc = 4 for rows of 5" },
    { { 9, 5, 4, 8, 5, 5, MT_TRANS, MT_NO_TRANS, MT_OVERWRITE }, "lda = 8 for rows of 9, transposed" },
    { { 3, 5, 7, 7, 6, 5, MT_NO_TRANS, MT_TRANS, MT_OVERWRITE }, "ldb = 6 for rows of 7, transposed" },
    { { -1, 5, 7, 7, 5, 5, MT_NO_TRANS, MT_NO_TRANS, MT_OVERWRITE }, "M = -1" },
    { { 0, -1, 7, 7, 5, 5, MT_NO_TRANS, MT_NO_TRANS, MT_OVERWRITE }, "N = -1 with M = 0" },
    { { 3, 5, -1, 7, 5, 5, MT_NO_TRANS, MT_NO_TRANS, MT_OVERWRITE }, "K = -1" },
};

static bool refuses(mg_run *run, const char *launcher, int t)
{
    char function[64];
    mg_product p = { .dims = refused[t].dims };
    snprintf(function, sizeof function, "may abort: %s", launcher);
    mg_product_describe(run, function, &p);
    mg_out(run, "aborted", MT_I64, MT_SHAPE(1));
    mg_part(run, "refusals", "call mt_matmul_dims_check first, as every version does");
    if (!mg_call(run))
        return false;
    if (*(const int64_t *)mg_result(run, "aborted") != 1)
        mg_fail(run, "%s was accepted", refused[t].what);
    return *(const int64_t *)mg_result(run, "aborted") == 1;
}

/* Rows that end behind a whole group of four floats; the leading dimensions stay multiples of four. */
static bool groups(mg_run *run, const ladder_case *c)
{
    static const mg_idea arrays[] = { { "rows that are not a multiple of four", .is = 0 },
                                      { "arrays that are not aligned", .is = 1 },
                                      { "one array that is not aligned", .is = 2 } };
    for (mg_ideas each = { 0 }; MG_NEXT(run, &each, arrays, 0);)
        for (int rest = 1, array = 0; rest < 4; rest++)
            for (int turned = STRAIGHT; turned <= BOTH_TURNED; turned++) {
                mg_unaligned(run, each.is > 0);
                if (each.is > 1)
                    mg_unaligned_one(run, array++);
                if (!check_product(run, c->function, vary_groups(rest, turned), c->unit, 1))
                    return false;
            }
    return true;
}

static bool strides(mg_run *run, const ladder_case *c)
{
    mg_part(run, "whole tiles", "a kernel may store whole tiles without a test of each element");
    mg_unaligned(run, true);
    bool good = check_product(run, c->function, mg_product_tight(128, 128, 16, MT_NO_TRANS, MT_NO_TRANS), c->unit, 1);
    mg_part(run, "leading dimensions of 2^32", "leading dimensions are int64_t, and so is every index");
    for (int o = 0; o < 3 && good; o++)
        good = check_product(run, c->function, long_rows(o), c->unit, 1);
    good = good && groups(run, c);
    mg_unaligned(run, false);
    for (int t = 0; t < MT_COUNT(refused) && good; t++)
        good = refuses(run, c->function, t);
    return good;
}

static bool values(mg_run *run, const ladder_case *c)
{
    bool good = true;
    for (int t = 0; t < MT_COUNT(shapes) && good; t++) {
        float by = c->unit > U16 && shapes[t].far ? 0x1p50f : 1;
        mg_part(run, shapes[t].part, NULL);
        good = check_product(run, c->function, vary(mg_rng(run), c->about, &shapes[t]), c->unit, by);
    }
    if (good && c->about == LD_STRIDES)
        return strides(run, c);
    for (int k = 0; k < 2 && good && c->about == LD_SIZES; k++) {
        mg_part(run, "NaN", "a NaN makes every element NaN that it has a part in, also where the other factor is 0");
        good = not_finite(run, c->function, c->unit, NAN, k);
        mg_part(run, "infinity", "0 times infinity is NaN: leave out no product, not even one with a factor of 0");
        good = good && not_finite(run, c->function, c->unit, INFINITY, k);
    }
    return good && (c->about != LD_SIZES || c->unit != U16 || ends_of_f16(run, c->function));
}

void mg_07_values(mg_run *run, const void *one_case)
{
    const ladder_case *c = one_case, f16_strides = { .function = F16, .about = LD_STRIDES, .unit = U16 };
    if (c->about == LD_EXACT)
        exact_sums(run, c->function);
    else if (values(run, c) && c->about == LD_STRIDES && c->unit == UB16)
        values(run, &f16_strides); /* which has no row of its own */
}

/* ---- counts --------------------------------------------------------------------------------- */

enum { M = 256, N = 256, K = 128 };

static void wavefronts(mg_run *run)
{
    const mg_device_report *r = mg_device_counts(run);
    char bar[sizeof run->row->step + sizeof run->row->name];
    snprintf(bar, sizeof bar, "%s %s", run->row->step, run->row->name);
    int64_t sum = 0;
    for (int kind = 0; kind < 3; kind++)
        sum += r->shared[kind].passes;
    double value = 32.0 * (double)sum / ((double)M * N * K);
    if (value < 0.01)
        mg_fail(run,
                "counted %.3g wavefronts of shared memory for 32 multiply-adds: the tiles must be in shared memory",
                value);
    mg_note(run, "%.3f wavefronts for 32 multiply-adds (bar %.2f .. %.2f)  counted, no GPU", value,
            mg_bar(run, bar, "low"), mg_bar(run, bar, "full"));
    mg_credit(run, bar, value);
}

void mg_07_counts(mg_run *run, const void *one_case)
{
    static const mg_count counts[] = { MG_TRAFFIC, MG_REQUESTS };
    const double bytes = 4.0 * (M * K + K * N + M * N);
    const ladder_bar *c = one_case;
    if (!check_product(run, c->function, mg_product_tight(M, N, K, c->turned, c->turned), c->unit, 1))
        return;
    mg_flops(run, 2.0 * M * N * K);
    if (c->count == LD_WAVEFRONTS)
        wavefronts(run);
    else if (c->count == LD_CONFLICTS)
        mg_device_credit_shared(run, MG_CONFLICTS,
                                c->turned ? "07.3 shared: transposed traffic" : "07.5 register: traffic", bytes);
    else
        mg_device_credit(run, counts[c->count], bytes);
}

void mg_07_compiled(mg_run *run, const void *one_case)
{
    const ladder_fact *c = one_case;
    if (check_product(run, c->function, mg_product_tight(M, N, K, false, false), c->unit, 1))
        mg_compiled_fact(run, c->file, c->fact);
}
