/* pool.h -- the graders that work at the same time: processes of this machine, or tasks of an engine (engine.h). */
#pragma once

#include "engine.h"
#include "progress.h"

typedef struct mg_pool {
    const mg_plan *plan;
    const mg_engine *engine; /* its name is NULL: processes of this machine */
    mg_progress *progress;   /* shown once a second; NULL: not at all */
    mg_job *job;             /* `size` of them */
    int64_t size, running;
    mg_tasks tasks; /* of the engine */
} mg_pool;

/* mg_pool_open -- room for `jobs` processes (0: one for each processor), or with an engine for `most` tasks. Ends tasks
 * that a killed batch has left. Fails when the engine cannot work here. */
mt_status mg_pool_open(mg_pool *pool, const mg_plan *plan, const mg_engine *engine, int64_t jobs, int64_t most,
                       mg_progress *progress);
void mg_pool_close(mg_pool *pool);

/* mg_pool_start -- start a copy of the job; running < size before. An engine begins with the next mg_pool_wait. */
mt_status mg_pool_start(mg_pool *pool, const mg_job *job);

/* mg_pool_wait -- wait until a job has ended; running > 0 before. mg_stop ends all of them soon. *ended is valid until
 * the next mg_pool_start. After a failure of the engine no job runs. */
mt_status mg_pool_wait(mg_pool *pool, mg_job **ended);
