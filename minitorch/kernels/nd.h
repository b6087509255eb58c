/* nd.h -- walk several views of one shape together, one run along the innermost dimension at a time.
 *
 * Dimensions that are contiguous with each other in every view are merged first, so dense arrays are a single run:
 *     for (mt_nd it = mt_nd_begin(views, 3); it.runs > 0; mt_nd_next(&it))
 *         row(out + it.at[0], a + it.at[1], it.step[1], b + it.at[2], it.step[2], it.run);                        */
#pragma once

#include "core/view.h"

MT_C_BEGIN

enum { MT_ND_VIEWS = 4 };

typedef struct mt_nd {
    int64_t runs;              /* runs left, this one included; 0 when the shape is empty */
    int64_t run;               /* elements in a run */
    int64_t at[MT_ND_VIEWS];   /* offset of this run in each storage */
    int64_t step[MT_ND_VIEWS]; /* each view's stride along the run */
    int count, rank;           /* views; outer dimensions */
    int64_t shape[MT_MAX_RANK], index[MT_MAX_RANK];
    int64_t stride[MT_ND_VIEWS][MT_MAX_RANK];
} mt_nd;

/* mt_nd_begin -- the first run. Aborts: views of different shapes. */
mt_nd mt_nd_begin(const mt_view *const *views, int count);

/* mt_nd_split -- two walks of MT_ND_VIEWS views of one shape, the first of which may repeat elements (stride 0): *kept
 * over the dimensions in which it does not, *repeats over the others, from offset 0. */
void mt_nd_split(mt_nd *kept, mt_nd *repeats, const mt_view *const *views);
void mt_nd_next(mt_nd *it);

/* Elements i .. i+n-1 of the run at it. */
typedef void mt_nd_piece_fn(const mt_nd *it, int64_t i, int64_t n, void *user);

/* mt_nd_for -- all runs, cut into pieces of at most `piece` elements that are divided among the threads. The pieces do
 * not depend on the number of threads. work: operations per element; if the total is small, one thread does it all. */
void mt_nd_for(const mt_nd *all, int64_t piece, int64_t work, mt_nd_piece_fn *fn, void *user);

MT_C_END
