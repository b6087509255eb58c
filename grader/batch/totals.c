/* totals.c -- see totals.h. */
#include "totals.h"
#include "labs.h"
#include "sandbox/scratch.h"
#include "totals_put.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool mg_total_open(const mg_pupil *cell)
{
    return cell && !cell->excused && (!cell->graded || cell->open > 0);
}

double mg_total_share(const mg_total *total)
{
    return total->max > 0 ? 100 * total->points / total->max : 0;
}

/* ---- students ------------------------------------------------------------------------------- */

/* Whether a submission is of the student of a line: students.csv says so, else a number or address of one system, else
 * the name, where that is all there is or where numbers are others in each assignment. */
static bool is_of(const mg_total *t, const mg_pupil *p, int lab)
{
    if (p->member >= 0 || t->member >= 0)
        return p->member == t->member;
    if (t->cell[lab])
        return false;
    if (p->id[0] && strcmp(p->system, "moodle") != 0)
        return strcmp(p->id, t->id) == 0;
    return p->email[0] ? strcasecmp(p->email, t->email) == 0 : strcmp(p->name, t->name) == 0;
}

static mg_total *add_total(mg_table *t)
{
    t->total = realloc(t->total, (size_t)(t->count + 1) * sizeof *t->total);
    MT_CHECK(t->total, "out of memory");
    mg_total *new = &t->total[t->count++];
    *new = (mg_total){ .member = -1 };
    return new;
}

static void add_members(mg_table *t, const mg_students *students)
{
    for (int64_t i = 0; i < students->members; i++) {
        const mg_member *m = &students->member[i];
        mg_total *new = add_total(t);
        new->member = i;
        snprintf(new->name, sizeof new->name, "%s", m->name[0] ? m->name : m->student);
        memcpy(new->id, m->student, sizeof new->id);
        memcpy(new->email, m->email, sizeof new->email);
        memcpy(new->team, m->team, sizeof new->team);
    }
}

static void add_cell(mg_table *t, int lab, const mg_pupil *p)
{
    int64_t i = 0;
    while (i < t->count && !is_of(&t->total[i], p, lab))
        i++;
    if (i == t->count) {
        mg_total *new = add_total(t);
        memcpy(new->name, p->name, sizeof new->name);
        memcpy(new->id, p->id, sizeof new->id);
        memcpy(new->email, p->email, sizeof new->email);
    }
    t->total[i].cell[lab] = p;
}

/* ---- adding up ------------------------------------------------------------------------------ */

static double share_of(const mg_total *total, int lab)
{
    const mg_pupil *cell = total->cell[lab];
    return cell && cell->max > 0 ? cell->points / cell->max : 0;
}

/* Of the labs that count, all but the best are taken out; of equals the earlier one stays. */
static void keep_best(mg_total *total, int labs, int best_of)
{
    int counted = 0;
    for (int i = 0; i < labs; i++)
        counted += total->counts[i];
    for (; best_of && counted > best_of; counted--) {
        int worst = -1;
        for (int i = 0; i < labs; i++)
            if (total->counts[i] && (worst < 0 || share_of(total, i) <= share_of(total, worst)))
                worst = i;
        total->counts[worst] = false;
    }
}

static void add_up(const mg_table *t, mg_total *total)
{
    for (int i = 0; i < t->labs; i++) {
        const mg_pupil *cell = total->cell[i];
        total->counts[i] = cell ? cell->graded : total->due[i];
        total->open += mg_total_open(cell);
        total->days += cell && cell->graded ? cell->days : 0;
    }
    keep_best(total, t->labs, t->best_of);
    for (int i = 0; i < t->labs; i++)
        if (total->counts[i]) {
            const mg_pupil *cell = total->cell[i];
            total->points += cell ? cell->points : 0;
            total->max += cell ? cell->max : t->max[i];
        }
}

/* By share; those with open labs have no rank, and stand last. */
static int by_rank(const void *a, const void *b)
{
    const mg_total *x = a, *y = b;
    double more = mg_total_share(y) - mg_total_share(x);
    if (!x->open != !y->open)
        return x->open ? 1 : -1;
    return fabs(more) > 1e-9 ? (more > 0 ? 1 : -1) : strcmp(x->name, y->name);
}

/* Whether the due date of a lab has passed, of a student who may have more time than others. */
static bool is_due(const mg_course_lab *lab, const mg_students *students, int64_t member)
{
    return !lab || difftime(time(NULL), lab->due) > 86400 * mg_students_days(students, member, lab);
}

static void rank(mg_table *t, const mg_students *students)
{
    for (int64_t i = 0; i < t->count; i++) {
        for (int l = 0; l < t->labs; l++)
            t->total[i].due[l] = is_due(t->course_lab[l], students, t->total[i].member);
        add_up(t, &t->total[i]);
    }
    if (t->count)
        qsort(t->total, (size_t)t->count, sizeof *t->total, by_rank);
    for (int64_t i = 0; i < t->count && !t->total[i].open; i++) {
        bool equal = i > 0 && fabs(mg_total_share(&t->total[i]) - mg_total_share(&t->total[i - 1])) <= 1e-9;
        t->total[i].rank = equal ? t->total[i - 1].rank : i + 1;
    }
}

/* ---- what is said --------------------------------------------------------------------------- */

static void tell(const mg_table *t, const mg_students *students)
{
    int64_t open = 0, unknown = 0;
    char names[300] = "";
    for (int64_t i = 0; i < t->count; i++) {
        const mg_total *total = &t->total[i];
        open += total->open > 0;
        if (total->member >= 0 || students->members == 0)
            continue;
        unknown++;
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "", total->name);
    }
    if (open)
        printf("%lld students have open labs, and no rank: see the column Open (docs/INSTRUCTORS.md, Totals)\n",
               (long long)open);
    if (unknown)
        printf("%lld are not in students.csv: %s; give them a line, or write these names into \"also\" of the right "
               "one\n",
               (long long)unknown, names);
}

/* The labs of the course, or without one those of the book. */
static const mg_course_lab *lab_of(const mg_course *course, const mg_lab *lab, bool *wanted)
{
    const mg_course_lab *found = mg_course_find(course, lab);
    *wanted = found || course->count == 0;
    return found;
}

mt_status mg_totals(mg_book *book, const mg_course *course, const mg_students *students, const char *out)
{
    char path[PATH_MAX];
    mg_pupils pupils[MG_TOTAL_LABS] = { { 0 } };
    mg_table t = { .title = course->count ? course->title : "Grades", .best_of = course->best_of };
    mt_status status = MT_OK;
    add_members(&t, students);
    for (const mg_lab *const *l = mg_labs; status == MT_OK && *l && t.labs < MG_TOTAL_LABS; l++) {
        bool wanted;
        const mg_course_lab *own = lab_of(course, *l, &wanted);
        mg_pupils *p = &pupils[t.labs];
        if (wanted)
            status = mg_pupils_read(p, book, *l, own, students);
        for (int64_t i = 0; i < p->count; i++)
            add_cell(&t, t.labs, &p->pupil[i]);
        if (p->count == 0)
            continue;
        t.course_lab[t.labs] = own;
        t.max[t.labs] = own ? own->points : p->pupil[0].max;
        for (int i = 0; own && i < own->parts; i++)
            t.max[t.labs] += own->part[i].points;
        t.lab[t.labs++] = *l;
    }
    if (status == MT_OK && t.labs == 0)
        status = mt_fail(MT_ERR_ARGUMENT, "%s has no submission: make grade-all grades some", book->path);
    rank(&t, students);
    mg_path(path, "%s/grades.html", out);
    if (status == MT_OK)
        status = mg_totals_html(&t, path);
    mg_path(path, "%s/grades.csv", out);
    if (status == MT_OK)
        status = mg_totals_csv(&t, path);
    if (status == MT_OK) {
        printf("%s and grades.html: %lld students, %d labs\n", path, (long long)t.count, t.labs);
        tell(&t, students);
    }
    for (int i = 0; i < MG_TOTAL_LABS; i++)
        mg_pupils_free(&pupils[i]);
    free(t.total);
    return status;
}
