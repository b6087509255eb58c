/* tensor_parallel.h -- layers whose weights are divided among ranks.
 * Units: tensor_parallel.c and vocabulary.c of solutions/14-model-parallel
 *
 *     y = row(gelu(column(x)))          // an MLP: one all-reduce in forward, one in backward
 *
 *     mt_tp_range mine = mt_tp_range_of(rows, tp.comm->size, tp.comm->rank);   // of the token table
 *     x = mt_tp_embedding(&tp, w, ids, mine);
 *     ...
 *     loss = mt_tp_classifier(&tp, x, w, targets, mt_tp_classes(mine, vocabulary));
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

/* mt_tp_all_reduce -- data [n] f32 becomes the sum, or maximum, over all ranks, unless an earlier collective failed. */
static inline void mt_tp_all_reduce(mt_tp *tp, float *data, int64_t n, mt_reduce op)
{
    if (tp->status == MT_OK)
        tp->status = mt_all_reduce(tp->comm, data, n, MT_F32, op, NULL);
}

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
 * Fails, with out unchanged: width is not a multiple of unit * size (MT_ERR_ARGUMENT).   Lab 14.4 */
mt_status mt_tp_shard(float *out, const float *all, const mt_tp_layout *layout, int size, int rank);

/* ---- vocabularies: vocabulary.c ------------------------------------------------------------------------------- */

/* Rows begin .. end - 1 of a table that has `all` rows on all ranks together. It may be empty. */
typedef struct mt_tp_range {
    int64_t begin, end, all;
} mt_tp_range;

/* mt_tp_range_of -- what a rank has of n >= 0 rows: ranks have rows in order, the first n % size ranks one more than
 * the others.   Lab 14.5 */
mt_tp_range mt_tp_range_of(int64_t n, int size, int rank);

/* mt_tp_classes -- of a range, the rows below `classes`: the rest of the table is padding. */
static inline mt_tp_range mt_tp_classes(mt_tp_range range, int64_t classes)
{
    return (mt_tp_range){ mt_min(range.begin, classes), mt_min(range.end, classes), classes };
}

/* mt_tp_embedding -- w [end - begin,C], ids i32 of any shape S: [S...,C], row ids[...] of the whole table, on all
 * ranks. One all-reduce of the result in forward, none in backward.
 * Aborts: w is not the range's rows; an id that is not 0 .. all - 1, naming it.   Lab 14.5 */
mt_tensor *mt_tp_embedding(mt_tp *tp, mt_tensor *w, mt_tensor *ids, mt_tp_range range);

/* mt_tp_cross_entropy -- logits [N,end - begin], the columns of this rank; target i32 [N], 0 .. all - 1 and the same on
 * all ranks: the mean loss [] over all columns of all ranks, with the same bits on each. In forward all-reduces of 3 N
 * numbers in all (maximum; sum of exponentials; logit of the target), none in backward: no rank has the logits of
 * another.   Aborts: other shapes; no row; a target that is not 0 .. all - 1, naming it.
 * Source: Shoeybi et al. 2019, arXiv:1909.08053, sec. 3.   Lab 14.12 */
mt_tensor *mt_tp_cross_entropy(mt_tp *tp, mt_tensor *logits, mt_tensor *target, mt_tp_range range);

/* mt_tp_classifier -- mt_classifier of the whole table: x [...,C], w [at least end - begin,C], whose first rows are
 * those of the range, target i32 with one element for each row of x. One all-reduce of x's elements in backward, for
 * the gradient of x.   Aborts: as above.   Lab 14.12 */
mt_tensor *mt_tp_classifier(mt_tp *tp, mt_tensor *x, mt_tensor *w, mt_tensor *target, mt_tp_range range);

/* mt_tp_norm -- collective: the norm of all gradients of a model, with the same bits on all ranks, as double.
 *   divided      the norm of this rank's gradients of the weights of which each rank has a part
 *   replicated   that of the other parameters, which all ranks have, with the same gradients
 * NaN when the collective has failed: skip the step.   Lab 14.13 */
double mt_tp_norm(mt_tp *tp, double divided, double replicated);

MT_C_END
