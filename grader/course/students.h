/* students.h -- students.csv beside the course file: who is in the course, and what was decided by hand about a
 * student's lab (docs/INSTRUCTORS.md describes it). */
#pragma once

#include "course/course.h"

typedef struct mg_member {
    char student[64]; /* the name in exports: a number, an address or a name */
    char also[256];   /* other such names, with | between */
    char name[128], email[128], team[64];
    int line;
} mg_member;

typedef enum mg_ruling_kind {
    MG_DAYS,     /* the due date is `value` days later */
    MG_EXCUSED,  /* the lab does not count */
    MG_ADDED,    /* points, after those of the grader and what lateness took */
    MG_ACCEPTED, /* what was measured of the row `row` counts, although it is INCONCLUSIVE or REVIEW */
    MG_BY_HAND   /* points of the part `row` of the lab */
} mg_ruling_kind;

typedef struct mg_ruling {
    int64_t member;
    const mg_course_lab *lab;
    mg_ruling_kind kind;
    double value;
    char row[sizeof((mg_course_row *)0)->step + sizeof((mg_course_row *)0)->name + 1];
    char note[300];
} mg_ruling;

typedef struct mg_students {
    mg_member *member;
    int64_t members;
    mg_ruling *ruling;
    int64_t rulings;
} mg_students;

/* mg_students_read -- students.csv in the folder of the course file; none of them when there is no such file. What is
 * not valid is refused: "students.csv:12: ..." and what to write. The caller frees, also after a failure. */
mt_status mg_students_read(mg_students *students, const mg_course *course, const char *course_file);
void mg_students_free(mg_students *students);

/* mg_students_find -- whose submission an export names so; "" for what it does not say. -1: nobody's, or a name that
 * several students have. */
int64_t mg_students_find(const mg_students *students, const char *key, const char *id, const char *email,
                         const char *name);

/* mg_students_days -- by how many days a student's due date of a lab is later. */
double mg_students_days(const mg_students *students, int64_t member, const mg_course_lab *lab);

/* mg_students_after -- when the reference's objects of a lab are handed out: its `after`, and as many days later as the
 * longest extension of a student who could earn points after that; 0: with the release. */
time_t mg_students_after(const mg_students *students, const mg_course_lab *lab);

/* mg_students_word -- whether a word of the column "what" has a meaning of its own: "days", "excused" ... */
bool mg_students_word(const char *what);

/* mg_students_notes -- what was decided about a student's lab: "3 days more: ill; +4 points: regrade of 01.5". */
void mg_students_notes(const mg_students *students, int64_t member, const mg_course_lab *lab, char *text, size_t size);
