/* ideas_device.c -- what kernels are asked on the emulated device alone: blocks and grids, alignment, launches, the
 * order of threads, counts. */
#include "checks/ideas.h"

#include <stdio.h>
#include <string.h>

enum {
    ALONE = 262147,  /* elements that more than 1,024 blocks take */
    ROWS = 16411,    /* rows that more than 1,024 blocks of 8 warps take, and more moments than shared memory holds */
    COLUMNS = 65539, /* more floats than the registers of a multiprocessor, or its shared memory, hold */
    GRID = 1 << 24,  /* more than a grid has in y, of blocks of 256 */
};

/* The ends of warps and blocks; the last one of single rows only. */
bool mg_odd_on_device(const mg_asked *a)
{
    static const int64_t sizes[] = { 31, 33, 127, 257, 1009, 1025, 4099 };
    for (int d = 0; d < a->dims; d++)
        for (int i = 0; i < MT_COUNT(sizes) - (a->dims > 1); i++)
            if (!mg_try(mg_with_large(a, d, sizes[i], mg_pick_size(mg_rng(a->t.run), 2, 67))))
                return false;
    return true;
}

/* Whole groups of four: of arrays that each begin at a multiple of 16 bytes but one. */
bool mg_unaligned_on_device(const mg_asked *a)
{
    bool good = true;
    mg_trial t = mg_with_large(a, a->dims - 1, a->dims == 1 ? 520 : 64, 8);
    mg_name_part(a, "a float4 must begin at a multiple of 16 bytes: test every pointer",
                 "one array that is not aligned");
    for (int k = 0; k < MG_UNALIGNED_ONES && good; k++) {
        mg_unaligned_one(a->t.run, k);
        good = mg_try(t);
    }
    mg_unaligned(a->t.run, false);
    return good;
}

/* There is work where an output has elements; a first size of 0 leaves only those outputs that are overwritten. */
bool mg_launched_nothing(const mg_trial *t)
{
    const mg_operand *o = t->kernel->operand;
    const int64_t launches = mg_device_counts(t->run)->launches;
    bool work = false;
    for (int i = 0; i < MG_OPERANDS && o[i].name; i++) {
        const bool added = o[i].role == MG_ADDED_TO || o[i].role == MG_UPDATED;
        work = work || ((o[i].role == MG_OVERWRITTEN || (added && t->size[0])) && mg_count_of(t, i));
    }
    if (work || launches == 0)
        return true;
    mg_hint(t->run, "a size of 0 launches nothing: return before the launch");
    return mg_fail(t->run, "%lld launches for a size of 0", (long long)launches);
}

/* The launches of a size that only the grid is tested with: the kernels do not run. */
static bool large_grid(const mg_asked *a, int d)
{
    const mg_kernel *k = a->t.kernel;
    mg_run *run = a->t.run;
    char function[80];
    snprintf(function, sizeof function, "%s of many rows", a->t.function);
    mg_name_part(a,
                 "a grid has at most 65,535 blocks in y and in z, and 2^31 - 1 in x: put the rows, or columns, along x",
                 "a large grid, %c = %d", k->sizes[d], GRID);
    mg_begin(run, function);
    for (int i = 0; i < MG_OPERANDS && k->operand[i].name; i++)
        mg_inout(run, k->operand[i].name, k->operand[i].role == MG_CLASSES ? MT_I32 : MT_F32, MT_SHAPE(3));
    for (int i = 0; i < a->dims; i++)
        mg_i64(run, (char[]){ k->sizes[i], 0 }, i == d ? GRID : 1);
    if (k->scalar)
        mg_f32(run, k->scalar, 1);
    return mg_call(run);
}

bool mg_large_on_device(const mg_asked *a)
{
    const mg_kernel *k = a->t.kernel;
    for (int d = 0; d < a->dims; d++) {
        const bool last = d == a->dims - 1;
        mg_trial t = mg_with_large(a, d,
                                   last && k->columns ? k->columns
                                   : a->dims == 1     ? ALONE
                                   : last             ? COLUMNS
                                                      : ROWS,
                                   MG_FEW);
        mg_name_part(a,
                     a->dims == 1
                         ? "there may be more elements than 1,024 blocks have threads: loop over them, or launch more"
                         : "a row may have more columns than a block has threads or shared memory for: "
                           "loop over them",
                     "large arrays, %c = %lld", k->sizes[d], (long long)t.size[d]);
        if (!mg_try(t) || (k->grid && strchr(k->grid, k->sizes[d]) && !large_grid(a, d)))
            return false;
    }
    return true;
}

static bool once(mg_run *run, const void *trial)
{
    (void)run;
    return mg_try(*(const mg_trial *)trial);
}

/* The inputs are numbers whose sums are rounded. When blocks run in another order, a sum has the same bits by chance in
 * one of ten calls. */
bool mg_bits_on_device(const mg_asked *a)
{
    bool good = true;
    mg_name_part(a, NULL, "equal bits in a second call");
    for (int i = 0; i < (a->dims == 1 ? 8 : a->dims) && good; i++) {
        mg_trial t = mg_with_large(a, a->dims == 1 ? 0 : i, a->dims == 1 ? 20009 : 1031, 19);
        t.dist = (mg_dist)NORMAL(0, 1);
        good = mg_same_bits(t.run, once, &t);
    }
    return good;
}

void mg_credit_moves(mg_run *run, const mg_kernel_row *row)
{
    const int64_t launches = mg_device_counts(run)->launches;
    if (row->launches && launches != row->launches)
        mg_fail(run, "%lld launches, where %lld do all of it", (long long)launches, (long long)row->launches);
    if (row->traffic)
        mg_device_credit_shared(run, row->count, row->traffic, mg_moved(row));
    else
        mg_device_credit(run, row->count, mg_moved(row));
}
