/* pupils.c -- see pupils.h. */
#include "pupils.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a function that reads students needs besides the table. */
typedef struct reading {
    mg_pupils *to;
    mg_book *book;
    const mg_course_lab *course;
    const mg_students *students;
} reading;

/* ---- what was decided ------------------------------------------------------------------------ */

/* Points of the rows without points that are accepted as they were measured. */
static double accept_row(const reading *r, mg_pupil *p, const char *row)
{
    double points = 0;
    sqlite3_stmt *q = mg_query(r->book,
                               "SELECT max, measured, low, full FROM result WHERE grading = ? AND"
                               " step || ' ' || name = ? AND verdict IN ('INCONCLUSIVE', 'REVIEW')",
                               "it", p->grading, row);
    while (q && sqlite3_step(q) == SQLITE_ROW && sqlite3_column_type(q, 1) != SQLITE_NULL) {
        double low = sqlite3_column_double(q, 2), full = sqlite3_column_double(q, 3);
        double share = (sqlite3_column_double(q, 1) - low) / (full - low);
        points += sqlite3_column_double(q, 0) * fmin(fmax(share, 0), 1);
        p->open--;
    }
    sqlite3_finalize(q);
    return points;
}

static int64_t count_open(const reading *r, int64_t grading)
{
    sqlite3_stmt *q = mg_query(r->book,
                               "SELECT count(*) FROM result WHERE grading = ? AND verdict IN ('INCONCLUSIVE', "
                               "'REVIEW')",
                               "i", grading);
    int64_t count = q && sqlite3_step(q) == SQLITE_ROW ? sqlite3_column_int64(q, 0) : 0;
    sqlite3_finalize(q);
    return count;
}

/* Lateness takes from what the grader gave; what a person adds is added then, and makes a grade of what has none. */
static void settle(const reading *r, mg_pupil *p)
{
    double added = 0, days = p->member >= 0 ? mg_students_days(r->students, p->member, r->course) : 0,
           earned = p->graded ? p->points : 0;
    bool by_hand = false;
    p->open = p->graded ? count_open(r, p->grading) : 0;
    for (int64_t i = 0; p->member >= 0 && i < r->students->rulings; i++) {
        const mg_ruling *ruling = &r->students->ruling[i];
        if (ruling->member != p->member || ruling->lab != r->course)
            continue;
        added += ruling->kind == MG_ADDED || ruling->kind == MG_BY_HAND ? ruling->value : 0;
        earned += ruling->kind == MG_ACCEPTED && p->graded ? accept_row(r, p, ruling->row) : 0;
        by_hand = by_hand || ruling->kind == MG_ADDED || ruling->kind == MG_BY_HAND;
        p->excused = p->excused || ruling->kind == MG_EXCUSED;
    }
    if (p->member >= 0)
        mg_students_notes(r->students, p->member, r->course, p->notes, sizeof p->notes);
    time_t as_if = (time_t)(p->handed_in - (int64_t)(86400 * days));
    bool dated = r->course && p->handed_in;
    p->share = dated ? mg_course_share(r->course, as_if) : 1;
    p->days = dated ? mg_course_late(r->course, as_if) : 0;
    p->max = p->max > 0 || !r->course ? p->max : r->course->points;
    for (int i = 0; r->course && i < r->course->parts; i++)
        p->max += r->course->part[i].points;
    p->points = fmax(0, earned * p->share + added);
    p->graded = (p->graded || by_hand) && !p->excused;
}

/* ---- students --------------------------------------------------------------------------------- */

/* Where the system has numbers or addresses for students, these are one's identity; a name alone may be that of two. */
static bool is_same(const mg_pupil *p, const mg_pupil *q)
{
    if (p->member >= 0 || q->member >= 0)
        return p->member == q->member;
    return p->id[0] ? strcmp(p->id, q->id) == 0 && strcmp(p->system, q->system) == 0
                    : p->email[0] && strcmp(p->email, q->email) == 0;
}

/* A grade stands above one that is still to come, and that above a submission that cannot have one. */
static bool is_better(const mg_pupil *p, const mg_pupil *than)
{
    int rank = p->graded ? 2 : strcmp(p->state, "refused") != 0;
    int other = than->graded ? 2 : strcmp(than->state, "refused") != 0;
    return rank != other ? rank > other : rank < 2 || p->points > than->points;
}

static void take(const reading *r, mg_pupil p)
{
    mg_pupil *known = NULL;
    settle(r, &p);
    for (int64_t i = 0; i < r->to->count && !known; i++)
        known = is_same(&p, &r->to->pupil[i]) ? &r->to->pupil[i] : NULL;
    if (known && (r->course && r->course->last ? p.handed_in < known->handed_in : !is_better(&p, known)))
        return;
    if (!known) {
        r->to->pupil = realloc(r->to->pupil, (size_t)(r->to->count + 1) * sizeof p);
        MT_CHECK(r->to->pupil, "out of memory");
        known = &r->to->pupil[r->to->count++];
    }
    *known = p;
}

/* A student of students.csv, with the names that it gives. */
static mg_pupil named(mg_pupil p, const mg_students *students, int64_t member, bool lent)
{
    const mg_member *m = &students->member[member];
    p.member = member;
    p.lent = lent;
    if (m->name[0] || lent)
        memcpy(p.name, m->name[0] ? m->name : m->student, m->name[0] ? sizeof m->name : sizeof m->student);
    if (m->email[0] || lent)
        memcpy(p.email, m->email, sizeof m->email);
    if (lent)
        memcpy(p.id, m->student, sizeof m->student);
    return p;
}

/* A submission counts for its student, and for everybody in the team. */
static void take_for_team(const reading *r, const mg_pupil *p)
{
    const mg_students *s = r->students;
    if (p->member < 0) {
        take(r, *p);
        return;
    }
    const char *team = s->member[p->member].team;
    for (int64_t i = 0; i < s->members; i++)
        if (i == p->member || (team[0] && strcmp(team, s->member[i].team) == 0))
            take(r, named(*p, s, i, i != p->member));
}

/* Students without a submission, of whom students.csv says something. */
static void take_hands(const reading *r)
{
    for (int64_t i = 0; r->students && i < r->students->members; i++) {
        bool known = false, ruled = false;
        for (int64_t j = 0; j < r->to->count; j++)
            known = known || r->to->pupil[j].member == i;
        for (int64_t j = 0; j < r->students->rulings; j++) {
            const mg_ruling *ruling = &r->students->ruling[j];
            bool grades = ruling->kind != MG_DAYS && ruling->kind != MG_ACCEPTED;
            ruled = ruled || (grades && ruling->member == i && ruling->lab == r->course);
        }
        if (!known && ruled)
            take(r, named((mg_pupil){ .state = "none" }, r->students, i, true));
    }
}

static void copy(char *to, size_t size, sqlite3_stmt *q, int column)
{
    snprintf(to, size, "%s", mg_column(q, column));
}

static mg_pupil read_pupil(const reading *r, sqlite3_stmt *q)
{
    mg_pupil p = { .member = -1,
                   .grading = sqlite3_column_int64(q, 7),
                   .handed_in = sqlite3_column_int64(q, 8),
                   .late = sqlite3_column_int(q, 9),
                   .points = sqlite3_column_double(q, 10),
                   .max = sqlite3_column_double(q, 11),
                   .graded_at = sqlite3_column_int64(q, 12),
                   .submission = sqlite3_column_int64(q, 13) };
    copy(p.name, sizeof p.name, q, 0);
    copy(p.id, sizeof p.id, q, 1);
    copy(p.email, sizeof p.email, q, 2);
    copy(p.key, sizeof p.key, q, 3);
    copy(p.system, sizeof p.system, q, 4);
    copy(p.state, sizeof p.state, q, 5);
    copy(p.message, sizeof p.message, q, 6);
    p.graded = strcmp(p.state, "graded") == 0;
    if (r->students) /* Moodle's numbers are others in each assignment */
        p.member = mg_students_find(r->students, p.key, strcmp(p.system, "moodle") == 0 ? "" : p.id, p.email, p.name);
    return p;
}

static int by_name(const void *a, const void *b)
{
    const mg_pupil *p = a, *q = b;
    int order = strcmp(p->name, q->name);
    return order ? order : strcmp(p->id, q->id);
}

mt_status mg_pupils_read(mg_pupils *pupils, mg_book *book, const mg_lab *lab, const mg_course_lab *course,
                         const mg_students *students)
{
    *pupils = (mg_pupils){ 0 };
    reading r = { pupils, book, course, course ? students : NULL };
    sqlite3_stmt *q = mg_query(book,
                               "SELECT n.name, n.sid, n.email, s.key, s.system, coalesce(g.state, 'ungraded'), "
                               "g.message, g.id, s.handed_in, s.late, g.points, g.max, g.started, s.id"
                               " FROM submission s JOIN student n ON n.submission = s.id"
                               " LEFT JOIN grading g ON g.id = (SELECT max(id) FROM grading WHERE submission = s.id)"
                               " WHERE s.lab = ? ORDER BY n.name, s.id, n.place",
                               "t", lab->id);
    int code = SQLITE_ERROR;
    while (q && (code = sqlite3_step(q)) == SQLITE_ROW) {
        mg_pupil p = read_pupil(&r, q);
        take_for_team(&r, &p);
    }
    sqlite3_finalize(q);
    if (code != SQLITE_DONE)
        return mt_fail(MT_ERR_IO, "%s: %s", book->path, sqlite3_errmsg(book->db));
    take_hands(&r);
    if (r.students && pupils->count)
        qsort(pupils->pupil, (size_t)pupils->count, sizeof *pupils->pupil, by_name);
    return MT_OK;
}

void mg_pupils_free(mg_pupils *pupils)
{
    free(pupils->pupil);
    *pupils = (mg_pupils){ 0 };
}

/* ---- CSV -------------------------------------------------------------------------------------- */

void mg_put_cell(FILE *out, const char *text)
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

void mg_put_cells(FILE *out, const char *const text[], int count)
{
    for (int i = 0; i < count; i++) {
        if (i)
            fputc(',', out);
        mg_put_cell(out, text[i]);
    }
}
