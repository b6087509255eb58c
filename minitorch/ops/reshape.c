/* reshape.c -- another shape for the same elements in the same order: a view where strides allow it, else a copy. */
#include "ops/call.h"

mt_tensor *mt_reshape(mt_tensor *t, mt_shape shape)
{
    mt_view view;
    if (!mt_view_reshape(&view, &t->view, shape))
        return mt_reshape(mt_contiguous(t), shape);
    mt_tensor *result = mt_tensor_view(t, view);
    if (t->dtype == MT_F32)
        mt_record(&mt_same_order_op, result, &t, 1);
    return result;
}
