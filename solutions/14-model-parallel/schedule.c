/* schedule.c -- in which order a rank of a pipeline works; see parallel/pipe.h. */
#include "parallel/pipe.h"

/* The k-th forward, or backward, of a rank. */
static mt_pipe_action action_of(bool backward, int k, mt_pipe_kind kind, int stages, int chunks)
{
    if (kind != MT_INTERLEAVED)
        return (mt_pipe_action){ backward, k, 0 };
    /* LAB 14.7 BEGIN  Groups of `stages` micro-batches, each in all chunks; backward begins with the last chunk.
     * Hint: a group has stages * chunks actions, `stages` of each chunk. */
    int group = k / (stages * chunks), chunk = k / stages % chunks;
    return (mt_pipe_action){ backward, group * stages + k % stages, backward ? chunks - 1 - chunk : chunk };
    /* LAB 14.7 END */
}

/* How many forwards come before the first backward. */
static int warm_up(mt_pipe_kind kind, int stage, int stages, int micro, int chunks)
{
    int all = micro * chunks, first = all;
    if (kind == MT_INTERLEAVED) {
        /* LAB 14.7 BEGIN  The number that parallel/pipe.h says. */
        first = 2 * (stages - stage - 1) + (chunks - 1) * stages;
        /* LAB 14.7 END */
    } else if (kind == MT_1F1B) {
        /* LAB 14.6 BEGIN  The forwards of micro-batches that the stages behind are still working on. */
        first = stages - stage - 1;
        /* LAB 14.6 END */
    }
    return (int)mt_min(first, all);
}

mt_status mt_pipe_schedule(mt_pipe_action *out, mt_pipe_kind kind, int stage, int stages, int micro, int chunks)
{
    if (stages < 1 || micro < 1 || chunks < 1 || stage < 0 || stage >= stages)
        return mt_fail(MT_ERR_ARGUMENT, "pipeline: stage %d of %d with %d micro-batches and %d chunks", stage, stages,
                       micro, chunks);
    if (kind != MT_INTERLEAVED && chunks > 1)
        return mt_fail(MT_ERR_ARGUMENT, "pipeline: %d chunks a rank need the interleaved schedule", chunks);
    if (kind == MT_INTERLEAVED && micro % stages != 0)
        return mt_fail(
            MT_ERR_ARGUMENT,
            "pipeline: the interleaved schedule takes groups of %d micro-batches, one a stage, and %d are not "
            "a multiple: use %d, or 1f1b",
            stages, micro, (int)mt_ceil_div(micro, stages) * stages);
    int first = warm_up(kind, stage, stages, micro, chunks), all = micro * chunks;
    /* LAB 14.6 BEGIN  `first` forwards, then a forward and a backward in turn while there are forwards, then the other
     * backwards. Hint: before backward k, first + k + 1 forwards have been done, or all. */
    for (int k = 0, done = 0; k < all; k++) {
        for (; done < all && done < first + k + 1; done++)
            *out++ = action_of(false, done, kind, stages, chunks);
        *out++ = action_of(true, k, kind, stages, chunks);
    }
    /* LAB 14.6 END */
    return MT_OK;
}
