/* matmul.c -- what all products on the CPU share: the check of dimensions. The products: units loops.c and
 * matmul.c of lab 01. mt_matmul_cpu, which runs the one in use: tables.c. */
#include "kernels/matmul.h"

#include <inttypes.h>

/* A leading dimension may not be shorter than the row it steps over. */
static void check_ld(const char *who, char name, int64_t ld, int64_t row, const mt_matmul_dims *d)
{
    MT_CHECK(ld >= row,
             "%s: %c's rows hold %" PRId64 " elements, but its leading dimension is %" PRId64 " (M=%" PRId64
             " N=%" PRId64 " K=%" PRId64 ")",
             who, name, row, ld, d->M, d->N, d->K);
}

void mt_matmul_dims_check(const char *who, const mt_matmul_dims *d)
{
    MT_CHECK(d->M >= 0 && d->N >= 0 && d->K >= 0, "%s: a size is negative: M=%" PRId64 " N=%" PRId64 " K=%" PRId64, who,
             d->M, d->N, d->K);
    check_ld(who, 'A', d->lda, d->trans_a ? d->M : d->K, d);
    check_ld(who, 'B', d->ldb, d->trans_b ? d->K : d->N, d);
    check_ld(who, 'C', d->ldc, d->N, d);
}
