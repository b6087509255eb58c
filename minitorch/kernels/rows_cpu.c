/* rows_cpu.c -- gathering rows of a table, dropout. */
#include "kernels/kernels.h"

#include <inttypes.h>
#include <string.h>

enum { COLUMNS = 128, COSTLY_FROM = MT_PARALLEL_FROM / 4 }; /* of one thread; elements worth threads in dropout */

static void check_ids(const int32_t *id, int64_t N, int64_t V)
{
    for (int64_t n = 0; n < N; n++)
        MT_CHECK(id[n] >= 0 && id[n] < V, "gather: id[%" PRId64 "] is %d, the table has %" PRId64 " rows", n, id[n], V);
}

void mt_gather_rows_fwd_cpu(float *out, const float *table, const int32_t *id, int64_t N, int64_t V, int64_t C)
{
    check_ids(id, N, V);
#pragma omp parallel for if (N * C >= MT_PARALLEL_FROM) schedule(static)
    for (int64_t n = 0; n < N; n++)
        memcpy(out + n * C, table + id[n] * C, (size_t)C * sizeof *out);
}

/* Two samples may name the same row, so threads split the columns, not the samples. */
void mt_gather_rows_bwd_cpu(float *dtable, const float *dout, const int32_t *id, int64_t N, int64_t V, int64_t C)
{
    check_ids(id, N, V);
#pragma omp parallel for if (N * C >= MT_PARALLEL_FROM) schedule(static)
    for (int64_t begin = 0; begin < C; begin += COLUMNS)
        for (int64_t n = 0; n < N; n++)
            for (int64_t c = begin; c < mt_min(C, begin + COLUMNS); c++)
                dtable[id[n] * C + c] += dout[n * C + c];
}

/* ---- dropout --------------------------------------------------------------------------------------- */

/* Four elements share a block of the generator (mt_rng_fill_uniform's order). */
static void dropout(float *out, const float *x, int64_t n, float p, const mt_rng *rng, bool add)
{
    float keep = 1 / (1 - p);
#pragma omp parallel for if (n >= COSTLY_FROM) schedule(static)
    for (int64_t block = 0; block < (n + 3) / 4; block++) {
        float u[4];
        mt_rng at = *rng;
        at.counter += (uint64_t)block;
        mt_rng_fill_uniform(&at, u, 4, 0, 1);
        for (int64_t i = 4 * block; i < mt_min(n, 4 * block + 4); i++) {
            float value = u[i % 4] >= p ? x[i] * keep : 0;
            out[i] = add ? out[i] + value : value;
        }
    }
}

void mt_dropout_fwd_cpu(float *out, const float *x, int64_t n, float p, const mt_rng *rng)
{
    dropout(out, x, n, p, rng, false);
}

void mt_dropout_bwd_cpu(float *dx, const float *dout, int64_t n, float p, const mt_rng *rng)
{
    dropout(dx, dout, n, p, rng, true);
}
