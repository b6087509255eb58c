/* page.h -- a sweep as one HTML page without scripts: parallel coordinates, the best value so far, all jobs. */
#pragma once

#include "search/search.h"

MT_C_BEGIN

/* mt_sweep_page -- write the page to `path`. Values are shown times `sign` (-1: the metric was maximised); best: the
 * number of a job that is done. */
mt_status mt_sweep_page(const char *path, const mt_search *search, const char *metric, double sign, const mt_job *jobs,
                        int64_t count, int64_t best);

MT_C_END
