/* kernels_rows.h -- given CPU kernels: rows of a table, dropout. Conventions are those of ops/kernels.h. */
#pragma once

#include "core/rng.h"
#include "ops/tables.h"

MT_C_BEGIN

/* mt_gather_rows_fwd_cpu -- out[n,:] = table[id[n],:];  table [V,C], id [N], out [N,C].   Aborts: an id outside 0 ..
 * V-1. */
void mt_gather_rows_fwd_cpu(float *out, const float *table, const int32_t *id, int64_t N, int64_t V, int64_t C);
/* mt_gather_rows_bwd_cpu -- dtable[id[n],:] += dout[n,:], in the order of n. */
void mt_gather_rows_bwd_cpu(float *dtable, const float *dout, const int32_t *id, int64_t N, int64_t V, int64_t C);

/* mt_dropout_fwd_cpu -- keep x[i] / (1 - p) where element i of rng's uniform stream is >= p, else 0;  0 <= p < 1.
 * mt_dropout_bwd_cpu -- dx += dout through the same mask, which is drawn again from the same rng, never stored. */
void mt_dropout_fwd_cpu(float *out, const float *x, int64_t n, float p, const mt_rng *rng);
void mt_dropout_bwd_cpu(float *dx, const float *dout, int64_t n, float p, const mt_rng *rng);

/* clang-format off */
#define MT_ROWS_KERNELS(K) K(gather_rows_fwd) K(gather_rows_bwd) K(dropout_fwd) K(dropout_bwd)
/* clang-format on */

typedef struct mt_rows_table {
    MT_ROWS_KERNELS(MT_KERNEL_ENTRY)
} mt_rows_table;

extern const mt_rows_table mt_rows_cpu; /* rows_cpu.c */

static inline const mt_rows_table *mt_rows_kernels(mt_device device)
{
    return (const mt_rows_table *)mt_table_in_use(MT_ROWS_FAMILY, device, &mt_rows_cpu);
}

MT_C_END
