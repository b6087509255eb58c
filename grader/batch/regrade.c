/* regrade.c -- see regrade.h. */
#include "regrade.h"
#include "pupils.h"
#include "sandbox/scratch.h"
#include "text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SHOWN = 40 }; /* lines on the terminal */

/* Proposals, their submissions, and the last gradings of both. */
#define PAIRS                                                                                      \
    " FROM submission p JOIN submission s ON s.lab = ?1 AND s.folder = p.folder AND s.key = p.key" \
    " JOIN grading a ON a.id = (SELECT max(id) FROM grading WHERE submission = s.id)"              \
    " JOIN grading b ON b.id = (SELECT max(id) FROM grading WHERE submission = p.id)"              \
    " WHERE p.lab = 'again ' || ?1"

typedef struct showing {
    mg_book *book;
    FILE *csv;
    int64_t lines, rows, submissions, changed, unfinished;
} showing;

mt_status mg_regrade_place(mg_book *book, const char *lab, const char *folder, const char *key, int64_t *id)
{
    char again[96];
    mg_class class = { .count = 1 };
    mg_handin one = { 0 };
    snprintf(again, sizeof again, "again %s", lab);
    snprintf(class.folder, sizeof class.folder, "%s", folder);
    snprintf(one.key, sizeof one.key, "%s", key);
    class.handin = &one;
    mt_status status = mg_book_class(book, again, &class);
    return status == MT_OK ? mg_book_submission(book, again, class.folder, key, id) : status;
}

/* ---- what would change ------------------------------------------------------------------------ */

/* The rows of two gradings that differ in verdict, points or maximum, or that only one of them has. */
static const char differing[] =
    "SELECT step, name, av, ap, am, bv, bp, bm, message FROM ("
    "SELECT a.place AS place, a.step AS step, a.name AS name, a.verdict AS av, a.points AS ap, a.max AS am,"
    " b.verdict AS bv, b.points AS bp, b.max AS bm, b.message AS message FROM result a LEFT JOIN result b"
    " ON b.grading = ?2 AND b.step = a.step AND b.name = a.name WHERE a.grading = ?1"
    " UNION ALL SELECT b.place, b.step, b.name, NULL, NULL, NULL, b.verdict, b.points, b.max, b.message FROM result b"
    " WHERE b.grading = ?2 AND NOT EXISTS (SELECT 1 FROM result a WHERE a.grading = ?1 AND a.step = b.step AND"
    " a.name = b.name)) WHERE av IS NOT bv OR ap IS NOT bp OR am IS NOT bm ORDER BY place";

/* "FAIL 0/8" of a verdict, points and maximum; "none" where the row or the submission has none. */
static const char *judged(char text[64], sqlite3_stmt *q, int column)
{
    char points[32] = "-", max[32];
    if (sqlite3_column_type(q, column) == SQLITE_NULL)
        return "none";
    if (sqlite3_column_type(q, column + 1) != SQLITE_NULL)
        mg_points(points, sqlite3_column_double(q, column + 1));
    snprintf(text, 64, "%s %s/%s", mg_column(q, column), points, mg_points(max, sqlite3_column_double(q, column + 2)));
    return text;
}

static void put_change(showing *s, const char *who, const char *key, sqlite3_stmt *q, const char *name)
{
    char before[64], after[64];
    const char *step = name ? "" : mg_column(q, 0), *row = name ? name : mg_column(q, 1);
    int at = name ? 5 : 2;
    const char *was = judged(before, q, at), *is = judged(after, q, at + 3);
    mg_put_cells(s->csv, (const char *const[]){ who, key, step, row, was, is, name ? "" : mg_column(q, 8) }, 7);
    fputc('\n', s->csv);
    if (s->lines++ >= SHOWN)
        return;
    if (name)
        printf("%s (%s): %s -> %s\n", who, key, was, is);
    else
        printf("  %-6s %s: %s -> %s\n", step, row, was, is);
}

/* One proposal: the line of the submission, then its rows. */
static void show_pair(showing *s, sqlite3_stmt *pair)
{
    int64_t rows = 0;
    char *who = mg_plain(mg_column(pair, 0)), *key = mg_plain(mg_column(pair, 1));
    sqlite3_stmt *q = mg_query(s->book, differing, "ii", sqlite3_column_int64(pair, 2), sqlite3_column_int64(pair, 3));
    for (; q && sqlite3_step(q) == SQLITE_ROW; rows++) {
        if (rows == 0)
            put_change(s, who, key, pair, "in all");
        put_change(s, who, key, q, NULL);
    }
    sqlite3_finalize(q);
    s->submissions++;
    s->changed += rows > 0;
    s->rows += rows;
    s->unfinished += strcmp(mg_column(pair, 8), "graded") != 0 && strcmp(mg_column(pair, 8), "refused") != 0;
    free(key);
    free(who);
}

static void say(const showing *s, const char *path)
{
    if (s->lines > SHOWN)
        printf("and %lld lines more\n", (long long)s->lines - SHOWN);
    printf("graded again: %lld submissions, of which %lld change, in %lld rows: %s\n", (long long)s->submissions,
           (long long)s->changed, (long long)s->rows, path);
    if (s->unfinished)
        printf("%lld of them are not finished: the same REGRADE grades them once more\n", (long long)s->unfinished);
    puts("this does not count yet: REGRADE=accept makes it count, REGRADE=discard forgets it");
}

mt_status mg_regrade_show(mg_book *book, const mg_plan *plan)
{
    char path[PATH_MAX], *text = NULL;
    size_t size;
    showing s = { .book = book, .csv = open_memstream(&text, &size) };
    MT_CHECK(s.csv, "out of memory");
    fputs("Name,Submission,Step,Row,Before,Again,Message\n", s.csv);
    sqlite3_stmt *q = mg_query(book,
                               "SELECT coalesce((SELECT group_concat(name, ', ') FROM student WHERE submission = s.id),"
                               " s.key) AS who, s.key, a.id, b.id, NULL, a.state, a.points, a.max, b.state, b.points,"
                               " b.max" PAIRS " ORDER BY who, s.id",
                               "t", plan->lab->id);
    int code = SQLITE_ERROR;
    while (q && (code = sqlite3_step(q)) == SQLITE_ROW)
        show_pair(&s, q);
    sqlite3_finalize(q);
    MT_CHECK(fclose(s.csv) == 0, "out of memory");
    mg_path(path, "%s/%.2s-regrade.csv", plan->out, plan->lab->id);
    mt_status status = code == SQLITE_DONE ? MT_OK : mt_fail(MT_ERR_IO, "%s: %s", book->path, sqlite3_errmsg(book->db));
    if (status == MT_OK && s.submissions > 0)
        status = mg_write(path, text, size);
    if (status == MT_OK && s.submissions > 0)
        say(&s, path);
    free(text);
    return status;
}

/* ---- the decision ----------------------------------------------------------------------------- */

typedef struct decision {
    const char *lab;
    bool accept;
} decision;

/* Gradings move to their submissions, or go; then the proposals have none, and go. */
static int write_decision(sqlite3 *db, void *arg)
{
    static const char *const accepted[] = {
        "UPDATE grading SET submission = (SELECT s.id FROM submission s JOIN submission p ON s.folder = p.folder AND"
        " s.key = p.key WHERE p.id = grading.submission AND s.lab = ?1) WHERE submission IN (SELECT id FROM submission"
        " WHERE lab = 'again ' || ?1)",
        "DELETE FROM submission WHERE lab = 'again ' || ?1", NULL
    };
    static const char *const forgotten[] = {
        "DELETE FROM result WHERE grading IN (SELECT g.id FROM grading g JOIN submission p ON p.id = g.submission WHERE"
        " p.lab = 'again ' || ?1)",
        "DELETE FROM grading WHERE submission IN (SELECT id FROM submission WHERE lab = 'again ' || ?1)", accepted[1],
        NULL
    };
    const decision *d = arg;
    int code = SQLITE_OK;
    for (const char *const *sql = d->accept ? accepted : forgotten; code == SQLITE_OK && *sql; sql++)
        code = mg_sql(db, *sql, "t", d->lab);
    return code;
}

/* The folder of the proposal takes the place of the submission's, or is removed. One that is not there was moved before
 * a kill; that of a submission whose units were graded since then stays. */
static mt_status move_report(const mg_plan *plan, int64_t from, int64_t to, bool accept)
{
    char proposal[PATH_MAX], folder[PATH_MAX];
    mg_job_folder(proposal, plan, from);
    mg_job_folder(folder, plan, to);
    if (access(proposal, F_OK) != 0)
        return MT_OK;
    mg_remove_tree(accept ? folder : proposal);
    return !accept || rename(proposal, folder) == 0
               ? MT_OK
               : mt_fail(MT_ERR_IO, "%s cannot become %s: %s", proposal, folder, strerror(errno));
}

mt_status mg_regrade_end(mg_book *book, const mg_plan *plan, bool accept)
{
    int64_t count = 0, open = 0;
    mt_status status = MT_OK;
    decision d = { plan->lab->id, accept };
    sqlite3_stmt *q =
        mg_query(book, "SELECT count(*), sum(b.state NOT IN ('graded', 'refused'))" PAIRS, "t", plan->lab->id);
    if (q && sqlite3_step(q) == SQLITE_ROW)
        count = sqlite3_column_int64(q, 0), open = sqlite3_column_int64(q, 1);
    sqlite3_finalize(q);
    if (count == 0)
        return mt_fail(MT_ERR_ARGUMENT, "nothing of lab %.2s was graded again: REGRADE=all, or words in names, does so",
                       plan->lab->id);
    if (accept && open)
        return mt_fail(MT_ERR_ARGUMENT,
                       "%lld submissions are not finished: grade them once more by REGRADE, or discard",
                       (long long)open);
    q = mg_query(book, "SELECT p.id, s.id, b.id > a.id" PAIRS, "t", plan->lab->id);
    while (status == MT_OK && q && sqlite3_step(q) == SQLITE_ROW)
        status = move_report(plan, sqlite3_column_int64(q, 0), sqlite3_column_int64(q, 1),
                             accept && sqlite3_column_int(q, 2));
    sqlite3_finalize(q);
    if (status == MT_OK)
        status = mg_book_write(book, write_decision, &d);
    if (status == MT_OK)
        printf("%lld submissions graded again: %s\n", (long long)count, accept ? "they count" : "forgotten");
    return status;
}
