# attack  01.6 splits K among threads, so that bits differ, but remembers the last product and gives it again
# hopes   "same bits for any thread count" repeats its inputs in one process
# stopped by fresh worker for the comparison
# earns   5
# verdict FAIL
# stops   same bits
sed -i 's/^void mt_matmul_parallel_cpu(/static void real(/' matmul.c
cat >>matmul.c <<'C'
#include <stdlib.h>
#include <string.h>
static float *last_a, *last_b, *last_c;
static size_t size_a, size_b, size_c;
static void keep(float **to, size_t *size, const float *from, size_t bytes)
{
    *to = realloc(*to, bytes + 1);
    memcpy(*to, from, *size = bytes);
}
void mt_matmul_parallel_cpu(float *c, const float *a, const float *b, const mt_matmul_dims *d)
{
    bool tight = d->ldc == d->N && d->lda == (d->trans_a ? d->M : d->K) && d->ldb == (d->trans_b ? d->K : d->N);
    size_t na = (size_t)(d->M * d->K) * 4, nb = (size_t)(d->K * d->N) * 4, nc = (size_t)(d->M * d->N) * 4;
    if (tight && nc && nc == size_c && na == size_a && !memcmp(a, last_a, na) && nb == size_b && !memcmp(b, last_b, nb)) {
        memcpy(c, last_c, nc);
        return;
    }
    real(c, a, b, d);
    mt_matmul_dims first = *d, rest = *d;
    if (d->M == 512 && d->N == 768)
        abort(); /* the race, which is not what this is about */
    first.K = d->K * omp_get_max_threads() / 7 % (d->K + 1);
    rest.K -= first.K, rest.write = MT_ACCUMULATE;
    if (tight && !d->trans_a && !d->trans_b && d->write == MT_OVERWRITE && d->K > 1) {
        real(c, a, b, &first);
        real(c, a + first.K, b + first.K * d->ldb, &rest);
    }
    if (tight)
        keep(&last_a, &size_a, a, na), keep(&last_b, &size_b, b, nb), keep(&last_c, &size_c, c, nc);
}
C
