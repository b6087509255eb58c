/* test_matmul.c -- every rung of the ladder against a double-precision oracle.
 *
 * Operands are adjacent to guard pages, once at their end and once at their beginning; the gaps between rows hold NaN
 * in A and B and a known pattern in C. So an access outside the operands crashes or changes the result. The tolerance
 * is the a priori bound on a sum of n terms in any order, n u / (1 - n u) sum |a||b|, with u = 2^-24 and n = K + 1
 * (Higham 2002, sec. 3.1). */
#include "kernels/matmul.h"
#include "testing/matmul_ladder.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <math.h>
#include <omp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define CANARY 0x1.badc0ep+17f

/* ---- memory between two guard pages ---------------------------------------------------------- */

typedef struct arena {
    float *first; /* right after a guard page */
    size_t count; /* number of floats before the next guard page */
} arena;

static arena arena_new(size_t floats)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = (floats * sizeof(float) + page - 1) / page * page;
    char *at = mmap(NULL, bytes + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    cr_assert_neq((void *)at, MAP_FAILED);
    cr_assert_eq(mprotect(at + page, bytes, PROT_READ | PROT_WRITE), 0);
    return (arena){ (float *)(at + page), bytes / sizeof(float) };
}

/* Room for this many floats, adjacent to the first guard page or to the last. */
static float *arena_place(arena m, int64_t floats, bool at_end)
{
    cr_assert_leq((size_t)floats, m.count);
    return at_end ? m.first + m.count - floats : m.first;
}

/* ---- one case -------------------------------------------------------------------------------- */

static uint64_t state = 0x5eed01;

/* Uniform in [-1, 1): xorshift64*, Vigna 2016. */
static float uniform(void)
{
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return (float)(state * 0x2545f4914f6cdd1dull >> 40) * 0x1p-23f - 1;
}

static int64_t pick(const int64_t *from, int64_t count)
{
    return from[(int64_t)((uniform() + 1) / 2 * (float)count)];
}

/* The number of floats a stored matrix spans: no gap after its last row. */
static int64_t span(int64_t rows, int64_t cols, int64_t ld)
{
    return rows && cols ? (rows - 1) * ld + cols : 0;
}

/* Fill a stored matrix: values in its rows, `gap` between them. */
static void fill(float *at, int64_t rows, int64_t cols, int64_t ld, float gap)
{
    for (int64_t i = 0; i < span(rows, cols, ld); i++)
        at[i] = i % ld < cols ? uniform() : gap;
}

enum { MOST = 600000, MARGIN = 64 };
static arena memory_a, memory_b, memory_c;
static float *before;       /* what C held, as far as C reaches */
static double *want, *size; /* [M,N] the result, and the sum of the sizes of its terms */

static void setup(void)
{
    memory_a = arena_new(MOST);
    memory_b = arena_new(MOST);
    memory_c = arena_new(MOST);
    before = malloc(MOST * sizeof *before);
    want = malloc(MOST * sizeof *want);
    size = malloc(MOST * sizeof *size);
}

static void teardown(void)
{
    free(before);
    free(want);
    free(size);
}

static void oracle(const float *a, const float *b, const mt_matmul_dims *d)
{
    for (int64_t i = 0; i < d->M; i++) {
        for (int64_t j = 0; j < d->N; j++) {
            double sum = d->write == MT_ACCUMULATE ? before[i * d->ldc + j] : 0, sum_size = fabs(sum);
            for (int64_t k = 0; k < d->K; k++) {
                double term = (double)a[d->trans_a ? k * d->lda + i : i * d->lda + k] *
                              b[d->trans_b ? j * d->ldb + k : k * d->ldb + j];
                sum += term;
                sum_size += fabs(term);
            }
            want[i * d->N + j] = sum;
            size[i * d->N + j] = sum_size;
        }
    }
}

static bool inside(int64_t at, const mt_matmul_dims *d)
{
    return at >= 0 && at < span(d->M, d->N, d->ldc) && at % d->ldc < d->N;
}

/* Run one step of the ladder on a C that has NaN where it is to be overwritten and a known pattern elsewhere. */
static void check_rung(const mt_matmul_rung *rung, float *c, const float *a, const float *b, const mt_matmul_dims *d)
{
    int64_t low = mt_max(-MARGIN, memory_c.first - c);
    int64_t high = mt_min(span(d->M, d->N, d->ldc) + MARGIN, memory_c.first + memory_c.count - c);
    for (int64_t at = low; at < high; at++)
        c[at] = !inside(at, d) ? CANARY : d->write == MT_ACCUMULATE ? before[at] : NAN;

    rung->run(c, a, b, d);

    double n = (double)d->K + 1, bound = n * 0x1p-24 / (1 - n * 0x1p-24);
    for (int64_t at = low; at < high; at++) {
        bool in = inside(at, d);
        int64_t i = in ? at / d->ldc : -1, j = in ? at % d->ldc : at;
        double expected = in ? want[i * d->N + j] : CANARY, tolerance = in ? bound * size[i * d->N + j] : 0;
        if (!(fabs(c[at] - expected) <= tolerance))
            cr_assert_fail("%s M=%" PRId64 " N=%" PRId64 " K=%" PRId64 " lda=%" PRId64 " ldb=%" PRId64 " ldc=%" PRId64
                           " trans %d %d write %d: C[%" PRId64 ",%" PRId64 "]%s = %.9g, expected %.9g, tolerance %.2g",
                           rung->name, d->M, d->N, d->K, d->lda, d->ldb, d->ldc, d->trans_a, d->trans_b, d->write, i, j,
                           in ? "" : " (outside)", c[at], expected, tolerance);
    }
}

static void check_case(const mt_matmul_dims *d, bool at_end)
{
    int64_t a_rows = d->trans_a ? d->K : d->M, a_cols = d->trans_a ? d->M : d->K;
    int64_t b_rows = d->trans_b ? d->N : d->K, b_cols = d->trans_b ? d->K : d->N;
    float *a = arena_place(memory_a, span(a_rows, a_cols, d->lda), at_end);
    float *b = arena_place(memory_b, span(b_rows, b_cols, d->ldb), at_end);
    float *c = arena_place(memory_c, span(d->M, d->N, d->ldc), at_end);
    fill(a, a_rows, a_cols, d->lda, NAN);
    fill(b, b_rows, b_cols, d->ldb, NAN);
    fill(before, d->M, d->N, d->ldc, CANARY);
    oracle(a, b, d);
    for (const mt_matmul_rung *rung = mt_matmul_ladder_cpu; rung->name; rung++)
        check_rung(rung, c, a, b, d);
}

/* All ways to lay out one shape. */
static void check_shape(int64_t M, int64_t N, int64_t K)
{
    static const int64_t gaps[] = { 0, 0, 1, 3, 16, 29 };
    for (int way = 0; way < 16; way++) {
        mt_matmul_dims d = { .M = M, .N = N, .K = K };
        d.trans_a = way & 1 ? MT_TRANS : MT_NO_TRANS;
        d.trans_b = way & 2 ? MT_TRANS : MT_NO_TRANS;
        d.write = way & 4 ? MT_ACCUMULATE : MT_OVERWRITE;
        d.lda = (d.trans_a ? M : K) + pick(gaps, MT_COUNT(gaps));
        d.ldb = (d.trans_b ? K : N) + pick(gaps, MT_COUNT(gaps));
        d.ldc = N + pick(gaps, MT_COUNT(gaps));
        check_case(&d, way & 8);
    }
}

TestSuite(matmul, .init = setup, .fini = teardown, .timeout = 300);

Test(matmul, every_small_shape)
{
    static const int64_t sizes[] = { 0, 1, 2, 3, 7, 13 };
    for (int64_t m = 0; m < MT_COUNT(sizes); m++)
        for (int64_t n = 0; n < MT_COUNT(sizes); n++)
            for (int64_t k = 0; k < MT_COUNT(sizes); k++)
                check_shape(sizes[m], sizes[n], sizes[k]);
}

Test(matmul, around_tiles_and_vectors)
{
    static const int64_t sizes[] = { 1, 4, 5, 10, 14, 15, 16, 17, 29, 31, 32, 33, 48, 63, 64, 65, 127 };
    for (int i = 0; i < 60; i++)
        check_shape(pick(sizes, MT_COUNT(sizes)), pick(sizes, MT_COUNT(sizes)), pick(sizes, MT_COUNT(sizes)));
}

/* K larger than a block of B, M larger than a block of A, N too large for reading B unpacked, rows of A far apart. */
Test(matmul, around_blocks)
{
    static const int64_t shapes[][3] = { { 3, 5, 383 },   { 3, 33, 385 },  { 15, 17, 800 }, { 281, 7, 5 },
                                         { 300, 33, 17 }, { 565, 3, 20 },  { 2, 513, 9 },   { 16, 560, 40 },
                                         { 150, 64, 33 }, { 13, 31, 1030 } };
    for (int64_t s = 0; s < MT_COUNT(shapes); s++)
        check_shape(shapes[s][0], shapes[s][1], shapes[s][2]);
}

Test(matmul, same_bits_for_any_number_of_threads)
{
    static const int64_t shapes[][3] = {
        { 64, 256, 784 }, { 256, 64, 400 }, { 97, 203, 391 },
        { 1000, 10, 50 }, { 7, 700, 60 },   { 2, 8, 32000 } /* two rows, or one for each thread */
    };
    static float a[260000], b[260000], c[2][60000];
    fill(a, 1, MT_COUNT(a), MT_COUNT(a), 0);
    fill(b, 1, MT_COUNT(b), MT_COUNT(b), 0);
    for (int64_t s = 0; s < 8 * MT_COUNT(shapes); s++) {
        const int64_t *shape = shapes[s / 8];
        mt_matmul_dims d = {
            .M = shape[0], .N = shape[1], .K = shape[2], .ldc = shape[1], .trans_a = s & 1, .trans_b = s >> 1 & 1
        };
        d.lda = d.trans_a ? d.M : d.K;
        d.ldb = d.trans_b ? d.K : d.N;
        d.write = s & 4 ? MT_ACCUMULATE : MT_OVERWRITE;
        size_t bytes = (size_t)(d.M * d.N) * sizeof(float);
        memcpy(c[0], b, bytes);
        mt_matmul_packed_cpu(c[0], a, b, &d);
        for (int threads = 1; threads <= 7; threads++) {
            omp_set_num_threads(threads);
            memcpy(c[1], b, bytes);
            mt_matmul_parallel_cpu(c[1], a, b, &d);
            cr_assert_eq(memcmp(c[0], c[1], bytes), 0,
                         "%d threads: %" PRId64 "x%" PRId64 "x%" PRId64 " differs in bits", threads, d.M, d.N, d.K);
        }
    }
}

/* A NaN in row 3 of A affects row 3 of C only: the padding of a panel is not used. */
Test(matmul, nan_stays_in_its_row)
{
    enum { M = 30, N = 37, K = 19 };
    static float a[M * K], b[K * N], c[M * N];
    fill(a, M, K, K, 0);
    fill(b, K, N, N, 0);
    a[3 * K + 5] = NAN;
    for (const mt_matmul_rung *rung = mt_matmul_ladder_cpu; rung->name; rung++) {
        rung->run(c, a, b, &(mt_matmul_dims){ .M = M, .N = N, .K = K, .lda = K, .ldb = N, .ldc = N });
        for (int i = 0; i < M * N; i++)
            cr_assert_eq(isnan(c[i]) != 0, i / N == 3, "%s: C[%d,%d] = %g", rung->name, i / N, i % N, c[i]);
    }
}

Test(matmul, negative_size_aborts, .signal = SIGABRT)
{
    float x = 0;
    mt_matmul_parallel_cpu(&x, &x, &x, &(mt_matmul_dims){ .M = 1, .N = -1, .K = 1, .lda = 1, .ldb = 1, .ldc = 1 });
}

Test(matmul, short_leading_dimension_aborts, .signal = SIGABRT)
{
    float x[8] = { 0 };
    mt_matmul_naive_cpu(x, x, x, &(mt_matmul_dims){ .M = 2, .N = 1, .K = 2, .lda = 2, .ldb = 1, .ldc = 0 });
}

Test(matmul, transposed_leading_dimension_is_checked, .signal = SIGABRT)
{
    float x[8] = { 0 };
    mt_matmul_packed_cpu(
        x, x, x, &(mt_matmul_dims){ .M = 3, .N = 1, .K = 2, .lda = 2, .ldb = 1, .ldc = 1, .trans_a = MT_TRANS });
}
