/* layers.c -- the ops that models are made of: linear, softmax, cross-entropy, layernorm, dropout, gathered rows. */
#include "ops/op.h"

#include <inttypes.h>
#include <stdlib.h>

int64_t mt_last_dim(const char *op, const mt_tensor *t)
{
    MT_CHECK(t->view.rank >= 1, "%s: a scalar has no last dimension", op);
    return t->view.shape[t->view.rank - 1];
}

mt_shape mt_with_last_dim(mt_shape shape, int64_t size)
{
    shape.dim[shape.rank - 1] = size;
    return shape;
}

/* How many rows a tensor has when its last dimension is one. */
static int64_t rows_of(mt_shape shape)
{
    int64_t rows = 1;
    for (int d = 0; d + 1 < shape.rank; d++)
        rows *= shape.dim[d];
    return rows;
}

/* ---- linear --------------------------------------------------------------------------------------- */

static void linear_backward(mt_node *node, mt_tensor *dout)
{
    int64_t N = node->dims[0], I = node->dims[1], O = node->dims[2];
    float *dx = mt_grad_data(node, 0), *dw = mt_grad_data(node, 1);
    float *db = node->edge_count > 2 ? mt_grad_data(node, 2) : NULL;
    mt_kernels(node->device)
        ->linear_bwd(dx, dw, db, mt_f32(dout), mt_saved_data(node, 0), mt_saved_data(node, 1), N, I, O);
    mt_count_work(2 * N * I * O * ((dx != NULL) + (dw != NULL)),
                  4 * (N * O + (dx ? I * O + 2 * N * I : 0) + (dw ? N * I + 2 * I * O : 0) + (db ? 2 * O : 0)));
}

static const mt_op linear_op = { .name = "linear", .backward = linear_backward };

mt_tensor *mt_linear(mt_tensor *x, mt_tensor *w, mt_tensor *b)
{
    MT_SPAN("linear");
    mt_op_check_pair("linear", x, w);
    mt_op_check_pair("linear", x, b ? b : w);
    int64_t I = mt_last_dim("linear", x);
    MT_CHECK(w->view.rank == 2 && w->view.shape[0] == I, "linear: x is %s, w is %s: w must be [%" PRId64 ", outputs]",
             mt_text_of(x), mt_text_of(w), I);
    int64_t O = w->view.shape[1], N = rows_of(mt_shape_of(x));
    MT_CHECK(!b || (b->view.rank == 1 && b->view.shape[0] == O), "linear: w is %s, b is %s: b must be [%" PRId64 "]",
             mt_text_of(w), mt_text_of(b), O);
    x = mt_dense(x);
    w = mt_dense(w);
    b = b ? mt_dense(b) : NULL;
    mt_tensor *out = mt_result(mt_with_last_dim(mt_shape_of(x), O), x);
    mt_kernels(mt_device_of(x))->linear_fwd(mt_f32(out), mt_f32(x), mt_f32(w), b ? mt_f32(b) : NULL, N, I, O);
    mt_count_work(2 * N * I * O, 4 * (N * I + I * O + N * O + (b ? O : 0)));
    mt_node *node = mt_record(&linear_op, out, (mt_tensor *[]){ x, w, b }, b ? 3 : 2);
    if (node) {
        mt_save(node, x);
        mt_save(node, w);
        node->dims[0] = N, node->dims[1] = I, node->dims[2] = O;
    }
    return out;
}

/* ---- softmax --------------------------------------------------------------------------------------- */

static void softmax_backward(mt_node *node, mt_tensor *dout)
{
    int64_t C = node->shape.dim[node->shape.rank - 1];
    mt_kernels(node->device)
        ->softmax_bwd(mt_grad_data(node, 0), mt_f32(dout), mt_saved_data(node, 0), rows_of(node->shape), C);
    mt_count_work(0, 16 * mt_numel(dout));
}

static const mt_op softmax_op = { .name = "softmax", .backward = softmax_backward };

mt_tensor *mt_softmax(mt_tensor *x)
{
    MT_SPAN("softmax");
    mt_op_check("softmax", x);
    int64_t C = mt_last_dim("softmax", x);
    MT_CHECK(C >= 1 || rows_of(mt_shape_of(x)) == 0, "softmax: the rows of %s are empty", mt_text_of(x));
    x = mt_dense(x);
    mt_tensor *out = mt_result(mt_shape_of(x), x);
    mt_kernels(mt_device_of(x))->softmax_fwd(mt_f32(out), mt_f32(x), rows_of(mt_shape_of(x)), C);
    mt_count_work(0, 8 * mt_numel(x));
    mt_node *node = mt_record(&softmax_op, out, &x, 1);
    if (node)
        mt_save(node, out);
    return out;
}

/* ---- cross-entropy ----------------------------------------------------------------------------------- */

mt_tensor *mt_mean_shares(mt_tensor *dout, int64_t N)
{
    mt_tensor *shares = mt_zeros(MT_SHAPE(N), MT_F32, mt_device_of(dout));
    mt_kernels(mt_device_of(dout))->mean_bwd(mt_f32(shares), mt_f32(dout), N);
    return shares;
}

static void cross_entropy_backward(mt_node *node, mt_tensor *dout)
{
    mt_tensor *probs = mt_saved_tensor(node, 0), *label = mt_saved_tensor(node, 1);
    int64_t N = probs->view.shape[0], C = probs->view.shape[1];
    mt_scope_begin();
    mt_tensor *share = mt_mean_shares(dout, N);
    mt_kernels(node->device)
        ->cross_entropy_bwd(mt_grad_data(node, 0), mt_f32(share), mt_f32(probs), mt_data(label), N, C);
    mt_count_work(0, 12 * N * C);
    mt_scope_end();
}

static const mt_op cross_entropy_op = { .name = "cross_entropy", .backward = cross_entropy_backward };

mt_tensor *mt_cross_entropy(mt_tensor *logits, mt_tensor *label)
{
    MT_SPAN("cross_entropy");
    mt_op_check("cross_entropy", logits);
    mt_shape shape = mt_shape_of(logits);
    MT_CHECK(shape.rank == 2 && label->view.rank == 1 && label->view.shape[0] == shape.dim[0],
             "cross_entropy: logits are %s, label is %s: they must be [N,C] and [N]", mt_text_of(logits),
             mt_text_of(label));
    MT_CHECK(label->dtype == MT_I32, "cross_entropy: label is %s, it must be i32", mt_dtype_name(label->dtype));
    MT_CHECK(shape.dim[0] > 0, "cross_entropy: the mean over no rows, logits are %s", mt_text_of(logits));
    MT_CHECK(shape.dim[1] > 0, "cross_entropy: logits are %s: there is no class", mt_text_of(logits));
    mt_op_check_device("cross_entropy", logits, label);
    const mt_kernel_table *kernels = mt_kernels(mt_device_of(logits));
    logits = mt_dense(logits);
    label = mt_dense(label);
    mt_tensor *probs = mt_result(shape, logits), *rows = mt_result(MT_SHAPE(shape.dim[0]), logits);
    mt_tensor *loss = mt_result(MT_SCALAR, logits);
    kernels->cross_entropy_fwd(mt_f32(rows), mt_f32(probs), mt_f32(logits), mt_data(label), shape.dim[0], shape.dim[1]);
    kernels->mean_fwd(mt_f32(loss), mt_f32(rows), shape.dim[0]);
    mt_count_work(0, 8 * mt_numel(probs));
    mt_node *node = mt_record(&cross_entropy_op, loss, &logits, 1);
    if (node) {
        mt_save(node, probs);
        mt_save(node, label);
    }
    return loss;
}

/* ---- layernorm ----------------------------------------------------------------------------------------- */

static void layernorm_backward(mt_node *node, mt_tensor *dout)
{
    int64_t C = node->shape.dim[node->shape.rank - 1];
    mt_kernels(node->device)
        ->layernorm_bwd(mt_grad_data(node, 0), mt_grad_data(node, 1), mt_grad_data(node, 2), mt_f32(dout),
                        mt_saved_data(node, 0), mt_saved_data(node, 1), mt_saved_data(node, 2), mt_saved_data(node, 3),
                        rows_of(node->shape), C);
    mt_count_work(0, (mt_grad_data(node, 0) ? 16 : 8) * mt_numel(dout));
}

static const mt_op layernorm_op = { .name = "layernorm", .backward = layernorm_backward };

mt_tensor *mt_layernorm(mt_tensor *x, mt_tensor *gamma, mt_tensor *beta, float eps)
{
    MT_SPAN("layernorm");
    mt_op_check_pair("layernorm", x, gamma);
    mt_op_check_pair("layernorm", x, beta);
    int64_t C = mt_last_dim("layernorm", x), N = rows_of(mt_shape_of(x));
    MT_CHECK(gamma->view.rank == 1 && gamma->view.shape[0] == C &&
                 mt_shape_equal(mt_shape_of(gamma), mt_shape_of(beta)),
             "layernorm: x is %s, gamma is %s, beta is %s: both must be [%" PRId64 "]", mt_text_of(x),
             mt_text_of(gamma), mt_text_of(beta), C);
    MT_CHECK(eps > 0, "layernorm: eps is %g, it must be positive", (double)eps);
    x = mt_dense(x);
    gamma = mt_dense(gamma);
    beta = mt_dense(beta);
    mt_tensor *out = mt_result(mt_shape_of(x), x), *mean = mt_result(MT_SHAPE(N), x), *rstd = mt_result(MT_SHAPE(N), x);
    mt_kernels(mt_device_of(x))
        ->layernorm_fwd(mt_f32(out), mt_f32(mean), mt_f32(rstd), mt_f32(x), mt_f32(gamma), mt_f32(beta), N, C, eps);
    mt_count_work(0, 8 * (N * C + N + C));
    mt_node *node = mt_record(&layernorm_op, out, (mt_tensor *[]){ x, gamma, beta }, 3);
    if (node) {
        mt_save(node, x);
        mt_save(node, gamma);
        mt_save(node, mean);
        mt_save(node, rstd);
    }
    return out;
}

/* ---- gathered rows ------------------------------------------------------------------------------------- */

static void gather_backward(mt_node *node, mt_tensor *dout)
{
    mt_tensor *ids = mt_saved_tensor(node, 0);
    mt_kernels(node->device)
        ->gather_rows_bwd(mt_grad_data(node, 0), mt_f32(dout), mt_data(ids), mt_numel(ids), node->dims[0],
                          node->dims[1]);
    mt_count_work(mt_numel(dout), 12 * mt_numel(dout));
}

static const mt_op gather_op = { .name = "gather_rows", .backward = gather_backward };

mt_tensor *mt_gather_rows(mt_tensor *table, mt_tensor *ids)
{
    MT_SPAN("gather_rows");
    mt_shape shape = mt_shape_of(ids);
    mt_op_check("gather_rows", table);
    MT_CHECK(table->view.rank == 2 && ids->dtype == MT_I32 && shape.rank < MT_MAX_RANK,
             "gather_rows: table is %s, ids are %s %s: they must be [V,C] and i32", mt_text_of(table),
             mt_dtype_name(ids->dtype), mt_text_of(ids));
    mt_op_check_device("gather_rows", table, ids);
    int64_t V = table->view.shape[0], C = table->view.shape[1];
    table = mt_dense(table);
    ids = mt_dense(ids);
    shape.dim[shape.rank++] = C;
    mt_tensor *out = mt_result(shape, table);
    mt_kernels(mt_device_of(table))->gather_rows_fwd(mt_f32(out), mt_f32(table), mt_data(ids), mt_numel(ids), V, C);
    mt_count_work(0, 8 * mt_numel(out));
    mt_node *node = mt_record(&gather_op, out, &table, 1);
    if (node) {
        mt_save(node, ids);
        node->dims[0] = V, node->dims[1] = C;
    }
    return out;
}

/* ---- dropout --------------------------------------------------------------------------------------------- */

static mt_rng *kept_rng(mt_node *node)
{
    return node->user;
}

static void dropout_backward(mt_node *node, mt_tensor *dout)
{
    mt_kernels(node->device)
        ->dropout_bwd(mt_grad_data(node, 0), mt_f32(dout), mt_shape_numel(node->shape), node->scalar[0],
                      kept_rng(node));
    mt_count_work(2 * mt_numel(dout), 12 * mt_numel(dout));
}

static const mt_op dropout_op = { .name = "dropout", .backward = dropout_backward };

/* The mask is not stored: backward draws it again from the same place of the same stream. */
mt_tensor *mt_dropout(mt_tensor *x, float p, mt_rng *rng)
{
    MT_SPAN("dropout");
    mt_op_check("dropout", x);
    MT_CHECK(p >= 0 && p < 1, "dropout: p is %g, it must be in [0, 1)", (double)p);
    x = mt_dense(x);
    mt_tensor *out = mt_result(mt_shape_of(x), x);
    mt_kernels(mt_device_of(x))->dropout_fwd(mt_f32(out), mt_f32(x), mt_numel(x), p, rng);
    mt_count_work(mt_numel(x), 8 * mt_numel(x));
    mt_node *node = mt_record(&dropout_op, out, &x, 1);
    if (node) {
        node->scalar[0] = p;
        node->user = malloc(sizeof *rng);
        MT_CHECK(node->user, "out of memory");
        *kept_rng(node) = *rng;
        node->free_user = free;
    }
    rng->counter += (uint64_t)((mt_numel(x) + 3) / 4);
    return out;
}
