/* concat.c -- tensors joined along a dimension: the parts are views of the result.
 * Kernels: copy_to_strided, add_strided of kernels/kernels.h; CPU: kernels/elementwise_cpu.c; devices:
 * kernels/tables.h. */
#include "ops/call.h"
#include "kernels/kernels.h"

/* One part of the whole: count indices of dimension dim, from start on. */
static mt_view stretch(mt_view whole, int dim, int64_t start, int64_t count)
{
    return mt_view_slice(&whole, dim, start, start + count, 1);
}

static void concat_backward(mt_node *node, mt_tensor *dout)
{
    int dim = (int)node->dims[0];
    int64_t start = 0;
    for (int i = 0; i < node->edge_count; i++) {
        mt_tensor *d = mt_grad_of_input(node, i);
        int64_t count = node->edges[i].shape.dim[dim];
        if (d) {
            mt_strided to = { d->storage->data, d->view },
                       from = { dout->storage->data, stretch(dout->view, dim, start, count) };
            mt_kernels(node->device)->add_strided(&to, &from);
            mt_count_work(mt_numel(d), 12 * mt_numel(d));
        }
        start += count;
    }
}

static const mt_op concat_op = { "concat", MT_OP_ELEMENTWISE, concat_backward };

/* dim counted from the front; aborts unless the parts fit together along it. */
static int checked_dim(mt_tensor *const *parts, int count, int dim)
{
    mt_shape first = mt_shape_of(parts[0]);
    MT_CHECK(dim >= -first.rank && dim < first.rank, "concat: %s has no dimension %d", mt_text_of(parts[0]), dim);
    dim += dim < 0 ? first.rank : 0;
    for (int i = 1; i < count; i++) {
        mt_shape shape = mt_shape_of(parts[i]);
        if (shape.rank == first.rank)
            shape.dim[dim] = first.dim[dim];
        MT_CHECK(mt_shape_equal(shape, first), "concat: part 0 is %s, part %d is %s: only dimension %d may differ",
                 mt_text_of(parts[0]), i, mt_text_of(parts[i]), dim);
    }
    return dim;
}

mt_tensor *mt_concat(mt_tensor *const *parts, int count, int dim)
{
    MT_CHECK(count >= 1, "concat: no parts");
    mt_input inputs[count];
    mt_tensor *source[count];
    for (int i = 0; i < count; i++)
        inputs[i] = (mt_input){ (mt_tensor **)&parts[i], MT_ANY_VIEW };
    mt_call c;
    mt_call_begin(&c, &concat_op, inputs, source, count);
    dim = checked_dim(parts, count, dim);
    mt_shape shape = mt_shape_of(parts[0]);
    shape.dim[dim] = 0;
    for (int i = 0; i < count; i++)
        shape.dim[dim] += parts[i]->view.shape[dim];
    mt_tensor *out = mt_call_result(&c, shape);
    int64_t start = 0;
    for (int i = 0; i < count; i++) {
        int64_t size = parts[i]->view.shape[dim];
        mt_strided to = { out->storage->data, stretch(out->view, dim, start, size) },
                   from = { mt_storage_data(parts[i]->storage), parts[i]->view };
        mt_kernels(c.device)->copy_to_strided(&to, &from);
        start += size;
    }
    mt_node *node = mt_call_end(&c, 0, 8 * mt_numel(out));
    if (node)
        node->dims[0] = dim;
    return out;
}
