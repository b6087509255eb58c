/* task.c -- one grading on a machine that an engine has chosen; see engine.h. */
#include "pool.h"
#include "sandbox/scratch.h"
#include "sandbox/session.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The name of this machine as the engine has it. */
static void find_node(char node[256])
{
    const char *name = getenv("SLURMD_NODENAME");
    name = name ? name : getenv("PARALLEL_SSHHOST");
    gethostname(node, 255);
    if (name)
        snprintf(node, 256, "%s", name);
}

static mt_status write_status(const char *folder, const char *task, const mg_job *job, const char *node)
{
    char path[PATH_MAX];
    mg_path(path, "%s/status", folder);
    FILE *file = fopen(path, "we");
    if (file)
        fprintf(file, "%s %d %.3f %.3f %s\n", task, job->status, mt_now() - job->began, job->cpu, node);
    return file && fclose(file) == 0 ? MT_OK : mt_fail(MT_ERR_IO, "%s: %s", path, strerror(errno));
}

/* Grade into the folder `made`. */
static mt_status grade_into(char made[PATH_MAX], const mg_plan *plan, const char *task, int64_t submission, bool timed,
                            const char *node)
{
    char from[PATH_MAX], to[PATH_MAX];
    const mg_engine here = { 0 };
    mg_pool pool;
    mg_job job = { .grading.submission = submission, .timed = timed, .into = made }, *ended;
    mt_status status = mg_folder(made, false);
    mg_job_report(from, plan, submission);
    mg_path(to, "%s/%.2s.json", made, plan->lab->id);
    if (status == MT_OK && timed) /* it says which rows are to be timed */
        status = mg_copy_file(to, from);
    if (status == MT_OK)
        status = mg_pool_open(&pool, plan, &here, 1, 1, NULL);
    if (status != MT_OK)
        return status;
    status = mg_pool_start(&pool, &job);
    if (status == MT_OK)
        status = mg_pool_wait(&pool, &ended);
    if (status == MT_OK)
        status = write_status(made, task, ended, node);
    mg_pool_close(&pool);
    return status;
}

mt_status mg_task(const mg_plan *plan, const char *task)
{
    char folder[PATH_MAX], made[PATH_MAX], ended[PATH_MAX], node[256] = "", kind[8];
    long long submission;
    if (sscanf(task, "%lld:%7[a-z]:", &submission, kind) != 2)
        return mt_fail(MT_ERR_ARGUMENT, "--task is for grader/batch/engine.sh, and \"%s\" is no task", task);
    find_node(node);
    mg_job_folder(folder, plan, submission);
    mg_path(made, "%s/task-%s-%lld", folder, node, (long long)getpid());
    mg_path(ended, "%s/ended", folder);
    mt_status status = grade_into(made, plan, task, submission, strcmp(kind, "timed") == 0, node);
    if (status == MT_OK && mg_stop)
        status = mt_fail(MT_ERR_UNAVAILABLE, "interrupted");
    if (status == MT_OK && rename(made, ended) && errno != ENOTEMPTY && errno != EEXIST)
        status = mt_fail(MT_ERR_IO, "%s: %s", ended, strerror(errno));
    mg_remove_tree(made); /* where another task of the submission was first */
    return status;
}
