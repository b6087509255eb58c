/* book.c -- the tables, and the few statements that write them. */
#include "book.h"
#include "sandbox/scratch.h"
#include "sandbox/session.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

enum { FORMAT = 1, NAP_MS = 100, PATIENCE = 10 /* naps before words */, SAY = 300 };

static const char tables[] =
    "CREATE TABLE IF NOT EXISTS submission (id INTEGER PRIMARY KEY, lab TEXT NOT NULL, folder TEXT NOT NULL,"
    " key TEXT NOT NULL, system TEXT, handed_in INTEGER, late INTEGER, UNIQUE (lab, folder, key));"
    "CREATE TABLE IF NOT EXISTS student (submission INTEGER NOT NULL REFERENCES submission, place INTEGER NOT NULL,"
    " name TEXT, sid TEXT, email TEXT, PRIMARY KEY (submission, place));"
    "CREATE TABLE IF NOT EXISTS grading (id INTEGER PRIMARY KEY, submission INTEGER NOT NULL REFERENCES submission,"
    " state TEXT NOT NULL, digest TEXT, points REAL, max REAL, message TEXT, ignored TEXT, grader TEXT, seed TEXT,"
    " started INTEGER, seconds REAL, cpu REAL);"
    "CREATE INDEX IF NOT EXISTS grading_of ON grading (submission);"
    "CREATE TABLE IF NOT EXISTS result (grading INTEGER NOT NULL REFERENCES grading, place INTEGER NOT NULL, step TEXT,"
    " name TEXT, verdict TEXT, points REAL, max REAL, message TEXT, hint TEXT, call TEXT, measured REAL, low REAL,"
    " full REAL, seconds REAL, seed TEXT, PRIMARY KEY (grading, place));"
    "CREATE TABLE IF NOT EXISTS seed (lab TEXT PRIMARY KEY, seed TEXT);"
    "CREATE TABLE IF NOT EXISTS similarity (lab TEXT NOT NULL, submission INTEGER NOT NULL REFERENCES submission,"
    " other INTEGER, source TEXT NOT NULL, percent REAL, tokens INTEGER, found INTEGER);"
    "CREATE VIEW IF NOT EXISTS grade AS SELECT s.lab, s.folder, s.key, s.id AS submission, s.system, s.handed_in, "
    "s.late,"
    " g.* FROM submission s JOIN grading g ON g.id = (SELECT max(id) FROM grading WHERE submission = s.id);";

static const char *state_name(mg_state state)
{
    static const char *const names[] = { "ungraded", "untimed", "graded", "refused", "error" };
    return names[state];
}

static mg_state state_of(const char *name)
{
    for (mg_state s = MG_UNTIMED; s <= MG_BROKEN; s++)
        if (strcmp(name, state_name(s)) == 0)
            return s;
    return MG_UNGRADED;
}

void mg_grading_free(mg_grading *g)
{
    for (int64_t i = 0; i < g->rows; i++) {
        free(g->row[i].message);
        free(g->row[i].hint);
        free(g->row[i].call);
        free(g->row[i].seed);
    }
    free(g->row);
    g->row = NULL;
    g->rows = 0;
}

/* ---- statements ----------------------------------------------------------------------------- */

static void bind(sqlite3_stmt *statement, const char *kinds, va_list args)
{
    for (int i = 0; kinds[i]; i++)
        if (kinds[i] == 'i')
            sqlite3_bind_int64(statement, i + 1, va_arg(args, int64_t));
        else if (kinds[i] == 'd')
            sqlite3_bind_double(statement, i + 1, va_arg(args, double)); /* NaN is NULL */
        else
            sqlite3_bind_text(statement, i + 1, va_arg(args, const char *), -1, SQLITE_TRANSIENT);
}

int mg_sql(sqlite3 *db, const char *sql, const char *kinds, ...)
{
    sqlite3_stmt *statement;
    int code = sqlite3_prepare_v2(db, sql, -1, &statement, NULL);
    if (code != SQLITE_OK)
        return code;
    va_list args;
    va_start(args, kinds);
    bind(statement, kinds, args);
    va_end(args);
    sqlite3_step(statement);
    return sqlite3_finalize(statement);
}

sqlite3_stmt *mg_query(mg_book *book, const char *sql, const char *kinds, ...)
{
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(book->db, sql, -1, &statement, NULL) != SQLITE_OK) {
        mt_fail(MT_ERR_IO, "%s: %s", book->path, sqlite3_errmsg(book->db));
        return NULL;
    }
    va_list args;
    va_start(args, kinds);
    bind(statement, kinds, args);
    va_end(args);
    return statement;
}

const char *mg_column(sqlite3_stmt *query, int column)
{
    const char *text = (const char *)sqlite3_column_text(query, column);
    return text ? text : "";
}

/* ---- writing -------------------------------------------------------------------------------- */

static void say_pause(const mg_book *book, const char *why)
{
    fprintf(stderr, "grade-all: pause: %s %s; goes on by itself, nothing that was graded is lost\n", book->path, why);
}

/* SQLite's busy handler: somebody else has locked the file, for reading or writing. */
static int wait_for_lock(void *arg, int tries)
{
    if (tries % SAY == PATIENCE)
        say_pause(arg, "is locked by another program");
    usleep(NAP_MS * 1000);
    return !mg_stop;
}

/* Wait if the error will pass, because the disk is full, and say so once a minute; false: it will not pass. */
static bool wait_for_disk(const mg_book *book, int code, int tries)
{
    const char *why = code == SQLITE_FULL                               ? "cannot grow: the disk is full"
                      : code == SQLITE_IOERR || code == SQLITE_CANTOPEN ? "cannot be written (is the disk full?)"
                                                                        : NULL;
    if (!why || mg_stop)
        return false;
    if (tries % 30 == 0)
        say_pause(book, why);
    sleep(2);
    return !mg_stop;
}

mt_status mg_book_write(mg_book *book, mg_statements *statements, void *arg)
{
    for (int tries = 0;; tries++) {
        int code = mg_sql(book->db, "BEGIN IMMEDIATE", "");
        if (code == SQLITE_OK)
            code = statements(book->db, arg);
        if (code == SQLITE_OK)
            code = mg_sql(book->db, "COMMIT", "");
        if (code == SQLITE_OK)
            return MT_OK;
        mt_status status = mt_fail(MT_ERR_IO, "%s: %s", book->path, sqlite3_errmsg(book->db));
        mg_sql(book->db, "ROLLBACK", "");
        if (!wait_for_disk(book, code & 0xff, tries))
            return status;
    }
}

static int make_tables(sqlite3 *db, void *arg)
{
    (void)arg;
    int code = sqlite3_exec(db, tables, NULL, NULL, NULL);
    return code == SQLITE_OK ? sqlite3_exec(db, "PRAGMA user_version = 1", NULL, NULL, NULL) : code;
}

static mt_status check_format(mg_book *book)
{
    sqlite3_stmt *query = mg_query(book, "PRAGMA user_version", "");
    int code = query ? sqlite3_step(query) : SQLITE_ERROR;
    int64_t version = code == SQLITE_ROW ? sqlite3_column_int64(query, 0) : -1;
    sqlite3_finalize(query);
    if (version < 0 || version > FORMAT)
        return mt_fail(MT_ERR_FORMAT,
                       "%s is not a gradebook%s (%s): move it away, or name another folder with OUT=", book->path,
                       version > FORMAT ? " of this version" : "", sqlite3_errmsg(book->db));
    return MT_OK;
}

void mg_book_folder(char path[PATH_MAX], const char *class, const char *out)
{
    size_t n = class ? strlen(class) : 0;
    while (n > 1 && class[n - 1] == '/')
        n--;
    if (out)
        mg_path(path, "%s", out);
    else
        mg_path(path, "%.*s.graded", (int)n, class);
}

mt_status mg_book_open(mg_book *book, const char *path, bool create)
{
    *book = (mg_book){ 0 };
    snprintf(book->path, sizeof book->path, "%s", path);
    if (!create && access(path, R_OK))
        return mt_fail(MT_ERR_ARGUMENT, "%s: there is no gradebook yet: make grade-all DIR=... LAB=... makes it", path);
    int code = sqlite3_open_v2(path, &book->db, SQLITE_OPEN_READWRITE | (create ? SQLITE_OPEN_CREATE : 0), NULL);
    if (code != SQLITE_OK) {
        mt_status status = mt_fail(MT_ERR_IO, "%s: %s", path, sqlite3_errmsg(book->db));
        mg_book_close(book);
        return status;
    }
    sqlite3_busy_handler(book->db, wait_for_lock, book);
    mt_status status = check_format(book);
    if (status == MT_OK && create)
        status = mg_book_write(book, make_tables, NULL);
    if (status != MT_OK)
        mg_book_close(book);
    return status;
}

void mg_book_close(mg_book *book)
{
    sqlite3_close(book->db);
    book->db = NULL;
}

/* ---- submissions ---------------------------------------------------------------------------- */

typedef struct roll {
    const char *lab;
    const mg_class *class;
} roll;

static int write_submission(sqlite3 *db, const roll *r, const mg_handin *h)
{
    static const char number[] = "(SELECT id FROM submission WHERE lab = ?1 AND folder = ?2 AND key = ?3)";
    char sql[256];
    int code = mg_sql(db,
                      "INSERT INTO submission (lab, folder, key, system, handed_in, late) VALUES (?, ?, ?, ?, ?, ?)"
                      " ON CONFLICT (lab, folder, key) DO UPDATE SET handed_in = excluded.handed_in,"
                      " late = excluded.late",
                      "ttttii", r->lab, r->class->folder, h->key, mg_system_name(h->system), (int64_t)h->when,
                      (int64_t)h->late);
    snprintf(sql, sizeof sql, "DELETE FROM student WHERE submission = %s", number);
    if (code == SQLITE_OK)
        code = mg_sql(db, sql, "ttt", r->lab, r->class->folder, h->key);
    snprintf(sql, sizeof sql, "INSERT INTO student VALUES (%s, ?4, ?5, ?6, ?7)", number);
    for (int i = 0; code == SQLITE_OK && i < h->students; i++)
        code = mg_sql(db, sql, "tttittt", r->lab, r->class->folder, h->key, (int64_t)i, h->student[i].name,
                      h->student[i].id, h->student[i].email);
    return code;
}

static int write_class(sqlite3 *db, void *arg)
{
    const roll *r = arg;
    int code = SQLITE_OK;
    for (int64_t i = 0; code == SQLITE_OK && i < r->class->count; i++)
        code = write_submission(db, r, &r->class->handin[i]);
    return code;
}

mt_status mg_book_class(mg_book *book, const char *lab, const mg_class *class)
{
    roll r = { lab, class };
    return mg_book_write(book, write_class, &r);
}

mt_status mg_book_submission(mg_book *book, const char *lab, const char *folder, const char *key, int64_t *id)
{
    sqlite3_stmt *query =
        mg_query(book, "SELECT id FROM submission WHERE lab = ? AND folder = ? AND key = ?", "ttt", lab, folder, key);
    *id = query && sqlite3_step(query) == SQLITE_ROW ? sqlite3_column_int64(query, 0) : 0;
    sqlite3_finalize(query);
    return *id ? MT_OK : mt_fail(MT_ERR_IO, "%s: %s", book->path, sqlite3_errmsg(book->db));
}

/* ---- gradings ------------------------------------------------------------------------------- */

mt_status mg_book_last(mg_book *book, int64_t submission, mg_grading *last)
{
    *last = (mg_grading){ .submission = submission };
    sqlite3_stmt *q =
        mg_query(book,
                 "SELECT id, state, digest, points, max, seconds, cpu, started, grader, seed, message, ignored"
                 " FROM grading WHERE submission = ? ORDER BY id DESC LIMIT 1",
                 "i", submission);
    int code = q ? sqlite3_step(q) : SQLITE_ERROR;
    if (code == SQLITE_ROW) {
        last->id = sqlite3_column_int64(q, 0);
        last->state = state_of(mg_column(q, 1));
        last->digest = strtoull(mg_column(q, 2), NULL, 16);
        last->points = sqlite3_column_double(q, 3);
        last->max = sqlite3_column_double(q, 4);
        last->seconds = sqlite3_column_double(q, 5);
        last->cpu = sqlite3_column_double(q, 6);
        last->started = sqlite3_column_int64(q, 7);
        snprintf(last->grader, sizeof last->grader, "%s", mg_column(q, 8));
        snprintf(last->seed, sizeof last->seed, "%s", mg_column(q, 9));
        snprintf(last->message, sizeof last->message, "%s", mg_column(q, 10));
        snprintf(last->ignored, sizeof last->ignored, "%s", mg_column(q, 11));
    }
    sqlite3_finalize(q);
    return code == SQLITE_ROW || code == SQLITE_DONE
               ? MT_OK
               : mt_fail(MT_ERR_IO, "%s: %s", book->path, sqlite3_errmsg(book->db));
}

mt_status mg_book_open_rows(mg_book *book, mg_verdict verdict, const char *lab, const char *folder, int64_t submission,
                            mg_open_rows *open)
{
    sqlite3_stmt *q = mg_query(book,
                               "SELECT count(*), count(DISTINCT g.submission) FROM grade g JOIN result r ON"
                               " r.grading = g.id WHERE r.verdict = ?4 AND g.state = 'graded' AND"
                               " g.lab = ?1 AND ?2 IN ('', g.folder) AND ?3 IN (0, g.submission)",
                               "ttit", lab, folder ? folder : "", submission, mg_verdict_name(verdict));
    bool known = q && sqlite3_step(q) == SQLITE_ROW;
    *open = known ? (mg_open_rows){ sqlite3_column_int64(q, 0), sqlite3_column_int64(q, 1) } : (mg_open_rows){ 0 };
    sqlite3_finalize(q);
    return known ? MT_OK : mt_fail(MT_ERR_IO, "%s: %s", book->path, sqlite3_errmsg(book->db));
}

static int write_row(sqlite3 *db, int64_t grading, int64_t i, const mg_entry *r)
{
    return mg_sql(db, "INSERT INTO result VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", "iitttddtttddddt",
                  grading, i, r->step, r->name, r->verdict, r->points, r->max, r->message, r->hint, r->call,
                  r->measured, r->low, r->full, r->seconds, r->seed);
}

static int write_grading(sqlite3 *db, void *arg)
{
    mg_grading *g = arg;
    char digest[20];
    snprintf(digest, sizeof digest, "%016" PRIx64, g->digest);
    int code = g->id ? mg_sql(db, "DELETE FROM result WHERE grading = ?", "i", g->id) : SQLITE_OK;
    if (code == SQLITE_OK)
        code = mg_sql(
            db,
            "INSERT OR REPLACE INTO grading (id, submission, state, digest, points, max, message, ignored, grader,"
            " seed, started, seconds, cpu) VALUES (nullif(?, 0), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            "iittddttttidd", g->id, g->submission, state_name(g->state), digest, g->points, g->max, g->message,
            g->ignored, g->grader, g->seed, g->started, g->seconds, g->cpu);
    int64_t id = g->id ? g->id : sqlite3_last_insert_rowid(db);
    for (int64_t i = 0; code == SQLITE_OK && i < g->rows; i++)
        code = write_row(db, id, i, &g->row[i]);
    return code;
}

mt_status mg_book_add(mg_book *book, mg_grading *grading)
{
    mt_status status = mg_book_write(book, write_grading, grading);
    mg_grading last;
    if (status == MT_OK && !grading->id && (status = mg_book_last(book, grading->submission, &last)) == MT_OK)
        grading->id = last.id;
    return status;
}

typedef struct lab_seed {
    const char *lab;
    char seed[20];
    bool keep;
} lab_seed;

static int write_seed(sqlite3 *db, void *arg)
{
    const lab_seed *s = arg;
    return mg_sql(db,
                  s->keep ? "INSERT OR IGNORE INTO seed VALUES (?, ?)" : "INSERT OR REPLACE INTO seed VALUES (?, ?)",
                  "tt", s->lab, s->seed);
}

mt_status mg_book_seed(mg_book *book, const char *lab, uint64_t wanted, uint64_t *seed)
{
    lab_seed s = { .lab = lab, .keep = wanted == 0 };
    for (*seed = wanted; *seed == 0;)
        MT_CHECK(getrandom(seed, sizeof *seed, 0) == sizeof *seed, "no random numbers");
    snprintf(s.seed, sizeof s.seed, "%" PRIx64, *seed);
    mt_status status = mg_book_write(book, write_seed, &s);
    sqlite3_stmt *query = status == MT_OK ? mg_query(book, "SELECT seed FROM seed WHERE lab = ?", "t", lab) : NULL;
    if (query && sqlite3_step(query) == SQLITE_ROW)
        *seed = strtoull(mg_column(query, 0), NULL, 16);
    sqlite3_finalize(query);
    return status;
}
