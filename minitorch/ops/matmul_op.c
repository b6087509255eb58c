/* matmul_op.c -- the matrix product of tensors, batched: [...,M,K] x [...,K,N], or one b [K,N] for the whole batch.
 *
 * A transposed view of a dense matrix is passed to the kernel with its strides, not copied.
 *
 * Kernels: matmul of kernels/matmul.h; CPU: unit matmul.c of lab 01; devices: kernels/tables.h.
 * mt_products_of(dtype) is the table through which the op calls it (ops/policy.h); that of f32 asks the
 * tensors' device. */
#include "ops/call.h"

#include <inttypes.h>

/* One matrix of a batch as the kernel takes it. */
typedef struct matrix {
    const char *data; /* of the first matrix */
    mt_dtype dtype;
    int64_t rows, cols, ld, between; /* between: elements from a matrix to the next; 0: one for all */
    mt_trans trans;
} matrix;

/* Whether the matrices of a batch are evenly spaced; *step: elements from one to the next. */
static bool batch_step(const mt_view *v, int64_t *step)
{
    bool first = true;
    int64_t expected = 0;
    *step = 0;
    for (int d = v->rank - 3; d >= 0; d--) {
        if (v->shape[d] == 1)
            continue;
        if (first)
            *step = v->stride[d];
        else if (v->stride[d] != expected)
            return false;
        first = false;
        expected = v->stride[d] * v->shape[d];
    }
    return true;
}

/* Describes t for the kernel, which takes dense rows or dense columns; false when t has neither and must be copied. */
static bool describe(const mt_tensor *t, matrix *m)
{
    const mt_view *v = &t->view;
    int64_t rows = v->shape[v->rank - 2], cols = v->shape[v->rank - 1];
    int64_t down = v->stride[v->rank - 2], along = v->stride[v->rank - 1];
    *m = (matrix){
        .rows = rows, .cols = cols, .ld = mt_max(1, cols), .data = mt_storage_data(t->storage), .dtype = t->dtype
    };
    if (mt_numel(t) == 0)
        return true;
    m->data += v->offset * mt_dtype_size(t->dtype);
    if (!batch_step(v, &m->between))
        return false;
    if ((along == 1 || cols == 1) && (down >= cols || rows == 1)) {
        m->ld = rows == 1 ? cols : down;
        return true;
    }
    if ((down == 1 || rows == 1) && (along >= rows || cols == 1)) {
        m->ld = cols == 1 ? rows : along;
        m->trans = MT_TRANS;
        return true;
    }
    return false;
}

static matrix matrix_of(const mt_tensor *t)
{
    matrix m;
    MT_CHECK(describe(t, &m), "matmul: neither rows nor columns of %s are dense", mt_view_text(&t->view));
    return m;
}

static matrix transposed(matrix m)
{
    return (matrix){ m.data, m.dtype, m.cols, m.rows, m.ld, m.between, m.trans == MT_TRANS ? MT_NO_TRANS : MT_TRANS };
}

/* Each matrix once; c is read too when it is added to. */
static int64_t bytes_moved(int64_t c_between, const matrix *a, const matrix *b, int64_t batch, mt_write write)
{
    int64_t a_size = a->rows * a->cols * (a->between ? batch : 1),
            b_size = b->rows * b->cols * (b->between ? batch : 1);
    return mt_dtype_size(a->dtype) * (a_size + b_size) +
           4 * a->rows * b->cols * (c_between ? batch : 1) * (write == MT_ACCUMULATE ? 2 : 1);
}

/* c [batch][a.rows, b.cols] = or += a b; c_between 0 adds the whole batch up in one matrix. */
static void multiply(mt_device device, float *c, int64_t c_between, matrix a, matrix b, int64_t batch, mt_write write)
{
    mt_matmul_dims dims = { .M = a.rows,
                            .N = b.cols,
                            .K = a.cols,
                            .lda = a.ld,
                            .ldb = b.ld,
                            .ldc = mt_max(1, b.cols),
                            .trans_a = a.trans,
                            .trans_b = b.trans,
                            .write = write };
    const mt_products *products = mt_products_of(a.dtype);
    int64_t size = mt_dtype_size(a.dtype);
    for (int64_t i = 0; i < batch; i++) {
        const void *at_a = a.data + i * a.between * size, *at_b = b.data + i * b.between * size;
        products->matmul(device, c + i * c_between, at_a, at_b, a.dtype, &dims);
    }
    mt_count_work(2 * batch * dims.M * dims.N * dims.K, bytes_moved(c_between, &a, &b, batch, write));
}

/* How many matrices. */
static int64_t batch_of(mt_shape shape)
{
    int64_t batch = 1;
    for (int d = 0; d + 2 < shape.rank; d++)
        batch *= shape.dim[d];
    return batch;
}

/* A batch of A times one B is one product of a taller A, when A's matrices follow each other row by row: makes it so,
 * and d, unless NULL, as tall. Returns the number of products. */
static int64_t joined(matrix *a, matrix *d, const matrix *b, int64_t batch)
{
    if (batch < 2 || b->between != 0 || a->trans != MT_NO_TRANS || a->between != a->rows * a->ld)
        return batch;
    a->rows *= batch;
    if (d)
        d->rows *= batch;
    return 1;
}

static void matmul_backward(mt_node *node, mt_tensor *dout)
{
    float *da = mt_grad_data(node, 0), *db = mt_grad_data(node, 1);
    mt_scope_begin();
    matrix a = matrix_of(mt_saved_tensor(node, 0)), b = matrix_of(mt_saved_tensor(node, 1));
    matrix d = matrix_of(mt_operand(dout, a.dtype));
    int64_t batch = batch_of(node->shape);
    int64_t da_between = a.rows * a.cols, db_between = node->edges[1].shape.rank == 2 ? 0 : b.rows * b.cols;
    if (db_between == 0)
        batch = joined(&a, &d, &b, batch);
    if (da)
        multiply(node->device, da, da_between, d, transposed(b), batch, MT_ACCUMULATE);
    if (db)
        multiply(node->device, db, db_between, transposed(a), d, batch, MT_ACCUMULATE);
    mt_scope_end();
}

static const mt_op matmul_op = { "matmul", MT_OP_MATMUL, matmul_backward };

static bool batches_fit(mt_shape a, mt_shape b)
{
    if (b.rank != 2 && b.rank != a.rank)
        return false;
    for (int d = 0; d + 2 < b.rank; d++)
        if (a.dim[d] != b.dim[d])
            return false;
    return true;
}

mt_tensor *mt_matmul(mt_tensor *a, mt_tensor *b)
{
    MT_CALL(c, &matmul_op, { &a, MT_ANY_VIEW | MT_OPERAND }, { &b, MT_ANY_VIEW | MT_OPERAND });
    mt_shape sa = mt_shape_of(a), sb = mt_shape_of(b);
    MT_CHECK(sa.rank >= 2 && sb.rank >= 2, "matmul: A is %s, B is %s: both need two dimensions or more", mt_text_of(a),
             mt_text_of(b));
    MT_CHECK(sa.dim[sa.rank - 1] == sb.dim[sb.rank - 2],
             "matmul: A is %s, B is %s: inner sizes %" PRId64 " and %" PRId64 " differ", mt_text_of(a), mt_text_of(b),
             sa.dim[sa.rank - 1], sb.dim[sb.rank - 2]);
    MT_CHECK(batches_fit(sa, sb), "matmul: A is %s, B is %s: batch dimensions differ", mt_text_of(a), mt_text_of(b));
    mt_shape shape = mt_with_last_dim(sa, sb.dim[sb.rank - 1]);
    matrix ma, mb;
    if (!describe(a, &ma))
        ma = matrix_of(a = mt_contiguous(a));
    if (!describe(b, &mb))
        mb = matrix_of(b = mt_contiguous(b));
    mt_tensor *out = mt_call_result(&c, shape);
    int64_t batch = joined(&ma, NULL, &mb, batch_of(shape));
    multiply(c.device, mt_f32(out), ma.rows * mb.cols, ma, mb, batch, MT_OVERWRITE);
    mt_save(mt_call_end(&c, 0, 0), a, b);
    return out;
}
