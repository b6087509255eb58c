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
    /* TODO 14.5: Where the rows of this rank begin and end.
     * Hint: of the ranks before it, as many as there are have one more than n / size. */
    MT_TODO("14.5"); /* delete this line when yours stands here */
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
    /* TODO 14.5: Each rank's own rows get the gradient of the tokens that have read them. */
    MT_TODO("14.5"); /* delete this line when yours stands here */
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
    /* TODO 14.5: One rank has the row of a token; the others have zeros, and the sum of all is the row. */
    MT_TODO("14.5"); /* delete this line when yours stands here */
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
    /* TODO 14.12: The largest logit of each row, of all ranks: exp(logit - max) is then at most 1 on all.
     * Hint: a rank without columns has -INFINITY. */
    MT_TODO("14.12"); /* delete this line when yours stands here */
}

/* probs [N,C] becomes exp(logits - max); sum and right are filled. right begins where sum ends. */
static void add_up(mt_tp *tp, row_sums row, float *probs, const float *logits, const int32_t *target, mt_tp_range range,
                   int64_t N)
{
    int64_t C = range.end - range.begin;
    /* TODO 14.12: Each row's exponentials and their sum, and the target's logit on the rank that has it; then the
     * sums of all ranks.
     * Hint: sum and right follow one another in memory, so that one all-reduce of 2 N numbers adds up both. */
    MT_TODO("14.12"); /* delete this line when yours stands here */
}

static void cross_entropy_backward(mt_node *node, mt_tensor *dout)
{
    mt_tensor *probs = mt_saved_tensor(node, 0);
    const int32_t *target = mt_data(mt_saved_tensor(node, 1));
    int64_t N = probs->view.shape[0], C = probs->view.shape[1], begin = node->dims[0];
    float *dlogits = mt_grad_data(node, 0);
    const float *p = mt_f32(probs);
    float share = mt_f32(dout)[0] / (float)N; /* of each row, in the mean */
    /* TODO 14.12: share * (probability - 1 for the target, - 0 for others) is added, of this rank's columns. */
    MT_TODO("14.12"); /* delete this line when yours stands here */
    mt_count_work(0, 12 * N * C);
}

/* The mean loss; probs become probabilities. */
static float end_rows(float *probs, row_sums row, int64_t N, int64_t C)
{
    double loss = 0;
    /* TODO 14.12: -log(exp(right) / sum) of each row, and probs divided by the sum. */
    MT_TODO("14.12"); /* delete this line when yours stands here */
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
    /* TODO 14.12: [...,end - begin]: every rank has all of x, and gives a summand of its gradient.
     * Hint: a product with the transpose of the first rows of w. */
    MT_TODO("14.12"); /* delete this line when yours stands here */
    logits = mt_reshape(logits, MT_SHAPE(mt_rows(x), range.end - range.begin));
    return mt_tp_cross_entropy(tp, logits, target, range);
}

/* ---- the norm ---------------------------------------------------------------------------------------------- */

double mt_tp_norm(mt_tp *tp, double divided, double replicated)
{
    double *squares = calloc((size_t)tp->comm->size, sizeof *squares), sum = 0;
    MT_CHECK(squares, "out of memory");
    /* TODO 14.13: The root of the sum of squares of all ranks' parts, and of what is on all ranks once.
     * Hint: there is no collective for doubles: gather their bytes (MT_U8), and add them in one order on all ranks. */
    MT_TODO("14.13"); /* delete this line when yours stands here */
    free(squares);
    return tp->status == MT_OK ? sqrt(sum) : NAN;
}
