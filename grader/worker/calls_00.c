/* calls_00.c -- how the worker calls the functions of lab 00. Views and shapes arrive as arrays of i64:
 * [18] rank, offset, shape[8], stride[8]; [9] rank, dim[8]. */
#include "worker/aborts.h"
#include "core/view.h"

#include <string.h>

static mt_view view_of(const mg_value *v)
{
    mt_view view = { .rank = (int)v->i64s[0], .offset = v->i64s[1] };
    memcpy(view.shape, v->i64s + 2, sizeof view.shape);
    memcpy(view.stride, v->i64s + 2 + MT_MAX_RANK, sizeof view.stride);
    return view;
}

static void put_view(const mg_value *v, mt_view view)
{
    v->i64s[0] = view.rank;
    v->i64s[1] = view.offset;
    memcpy(v->i64s + 2, view.shape, sizeof view.shape);
    memcpy(v->i64s + 2 + MT_MAX_RANK, view.stride, sizeof view.stride);
}

static mt_shape shape_of(const mg_value *v)
{
    mt_shape shape = { .rank = (int)v->i64s[0] };
    memcpy(shape.dim, v->i64s + 1, sizeof shape.dim);
    return shape;
}

static void numel(const mg_value *v)
{
    mt_view view = view_of(&v[1]);
    v[0].i64s[0] = mt_view_numel(&view);
}

static void contiguous(const mg_value *v)
{
    put_view(&v[0], mt_view_contiguous(shape_of(&v[1])));
}

static void is_contiguous(const mg_value *v)
{
    mt_view view = view_of(&v[1]);
    v[0].i64s[0] = mt_view_is_contiguous(&view);
}

static void at(const mg_value *v)
{
    mt_view view = view_of(&v[1]);
    v[0].i64s[0] = mt_view_at(&view, v[2].i64s);
}

static void unravel(const mg_value *v)
{
    mt_view view = view_of(&v[1]);
    mt_view_unravel(&view, v[2].i64, v[0].i64s);
}

static mt_view permuted(const mg_value *v)
{
    mt_view view = view_of(&v[1]);
    int order[MT_MAX_RANK] = { 0 };
    for (int64_t i = 0; i < v[2].count; i++)
        order[i] = (int)v[2].i64s[i];
    return mt_view_permute(&view, order);
}

static void permute(const mg_value *v)
{
    put_view(&v[0], permuted(v));
}

static void transpose(const mg_value *v)
{
    mt_view view = view_of(&v[1]);
    put_view(&v[0], mt_view_transpose(&view, (int)v[2].i64, (int)v[3].i64));
}

static mt_view sliced(const mg_value *v)
{
    mt_view view = view_of(&v[1]);
    return mt_view_slice(&view, (int)v[2].i64, v[3].i64, v[4].i64, v[5].i64);
}

static void slice(const mg_value *v)
{
    put_view(&v[0], sliced(v));
}

static void broadcast(const mg_value *v)
{
    mt_view out = view_of(&v[1]), view = view_of(&v[2]);
    v[0].i64s[0] = mt_view_broadcast(&out, &view, shape_of(&v[3]));
    put_view(&v[1], out);
}

static void broadcast_shape(const mg_value *v)
{
    mt_shape out = shape_of(&v[1]);
    v[0].i64s[0] = mt_view_broadcast_shape(&out, shape_of(&v[2]), shape_of(&v[3]));
    v[1].i64s[0] = out.rank;
    memcpy(v[1].i64s + 1, out.dim, sizeof out.dim);
}

static void reshape(const mg_value *v)
{
    mt_view out = view_of(&v[1]), view = view_of(&v[2]);
    v[0].i64s[0] = mt_view_reshape(&out, &view, shape_of(&v[3]));
    put_view(&v[1], out);
}

static void copy_strided(const mg_value *v)
{
    mt_view view = view_of(&v[2]), given;
    memcpy(&given, &view, sizeof view);
    mt_copy_strided(v[0].ptr, v[1].ptr, &view, v[3].i64);
    MT_CHECK(memcmp(&given, &view, sizeof view) == 0, "the call changed the view, of which it may only read");
}

/* ---- calls that should abort for some arguments: v[0] tells whether they did -------------------------------- */

static void use_permuted(const mg_value *v)
{
    (void)permuted(v);
}

static void use_sliced(const mg_value *v)
{
    (void)sliced(v);
}

static void reshape_alone(const mg_value *v)
{
    mt_view view = view_of(&v[1]), out;
    (void)mt_view_reshape(&out, &view, shape_of(&v[2]));
}

static void at_aborts(const mg_value *v)
{
    v[0].i64s[0] = mg_aborts(at, v);
}

static void permute_aborts(const mg_value *v)
{
    v[0].i64s[0] = mg_aborts(use_permuted, v);
}

static void slice_aborts(const mg_value *v)
{
    v[0].i64s[0] = mg_aborts(use_sliced, v);
}

static void reshape_aborts(const mg_value *v)
{
    v[0].i64s[0] = mg_aborts(reshape_alone, v);
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
    { "may abort: mt_view_at", at_aborts },
    { "may abort: mt_view_permute", permute_aborts },
    { "may abort: mt_view_slice", slice_aborts },
    { "may abort: mt_view_reshape", reshape_aborts },
    { NULL, NULL },
};
