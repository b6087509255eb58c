/* tensor_parallel.h -- layers whose weights are divided among ranks.
 * Unit: solutions/14-model-parallel/tensor_parallel.c
 *
 *     y = row(gelu(column(x)))          // an MLP: one all-reduce in forward, one in backward
 *
 * A column-parallel product has some columns of w on each rank, and gives these columns of its result; a row-parallel
 * one has some rows, takes these columns of its input, and gives one summand of the result. x is the same on all ranks,
 * and so are all results but those of a column-parallel product. All tensors are f32 on the CPU.
 * A collective that fails leaves its status in tp->status: no collective is called after it, and values are undefined.
 * Source: Shoeybi et al. 2019, arXiv:1909.08053, sec. 3. */
#pragma once

#include "core/tensor.h"
#include "dist/comm.h"

MT_C_BEGIN

/* The ranks of one layer; lives until the last backward through an op that was given it. */
typedef struct mt_tp {
    mt_comm *comm;
    mt_status status; /* MT_OK, or the first failure */
} mt_tp;

/* mt_tp_copy -- a copy of x; backward sums the gradients of all ranks (f in the paper). One all-reduce of x's elements
 * in backward, none in forward.   Lab 14.2 */
mt_tensor *mt_tp_copy(mt_tp *tp, mt_tensor *x);

/* mt_tp_reduce -- the sum of all ranks' x, which have one shape; the gradient is that of the sum (g in the paper). One
 * all-reduce of x's elements in forward, none in backward.   Lab 14.2 */
mt_tensor *mt_tp_reduce(mt_tp *tp, mt_tensor *x);

/* mt_tp_column_linear -- x [...,I], w [I,O/P], b [O/P] or NULL: [...,O/P], this rank's columns.   Lab 14.3 */
mt_tensor *mt_tp_column_linear(mt_tp *tp, mt_tensor *x, mt_tensor *w, mt_tensor *b);

/* mt_tp_row_linear -- x [...,I/P], w [I/P,O], b [O] or NULL, the same on all ranks: [...,O], the sum of all ranks'
 * x w, and b once.   Lab 14.3 */
mt_tensor *mt_tp_row_linear(mt_tp *tp, mt_tensor *x, mt_tensor *w, mt_tensor *b);

/* How an array is divided: [rows, groups, width], of which each rank has [rows, groups, width / size], its part of
 * every group; `unit` neighbours of a group stay together. Columns of w [I,O]: { I, 1, O, 1 };
 * rows: { 1, 1, I * O, O }; of [C, 3C], queries, keys and values with heads of D elements: { C, 3, C, D }.
 * A bias has one row. */
typedef struct mt_tp_layout {
    int64_t rows, groups, width, unit;
} mt_tp_layout;

/* mt_tp_shard -- out [rows, groups, width / size] becomes the part of a rank of `all`; they may not overlap.
 * Fails, with out unchanged: width is no multiple of unit * size (MT_ERR_ARGUMENT).   Lab 14.4 */
mt_status mt_tp_shard(float *out, const float *all, const mt_tp_layout *layout, int size, int rank);

MT_C_END
