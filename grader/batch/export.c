/* export.c -- see export.h. Canvas: "Import grades", columns Student, ID, SIS User ID, SIS Login ID, Section, then the
 * assignment, and a row of points possible. Moodle: "Upload grading worksheet"; it finds students by its participant
 * numbers, and keeps a grade that it has changed after "Last modified (grade)". Gradescope: as its own "Download
 * grades"; it reads none. grader/tests/imported.py has the rules of the importers. */
#include "export.h"
#include "text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { COMMENTS = 8 }; /* rows that a comment names */

/* A student, with the grade that counts. */
typedef struct pupil {
    char name[128], id[64], email[128], key[512], system[16], state[16], message[512];
    int64_t grading, handed_in, graded_at;
    bool late, graded, refused; /* graded: it has points */
    double points, max, share;
} pupil;

typedef struct table {
    pupil *pupil;
    int64_t count;
} table;

typedef bool takes_fn(const pupil *p); /* whether the system can use this student's line */
typedef void header_fn(FILE *out, mg_book *book, const mg_lab *lab, const table *t);
typedef void line_fn(FILE *out, mg_book *book, const mg_lab *lab, const pupil *p);

/* One cell, quoted where it must be. A cell that a spreadsheet would take for a formula begins with '. */
static void put_cell(FILE *out, const char *text)
{
    bool formula = text[0] && strchr("=+-@\t\r", text[0]), quoted = strpbrk(text, ",;\"\n\r") != NULL;
    if (quoted)
        fputc('"', out);
    if (formula)
        fputc('\'', out);
    for (; *text; text++) {
        if (*text == '"')
            fputc('"', out);
        fputc(*text, out);
    }
    if (quoted)
        fputc('"', out);
}

static void cells(FILE *out, const char *const text[], int count)
{
    for (int i = 0; i < count; i++) {
        if (i)
            fputc(',', out);
        put_cell(out, text[i]);
    }
}

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

static const char *points_of(const pupil *p, char text[32])
{
    return p->graded ? mg_points(text, p->points) : "";
}

/* What lost points: "72 of 100; 01.5 packed: speed: INCONCLUSIVE". */
static void put_comment(FILE *out, mg_book *book, const pupil *p)
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
        fputs(p->refused ? p->message : "", words);
    for (int row = 0; p->graded && q && row <= COMMENTS && sqlite3_step(q) == SQLITE_ROW; row++)
        if (row < COMMENTS)
            fprintf(words, "; %s %s: %.200s", mg_column(q, 0), mg_column(q, 1), mg_column(q, 2));
        else
            fputs("; and more", words);
    sqlite3_finalize(q);
    MT_CHECK(fclose(words) == 0, "out of memory");
    char *plain = mg_plain(text);
    put_cell(out, plain);
    free(plain);
    free(text);
}

/* ---- formats -------------------------------------------------------------------------------- */

static void head_canvas(FILE *out, mg_book *book, const mg_lab *lab, const table *t)
{
    char max[32];
    (void)book;
    fprintf(out, "Student,ID,SIS User ID,SIS Login ID,Section,lab %s\n    Points Possible,,,,,%s\n", lab->id,
            mg_points(max, t->count ? t->pupil[0].max : 0));
}

static void line_canvas(FILE *out, mg_book *book, const mg_lab *lab, const pupil *p)
{
    char points[32];
    bool canvas = strcmp(p->system, "canvas") == 0;
    (void)book;
    (void)lab;
    cells(
        out,
        (const char *const[]){ p->name, canvas ? p->id : "", canvas ? "" : p->id, p->email, "", points_of(p, points) },
        6);
}

/* An empty cell could erase a grade that an instructor has entered. */
static bool takes_canvas(const pupil *p)
{
    return p->graded;
}

static bool takes_moodle(const pupil *p)
{
    return strcmp(p->system, "moodle") == 0;
}

static void head_moodle(FILE *out, mg_book *book, const mg_lab *lab, const table *t)
{
    (void)book;
    (void)lab;
    (void)t;
    fputs("Identifier,Full name,Email address,Status,Grade,Maximum grade,Last modified (grade),Feedback comments\n",
          out);
}

static void line_moodle(FILE *out, mg_book *book, const mg_lab *lab, const pupil *p)
{
    char points[32], max[32], when[40], participant[96];
    (void)lab;
    snprintf(participant, sizeof participant, "Participant %s", p->id);
    cells(out,
          (const char *const[]){ participant, p->name, p->email, p->graded ? "Submitted for grading - Graded" : "",
                                 points_of(p, points), mg_points(max, p->max), time_of(p->graded_at, "UTC", when) },
          7);
    fputc(',', out);
    put_comment(out, book, p);
}

static void head_gradescope(FILE *out, mg_book *book, const mg_lab *lab, const table *t)
{
    (void)book;
    (void)lab;
    (void)t;
    fputs("Name,SID,Email,Total Score,Max Points,Status,Submission ID,Submission Time\n", out);
}

static void line_gradescope(FILE *out, mg_book *book, const mg_lab *lab, const pupil *p)
{
    char points[32], max[32], when[40];
    (void)book;
    (void)lab;
    cells(out,
          (const char *const[]){
              p->name, p->id, p->email, points_of(p, points), mg_points(max, p->max), p->graded ? "Graded" : "Ungraded",
              strncmp(p->key, "submission_", 11) == 0 ? p->key + 11 : p->key, time_of(p->handed_in, "+0000", when) },
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

static void head_csv(FILE *out, mg_book *book, const mg_lab *lab, const table *t)
{
    const char *step[64];
    int64_t steps = steps_of(lab, step);
    (void)book;
    (void)t;
    fputs("Name,ID,Email,Submission,State,Late,Kept,Points,Maximum", out);
    for (int64_t i = 0; i < steps; i++)
        fprintf(out, ",%s", step[i]);
    fputs(",Message\n", out);
}

static void line_csv(FILE *out, mg_book *book, const mg_lab *lab, const pupil *p)
{
    char points[32], max[32], kept[16];
    const char *step[64];
    int64_t steps = steps_of(lab, step);
    snprintf(kept, sizeof kept, "%g", p->share);
    cells(out,
          (const char *const[]){ p->name, p->id, p->email, p->key, p->state, p->late || p->share < 1 ? "late" : "",
                                 kept, points_of(p, points), mg_points(max, p->max) },
          9);
    for (int64_t i = 0; i < steps; i++) {
        sqlite3_stmt *q =
            mg_query(book, "SELECT sum(points) FROM result WHERE grading = ? AND step = ?", "it", p->grading, step[i]);
        bool known = p->graded && q && sqlite3_step(q) == SQLITE_ROW && sqlite3_column_type(q, 0) != SQLITE_NULL;
        fprintf(out, ",%s", known ? mg_points(points, sqlite3_column_double(q, 0)) : "");
        sqlite3_finalize(q);
    }
    fputc(',', out);
    put_cell(out, p->message);
}

/* ---- students ------------------------------------------------------------------------------- */

/* Where the system has numbers or addresses for students, these are one's identity; a name alone may be that of two. */
static pupil *find(table *t, const pupil *p)
{
    for (int64_t i = 0; i < t->count; i++) {
        const pupil *q = &t->pupil[i];
        if (p->id[0] ? strcmp(p->id, q->id) == 0 && strcmp(p->system, q->system) == 0
                     : p->email[0] && strcmp(p->email, q->email) == 0)
            return &t->pupil[i];
    }
    return NULL;
}

/* A grade stands above one that is still to come, and that above a submission that cannot have one. */
static bool is_better(const pupil *p, const pupil *than)
{
    int rank = p->graded ? 2 : !p->refused, other = than->graded ? 2 : !than->refused;
    return rank != other ? rank > other : rank < 2 || p->points > than->points;
}

static void take(table *t, const pupil *p, bool last)
{
    pupil *known = find(t, p);
    if (known && (last ? p->handed_in < known->handed_in : !is_better(p, known)))
        return;
    if (!known) {
        t->pupil = realloc(t->pupil, (size_t)(t->count + 1) * sizeof *t->pupil);
        MT_CHECK(t->pupil, "out of memory");
        known = &t->pupil[t->count++];
    }
    *known = *p;
}

static void copy(char *to, size_t size, sqlite3_stmt *q, int column)
{
    snprintf(to, size, "%s", mg_column(q, column));
}

static mt_status read_table(table *t, mg_book *book, const mg_lab *lab, const mg_course_lab *course)
{
    sqlite3_stmt *q =
        mg_query(book,
                 "SELECT n.name, n.sid, n.email, s.key, s.system, g.state, g.message, g.id, s.handed_in, s.late,"
                 " g.points, g.max, g.started FROM submission s JOIN student n ON n.submission = s.id"
                 " LEFT JOIN grading g ON g.id = (SELECT max(id) FROM grading WHERE submission = s.id)"
                 " WHERE s.lab = ? ORDER BY n.name, s.id, n.place",
                 "t", lab->id);
    int code = SQLITE_ERROR;
    while (q && (code = sqlite3_step(q)) == SQLITE_ROW) {
        pupil p = { .grading = sqlite3_column_int64(q, 7),
                    .handed_in = sqlite3_column_int64(q, 8),
                    .late = sqlite3_column_int(q, 9),
                    .points = sqlite3_column_double(q, 10),
                    .max = sqlite3_column_double(q, 11),
                    .graded_at = sqlite3_column_int64(q, 12) };
        copy(p.name, sizeof p.name, q, 0);
        copy(p.id, sizeof p.id, q, 1);
        copy(p.email, sizeof p.email, q, 2);
        copy(p.key, sizeof p.key, q, 3);
        copy(p.system, sizeof p.system, q, 4);
        copy(p.state, sizeof p.state, q, 5);
        copy(p.message, sizeof p.message, q, 6);
        p.graded = strcmp(p.state, "graded") == 0;
        p.refused = strcmp(p.state, "refused") == 0;
        p.share = course && p.handed_in ? mg_course_share(course, p.handed_in) : 1;
        p.points *= p.share;
        take(t, &p, course && course->last);
    }
    sqlite3_finalize(q);
    if (code != SQLITE_DONE)
        return mt_fail(MT_ERR_IO, "%s: %s", book->path, sqlite3_errmsg(book->db));
    return t->count ? MT_OK : mt_fail(MT_ERR_ARGUMENT, "%s has no submission of lab %s", book->path, lab->id);
}

mt_status mg_export(mg_book *book, const mg_lab *lab, const mg_course_lab *course, const char *format, const char *path,
                    mg_exported *told)
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
        return mt_fail(MT_ERR_ARGUMENT, "unknown format \"%s\": use csv, canvas, moodle or gradescope", format);
    table t = { 0 };
    char *text = NULL;
    size_t size = 0;
    mt_status status = read_table(&t, book, lab, course);
    FILE *out = open_memstream(&text, &size);
    MT_CHECK(out, "out of memory");
    if (status == MT_OK)
        formats[f].head(out, book, lab, &t);
    *told = (mg_exported){ 0 };
    for (int64_t i = 0; status == MT_OK && i < t.count; i++) {
        const pupil *p = &t.pupil[i];
        told->refused += p->refused;
        told->open += !p->graded && !p->refused;
        if (formats[f].takes && !formats[f].takes(p))
            continue;
        formats[f].line(out, book, lab, p);
        fputc('\n', out);
        told->students++;
    }
    if (status == MT_OK && formats[f].takes == takes_moodle && told->students == 0)
        status = mt_fail(MT_ERR_ARGUMENT,
                         "%s knows students by its own numbers, and none of these submissions was "
                         "downloaded there: use csv",
                         format);
    MT_CHECK(fclose(out) == 0, "out of memory");
    if (status == MT_OK)
        status = mg_write(path, text, size);
    free(text);
    free(t.pupil);
    return status;
}
