/* feedback.c -- see feedback.h. Canvas (generate_comments_from_files) finds a student by the first two numbers between
 * "_" in a file's name, those of user and attachment, and refuses an attachment that the submission does not have.
 * Moodle (importziplib.php) takes "Name_NN_assignsubmission_file", a folder or the beginning of a name. */
#include "feedback.h"
#include "pupils.h"
#include "report/html.h"
#include "sandbox/scratch.h"
#include "text.h"

#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct feedback {
    mg_book *book;
    const mg_plan *plan;
    char folder[PATH_MAX];
    mg_class class; /* of Canvas or Moodle: the files of the last one that was read */
} feedback;

/* ---- places ----------------------------------------------------------------------------------- */

/* The submission in its folder, as the service named its files; NULL: it is not there any more. */
static const mg_handin *handin_of(feedback *f, const mg_pupil *p)
{
    char folder[PATH_MAX] = "";
    sqlite3_stmt *q = mg_query(f->book, "SELECT folder FROM submission WHERE id = ?", "i", p->submission);
    if (q && sqlite3_step(q) == SQLITE_ROW)
        snprintf(folder, sizeof folder, "%s", mg_column(q, 0));
    sqlite3_finalize(q);
    if (strcmp(folder, f->class.folder) != 0) {
        mg_class_free(&f->class);
        if (mg_class_read(&f->class, folder) != MT_OK)
            return NULL;
    }
    for (int64_t i = 0; i < f->class.count; i++)
        if (strcmp(f->class.handin[i].key, p->key) == 0 && f->class.handin[i].pieces > 0)
            return &f->class.handin[i];
    return NULL;
}

/* Where the page of a student lies; "" for one whom the service would not find. */
static void place_of(feedback *f, const mg_pupil *p, char path[PATH_MAX])
{
    char name[sizeof p->key];
    path[0] = 0;
    if (strcmp(p->system, "canvas") == 0 || strcmp(p->system, "moodle") == 0) {
        const mg_handin *h = p->lent ? NULL : handin_of(f, p);
        const mg_piece *last = h ? &h->piece[h->pieces - 1] : NULL;
        if (h) /* what the service put before the student's own name of the file, or its folder */
            mg_path(path, "%s/%.*s%s%.2s.html", f->folder, (int)(strlen(last->path) - strlen(last->name)), last->path,
                    last->name[0] ? "" : "/", f->plan->lab->id);
        return;
    }
    snprintf(name, sizeof name, "%s", p->lent ? p->id : p->key);
    for (char *c = name; *c; c++)
        if (*c == '/' || (c == name && *c == '.'))
            *c = '-';
    if (name[0])
        mg_path(path, "%s/%s/%.2s.html", f->folder, name, f->plan->lab->id);
}

/* ---- pages ------------------------------------------------------------------------------------ */

static void put_grade(FILE *out, const mg_pupil *p)
{
    char points[32], max[32];
    fputs("<section id=\"grade\"><p class=\"words\"><strong>", out);
    if (p->graded)
        fprintf(out, "%s of %s points count", mg_points(points, p->points), mg_points(max, p->max));
    else
        fputs(p->excused ? "This lab does not count for you" : "There is nothing to grade", out);
    fputs("</strong>", out);
    if (p->graded && p->share < 1)
        fprintf(out, "; %g days late: %g %% of what the rows earn", p->days, 100 * p->share);
    if (p->open)
        fprintf(out, "; %lld rows have no points yet", (long long)p->open);
    if (!p->graded && !p->excused)
        mg_put_element(out, ": ", p->message, "");
    if (p->notes[0])
        mg_put_element(out, "; ", p->notes, "");
    fputs(".</p></section>\n", out);
}

/* The report with the grade below its heading, or a page of its own where there is none. */
static mt_status write_page(const feedback *f, const mg_pupil *p, const char *path)
{
    static const char heading[] = "</h1>\n";
    char report[PATH_MAX], folder[PATH_MAX], title[64], *text = NULL;
    size_t size;
    mg_job_report(report, f->plan, p->submission);
    strcpy(strrchr(report, '.'), ".html");
    char *page = p->grading && strcmp(p->state, "refused") != 0 ? mg_read_text(report) : NULL;
    char *rest = page ? strstr(page, heading) : NULL;
    FILE *out = open_memstream(&text, &size);
    MT_CHECK(out, "out of memory");
    snprintf(title, sizeof title, "Lab %.2s", f->plan->lab->id);
    if (rest)
        fwrite(page, 1, (size_t)(rest - page) + sizeof heading - 1, out);
    else
        mg_page_begin(out, title, title);
    put_grade(out, p);
    if (rest)
        fputs(rest + sizeof heading - 1, out);
    else
        mg_page_end(out);
    MT_CHECK(fclose(out) == 0, "out of memory");
    snprintf(folder, sizeof folder, "%s", path);
    mt_status status = mg_folder(dirname(folder), false);
    status = status == MT_OK ? mg_write(path, text, size) : status;
    free(text);
    free(page);
    return status;
}

mt_status mg_feedback(mg_book *book, const mg_plan *plan, const mg_course_lab *course, const mg_students *students,
                      int64_t *pages, int64_t *left)
{
    char path[PATH_MAX];
    mg_pupils t;
    feedback f = { .book = book, .plan = plan };
    mg_path(f.folder, "%s/%.2s-feedback", plan->out, plan->lab->id);
    *pages = *left = 0;
    mt_status status = mg_pupils_read(&t, book, plan->lab, course, students);
    if (status == MT_OK && t.count == 0)
        status = mt_fail(MT_ERR_ARGUMENT, "%s has no submission of lab %s: make grade-all grades them", book->path,
                         plan->lab->id);
    mg_path(path, "%s", f.folder);
    mg_remove_tree(path);
    if (status == MT_OK)
        status = mg_folder(f.folder, false);
    for (int64_t i = 0; status == MT_OK && i < t.count; i++) {
        const mg_pupil *p = &t.pupil[i];
        place_of(&f, p, path);
        bool known = path[0] && (p->graded || p->excused || strcmp(p->state, "refused") == 0);
        *pages += known;
        *left += !known;
        if (known)
            status = write_page(&f, p, path);
    }
    mg_class_free(&f.class);
    mg_pupils_free(&t);
    return status;
}
