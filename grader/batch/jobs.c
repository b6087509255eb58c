/* jobs.c -- start, limit and read one grader process. */
#include "jobs.h"
#include "json.h"
#include "rows/run.h"
#include "sandbox/scratch.h"
#include "text.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

void mg_job_folder(char path[PATH_MAX], const mg_plan *plan, int64_t submission)
{
    mg_path(path, "%s/%.2s/%04lld", plan->out, plan->lab->id, (long long)submission);
}

void mg_job_report(char path[PATH_MAX], const mg_plan *plan, int64_t submission)
{
    char folder[PATH_MAX];
    mg_job_folder(folder, plan, submission);
    mg_path(path, "%s/%.2s.json", folder, plan->lab->id);
}

bool mg_job_overdue(const mg_job *job)
{
    return mt_now() - job->began > 2 * 60 * MG_LAB_MINUTES;
}

/* ---- version -------------------------------------------------------------------------------- */

void mg_plan_version(mg_plan *plan)
{
    char path[PATH_MAX + 64], commit[24] = "", buffer[1 << 14];
    uint64_t hash = MG_HASH;
    snprintf(path, sizeof path, "git -C '%s' rev-parse --short HEAD 2>/dev/null", plan->root);
    FILE *git = popen(path, "re");
    if (git && fgets(commit, sizeof commit, git))
        commit[strcspn(commit, "\n")] = 0;
    if (git)
        pclose(git);
    snprintf(path, sizeof path, "%s/bin/grade", plan->build);
    FILE *file = fopen(path, "re");
    for (size_t n; file && (n = fread(buffer, 1, sizeof buffer, file)) > 0;)
        hash = mg_hash(hash, buffer, n);
    if (file)
        fclose(file);
    snprintf(plan->version, sizeof plan->version, "%s%s%08" PRIx32, commit, commit[0] ? "+" : "", (uint32_t)hash);
}

/* ---- start ---------------------------------------------------------------------------------- */

MT_NORETURN static void become_grader(const mg_job *job, const mg_plan *plan, const char *folder, pid_t parent)
{
    char program[PATH_MAX], units[PATH_MAX], log[PATH_MAX];
    mg_path(program, "%s/bin/grade", plan->build);
    mg_path(units, "%s/units", folder);
    const char *into = job->into ? job->into : folder;
    mg_path(log, "%s/log", into);
    const char *argv[24] = { program,     "--lab",     plan->lab->id, "--root",  plan->root, "--build",
                             plan->build, "--report",  into,          "--seed",  plan->seed, "--submission",
                             units,       "--marking", "--quiet",     "--width", "0" };
    int n = 17;
    if (job->timed) {
        argv[n++] = "--inconclusive";
    } else {
        argv[n++] = "--no-speed";
    }
    if (plan->course) {
        argv[n++] = "--course";
        argv[n++] = plan->course;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* its janitor (scratch.h) then ends what it started */
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    setpgid(0, 0); /* Ctrl-C is for us */
    int in = open("/dev/null", O_RDONLY), out = open(log, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (in < 0 || out < 0 || dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(out, 2) < 0 || getppid() != parent)
        _exit(3);
    execv(program, (char *const *)argv);
    dprintf(2, "%s: %s\n", program, strerror(errno));
    _exit(3);
}

mt_status mg_job_start(mg_job *job, const mg_plan *plan)
{
    char folder[PATH_MAX], report[PATH_MAX];
    pid_t parent = getpid();
    mg_job_folder(folder, plan, job->grading.submission);
    mg_job_report(report, plan, job->grading.submission);
    if (!job->timed && !job->into) /* one of before must not be taken for this one's */
        unlink(report);
    job->began = mt_now();
    job->killed = false;
    fflush(NULL);
    job->pid = fork();
    if (job->pid == 0)
        become_grader(job, plan, folder, parent);
    if (job->pid > 0)
        return MT_OK;
    job->pid = 0;
    return mt_fail(MT_ERR_IO, "no process for a grader: %s", strerror(errno));
}

/* ---- end ------------------------------------------------------------------------------------ */

static void read_row(mg_entry *row, const cJSON *test)
{
    const cJSON *extra = cJSON_GetObjectItem(test, "extra_data");
    const char *detail = mg_json_string(extra, "detail");
    snprintf(row->step, sizeof row->step, "%s", mg_json_string(test, "number"));
    snprintf(row->name, sizeof row->name, "%s", mg_json_string(test, "name"));
    snprintf(row->verdict, sizeof row->verdict, "%s", mg_json_verdict(test));
    row->points = mg_json_number(extra, "points");
    row->max = mg_json_number(test, "max_score");
    row->seconds = mg_json_number(extra, "seconds");
    row->measured = mg_json_number(extra, "measured");
    row->low = mg_json_number(extra, "low");
    row->full = mg_json_number(extra, "full");
    row->message = strdup(detail[0] ? detail : mg_json_string(extra, "note"));
    row->hint = strdup(mg_json_string(extra, "hint"));
    row->call = strdup(mg_json_string(extra, "call"));
    row->seed = strdup(mg_json_string(extra, "seed"));
}

/* Rows from the JSON file; how many still have to be timed, and how many the grader could not run. */
static void read_rows(mg_grading *g, const cJSON *json, int *untimed, int *errors)
{
    const cJSON *test, *tests = cJSON_GetObjectItem(json, "tests");
    g->row = calloc((size_t)cJSON_GetArraySize(tests) + 1, sizeof *g->row);
    MT_CHECK(g->row, "out of memory");
    cJSON_ArrayForEach(test, tests)
    {
        mg_entry *row = &g->row[g->rows++];
        read_row(row, test);
        *untimed += strcmp(row->verdict, "INCONCLUSIVE") == 0;
        *errors += strcmp(row->verdict, "ERROR") == 0;
    }
    g->points = mg_json_number(json, "score");
    g->max = mg_json_number(cJSON_GetObjectItem(json, "extra_data"), "max_score");
}

/* The last line that the grader printed. */
static void last_words(char *text, size_t size, const mg_plan *plan, int64_t submission)
{
    char path[PATH_MAX], *line = NULL;
    size_t room = 0;
    mg_job_folder(path, plan, submission);
    strncat(path, "/log", sizeof path - strlen(path) - 1);
    FILE *file = fopen(path, "re");
    while (file && getline(&line, &room, file) > 0)
        if (line[0] != '\n')
            snprintf(text, size, "%.*s", (int)strcspn(line, "\n"), line);
    if (file)
        fclose(file);
    free(line);
}

void mg_job_end(mg_job *job, const mg_plan *plan)
{
    const int status = job->status;
    char path[PATH_MAX], said[400] = "";
    mg_grading *g = &job->grading;
    int untimed = 0, errors = 0;
    mg_job_report(path, plan, g->submission);
    g->seconds = (job->timed ? g->seconds : 0) + mt_now() - job->began;
    g->message[0] = 0;
    bool good = !job->lost[0] && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    cJSON *json = good ? mg_json_read(path) : NULL;
    if (json)
        read_rows(g, json, &untimed, &errors);
    cJSON_Delete(json);
    if (g->rows > 0 && !errors) {
        g->state = untimed ? MG_UNTIMED : MG_GRADED;
        return;
    }
    g->state = MG_BROKEN;
    g->points = NAN;
    last_words(said, sizeof said, plan, g->submission);
    if (job->lost[0])
        snprintf(g->message, sizeof g->message, "%s", job->lost);
    else if (WIFSIGNALED(status))
        snprintf(g->message, sizeof g->message, "the grader was ended by signal %d%s", WTERMSIG(status),
                 job->killed ? ": it took too long" : "");
    else
        snprintf(g->message, sizeof g->message, "%s", said[0] ? said : "the grader gave no report");
}
