/* kit.c -- what make release needs of the grader.
 *
 *   kit course FILE          what a course file and students.csv beside it say
 *   kit after FILE           its labs whose objects are handed out later: lab, a tab, when, with students' extensions
 *   kit parts FILE           what language models may do in a release, and the form of its checks
 *   kit hidden FILE          its rows that are not always visible: lab, step, title, case and hint, with tabs between
 *   kit students FILE OUT [NN...]    the course file of students, of all labs or of these
 *   kit digests FILES        of units in which the student writes LEAST_LINES or more, for ROOT/reference/digests
 *                            (copied.h): in fewer lines, equal tokens are no sign of a copy */
#include "build/copied.h"
#include "course/students.h"
#include "text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST_LINES = 20 };

static const char *shown(mg_visibility v)
{
    return v == MG_NEVER ? "never" : v == MG_AFTER_DUE ? "after_due" : "always";
}

static const char *utc(char text[32], time_t when)
{
    struct tm tm;
    strftime(text, 32, "%Y-%m-%d %H:%M UTC", gmtime_r(&when, &tm));
    return text;
}

/* `last`: when the objects are handed out, with the extensions of students. */
static void print_lab(const mg_course_lab *lab, time_t last)
{
    char when[32], points[32];
    printf("lab %.2s: %s points, %s%s, the %s submission counts", lab->lab->id, mg_points(points, lab->points),
           lab->due ? "due " : "no due date", lab->due ? utc(when, lab->due) : "", lab->last ? "last" : "best");
    if (lab->after)
        printf(", objects handed out after %s%s", utc(when, last), last > lab->after ? " (an extension)" : "");
    if (lab->due && mg_course_share(lab, lab->due + 86400) > 0)
        printf(", late: %g %% less for each day", lab->late.percent_per_day);
    printf(lab->seed ? ", seed %llx\n" : "\n", (unsigned long long)lab->seed);
    for (int64_t i = 0; i < lab->count; i++) {
        const mg_course_row *row = &lab->rows[i];
        printf("  %-6s %-48s %6s%s%s\n", row->step, row->name, mg_points(points, row->points),
               row->visibility != MG_ALWAYS ? "  visible: " : "",
               row->visibility != MG_ALWAYS ? shown(row->visibility) : "");
    }
}

static int print_course(const mg_course *course, const mg_students *students)
{
    printf("%s: %lld labs, %lld students, %lld lines about their labs\n", course->title, (long long)course->count,
           (long long)students->members, (long long)students->rulings);
    if (course->best_of)
        printf("the best %d labs of a student count\n", course->best_of);
    for (int64_t i = 0; i < course->count; i++)
        print_lab(&course->labs[i], mg_students_after(students, &course->labs[i]));
    return 0;
}

/* The rows of a course are those of the checks, in the same order. */
static int print_hidden(const mg_course *course)
{
    for (int64_t l = 0; l < course->count; l++) {
        const mg_course_lab *lab = &course->labs[l];
        int64_t i = 0;
        for (int64_t g = 0; g < lab->lab->count; g++)
            for (int64_t c = 0; c < lab->lab->groups[g].count; c++, i++) {
                const mg_group *group = &lab->lab->groups[g];
                const mg_case *one = (const mg_case *)((const char *)group->cases + c * group->stride);
                if (lab->rows[i].visibility != MG_ALWAYS)
                    printf("%.2s\t%s\t%s\t%s\t%s\n", lab->lab->id, group->step, group->title,
                           one->name ? one->name : "", one->hint ? one->hint : "");
            }
    }
    return 0;
}

static int print_after(const mg_course *course)
{
    char when[32];
    for (int64_t i = 0; i < course->count; i++)
        if (course->labs[i].after)
            printf("%.2s\t%s\n", course->labs[i].lab->id, utc(when, course->labs[i].after));
    return 0;
}

/* The lines of a unit's marked regions. */
static int lines_to_write(const char *text)
{
    int lines = 0;
    for (const char *at = text; (at = strstr(at, " BEGIN ")); lines--) { /* "*" "/", the lines, END: one newline more */
        const char *end = strstr(at, " END */");
        at = strstr(at, "*/");
        for (; at && end && at < end; at++)
            lines += *at == '\n';
        if (!at || !end)
            return 0;
    }
    return lines;
}

static int print_digests(char **paths)
{
    for (; *paths; paths++) {
        char *text = mg_read_text(*paths), *unit = *paths + strlen(*paths);
        if (!text) {
            fprintf(stderr, "kit: %s cannot be read\n", *paths);
            return 1;
        }
        for (int slashes = 0; unit > *paths && (unit[-1] != '/' || ++slashes < 2);) /* "01-matmul/loops.c" */
            unit--;
        if (lines_to_write(text) >= LEAST_LINES)
            printf("%s %016llx\n", unit, (unsigned long long)mg_copied_digest(text));
        free(text);
    }
    return 0;
}

/* Keep these labs only. */
static void select_labs(mg_course *course, char **numbers)
{
    int64_t kept = 0;
    for (int64_t i = 0; i < course->count; i++) {
        mg_course_lab lab = course->labs[i];
        bool wanted = !*numbers;
        for (char **number = numbers; *number; number++)
            wanted = wanted || strncmp(*number, lab.lab->id, 2) == 0;
        if (wanted)
            course->labs[kept++] = lab;
        else
            mg_course_free_lab(&lab);
    }
    course->count = kept;
}

static int write_students(mg_course *course, const char *path, char **numbers)
{
    select_labs(course, numbers);
    if (course->count == 0) /* none of the release's labs: the checks' points */
        return 0;
    if (mg_course_for_students(course, path) == MT_OK)
        return 0;
    fprintf(stderr, "course: %s\n", mt_last_error());
    return 1;
}

/* What a release asks, with the dates that the extensions of students move. */
static int run(const char *command, mg_course *course, const mg_students *students, char **rest)
{
    for (int64_t i = 0; i < course->count; i++)
        course->labs[i].after = mg_students_after(students, &course->labs[i]);
    if (strcmp(command, "after") == 0)
        return print_after(course);
    if (strcmp(command, "parts") == 0)
        return printf("%s %s\n", course->models, course->checks) < 0;
    if (strcmp(command, "hidden") == 0)
        return print_hidden(course);
    return write_students(course, rest[0], rest + 1);
}

int main(int argc, char **argv)
{
    mg_course course;
    const char *command = argc > 2 ? argv[1] : "";
    if (strcmp(command, "digests") == 0)
        return print_digests(argv + 2);
    if (strcmp(command, "course") != 0 && strcmp(command, "after") != 0 && strcmp(command, "parts") != 0 &&
        strcmp(command, "hidden") != 0 && !(strcmp(command, "students") == 0 && argc >= 4)) {
        fprintf(stderr, "usage: kit course FILE | after FILE | parts FILE | hidden FILE | students FILE OUT [NN...] | "
                        "digests FILES\n");
        return 2;
    }
    if (mg_course_read(&course, argv[2], ".") != MT_OK) {
        fprintf(stderr, "course: %s\n", mt_last_error());
        return 1;
    }
    mg_students students;
    int status = mg_students_read(&students, &course, argv[2]) != MT_OK;
    if (status != 0)
        fprintf(stderr, "course: %s\n", mt_last_error());
    else if (strcmp(command, "course") == 0)
        status = print_course(&course, &students);
    else
        status = run(command, &course, &students, argv + 3);
    mg_students_free(&students);
    mg_course_free(&course);
    return status;
}
