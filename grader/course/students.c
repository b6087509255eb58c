/* students.c -- see students.h. A line without a lab is a student, one with a lab is a ruling. */
#include "course/students.h"
#include "course/csv.h"
#include "labs.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STUDENT, ALSO, NAME, EMAIL, TEAM, LAB, WHAT, VALUE, NOTE, COLUMNS };

static const char *const columns[COLUMNS] = {
    "student", "also", "name", "email", "team", "lab", "what", "value", "note"
};
static const char *const words[] = {
    [MG_DAYS] = "days", [MG_EXCUSED] = "excused", [MG_ADDED] = "points", [MG_ACCEPTED] = "accept"
};

typedef struct reading {
    mg_csv csv;
    const mg_course *course;
    mg_students *students;
    int column[MG_CELLS]; /* of each cell of a line */
    int columns;
} reading;

bool mg_students_word(const char *what)
{
    for (int i = 0; i < MT_COUNT(words); i++)
        if (strcmp(what, words[i]) == 0)
            return true;
    return false;
}

/* ---- lines ---------------------------------------------------------------------------------- */

static mt_status read_header(reading *r)
{
    if (!mg_csv_next(&r->csv))
        return r->csv.status != MT_OK ? r->csv.status : mg_csv_refuse(&r->csv, "no line: write student,name,lab,what");
    bool has[COLUMNS] = { false };
    for (r->columns = 0; r->columns < r->csv.cells; r->columns++) {
        int c = 0;
        while (c < COLUMNS && strcmp(r->csv.cell[r->columns], columns[c]) != 0)
            c++;
        if (c == COLUMNS)
            return mg_csv_refuse(&r->csv,
                                 "unknown column \"%.60s\": use some of student, also, name, email, team, lab, what, "
                                 "value, note",
                                 r->csv.cell[r->columns]);
        if (has[c])
            return mg_csv_refuse(&r->csv, "the column \"%s\" occurs twice: keep one", columns[c]);
        has[c] = true;
        r->column[r->columns] = c;
    }
    return has[STUDENT] ? MT_OK : mg_csv_refuse(&r->csv, "no column \"student\": whose are the lines?");
}

/* The cells of the next line by their columns, "" for those that are not there; false after the last line. */
static bool next_line(reading *r, const char *cell[COLUMNS])
{
    bool any = false;
    while (!any) {
        if (!mg_csv_next(&r->csv))
            return false;
        for (int c = 0; c < COLUMNS; c++)
            cell[c] = "";
        for (int i = 0; i < r->csv.cells; i++) {
            const char *text = r->csv.cell[i];
            any = any || text[0];
            if (i < r->columns)
                cell[r->column[i]] = text;
            else if (text[0])
                return mg_csv_refuse(&r->csv, "a cell more than columns, \"%.60s\": quote a text that has a comma",
                                     text),
                       false;
        }
    }
    if (!cell[STUDENT][0])
        return mg_csv_refuse(&r->csv, "no student: fill the column \"student\""), false;
    return true;
}

static int64_t member_of(const mg_students *s, const char *student)
{
    int64_t i = s->members - 1;
    while (i >= 0 && strcmp(s->member[i].student, student) != 0)
        i--;
    return i;
}

static mt_status add_member(reading *r, const char *cell[COLUMNS])
{
    mg_students *s = r->students;
    int64_t known = member_of(s, cell[STUDENT]);
    if (known >= 0)
        return mg_csv_refuse(&r->csv, "\"%.60s\" is a student of line %d: keep one of the lines, or name a lab",
                             cell[STUDENT], s->member[known].line);
    if (cell[WHAT][0] || cell[VALUE][0])
        return mg_csv_refuse(&r->csv, "\"%.60s\" of which lab? fill the column \"lab\"",
                             cell[WHAT][0] ? cell[WHAT] : cell[VALUE]);
    mg_member m = { .line = r->csv.line };
    bool fits = snprintf(m.student, sizeof m.student, "%s", cell[STUDENT]) < (int)sizeof m.student;
    fits = fits && snprintf(m.also, sizeof m.also, "%s", cell[ALSO]) < (int)sizeof m.also;
    fits = fits && snprintf(m.name, sizeof m.name, "%s", cell[NAME]) < (int)sizeof m.name;
    fits = fits && snprintf(m.email, sizeof m.email, "%s", cell[EMAIL]) < (int)sizeof m.email;
    fits = fits && snprintf(m.team, sizeof m.team, "%s", cell[TEAM]) < (int)sizeof m.team;
    if (!fits)
        return mg_csv_refuse(&r->csv, "a cell of \"%.60s\" is too long: shorten it", cell[STUDENT]);
    s->member = realloc(s->member, (size_t)(s->members + 1) * sizeof *s->member);
    MT_CHECK(s->member, "out of memory");
    s->member[s->members++] = m;
    return MT_OK;
}

/* ---- rulings -------------------------------------------------------------------------------- */

static mt_status take_number(reading *r, const char *what, const char *text, double low, double high, double *value)
{
    char *end;
    *value = strtod(text, &end);
    if (end == text || *end || !(*value >= low && *value <= high))
        return mg_csv_refuse(&r->csv, "the value of \"%s\" must be a number from %g to %g, such as 2.5, not \"%.40s\"",
                             what, low, high, text);
    return MT_OK;
}

static mt_status take_row(reading *r, mg_ruling *ruling, const char *key)
{
    const mg_course_lab *lab = ruling->lab;
    for (int64_t i = 0; i < lab->count; i++)
        if (strchr(key, ' ') && mg_course_means(key, &lab->rows[i])) {
            snprintf(ruling->row, sizeof ruling->row, "%s", key);
            return MT_OK;
        }
    return mg_csv_refuse(&r->csv,
                         "lab %.2s has no row \"%.80s\": write its step and its name, as make grade shows them, such "
                         "as \"%s %s\"",
                         lab->lab->id, key, lab->rows[lab->count - 1].step, lab->rows[lab->count - 1].name);
}

/* A part that a person grades. */
static mt_status take_part(reading *r, mg_ruling *ruling, const char *what, const char *text)
{
    char parts[MG_COURSE_PARTS * (sizeof ruling->lab->part->name + 2)] = "";
    for (int i = 0; i < ruling->lab->parts; i++) {
        const mg_course_part *part = &ruling->lab->part[i];
        snprintf(parts + strlen(parts), sizeof parts - strlen(parts), ", %s", part->name);
        if (strcmp(part->name, what) != 0)
            continue;
        ruling->kind = MG_BY_HAND;
        snprintf(ruling->row, sizeof ruling->row, "%s", what);
        return take_number(r, what, text, 0, part->points, &ruling->value);
    }
    return mg_csv_refuse(&r->csv, "\"%.60s\" is nothing to say about lab %.2s: use days, excused, points, accept%s",
                         what, ruling->lab->lab->id, parts[0] ? parts : ", or a part that its \"by_hand\" names");
}

static mt_status take_value(reading *r, mg_ruling *ruling, const char *what, const char *value)
{
    int kind = 0;
    while (kind < MT_COUNT(words) && strcmp(what, words[kind]) != 0)
        kind++;
    ruling->kind = (mg_ruling_kind)kind;
    if (kind == MG_DAYS && !ruling->lab->due)
        return mg_csv_refuse(&r->csv, "lab %.2s has no due date that could be later: write \"due\" in the course file",
                             ruling->lab->lab->id);
    if (kind == MG_EXCUSED && value[0])
        return mg_csv_refuse(&r->csv, "\"excused\" has no value: leave \"%.40s\" out, or write it as a note", value);
    if ((kind == MG_ADDED || kind == MG_ACCEPTED) && !ruling->note[0])
        return mg_csv_refuse(&r->csv, "\"%s\" needs a note: write what was asked, and why", what);
    if (kind == MG_DAYS)
        return take_number(r, what, value, 0, 1000, &ruling->value);
    if (kind == MG_ADDED)
        return take_number(r, what, value, -1e6, 1e6, &ruling->value);
    if (kind == MG_ACCEPTED)
        return take_row(r, ruling, value);
    return kind == MG_EXCUSED ? MT_OK : take_part(r, ruling, what, value);
}

static mt_status add_ruling(reading *r, const char *cell[COLUMNS])
{
    mg_students *s = r->students;
    const mg_lab *lab = mg_lab_find(cell[LAB]);
    mg_ruling new = { .member = member_of(s, cell[STUDENT]), .lab = lab ? mg_course_find(r->course, lab) : NULL };
    if (new.member < 0)
        return mg_csv_refuse(&r->csv,
                             "there is no student \"%.60s\": correct it, or add a line without a lab for this student",
                             cell[STUDENT]);
    if (!new.lab)
        return mg_csv_refuse(&r->csv, "the course has no lab \"%.40s\": write the number of one that it names",
                             cell[LAB]);
    if (cell[NAME][0] || cell[EMAIL][0] || cell[TEAM][0] || cell[ALSO][0])
        return mg_csv_refuse(&r->csv, "names and teams stand in the student's line without a lab: leave them out here");
    if (snprintf(new.note, sizeof new.note, "%s", cell[NOTE]) >= (int)sizeof new.note)
        return mg_csv_refuse(&r->csv, "the note has more than %d letters: shorten it", (int)sizeof new.note - 1);
    mt_status status = take_value(r, &new, cell[WHAT], cell[VALUE]);
    for (int64_t i = 0; status == MT_OK && i < s->rulings; i++) {
        const mg_ruling *old = &s->ruling[i];
        if (new.kind != MG_ADDED && old->member == new.member && old->lab == new.lab &&
            old->kind == new.kind &&strcmp(old->row, new.row) == 0)
            return mg_csv_refuse(&r->csv, "\"%s\" of this student and lab occurs twice: keep one line", cell[WHAT]);
    }
    if (status != MT_OK)
        return status;
    s->ruling = realloc(s->ruling, (size_t)(s->rulings + 1) * sizeof *s->ruling);
    MT_CHECK(s->ruling, "out of memory");
    s->ruling[s->rulings++] = new;
    return MT_OK;
}

/* ---- the file ------------------------------------------------------------------------------- */

/* First the students, then what is said about them: their lines may stand in any order. */
static mt_status read_lines(reading *r, const char *path, bool rulings)
{
    const char *cell[COLUMNS];
    mt_status status = mg_csv_open(&r->csv, path);
    if (status == MT_OK)
        status = read_header(r);
    while (status == MT_OK && next_line(r, cell))
        if (!cell[LAB][0] == !rulings)
            status = rulings ? add_ruling(r, cell) : add_member(r, cell);
    status = status == MT_OK ? r->csv.status : status;
    mg_csv_close(&r->csv);
    return status;
}

mt_status mg_students_read(mg_students *students, const mg_course *course, const char *course_file)
{
    char path[PATH_MAX];
    reading r = { .course = course, .students = students };
    const char *slash = strrchr(course_file, '/');
    *students = (mg_students){ 0 };
    snprintf(path, sizeof path, "%.*sstudents.csv", slash ? (int)(slash + 1 - course_file) : 0, course_file);
    if (access(path, F_OK) != 0)
        return MT_OK;
    mt_status status = read_lines(&r, path, false);
    return status == MT_OK ? read_lines(&r, path, true) : status;
}

void mg_students_free(mg_students *students)
{
    free(students->member);
    free(students->ruling);
    *students = (mg_students){ 0 };
}

/* ---- use ------------------------------------------------------------------------------------ */

static bool is_called(const mg_member *m, const char *what)
{
    size_t n = strlen(what);
    if (n && (strcmp(m->student, what) == 0 || strcasecmp(m->email, what) == 0))
        return true;
    for (const char *at = m->also; n && (at = strstr(at, what)); at++)
        if ((at == m->also || at[-1] == '|') && (at[n] == '|' || !at[n]))
            return true;
    return false;
}

int64_t mg_students_find(const mg_students *s, const char *key, const char *id, const char *email, const char *name)
{
    const char *const called[] = { key, id, email, name };
    int64_t found = -1;
    for (int c = 0; c < MT_COUNT(called); c++)
        for (int64_t i = 0; i < s->members; i++)
            if (is_called(&s->member[i], called[c]))
                return i;
    for (int64_t i = 0; name[0] && i < s->members; i++)
        if (strcmp(s->member[i].name, name) == 0) {
            if (found >= 0)
                return -1;
            found = i;
        }
    return found;
}

double mg_students_days(const mg_students *s, int64_t member, const mg_course_lab *lab)
{
    double days = 0;
    for (int64_t i = 0; i < s->rulings; i++)
        if (s->ruling[i].kind == MG_DAYS && s->ruling[i].member == member && s->ruling[i].lab == lab)
            days += s->ruling[i].value;
    return days;
}

time_t mg_students_after(const mg_students *s, const mg_course_lab *lab)
{
    double days = 0;
    for (int64_t i = 0; lab->after && i < s->members; i++) {
        double own = mg_students_days(s, i, lab);
        if (mg_course_share(lab, lab->after - (time_t)(86400 * own)) > 0)
            days = own > days ? own : days;
    }
    return lab->after + (time_t)(86400 * days);
}

void mg_students_notes(const mg_students *s, int64_t member, const mg_course_lab *lab, char *text, size_t size)
{
    text[0] = 0;
    for (int64_t i = 0; s && i < s->rulings; i++) {
        const mg_ruling *r = &s->ruling[i];
        size_t used = strlen(text);
        if (r->member != member || r->lab != lab)
            continue;
        snprintf(text + used, size - used, "%s", used ? "; " : "");
        used = strlen(text);
        if (r->kind == MG_DAYS)
            snprintf(text + used, size - used, "%g days more", r->value);
        else if (r->kind == MG_ADDED)
            snprintf(text + used, size - used, "%+g points", r->value);
        else if (r->kind == MG_BY_HAND)
            snprintf(text + used, size - used, "%s %g", r->row, r->value);
        else
            snprintf(text + used, size - used, r->kind == MG_EXCUSED ? "excused" : "accepted as measured: %s", r->row);
        used = strlen(text);
        snprintf(text + used, size - used, "%s%s", r->note[0] ? ": " : "", r->note);
    }
}
