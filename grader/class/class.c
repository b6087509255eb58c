/* class.c -- the command behind make class-page: one page about all submissions of a lab, from the gradebook.
 *
 * Exit status: 0 written, 2 usage, 3 not written. */
#include "class.h"
#include "sandbox/scratch.h"
#include "text.h"

#include <argp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WRITTEN, USAGE = 2, NOT_WRITTEN = 3 };

typedef struct command {
    const char *folder, *out, *lab;
} command;

static const struct argp_option arguments[] = {
    { "dir", 'd', "DIR", 0, "the folder of submissions", 0 },
    { "lab", 'l', "NN", 0, "the lab", 0 },
    { "out", 'o', "DIR", 0, "the folder of gradebook and reports (default: DIR.graded); OUT/NN.html is written", 0 },
    { 0 },
};

static error_t parse(int key, char *value, struct argp_state *state)
{
    command *c = state->input;
    switch (key) {
    case 'd':
        c->folder = value;
        break;
    case 'l':
        c->lab = value;
        break;
    case 'o':
        c->out = value;
        break;
    case ARGP_KEY_ARG:
        argp_error(state, "unexpected argument \"%s\"", value);
        break;
    case ARGP_KEY_END:
        if (!(c->folder || c->out) || !c->lab)
            argp_error(state, "which class? make class-page DIR=submissions LAB=01");
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

/* ---- queries ------------------------------------------------------------------------------------ */

sqlite3_stmt *mg_class_query(mg_class_page *page, const char *sql)
{
    sqlite3_stmt *query = page->status == MT_OK ? mg_query(page->book, sql, "t", page->lab) : NULL;
    if (!query && page->status == MT_OK)
        page->status = MT_ERR_IO;
    return query;
}

bool mg_class_next(mg_class_page *page, sqlite3_stmt *query)
{
    int code = query ? sqlite3_step(query) : SQLITE_DONE;
    if (code == SQLITE_ROW)
        return true;
    if (code != SQLITE_DONE)
        page->status = mt_fail(MT_ERR_IO, "%s: %s", page->book->path, sqlite3_errmsg(page->book->db));
    sqlite3_finalize(query);
    return false;
}

/* What the sections read; temporary, so that the book's file stays as it is. */
static const char views[] =
    "CREATE TEMP VIEW named AS SELECT s.id AS id, s.lab AS lab, s.handed_in AS handed_in, s.late AS late,"
    " coalesce((SELECT nullif(group_concat(nullif(trim(t.name), ''), ', '), '') FROM student t"
    " WHERE t.submission = s.id), s.key) AS who,"
    " (SELECT group_concat(nullif(t.sid, ''), ', ') FROM student t WHERE t.submission = s.id) AS sid FROM submission s;"
    "CREATE TEMP VIEW last AS SELECT * FROM grading WHERE id IN (SELECT max(id) FROM grading GROUP BY submission);"
    "CREATE TEMP VIEW tally AS SELECT grading, sum(verdict IN ('FAIL', 'CRASH', 'TIMEOUT')) AS failed,"
    " sum(verdict = 'TODO') AS todo, sum(verdict IN ('ERROR', 'INCONCLUSIVE', 'REVIEW', 'SKIPPED')) AS unmeasured"
    " FROM result GROUP BY grading";

static mt_status make_views(mg_book *book)
{
    if (sqlite3_exec(book->db, views, NULL, NULL, NULL) == SQLITE_OK)
        return MT_OK;
    return mt_fail(MT_ERR_FORMAT, "%s: %s", book->path, sqlite3_errmsg(book->db));
}

/* "02" or "02-backprop", as the book has it. */
static mt_status find_lab(mg_book *book, const char *name, char lab[64])
{
    mg_class_page page = { .book = book, .lab = name };
    sqlite3_stmt *query =
        mg_class_query(&page, "SELECT lab FROM submission WHERE lab = ?1 OR substr(lab, 1, 2) = ?1 LIMIT 1");
    lab[0] = 0;
    while (mg_class_next(&page, query))
        snprintf(lab, 64, "%s", mg_column(query, 0));
    if (page.status == MT_OK && !lab[0])
        return mt_fail(MT_ERR_ARGUMENT, "%s has no submission of lab %s: make grade-all DIR=... LAB=%s grades them",
                       book->path, name, name);
    return page.status;
}

/* ---- the page ------------------------------------------------------------------------------------- */

static void put_menu(mg_class_page *page)
{
    static const char *const sections[][2] = {
        { "scores", "Scores" },
        { "steps", "Steps" },
        { "hardest", "Hardest rows" },
        { "students", "Submissions" },
        { "refused", "Not graded" },
        { "similar", "Similar pairs" },
        { "time", "Time" },
    };
    fputs("<nav aria-label=\"Sections\"><ul>\n", page->out);
    for (int i = 0; i < MT_COUNT(sections); i++)
        fprintf(page->out, "<li><a href=\"#%s\">%s</a></li>\n", sections[i][0], sections[i][1]);
    fputs("</ul></nav>\n", page->out);
}

static mt_status write_page(const char *path, mg_book *book, const char *lab)
{
    char *text = NULL, title[100];
    size_t length;
    mg_class_page page = { .out = open_memstream(&text, &length), .book = book, .lab = lab };
    MT_CHECK(page.out, "out of memory");
    snprintf(title, sizeof title, "Lab %.2s: the class", lab);
    mg_page_begin(page.out, title, title);
    put_menu(&page);
    mg_class_scores(&page);
    mg_class_steps(&page);
    mg_class_hardest(&page);
    mg_class_students(&page);
    mg_class_refused(&page);
    mg_class_similar(&page);
    mg_class_slowest(&page);
    mg_page_end(page.out);
    MT_CHECK(fclose(page.out) == 0, "out of memory");
    if (page.status == MT_OK)
        page.status = mg_write(path, text, length);
    free(text);
    return page.status;
}

int main(int argc, char **argv)
{
    command c = { 0 };
    const struct argp parser = { .options = arguments, .parser = parse, .doc = "Write the page of a class." };
    char lab[64], out[PATH_MAX], path[PATH_MAX];
    mg_book book = { 0 };
    argp_err_exit_status = USAGE;
    umask(077); /* grades are for the instructor alone */
    argp_parse(&parser, argc, argv, 0, NULL, &c);
    mg_book_folder(out, c.folder, c.out);
    mg_path(path, "%s/gradebook.sqlite", out);
    mt_status status = mg_book_open(&book, path, false);
    if (status == MT_OK)
        status = make_views(&book);
    if (status == MT_OK)
        status = find_lab(&book, c.lab, lab);
    if (status == MT_OK) {
        mg_path(path, "%s/%.2s.html", out, lab);
        status = write_page(path, &book, lab);
    }
    mg_book_close(&book);
    if (status != MT_OK) {
        fprintf(stderr, "class-page: %s\n", mt_last_error());
        return NOT_WRITTEN;
    }
    printf("class page: %s\n", path);
    return WRITTEN;
}
