/* command.c -- see command.h. */
#include "command.h"
#include "sandbox/scratch.h"
#include "sandbox/session.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

uint64_t mg_command_seed(struct argp_state *state, const char *text)
{
    char *end;
    errno = 0;
    uint64_t seed = strtoull(text, &end, 16);
    if (errno || end == text || *end || seed == 0)
        argp_error(state, "--seed wants a hexadecimal number such as 5eed01, not \"%s\"", text);
    return seed;
}

static void interrupt(int number)
{
    (void)number;
    mg_stop = 1;
}

void mg_command_interrupt(void)
{
    struct sigaction action = { .sa_handler = interrupt, .sa_flags = SA_RESETHAND };
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    signal(SIGXFSZ, SIG_IGN); /* a limit on the size of files is an error in words */
}

mt_status mg_command_course(mg_course *course, const mg_course_lab **found, const char *file, const char *root,
                            const mg_lab *lab)
{
    char path[PATH_MAX];
    mg_path(path, "%s/course.json", root);
    *found = NULL;
    *course = (mg_course){ 0 };
    if (file ? strcmp(file, "none") == 0 : access(path, F_OK) != 0)
        return MT_OK;
    file = file ? file : path;
    mt_status status = mg_course_read(course, file, root);
    *found = status == MT_OK && lab ? mg_course_find(course, lab) : NULL;
    if (status == MT_OK && lab && !*found)
        mt_warn("%s has no lab %.2s: the points are the checks'", file, lab->id);
    return status;
}

mt_status mg_command_students(mg_students *students, const mg_course *course, const char *file, const char *root)
{
    char path[PATH_MAX];
    mg_path(path, "%s/course.json", root);
    *students = (mg_students){ 0 };
    return course->count ? mg_students_read(students, course, file ? file : path) : MT_OK;
}
