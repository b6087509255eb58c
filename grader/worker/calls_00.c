/* calls_00.c -- how the worker calls the functions of lab 00. Views and shapes arrive as arrays of i64:
 * [18] rank, offset, shape[8], stride[8]; [9] rank, dim[8]. */
#include "worker/call.h"
#include "core/view.h"

#include <string.h>

static mt_view view_of(const int64_t *from)
{
    mt_view view = { .rank = (int)from[0], .offset = from[1] };
    memcpy(view.shape, from + 2, sizeof view.shape);
    memcpy(view.stride, from + 2 + MT_MAX_RANK, sizeof view.stride);
    return view;
}

static void put_view(int64_t *to, mt_view view)
{
    to[0] = view.rank;
    to[1] = view.offset;
    memcpy(to + 2, view.shape, sizeof view.shape);
    memcpy(to + 2 + MT_MAX_RANK, view.stride, sizeof view.stride);
}

static mt_shape shape_of(const int64_t *from)
{
    mt_shape shape = { .rank = (int)from[0] };
    memcpy(shape.dim, from + 1, sizeof shape.dim);
    return shape;
}

static void numel(const mg_value *v)
{
    mt_view view = view_of(I64(view));
    I64(numel)[0] = mt_view_numel(&view);
}

static void contiguous(const mg_value *v)
{
    put_view(I64(out), mt_view_contiguous(shape_of(I64(shape))));
}

static void is_contiguous(const mg_value *v)
{
    mt_view view = view_of(I64(view));
    I64(answer)[0] = mt_view_is_contiguous(&view);
}

static void at(const mg_value *v)
{
    mt_view view = view_of(I64(view));
    I64(element)[0] = mt_view_at(&view, I64(index));
}

static void unravel(const mg_value *v)
{
    mt_view view = view_of(I64(view));
    mt_view_unravel(&view, N(n), I64(index));
}

static void permute(const mg_value *v)
{
    mt_view view = view_of(I64(view));
    int order[MT_MAX_RANK] = { 0 };
    for (int64_t i = 0; i < ARRAY(order)->count; i++)
        order[i] = (int)I64(order)[i];
    put_view(I64(out), mt_view_permute(&view, order));
}

static void transpose(const mg_value *v)
{
    mt_view view = view_of(I64(view));
    put_view(I64(out), mt_view_transpose(&view, (int)N(d0), (int)N(d1)));
}

static void slice(const mg_value *v)
{
    mt_view view = view_of(I64(view));
    put_view(I64(out), mt_view_slice(&view, (int)N(dim), N(start), N(stop), N(step)));
}

static void broadcast(const mg_value *v)
{
    mt_view out = view_of(I64(out)), view = view_of(I64(view));
    I64(fits)[0] = mt_view_broadcast(&out, &view, shape_of(I64(shape)));
    put_view(I64(out), out);
}

static void broadcast_shape(const mg_value *v)
{
    mt_shape out = shape_of(I64(out));
    I64(fits)[0] = mt_view_broadcast_shape(&out, shape_of(I64(a)), shape_of(I64(b)));
    I64(out)[0] = out.rank;
    memcpy(I64(out) + 1, out.dim, sizeof out.dim);
}

static void reshape(const mg_value *v)
{
    mt_view out = view_of(I64(out)), view = view_of(I64(view));
    I64(fits)[0] = mt_view_reshape(&out, &view, shape_of(I64(shape)));
    put_view(I64(out), out);
}

static void copy_strided(const mg_value *v)
{
    mt_view view = view_of(I64(view)), given;
    memcpy(&given, &view, sizeof view);
    mt_copy_strided(ARRAY(out)->ptr, ARRAY(storage)->ptr, &view, N(size));
    MT_CHECK(memcmp(&given, &view, sizeof view) == 0, "the call changed the view, of which it may only read");
}

const mg_function mg_calls_00[] = {
    { "mt_view_numel", numel },
    { "mt_view_contiguous", contiguous },
    { "mt_view_is_contiguous", is_contiguous },
    { "mt_view_at", at },
    { "mt_view_unravel", unravel },
    { "mt_view_permute", permute },
    { "mt_view_transpose", transpose },
    { "mt_view_slice", slice },
    { "mt_view_broadcast", broadcast },
    { "mt_view_broadcast_shape", broadcast_shape },
    { "mt_view_reshape", reshape },
    { "mt_copy_strided", copy_strided },
    { NULL, NULL },
};
