/* vocabulary.c -- the token table, the logits and the loss of a language model, divided among ranks by the rows of the
 * table; see parallel/tensor_parallel.h.
 *
 * The logits are the largest array of a small model. No rank has those of all tokens: a row of them becomes three
 * numbers (maximum, sum, logit of the target) before ranks exchange anything. */
#include "parallel/tensor_parallel.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ops/call.h"
#include "kernels/vecmath.h"

mt_tp_range mt_tp_range_of(int64_t n, int size, int rank)
{
    mt_tp_range range = { 0, n, n };
    /* LAB 14.5 BEGIN  Where the rows of this rank begin and end.
     * Hint: of the ranks before it, as many as there are have one more than n / size. */
    range.begin = n / size * rank + mt_min(rank, n % size);
    range.end = range.begin + n / size + (rank < n % size);
    /* LAB 14.5 END */
    return range;
}

static void check_tokens(const char *op, const mt_tensor *tokens, mt_tp_range range)
{
    MT_CHECK(tokens->dtype == MT_I32, "%s: tokens are %s, they must be i32", op, mt_dtype_name(tokens->dtype));
    const int32_t *token = mt_data(tokens);
    for (int64_t n = 0; n < mt_numel(tokens); n++)
        MT_CHECK(token[n] >= 0 && token[n] < range.all,
                 "%s: token[%" PRId64 "] is %" PRId32 ", but the ranks together have 0 .. %" PRId64, op, n, token[n],
                 range.all - 1);
}

/* ---- embedding --------------------------------------------------------------------------------------------- */

static void embedding_backward(mt_node *node, mt_tensor *dout)
{
    int64_t begin = node->dims[0], end = node->dims[1], C = mt_dim(dout, -1);
    const int32_t *id = mt_data(mt_saved_tensor(node, 0));
    float *dw = mt_grad_data(node, 0);
    /* LAB 14.5 BEGIN  Each rank's own rows get the gradient of the tokens that have read them. */
    for (int64_t n = 0; n < mt_rows(dout); n++)
        for (int64_t c = 0; c < C && id[n] >= begin && id[n] < end; c++)
            dw[(id[n] - begin) * C + c] += mt_f32(dout)[n * C + c];
    /* LAB 14.5 END */
    mt_count_work(mt_numel(dout), 12 * mt_numel(dout));
}

mt_tensor *mt_tp_embedding(mt_tp *tp, mt_tensor *w, mt_tensor *ids, mt_tp_range range)
{
    static const mt_op op = { "tp_embedding", MT_OP_ELEMENTWISE, embedding_backward };
    MT_CALL(c, &op, { &w, MT_DENSE }, { &ids, MT_INTEGER });
    mt_shape shape = mt_shape_of(ids);
    MT_CHECK(c.device == MT_CPU && w->view.rank == 2 && w->view.shape[0] == range.end - range.begin &&
                 shape.rank < MT_MAX_RANK,
             "%s: w is %s on %s: it must be [%" PRId64 ",C] on the CPU; ids are %s", op.name, mt_text_of(w),
             mt_device_name(c.device), range.end - range.begin, mt_text_of(ids));
    check_tokens(op.name, ids, range);
    int64_t C = shape.dim[shape.rank++] = w->view.shape[1];
    mt_tensor *out = mt_call_result(&c, shape);
    const int32_t *id = mt_data(ids);
    mt_clear(mt_f32(out), mt_numel(out) * (int64_t)sizeof(float), MT_CPU);
    /* LAB 14.5 BEGIN  One rank has the row of a token; the others have zeros, and the sum of all is the row. */
    for (int64_t n = 0; n < mt_numel(ids); n++)
        if (id[n] >= range.begin && id[n] < range.end)
            memcpy(mt_f32(out) + n * C, mt_f32(w) + (id[n] - range.begin) * C, (size_t)C * sizeof(float));
    mt_tp_all_reduce(tp, mt_f32(out), mt_numel(out), MT_SUM);
    /* LAB 14.5 END */
    mt_node *node = mt_call_end(&c, 0, 12 * mt_numel(out));
    if (node)
        node->dims[0] = range.begin, node->dims[1] = range.end;
    mt_save(node, ids);
    return out;
}

/* ---- cross-entropy ----------------------------------------------------------------------------------------- */

/* Sums of N rows of logits over the columns of all ranks; [N] each. */
typedef struct row_sums {
    float *max, *sum, *right; /* the largest logit; of exp(logit - max); the logit of the target - max */
} row_sums;

static void find_largest(mt_tp *tp, float *max, const float *logits, int64_t N, int64_t C)
{
    /* LAB 14.12 BEGIN  The largest logit of each row, of all ranks: exp(logit - max) is then at most 1 on all.
     * Hint: a rank without columns has -INFINITY. */
    for (int64_t n = 0; n < N; n++) {
        const float *x = logits + n * C;
        float largest = -INFINITY;
        for (int64_t c = 0; c < C; c++)
            largest = x[c] > largest ? x[c] : largest;
        max[n] = largest;
    }
    mt_tp_all_reduce(tp, max, N, MT_MAX);
    /* LAB 14.12 END */
}

/* probs [N,C] becomes exp(logits - max); sum and right are filled. right begins where sum ends. */
static void add_up(mt_tp *tp, row_sums row, float *probs, const float *logits, const int32_t *target, mt_tp_range range,
                   int64_t N)
{
    int64_t C = range.end - range.begin;
    /* LAB 14.12 BEGIN  Each row's exponentials and their sum, and the target's logit on the rank that has it; then the
     * sums of all ranks.
     * Hint: sum and right follow one another in memory, so that one all-reduce of 2 N numbers adds up both. */
    for (int64_t n = 0; n < N; n++) {
        const float *x = logits + n * C;
        float *p = probs + n * C;
        double sum = 0;
        for (int64_t c = 0; c < C; c++)
            p[c] = mt_expf(x[c] - row.max[n]);
        for (int64_t c = 0; c < C; c++)
            sum += p[c];
        bool is_mine = target[n] >= range.begin && target[n] < range.end;
        row.sum[n] = (float)sum;
        row.right[n] = is_mine ? x[target[n] - range.begin] - row.max[n] : 0;
    }
    mt_tp_all_reduce(tp, row.sum, 2 * N, MT_SUM);
    /* LAB 14.12 END */
}

static void cross_entropy_backward(mt_node *node, mt_tensor *dout)
{
    mt_tensor *probs = mt_saved_tensor(node, 0);
    const int32_t *target = mt_data(mt_saved_tensor(node, 1));
    int64_t N = probs->view.shape[0], C = probs->view.shape[1], begin = node->dims[0];
    float *dlogits = mt_grad_data(node, 0);
    const float *p = mt_f32(probs);
    float share = mt_f32(dout)[0] / (float)N; /* of each row, in the mean */
    /* LAB 14.12 BEGIN  share * (probability - 1 for the target, - 0 for others) is added, of this rank's columns. */
    for (int64_t n = 0; n < N; n++)
        for (int64_t c = 0; c < C; c++)
            dlogits[n * C + c] += share * (p[n * C + c] - (begin + c == target[n]));
    /* LAB 14.12 END */
    mt_count_work(0, 12 * N * C);
}

/* The mean loss; probs become probabilities. */
static float end_rows(float *probs, row_sums row, int64_t N, int64_t C)
{
    double loss = 0;
    /* LAB 14.12 BEGIN  -log(exp(right) / sum) of each row, and probs divided by the sum. */
    for (int64_t n = 0; n < N; n++) {
        loss += logf(row.sum[n]) - row.right[n];
        for (int64_t c = 0; c < C; c++)
            probs[n * C + c] /= row.sum[n];
    }
    /* LAB 14.12 END */
    return (float)(loss / (double)N);
}

mt_tensor *mt_tp_cross_entropy(mt_tp *tp, mt_tensor *logits, mt_tensor *target, mt_tp_range range)
{
    static const mt_op op = { "tp_cross_entropy", MT_OP_REDUCTION, cross_entropy_backward };
    MT_CALL(c, &op, { &logits, MT_DENSE }, { &target, MT_INTEGER });
    int64_t N = mt_rows(logits), C = range.end - range.begin;
    MT_CHECK(c.device == MT_CPU && logits->view.rank == 2 && logits->view.shape[1] == C && mt_numel(target) == N &&
                 N >= 1,
             "%s: logits are %s on %s, targets are %s: they must be [N,%" PRId64 "] on the CPU and [N], N >= 1",
             op.name, mt_text_of(logits), mt_device_name(c.device), mt_text_of(target), C);
    check_tokens(op.name, target, range);
    mt_tensor *loss = mt_call_result(&c, MT_SCALAR);
    mt_scope_begin(); /* probs, the largest array of all, lives until backward has read it, not as long as the loss */
    mt_tensor *probs = mt_empty(mt_shape_of(logits), MT_F32, MT_CPU);
    float *numbers = mt_f32(mt_zeros(MT_SHAPE(3, N), MT_F32, MT_CPU));
    row_sums row = { numbers, numbers + N, numbers + 2 * N };
    find_largest(tp, row.max, mt_f32(logits), N, C);
    add_up(tp, row, mt_f32(probs), mt_f32(logits), mt_data(target), range, N);
    mt_f32(loss)[0] = end_rows(mt_f32(probs), row, N, C);
    mt_node *node = mt_call_end(&c, 0, 8 * N * C);
    if (node)
        node->dims[0] = range.begin;
    mt_save(node, probs, target);
    mt_scope_end();
    return loss;
}

mt_tensor *mt_tp_classifier(mt_tp *tp, mt_tensor *x, mt_tensor *w, mt_tensor *target, mt_tp_range range)
{
    MT_CHECK(w->view.rank == 2 && w->view.shape[0] >= range.end - range.begin,
             "tp_classifier: w is %s: it must have at least the %" PRId64 " rows of the range", mt_text_of(w),
             range.end - range.begin);
    mt_tensor *logits = NULL;
    /* LAB 14.12 BEGIN  [...,end - begin]: every rank has all of x, and gives a summand of its gradient.
     * Hint: a product with the transpose of the first rows of w. */
    mt_tensor *rows = mt_slice(w, 0, 0, range.end - range.begin, 1);
    logits = mt_matmul(mt_tp_copy(tp, x), mt_transpose(rows, 0, 1));
    /* LAB 14.12 END */
    logits = mt_reshape(logits, MT_SHAPE(mt_rows(x), range.end - range.begin));
    return mt_tp_cross_entropy(tp, logits, target, range);
}

/* ---- the norm ---------------------------------------------------------------------------------------------- */

double mt_tp_norm(mt_tp *tp, double divided, double replicated)
{
    double *squares = calloc((size_t)tp->comm->size, sizeof *squares), sum = 0;
    MT_CHECK(squares, "out of memory");
    /* LAB 14.13 BEGIN  The root of the sum of squares of all ranks' parts, and of what is on all ranks once.
     * Hint: there is no collective for doubles: gather their bytes (MT_U8), and add them in one order on all ranks. */
    squares[tp->comm->rank] = divided * divided;
    if (tp->status == MT_OK)
        tp->status = mt_all_gather(tp->comm, squares, &squares[tp->comm->rank], sizeof *squares, MT_U8, NULL);
    sum = replicated * replicated;
    for (int rank = 0; rank < tp->comm->size; rank++)
        sum += squares[rank];
    /* LAB 14.13 END */
    free(squares);
    return tp->status == MT_OK ? sqrt(sum) : NAN;
}
