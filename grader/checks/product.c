/* product.c -- see product.h. */
#include "checks/product.h"
#include "checks/fill.h"
#include "checks/oracle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Length of a stored matrix: rows of `cols` numbers, ld apart, up to the last number without the gap after it. */
static int64_t span(int64_t rows, int64_t cols, int64_t ld)
{
    return rows > 0 && cols > 0 ? (rows - 1) * ld + cols : 0;
}

static int64_t span_a(const mt_matmul_dims *d)
{
    return d->trans_a ? span(d->K, d->M, d->lda) : span(d->M, d->K, d->lda);
}

static int64_t span_b(const mt_matmul_dims *d)
{
    return d->trans_b ? span(d->N, d->K, d->ldb) : span(d->K, d->N, d->ldb);
}

int64_t mg_product_span(const mt_matmul_dims *d)
{
    return span(d->M, d->N, d->ldc);
}

/* NaN with bits of its own: a sum of what was read in a gap keeps them. */
static float gap_nan(char of)
{
    uint32_t bits = 0x7fc00000u | (uint32_t)of;
    float nan;
    memcpy(&nan, &bits, sizeof nan);
    return nan;
}

static void fill_matrix(mt_rng *rng, float *x, int64_t count, int64_t cols, int64_t ld, float gap)
{
    mg_fill(rng, x, count, (mg_dist)NORMAL(0, 1));
    for (int64_t i = 0; i < count && ld > cols; i++)
        if (i % ld >= cols)
            x[i] = gap;
}

mt_matmul_dims mg_product_tight(int64_t M, int64_t N, int64_t K, mt_trans trans_a, mt_trans trans_b)
{
    return (mt_matmul_dims){ M, N, K, trans_a ? M : K, trans_b ? K : N, N, trans_a, trans_b, MT_OVERWRITE };
}

static void send_sizes(mg_run *run, const mt_matmul_dims *d)
{
    mg_i64(run, "M", d->M);
    mg_i64(run, "N", d->N);
    mg_i64(run, "K", d->K);
}

void mg_product_form(mg_run *run, const mg_product *p)
{
    const mt_matmul_dims *d = &p->dims;
    mg_i64(run, "lda", d->lda);
    mg_i64(run, "ldb", d->ldb);
    mg_i64(run, "ldc", d->ldc);
    mg_i64(run, "trans_a", d->trans_a);
    mg_i64(run, "trans_b", d->trans_b);
    mg_i64(run, "accumulate", d->write == MT_ACCUMULATE);
    if (p->dtype != MT_F32)
        mg_i64(run, "dtype", p->dtype);
}

/* An operand, drawn in f32 and rounded to its type; none of its numbers is subnormal in f16. */
static void *send_matrix(mg_run *run, const char *name, mt_dtype dtype, int64_t count, int64_t cols, int64_t ld)
{
    void *sent = mg_in(run, name, dtype, MT_SHAPE(count));
    float *x = dtype == MT_F32 ? sent : malloc((size_t)mt_max(count, 1) * sizeof *x);
    MT_CHECK(x, "out of memory for %lld floats", (long long)count);
    fill_matrix(mg_rng(run), x, count, cols, ld, gap_nan(*name));
    for (int64_t i = 0; i < count && x != sent; i++)
        mt_store_f64(sent, dtype, i, fabsf(x[i]) < 0x1p-14f ? 0x1p-14f : x[i]);
    if (x != sent)
        free(x);
    return sent;
}

static void send_matrices(mg_run *run, mg_product *p)
{
    const mt_matmul_dims *d = &p->dims;
    void *a = send_matrix(run, "a", p->dtype, span_a(d), d->trans_a ? d->M : d->K, d->lda);
    void *b = send_matrix(run, "b", p->dtype, span_b(d), d->trans_b ? d->K : d->N, d->ldb);
    if (p->dtype == MT_F32)
        p->a = a, p->b = b;
    else
        p->a16 = a, p->b16 = b;
}

void mg_product_inputs(mg_run *run, mg_product *p)
{
    send_matrices(run, p);
    send_sizes(run, &p->dims);
    mg_product_form(run, p);
}

void mg_product_arrays(mg_run *run, mg_product *p)
{
    const mt_matmul_dims *d = &p->dims;
    int64_t count = mg_product_span(d);
    float *c = mg_inout(run, "c", MT_F32, MT_SHAPE(count));
    mg_fill(mg_rng(run), c, count, (mg_dist)NORMAL(0, 1));
    for (int64_t i = 0; i < count; i++)
        if (d->write == MT_OVERWRITE && i % d->ldc < d->N)
            c[i] = NAN;
    p->c0 = c;
    send_matrices(run, p);
}

void mg_product_describe(mg_run *run, const char *function, mg_product *p)
{
    mg_begin(run, function);
    mg_product_arrays(run, p);
    send_sizes(run, &p->dims);
    mg_product_form(run, p);
}

/* The wrong elements: how many lie in gaps, and the rows and columns of the others. */
typedef struct wrong {
    int64_t gaps, gap, count, rows[2], cols[2];
    uint32_t bits; /* of the first */
} wrong;

static wrong find_wrong(mg_run *run, const mt_matmul_dims *d, const double *want, const double *tolerance)
{
    wrong w = { .rows = { d->M, -1 }, .cols = { d->N, -1 } };
    const float *c = mg_result(run, "c");
    for (int64_t i = 0; i < mg_product_span(d); i++) {
        int64_t row = i / d->ldc, col = i % d->ldc;
        if (!mg_wrong(run, "c", i, want[i], tolerance[i]))
            continue;
        if (col >= d->N) {
            w.gap = w.gaps++ ? w.gap : i;
            continue;
        }
        if (!w.count++)
            memcpy(&w.bits, c + i, sizeof w.bits);
        w.rows[0] = mt_min(w.rows[0], row), w.rows[1] = mt_max(w.rows[1], row);
        w.cols[0] = mt_min(w.cols[0], col), w.cols[1] = mt_max(w.cols[1], col);
    }
    return w;
}

/* What the pattern of wrong elements says about the error. */
void mg_product_recognise(mg_run *run, const mt_matmul_dims *d, const double *want, const double *tolerance,
                          const char *hint)
{
    const wrong w = find_wrong(run, d, want, tolerance);
    char of = (char)w.bits;
    bool gaps = d->lda != (d->trans_a ? d->M : d->K) || d->ldb != (d->trans_b ? d->K : d->N); /* NaN in 16 bits, too */
    if (w.gaps)
        mg_hint(run,
                "c[%lld] is in the gap between two rows of C (N = %lld, ldc = %lld), which must not change: element "
                "(i,j) of C is c[i * ldc + j]",
                (long long)w.gap, (long long)d->N, (long long)d->ldc);
    else if (w.bits == (0x7fc00000u | (uint32_t)of) && (of == 'a' || of == 'b'))
        mg_hint(run, "the nan was read in the gap between two rows of %c, which are ld%c = %lld apart in memory%s",
                of - 'a' + 'A', of, (long long)(of == 'a' ? d->lda : d->ldb),
                (of == 'a' ? d->trans_a : d->trans_b) ? "; transposed, a row in memory is a column of the matrix" : "");
    else if (w.count == d->M * d->N && w.bits == 0x7fc00000u && d->write == MT_OVERWRITE && d->K > 0 && !gaps)
        mg_hint(
            run,
            "every element is NaN: C holds NaN before the call, and MT_OVERWRITE must write all of C and never read "
            "it, not even times 0 (0 * NaN is NaN)");
    else if (w.count && hint)
        mg_hint(run, "%s", hint);
    else if (w.count && (w.cols[1] - w.cols[0] + 1) * (w.rows[1] - w.rows[0] + 1) == w.count && w.count < d->M * d->N)
        mg_hint(run, "rows %lld to %lld and columns %lld to %lld of C are wrong (of %lld x %lld), all others are right",
                (long long)w.rows[0], (long long)w.rows[1], (long long)w.cols[0], (long long)w.cols[1], (long long)d->M,
                (long long)d->N);
}

/* 16-bit numbers as f32; NULL: x is f32. */
static float *widened(const uint16_t *x, mt_dtype dtype, int64_t count)
{
    float *wide = dtype == MT_F32 ? NULL : malloc((size_t)mt_max(count, 1) * sizeof *wide);
    for (int64_t i = 0; wide && i < count; i++)
        wide[i] = (float)mt_load_f64(x, dtype, i);
    return wide;
}

void mg_product_oracle(const mg_product *p, double *want, double *tolerance)
{
    float *a = widened(p->a16, p->dtype, span_a(&p->dims)), *b = widened(p->b16, p->dtype, span_b(&p->dims));
    mg_oracle_matmul(want, tolerance, p->c0, a ? a : p->a, b ? b : p->b, &p->dims);
    free(a);
    free(b);
}

bool mg_product_expect(mg_run *run, const mg_product *p, const char *hint)
{
    int64_t count = mg_product_span(&p->dims);
    double *want = mg_doubles(count), *tolerance = mg_doubles(count);
    mg_product_oracle(p, want, tolerance);
    mg_product_recognise(run, &p->dims, want, tolerance, hint);
    bool good = mg_expect(run, "c", want, tolerance);
    free(want);
    free(tolerance);
    return good;
}

/* ---- races -------------------------------------------------------------------------------------- */

static mg_product racing; /* the call described last; the checker times one pair at a time */

static void describe_race(mg_run *run, const void *one_case, const char *function)
{
    racing = *(const mg_product *)one_case;
    mg_begin(run, function);
    mg_out(run, "c", MT_F32, MT_SHAPE(mg_product_span(&racing.dims)));
    mg_product_inputs(run, &racing);
}

static bool verify_race(mg_run *run, const void *one_case)
{
    (void)one_case;
    return mg_product_expect(run, &racing, NULL);
}

void mg_product_race(mg_run *run, mg_race race, int64_t M, int64_t N, int64_t K, mt_dtype dtype)
{
    const mg_product plain = { .dims = mg_product_tight(M, N, K, MT_NO_TRANS, MT_NO_TRANS), .dtype = dtype };
    const mg_product first = { .dims = mg_product_tight(M, N, K, MT_TRANS, MT_NO_TRANS), .dtype = dtype };
    const mg_product second = { .dims = mg_product_tight(M, N, K, MT_NO_TRANS, MT_TRANS), .dtype = dtype };
    const mg_race_case cases[] = { { "", &plain }, { ", A transposed", &first }, { ", B transposed", &second } };
    race.describe = describe_race;
    race.verify = verify_race;
    mg_perf_each(run, &race, cases, MT_COUNT(cases));
}
