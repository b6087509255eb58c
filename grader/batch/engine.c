/* engine.c -- the batch's side of an engine; see engine.h and engine.sh. */
#include "engine.h"
#include "sandbox/scratch.h"
#include "sandbox/session.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TASK = 160 }; /* bytes of a task's words */

/* A task in one word: submission, kind of rows, and what its result depends on. */
static void describe(char task[TASK], const mg_plan *plan, const mg_job *job)
{
    snprintf(task, TASK, "%04lld:%s:%016" PRIx64 "-%s-%s", (long long)job->grading.submission,
             job->timed ? "timed" : "rows", job->grading.digest, plan->seed, plan->version);
}

/* ---- engine.sh ---------------------------------------------------------------------------------- */

/* Become engine.sh, which ends when we do. */
MT_NORETURN static void become_engine(const mg_engine *engine, const mg_plan *plan, const char *verb, pid_t parent)
{
    char script[PATH_MAX], program[PATH_MAX], folder[PATH_MAX], list[PATH_MAX];
    sigset_t none;
    mg_path(script, "%s/grader/batch/engine.sh", plan->root);
    mg_path(program, "%s/bin/grade_all", plan->build);
    mg_path(folder, "%s/%.2s", plan->out, plan->lab->id);
    mg_path(list, "%s/tasks", folder);
    const char *argv[] = { script,
                           engine->name,
                           verb,
                           folder,
                           engine->hosts ? engine->hosts : "",
                           program,
                           "--lab",
                           plan->lab->id,
                           "--out",
                           plan->out,
                           "--root",
                           plan->root,
                           "--build",
                           plan->build,
                           "--seed",
                           plan->seed,
                           plan->course ? "--course" : NULL,
                           plan->course,
                           NULL };
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    setpgid(0, 0); /* Ctrl-C is for us */
    int in = open(strcmp(verb, "run") == 0 ? list : "/dev/null", O_RDONLY);
    if (in < 0 || dup2(in, 0) < 0 || getppid() != parent)
        _exit(3);
    execv(script, (char *const *)argv);
    dprintf(2, "%s: %s\n", script, strerror(errno));
    _exit(3);
}

static mt_status run_engine(mg_tasks *tasks, const mg_engine *engine, const mg_plan *plan, const char *verb)
{
    int said[2];
    pid_t parent = getpid();
    if (pipe2(said, O_CLOEXEC))
        return mt_fail(MT_ERR_IO, "pipe: %s", strerror(errno));
    fflush(NULL);
    tasks->pid = fork();
    if (tasks->pid == 0) {
        dup2(said[1], 1);
        become_engine(engine, plan, verb, parent);
    }
    close(said[1]);
    tasks->said = fdopen(said[0], "re");
    if (tasks->pid > 0 && tasks->said)
        return setvbuf(tasks->said, NULL, _IONBF, 0) ? mt_fail(MT_ERR_IO, "setvbuf") : MT_OK; /* poll sees each line */
    return mt_fail(MT_ERR_IO, "no process for the engine: %s", strerror(errno));
}

/* Its exit status, when it has said its last word. */
static int end_engine(mg_tasks *tasks)
{
    int status = -1;
    while (waitpid(tasks->pid, &status, 0) < 0 && errno == EINTR)
        ;
    fclose(tasks->said);
    *tasks = (mg_tasks){ 0 };
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

mt_status mg_engine_begin(const mg_engine *engine, const mg_plan *plan)
{
    mg_tasks tasks = { 0 };
    char path[PATH_MAX];
    mg_path(path, "%s/%.2s", plan->out, plan->lab->id);
    mt_status status = mg_folder(path, false);
    if (status == MT_OK)
        status = run_engine(&tasks, engine, plan, "begin");
    if (status == MT_OK && end_engine(&tasks))
        status = mt_fail(MT_ERR_UNAVAILABLE, "ENGINE=%s cannot work: see above", engine->name);
    return status;
}

/* ---- results ------------------------------------------------------------------------------------ */

/* What a task has left in `ended` goes to the submission's folder. False: it is not this job's. */
static bool take(mg_job *job, const mg_plan *plan)
{
    char folder[PATH_MAX], ended[PATH_MAX], from[PATH_MAX], to[PATH_MAX], task[TASK], found[TASK];
    double seconds = 0;
    mg_job_folder(folder, plan, job->grading.submission);
    mg_path(ended, "%s/ended", folder);
    mg_path(from, "%s/status", ended);
    describe(task, plan, job);
    FILE *file = fopen(from, "re");
    bool mine = file && fscanf(file, "%159s %d %lf %lf", found, &job->status, &seconds, &job->cpu) == 4 &&
                strcmp(found, task) == 0;
    if (file)
        fclose(file);
    job->began = mt_now() - seconds;
    const char *const ends[] = { ".json", ".html", "log" };
    for (int i = 0; mine && i < MT_COUNT(ends); i++) {
        mg_path(from, "%s/%.2s%s", ended, ends[i][0] == '.' ? plan->lab->id : "", ends[i]);
        mg_path(to, "%s/%.2s%s", folder, ends[i][0] == '.' ? plan->lab->id : "", ends[i]);
        rename(from, to);
    }
    mg_remove_tree(ended);
    return mine;
}

/* The job that a line of engine.sh is about: "0007", or "0007 WHY" when its task has ended without a result. */
static mg_job *job_of(const char *line, mg_job *job, int64_t jobs, const mg_plan *plan)
{
    char *why;
    long long submission = strtoll(line, &why, 10);
    for (int64_t i = 0; i < jobs; i++)
        if (job[i].busy && job[i].grading.submission == submission) {
            if (!take(&job[i], plan))
                snprintf(job[i].lost, sizeof job[i].lost, "%.*s", (int)strcspn(why + (*why == ' '), "\n"),
                         *why == ' ' ? why + 1 : "its task has ended, and left a result of other units");
            return &job[i];
        }
    return NULL;
}

/* ---- tasks -------------------------------------------------------------------------------------- */

/* A job whose result was left by a task of an earlier batch. */
static mg_job *left_behind(mg_job *job, int64_t jobs, const mg_plan *plan)
{
    for (int64_t i = 0; i < jobs; i++)
        if (job[i].busy && take(&job[i], plan))
            return &job[i];
    return NULL;
}

static mt_status write_list(const mg_job *job, int64_t jobs, const mg_plan *plan)
{
    char path[PATH_MAX], task[TASK];
    mg_path(path, "%s/%.2s/tasks", plan->out, plan->lab->id);
    FILE *file = fopen(path, "we");
    for (int64_t i = 0; file && i < jobs; i++)
        if (job[i].busy) {
            describe(task, plan, &job[i]);
            fprintf(file, "%s\n", task);
        }
    return file && fclose(file) == 0 ? MT_OK : mt_fail(MT_ERR_IO, "%s: %s", path, strerror(errno));
}

/* The next line, or NULL when there will be none. */
static char *next_line(const mg_tasks *tasks, mg_progress *progress, char *line, int size)
{
    struct pollfd said = { .fd = fileno(tasks->said), .events = POLLIN };
    for (bool signalled = false; poll(&said, 1, 1000) <= 0;) {
        if (mg_stop && !signalled)
            kill(tasks->pid, SIGTERM);
        signalled = signalled || mg_stop;
        mg_progress_tick(progress);
    }
    return fgets(line, size, tasks->said);
}

static mg_job *interrupted(mg_job *job)
{
    while (!job->busy)
        job++;
    snprintf(job->lost, sizeof job->lost, "interrupted");
    return job;
}

static int64_t count_busy(const mg_job *job, int64_t jobs)
{
    int64_t busy = 0;
    for (int64_t i = 0; i < jobs; i++)
        busy += job[i].busy;
    return busy;
}

mt_status mg_tasks_wait(mg_tasks *tasks, const mg_engine *engine, const mg_plan *plan, mg_job *job, int64_t jobs,
                        mg_progress *progress, mg_job **ended)
{
    char line[400];
    mt_status status = MT_OK;
    *ended = NULL;
    if (!tasks->pid && !mg_stop && !(*ended = left_behind(job, jobs, plan))) {
        status = write_list(job, jobs, plan);
        status = status == MT_OK ? run_engine(tasks, engine, plan, "run") : status;
    }
    while (status == MT_OK && tasks->pid && !*ended && next_line(tasks, progress, line, sizeof line))
        *ended = job_of(line, job, jobs, plan);
    bool last = *ended && count_busy(job, jobs) == 1;
    int code = tasks->pid && (last || !*ended) ? end_engine(tasks) : 0;
    if (status == MT_OK && !*ended && mg_stop)
        *ended = interrupted(job);
    if (status == MT_OK && !*ended)
        status =
            mt_fail(MT_ERR_UNAVAILABLE, "ENGINE=%s has ended with exit status %d, see above; the same command goes on",
                    engine->name, code);
    return status;
}
