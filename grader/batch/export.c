/* export.c -- see export.h. Canvas: "Import grades", columns Student, ID, SIS User ID, SIS Login ID, Section, then the
 * assignment, and a row of points possible. Moodle: "Upload grading worksheet"; it finds students by its participant
 * numbers, and keeps a grade that it has changed after "Last modified (grade)". Gradescope: as its own "Download
 * grades"; it reads none. grader/tests/imported.py has the rules of the importers. */
#include "export.h"
#include "pupils.h"
#include "text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { COMMENTS = 8 }; /* rows that a comment names */

typedef bool takes_fn(const mg_pupil *p); /* whether the system can use this student's line */
typedef void header_fn(FILE *out, mg_book *book, const mg_lab *lab, const mg_pupils *t);
typedef void line_fn(FILE *out, mg_book *book, const mg_lab *lab, const mg_pupil *p);

/* UTC; "" when it is not known. */
static const char *time_of(int64_t seconds, const char *zone, char text[40])
{
    time_t time = seconds;
    struct tm tm;
    text[0] = 0;
    if (seconds && gmtime_r(&time, &tm)) {
        strftime(text, 40, "%Y-%m-%d %H:%M:%S ", &tm);
        strcat(text, zone);
    }
    return text;
}

static const char *points_of(const mg_pupil *p, char text[32])
{
    return p->graded ? mg_points(text, p->points) : "";
}

/* What lost points: "72 of 100; 01.5 packed: speed: INCONCLUSIVE". */
static void put_comment(FILE *out, mg_book *book, const mg_pupil *p)
{
    char *text = NULL, points[32], max[32];
    size_t size;
    FILE *words = open_memstream(&text, &size);
    MT_CHECK(words, "out of memory");
    sqlite3_stmt *q = mg_query(book,
                               "SELECT step, name, CASE verdict WHEN 'FAIL' THEN message ELSE verdict END FROM result"
                               " WHERE grading = ? AND points < max ORDER BY place",
                               "i", p->grading);
    if (p->graded)
        fprintf(words, "%s of %s%s", mg_points(points, p->points), mg_points(max, p->max),
                p->share < 1 ? ", late" : "");
    else
        fprintf(words, "%s", strcmp(p->state, "refused") == 0 ? p->message : "");
    for (int row = 0; p->graded && q && row <= COMMENTS && sqlite3_step(q) == SQLITE_ROW; row++)
        if (row < COMMENTS)
            fprintf(words, "; %s %s: %.200s", mg_column(q, 0), mg_column(q, 1), mg_column(q, 2));
        else
            fputs("; and more", words);
    sqlite3_finalize(q);
    fprintf(words, "%s%s", p->notes[0] ? "; " : "", p->notes);
    MT_CHECK(fclose(words) == 0, "out of memory");
    char *plain = mg_plain(text);
    mg_put_cell(out, plain);
    free(plain);
    free(text);
}

/* ---- formats -------------------------------------------------------------------------------- */

static void head_canvas(FILE *out, mg_book *book, const mg_lab *lab, const mg_pupils *t)
{
    char max[32];
    double most = 0;
    (void)book;
    for (int64_t i = 0; i < t->count; i++)
        most = t->pupil[i].graded ? fmax(most, t->pupil[i].max) : most;
    fprintf(out, "Student,ID,SIS User ID,SIS Login ID,Section,lab %s\n    Points Possible,,,,,%s\n", lab->id,
            mg_points(max, most > 0 ? most : t->pupil[0].max));
}

static void line_canvas(FILE *out, mg_book *book, const mg_lab *lab, const mg_pupil *p)
{
    char points[32];
    bool canvas = strcmp(p->system, "canvas") == 0;
    (void)book;
    (void)lab;
    mg_put_cells(
        out,
        (const char *const[]){ p->name, canvas ? p->id : "", canvas ? "" : p->id, p->email, "", points_of(p, points) },
        6);
}

/* An empty cell could erase a grade that an instructor has entered. */
static bool takes_canvas(const mg_pupil *p)
{
    return p->graded;
}

static bool takes_moodle(const mg_pupil *p)
{
    return strcmp(p->system, "moodle") == 0 && !p->lent;
}

static void head_moodle(FILE *out, mg_book *book, const mg_lab *lab, const mg_pupils *t)
{
    (void)book;
    (void)lab;
    (void)t;
    fputs("Identifier,Full name,Email address,Status,Grade,Maximum grade,Last modified (grade),Feedback comments\n",
          out);
}

static void line_moodle(FILE *out, mg_book *book, const mg_lab *lab, const mg_pupil *p)
{
    char points[32], max[32], when[40], participant[96];
    (void)lab;
    snprintf(participant, sizeof participant, "Participant %s", p->id);
    mg_put_cells(out,
                 (const char *const[]){ participant, p->name, p->email,
                                        p->graded ? "Submitted for grading - Graded" : "", points_of(p, points),
                                        mg_points(max, p->max), time_of(p->graded_at, "UTC", when) },
                 7);
    fputc(',', out);
    put_comment(out, book, p);
}

static void head_gradescope(FILE *out, mg_book *book, const mg_lab *lab, const mg_pupils *t)
{
    (void)book;
    (void)lab;
    (void)t;
    fputs("Name,SID,Email,Total Score,Max Points,Status,Submission ID,Submission Time\n", out);
}

static void line_gradescope(FILE *out, mg_book *book, const mg_lab *lab, const mg_pupil *p)
{
    char points[32], max[32], when[40];
    (void)book;
    (void)lab;
    mg_put_cells(out,
                 (const char *const[]){ p->name, p->id, p->email, points_of(p, points), mg_points(max, p->max),
                                        p->graded ? "Graded" : "Ungraded",
                                        strncmp(p->key, "submission_", 11) == 0 ? p->key + 11 : p->key,
                                        time_of(p->handed_in, "+0000", when) },
                 8);
}

/* The steps of the lab, in the order of its checks. */
static int64_t steps_of(const mg_lab *lab, const char *step[64])
{
    int64_t count = 0;
    for (int64_t g = 0; g < lab->count && count < 64; g++)
        if (count == 0 || strcmp(step[count - 1], lab->groups[g].step) != 0)
            step[count++] = lab->groups[g].step;
    return count;
}

static void head_csv(FILE *out, mg_book *book, const mg_lab *lab, const mg_pupils *t)
{
    const char *step[64];
    int64_t steps = steps_of(lab, step);
    (void)book;
    (void)t;
    fputs("Name,ID,Email,Submission,State,Late,Kept,Points,Maximum", out);
    for (int64_t i = 0; i < steps; i++)
        fprintf(out, ",%s", step[i]);
    fputs(",Message,Notes\n", out);
}

static void line_csv(FILE *out, mg_book *book, const mg_lab *lab, const mg_pupil *p)
{
    char points[32], max[32], kept[16];
    const char *step[64];
    int64_t steps = steps_of(lab, step);
    snprintf(kept, sizeof kept, "%g", p->share);
    mg_put_cells(out,
                 (const char *const[]){ p->name, p->id, p->email, p->key, p->excused ? "excused" : p->state,
                                        p->late || p->share < 1 ? "late" : "", kept, points_of(p, points),
                                        mg_points(max, p->max) },
                 9);
    for (int64_t i = 0; i < steps; i++) {
        sqlite3_stmt *q =
            mg_query(book, "SELECT sum(points) FROM result WHERE grading = ? AND step = ?", "it", p->grading, step[i]);
        bool known = p->graded && q && sqlite3_step(q) == SQLITE_ROW && sqlite3_column_type(q, 0) != SQLITE_NULL;
        fprintf(out, ",%s", known ? mg_points(points, sqlite3_column_double(q, 0)) : "");
        sqlite3_finalize(q);
    }
    fputc(',', out);
    mg_put_cells(out, (const char *const[]){ p->message, p->notes }, 2);
}

mt_status mg_export(mg_book *book, const mg_lab *lab, const mg_course_lab *course, const mg_students *students,
                    const char *format, const char *path, mg_exported *counts)
{
    static const struct {
        const char *name;
        header_fn *head;
        line_fn *line;
        takes_fn *takes; /* NULL: all */
    } formats[] = { { "csv", head_csv, line_csv, NULL },
                    { "canvas", head_canvas, line_canvas, takes_canvas },
                    { "moodle", head_moodle, line_moodle, takes_moodle },
                    { "gradescope", head_gradescope, line_gradescope, NULL } };
    int f = 0;
    while (f < MT_COUNT(formats) && strcmp(format, formats[f].name) != 0)
        f++;
    if (f == MT_COUNT(formats))
        return mt_fail(MT_ERR_ARGUMENT, "unknown format \"%s\": use csv, canvas, moodle, gradescope or feedback",
                       format);
    mg_pupils t;
    char *text = NULL;
    size_t size = 0;
    mt_status status = mg_pupils_read(&t, book, lab, course, students);
    if (status == MT_OK && t.count == 0)
        status =
            mt_fail(MT_ERR_ARGUMENT, "%s has no submission of lab %s: make grade-all grades them", book->path, lab->id);
    FILE *out = open_memstream(&text, &size);
    MT_CHECK(out, "out of memory");
    if (status == MT_OK)
        formats[f].head(out, book, lab, &t);
    *counts = (mg_exported){ 0 };
    for (int64_t i = 0; status == MT_OK && i < t.count; i++) {
        const mg_pupil *p = &t.pupil[i];
        bool refused = !p->graded && strcmp(p->state, "refused") == 0;
        counts->refused += refused;
        counts->open += !p->graded && !refused && !p->excused;
        if (formats[f].takes && !formats[f].takes(p))
            continue;
        formats[f].line(out, book, lab, p);
        fputc('\n', out);
        counts->students++;
    }
    if (status == MT_OK && formats[f].takes == takes_moodle && counts->students == 0)
        status = mt_fail(MT_ERR_ARGUMENT,
                         "%s knows students by its own numbers, and none of these submissions was "
                         "downloaded there: use csv",
                         format);
    MT_CHECK(fclose(out) == 0, "out of memory");
    if (status == MT_OK)
        status = mg_write(path, text, size);
    free(text);
    mg_pupils_free(&t);
    return status;
}
