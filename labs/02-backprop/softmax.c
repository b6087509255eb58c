/* softmax.c -- softmax over rows, and cross-entropy on top of it, forward and backward.
 *
 * Every probability depends on all logits of its row (through the maximum and the sum) and on no other row: threads
 * divide the rows among themselves, never one row. Vector lanes do divide a row's sum, always in the same way. */
#include "kernels/kernels.h"
#include "kernels/vecmath.h"

#include <inttypes.h>
#include <math.h>

enum { PARALLEL_FROM = 1 << 10 }; /* elements, an exponential each, from which waking the other threads (2 us) pays */

typedef struct row_sum {
    float max; /* of the row's logits */
    float sum; /* of exp(x - max): at least 1, at most C */
} row_sum;

static void check_columns(const char *who, int64_t N, int64_t C)
{
    MT_CHECK(N == 0 || C >= 1, "%s: %" PRId64 " rows of C = %" PRId64 " columns; C must be at least 1", who, N, C);
}

static void check_labels(const char *who, const int32_t *label, int64_t N, int64_t C)
{
    check_columns(who, N, C);
    for (int64_t n = 0; n < N; n++)
        MT_CHECK(label[n] >= 0 && label[n] < C,
                 "%s: label[%" PRId64 "] is %" PRId32 ", but the classes are 0 .. %" PRId64, who, n, label[n], C - 1);
}

/* ---- softmax --------------------------------------------------------------------------------- */

static row_sum softmax_row(float *p, const float *x, int64_t C)
{
    float max = -INFINITY, sum = 0;
    /* TODO 02.6: One row of softmax that cannot overflow; leave its maximum in max and its sum in sum.
     * Hint: the exponential of a large logit overflows. Which number may be subtracted from all logits of a row, so
     * that softmax stays the same and no term exceeds 1? p may be x. */
    MT_TODO("02.6"); /* delete this line when yours stands here */
    return (row_sum){ max, sum };
}

void mt_softmax_fwd_cpu(float *out, const float *x, int64_t N, int64_t C)
{
    check_columns("softmax", N, C);
    /* TODO 02.6: Softmax of every row.
     * Hint: row n starts at element n * C. Rows are independent, so threads may divide them. */
    MT_TODO("02.6"); /* delete this line when yours stands here */
}

void mt_softmax_bwd_cpu(float *dx, const float *dout, const float *out, int64_t N, int64_t C)
{
    check_columns("softmax backward", N, C);
    /* TODO 02.6: The gradient of softmax, added to dx (kernels.h has the formula).
     * Hint: raising one logit lowers the probability of all others. The sum over the row is the total of that
     * effect: compute it once. */
    MT_TODO("02.6"); /* delete this line when yours stands here */
}

/* ---- cross-entropy --------------------------------------------------------------------------- */

void mt_cross_entropy_fwd_cpu(float *loss, float *probs, const float *logits, const int32_t *label, int64_t N,
                              int64_t C)
{
    check_labels("cross_entropy", label, N, C);
    /* TODO 02.7: The loss of every row, -log of the label's probability, and the probabilities.
     * Hint: log(probability) is -inf once the probability has become 0. So take the logarithm of the quotient apart
     * on paper; it has no exponential in it. probs may overwrite logits: read x first. */
    MT_TODO("02.7"); /* delete this line when yours stands here */
}

void mt_cross_entropy_bwd_cpu(float *dlogits, const float *dloss, const float *probs, const int32_t *label, int64_t N,
                              int64_t C)
{
    check_labels("cross_entropy backward", label, N, C);
    /* TODO 02.7: The gradient of softmax and logarithm together, added to dlogits.
     * Hint: it is simpler than that of either (kernels.h): each probability moves towards 1 or 0. They need not be
     * differentiated separately. */
    MT_TODO("02.7"); /* delete this line when yours stands here */
}
