/* batch.h -- grade a class: every submission of a folder, as many at once as there are processors; then the timed rows,
 * one submission after the other. */
#pragma once

#include "course/course.h"
#include "pool.h"

typedef struct mg_batch_options {
    const char *folder, *out, *root, *build;
    const char *course;              /* its file, "none", or NULL: what the grader takes by itself */
    const mg_course_lab *course_lab; /* the lab in it; NULL: the checks' points */
    const char *regrade; /* "all", words of a key, "inconclusive": such rows; NULL: what is not in the book */
    const mg_lab *lab;
    uint64_t seed;    /* 0: that of the book */
    int64_t jobs;     /* graders at once; 0: one for each processor */
    int64_t room;     /* MiB that must be free before a grader is started */
    bool no_speed;    /* leave the timed rows for later */
    mg_engine engine; /* other machines that grade; without a name: this one */
} mg_batch_options;

/* mg_batch -- grade what the gradebook OUT/gradebook.sqlite does not have yet. *left: submissions that still are not
 * graded (interrupted, or the grader failed). Fails only if the batch as a whole cannot go on. */
mt_status mg_batch(const mg_batch_options *options, int64_t *left);
