/* test_compress.c -- compressed gradients on ranks: bytes, and that in the end nothing is lost. Values of one message
 * are graded (grader/checks/13-compress.c, 13-topk.c). */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "aborts.h"
#include "core/rng.h"
#include "dist/collectives.h"
#include "dist/compress.h"
#include "on_ranks.h"

TestSuite(compress, .timeout = 60);

enum { MOST = 1009 };

static const int64_t counts[] = { 0, 1, 7, 8, 9, 31, 33, 1009 };

static void fill(float *x, int64_t n, uint64_t seed)
{
    mt_rng rng = mt_rng_new(seed, MT_STREAM_TEST);
    mt_rng_fill_normal(&rng, x, n, 0, 1);
}

Test(compress, more_than_there_is_is_refused)
{
    float x[3] = { 0 }, error[3] = { 0 }, value[4];
    int32_t index[4];
    ABORTS("top-k: 4 of 3 elements", mt_topk_pack(index, value, error, x, 3, 4));
}

/* ---- on ranks --------------------------------------------------------------------------------------- */

enum { STEPS = 20 };

typedef struct trade {
    int64_t n, k; /* k < 0: one bit */
    int steps;
    bool forgets; /* the error of the step before */
    float *got[8];
    double *sum[8]; /* of all steps */
    double *kept;   /* [n] what all ranks have not sent, as part of the mean */
    mt_traffic sent[8];
} trade;

/* The gradient is the same in all steps. */
static mt_status exchange(mt_comm *comm, void *user)
{
    trade *t = user;
    int64_t n = t->n, part = mt_ceil_div(n, comm->size);
    float *x = calloc((size_t)n + 1, sizeof *x), *data = calloc((size_t)n + 1, sizeof *data);
    float *error = calloc((size_t)n + 1, sizeof *error), *part_error = calloc((size_t)part + 1, sizeof *part_error);
    double *sum = t->sum[comm->rank] = calloc((size_t)n + 1, sizeof *sum);
    mt_status status = MT_OK;
    fill(x, n, (uint64_t)comm->rank + 10);
    for (int step = 0; step < t->steps && status == MT_OK; step++) {
        memcpy(data, x, (size_t)n * sizeof *x);
        if (t->forgets) {
            memset(error, 0, (size_t)n * sizeof *error);
            memset(part_error, 0, (size_t)part * sizeof *part_error);
        }
        status = t->k < 0 ? mt_onebit_all_reduce(comm, data, n, error, part_error)
                          : mt_topk_all_reduce(comm, data, n, t->k, error);
        for (int64_t i = 0; i < n; i++)
            sum[i] += (double)data[i];
    }
    t->sent[comm->rank] = mt_comm_traffic(comm);
    t->got[comm->rank] = data;
    for (int64_t i = 0; i < n; i++) /* one rank runs at a time */
        t->kept[i] += (double)error[i] / comm->size;
    for (int64_t i = mt_part_begin(n, comm->size, comm->rank); i < mt_part_begin(n, comm->size, comm->rank + 1); i++)
        t->kept[i] += (double)part_error[i - mt_part_begin(n, comm->size, comm->rank)];
    free(x);
    free(error);
    free(part_error);
    return status;
}

/* The largest difference of what was received and what is kept to the sum of all gradients, for each step; all ranks
 * have the same bits. */
static double off(trade *t, int size, bool checked)
{
    static float x[8][MOST];
    double worst = 0;
    t->kept = calloc((size_t)t->n + 1, sizeof *t->kept);
    cr_assert_eq(run(size, (mt_wires){ .checked = checked }, exchange, t).status, MT_OK, "%s", mt_last_error());
    for (int rank = 0; rank < size; rank++) {
        fill(x[rank], t->n, (uint64_t)rank + 10);
        cr_assert(memcmp(t->got[rank], t->got[0], (size_t)t->n * sizeof(float)) == 0, "rank %d", rank);
    }
    for (int64_t i = 0; i < t->n; i++) {
        double mean = 0;
        for (int rank = 0; rank < size; rank++)
            mean += (double)x[rank][i] / size;
        worst = fmax(worst, fabs((t->sum[0][i] + t->kept[i]) / t->steps - mean));
    }
    for (int rank = 0; rank < size; rank++) {
        free(t->got[rank]);
        free(t->sum[rank]);
    }
    free(t->kept);
    return worst;
}

/* A step rounds some numbers below 100, which are what is kept at the end of some steps without a large error. */
Test(compress, with_error_feedback_nothing_is_lost)
{
    for (int size = 1; size <= 5; size += 2)
        for (int topk = 0; topk < 2; topk++) {
            trade t = { .n = 333, .k = topk ? 33 : -1, .steps = STEPS };
            double with = off(&t, size, true);
            cr_assert_lt(with, (3 + size) * 100 * 0x1p-24, "%d ranks: off by %g in each step", size, with);
            t.forgets = true;
            cr_assert_gt(off(&t, size, false), 0.3, "without it, each step loses the same again");
        }
}

Test(compress, sizes_of_parts_and_of_k)
{
    for (int size = 1; size <= 8; size += size < 3 ? 1 : 5)
        for (int64_t c = 0; c < MT_COUNT(counts); c++) {
            trade t = { .n = counts[c], .k = -1, .steps = 2 };
            off(&t, size, true);
            t.k = counts[c]; /* everything is sent */
            cr_assert_lt(off(&t, size, true), 1e-6);
        }
}

Test(compress, bytes_are_counted)
{
    const int64_t n = 960;
    for (int size = 2; size <= 5; size++) {
        trade one = { .n = n, .k = -1, .steps = 1 }, top = { .n = n, .k = 10, .steps = 1 };
        off(&one, size, false);
        off(&top, size, false);
        for (int rank = 0; rank < size; rank++) {
            int64_t mine = mt_part_begin(n, size, rank + 1) - mt_part_begin(n, size, rank), want = 0;
            for (int r = 0; r < size; r++)
                if (r != rank)
                    want += mt_onebit_bytes(mt_part_begin(n, size, r + 1) - mt_part_begin(n, size, r)) +
                            mt_onebit_bytes(mine);
            cr_assert_eq(one.sent[rank].messages, 2 * (size - 1));
            cr_assert_eq(one.sent[rank].bytes, want);
            cr_assert_eq(top.sent[rank].bytes, 8 * 10 * (size - 1));
        }
    }
}
