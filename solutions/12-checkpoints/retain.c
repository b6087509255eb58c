/* retain.c -- old checkpoints are removed, but never the last that a run could continue from. */
#include "ckpt/checkpoint.h"

#include <stdlib.h>

bool mt_keeps(const mt_keep *keep, const int64_t *steps, int64_t i)
{
    /* LAB 12.5 BEGIN  One of the newest, every nth step, or the best. */
    return keep->last == 0 || i < keep->last || (keep->every && steps[i] % keep->every == 0) || steps[i] == keep->best;
    /* LAB 12.5 END */
}

mt_status mt_checkpoint_prune(const char *dir, const mt_keep *keep)
{
    char folder[MT_PATH_SIZE];
    int64_t *steps, count, spared = -1;
    mt_status status = mt_checkpoint_steps(&steps, &count, dir); /* newest first */
    if (status != MT_OK)
        return status;
    /* LAB 12.5 BEGIN  The one that is spared even if it is not kept: the newest valid one (mt_checkpoint_check).
     * Hint: newer ones that are invalid may take its place among the last that are kept. */
    for (int64_t i = 0; i < count && spared < 0; i++)
        if (mt_checkpoint_check(dir, steps[i]) == MT_OK)
            spared = steps[i];
    /* LAB 12.5 END */
    for (int64_t i = count - 1; i >= 0; i--) {
        mt_checkpoint_path(folder, dir, steps[i]);
        if (!mt_keeps(keep, steps, i) && steps[i] != spared && mt_checkpoint_remove(folder) != MT_OK)
            status = MT_ERR_IO;
    }
    free(steps);
    return status;
}
