/* jobs.h -- grade one submission: a grader process of its own, and what it found. */
#pragma once

#include "book.h"
#include "check.h"

#include <sys/types.h>

/* What is the same for all submissions of a batch. */
typedef struct mg_plan {
    const mg_lab *lab;
    const char *root, *build;
    const char *course; /* as --course of the grader; NULL: without */
    char out[PATH_MAX]; /* gradebook and reports */
    char seed[20];
    char version[64];
} mg_plan;

/* mg_plan_version -- commit and build of the grader, as far as they can be known, into plan->version. */
void mg_plan_version(mg_plan *plan);

typedef struct mg_job {
    int64_t index;      /* of the submission in the class */
    mg_grading grading; /* filled by mg_job_end */
    bool timed;         /* only its timed rows */
    const char *into;   /* the folder of its report; NULL: that of the submission */
    bool busy;          /* it waits for a grader, or has one */
    pid_t pid;          /* the grader; 0: a task of an engine */
    double began;
    bool killed;    /* it did not end by itself */
    int status;     /* as wait() has it, when it has ended */
    double cpu;     /* seconds of processor time */
    char lost[300]; /* why no grader has ended; "" */
} mg_job;

/* mg_job_folder -- where the units (units/), the reports and what the grader said (log) of a submission are. */
void mg_job_folder(char path[PATH_MAX], const mg_plan *plan, int64_t submission);

/* mg_job_report -- the JSON file in it. */
void mg_job_report(char path[PATH_MAX], const mg_plan *plan, int64_t submission);

/* mg_job_start -- start the grader; it ends when we do, even by SIGKILL. */
mt_status mg_job_start(mg_job *job, const mg_plan *plan);

/* mg_job_end -- the job has ended: read its report. The grading's state is MG_BROKEN when there is none,
 * MG_UNTIMED when timed rows are still to be run, else MG_GRADED. Free the rows with mg_grading_free. */
void mg_job_end(mg_job *job, const mg_plan *plan);

/* mg_job_overdue -- whether it should be ended: the grader's own limit, and again as much, has passed. */
bool mg_job_overdue(const mg_job *job);
