/* pool.c -- see pool.h. */
#include "pool.h"
#include "sandbox/session.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST_JOBS = 64 };

mt_status mg_pool_open(mg_pool *p, const mg_plan *plan, const mg_engine *engine, int64_t jobs, int64_t most,
                       mg_progress *progress)
{
    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child, NULL);
    *p = (mg_pool){ .plan = plan, .engine = engine, .progress = progress };
    p->size = engine->name ? mt_max(most, 1) : mt_min(jobs ? jobs : sysconf(_SC_NPROCESSORS_ONLN), MOST_JOBS);
    p->job = calloc((size_t)p->size, sizeof *p->job);
    MT_CHECK(p->job, "out of memory");
    return engine->name ? mg_engine_begin(engine, plan) : MT_OK;
}

void mg_pool_close(mg_pool *p)
{
    free(p->job);
}

mt_status mg_pool_start(mg_pool *p, const mg_job *what)
{
    mg_job *job = p->job;
    while (job->busy)
        job++;
    *job = *what;
    mt_status status = p->engine->name ? MT_OK : mg_job_start(job, p->plan);
    job->busy = status == MT_OK;
    p->running += job->busy;
    return status;
}

/* ---- processes ---------------------------------------------------------------------------------- */

static void end_jobs(mg_pool *p, int signal_number, bool only_overdue)
{
    for (int64_t i = 0; i < p->size; i++) {
        mg_job *job = &p->job[i];
        if (job->busy && (!only_overdue || mg_job_overdue(job))) {
            job->killed = only_overdue;
            kill(job->pid, signal_number);
        }
    }
}

static mg_job *ended_process(mg_pool *p)
{
    struct rusage used;
    for (int64_t i = 0; i < p->size; i++) {
        mg_job *job = &p->job[i];
        if (job->busy && wait4(job->pid, &job->status, WNOHANG, &used) == job->pid) {
            job->cpu = (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
                       1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
            return job;
        }
    }
    return NULL;
}

static mg_job *wait_for_process(mg_pool *p)
{
    sigset_t child;
    mg_job *job;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    for (bool signalled = false; !(job = ended_process(p));) {
        if (mg_stop && !signalled)
            end_jobs(p, SIGTERM, false);
        signalled = signalled || mg_stop;
        end_jobs(p, SIGKILL, true);
        sigtimedwait(&child, NULL, &(struct timespec){ .tv_sec = 1 });
        if (p->progress)
            mg_progress_tick(p->progress);
    }
    return job;
}

mt_status mg_pool_wait(mg_pool *p, mg_job **ended)
{
    mt_status status = MT_OK;
    if (p->engine->name)
        status = mg_tasks_wait(&p->tasks, p->engine, p->plan, p->job, p->size, p->progress, ended);
    else
        *ended = wait_for_process(p);
    if (status == MT_OK) {
        (*ended)->busy = false;
        p->running--;
        return MT_OK;
    }
    for (int64_t i = 0; i < p->size; i++)
        p->job[i].busy = false;
    p->running = 0;
    return status;
}
