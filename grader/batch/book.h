/* book.h -- the gradebook: an SQLite file with every grading of every submission.
 *
 * What is written is written in one transaction: after a kill at any moment the book has all gradings that were
 * finished. While another program holds the file, or the disk is full, a write says so on stderr and waits; Ctrl-C
 * (mg_stop) ends it. */
#pragma once

#include "layout.h"
#include "report/results.h"

#include <sqlite3.h>

/* How far a grading is. */
typedef enum mg_state {
    MG_UNGRADED, /* no grading is in the book */
    MG_UNTIMED,  /* all but its timed rows */
    MG_GRADED,
    MG_REFUSED, /* nothing to grade: one row says why */
    MG_BROKEN   /* the grader could not grade it: no points are lost, and it is graded again */
} mg_state;

typedef struct mg_entry {
    char step[16], name[96], verdict[16];
    double points, max, measured, low, full, seconds;
    char *message, *hint, *call, *seed; /* of the JSON file, or NULL */
} mg_entry;

typedef struct mg_grading {
    int64_t id; /* 0: not in the book yet */
    int64_t submission;
    mg_state state;
    uint64_t digest;
    char grader[64]; /* version */
    char seed[20];
    double points, max, seconds, cpu;
    int64_t started; /* seconds since 1970 */
    char message[512], ignored[512];
    mg_entry *row;
    int64_t rows;
} mg_grading;

typedef struct mg_book {
    sqlite3 *db;
    char path[PATH_MAX];
} mg_book;

/* mg_book_folder -- the folder of gradebook and reports: `out`, or, if that is NULL, CLASS.graded beside the
 * submissions. */
void mg_book_folder(char path[PATH_MAX], const char *class, const char *out);

/* mg_book_open -- open a gradebook, or with `create` make one. Refuses a file that is none. */
mt_status mg_book_open(mg_book *book, const char *path, bool create);
void mg_book_close(mg_book *book);

/* mg_book_class -- all submissions of a class; names of students that the book has already are brought up to date. */
mt_status mg_book_class(mg_book *book, const char *lab, const mg_class *class);

/* mg_book_submission -- the number of a submission that the book has. */
mt_status mg_book_submission(mg_book *book, const char *lab, const char *folder, const char *key, int64_t *id);

/* mg_book_last -- the last grading of a submission, without rows; state MG_UNGRADED when there is none. */
mt_status mg_book_last(mg_book *book, int64_t submission, mg_grading *last);

/* mg_book_add -- a grading with its rows; sets grading->id. One with an id replaces the rows of that grading. */
mt_status mg_book_add(mg_book *book, mg_grading *grading);

/* mg_book_open_rows -- how many rows of the lab's last gradings have this verdict, INCONCLUSIVE or REVIEW, in how many
 * submissions; of one submission, or with 0 of all of the folder, or with NULL of all. */
typedef struct mg_open_rows {
    int64_t rows, submissions;
} mg_open_rows;
mt_status mg_book_open_rows(mg_book *book, mg_verdict verdict, const char *lab, const char *folder, int64_t submission,
                            mg_open_rows *open);

/* mg_book_seed -- of a lab's inputs, the same for all submissions: `wanted` if that is not 0, else that of the book,
 * else a random one. */
mt_status mg_book_seed(mg_book *book, const char *lab, uint64_t wanted, uint64_t *seed);

/* mg_book_write -- run statements in one transaction, again and again until the file is free and the disk has room. */
typedef int mg_statements(sqlite3 *db, void *arg);
mt_status mg_book_write(mg_book *book, mg_statements *statements, void *arg);

/* mg_sql -- run one statement. A letter for each argument: i int64_t, d double (NaN is NULL), t text. An SQLite code.
 * */
int mg_sql(sqlite3 *db, const char *sql, const char *kinds, ...);

/* mg_query -- prepare a statement with arguments as mg_sql does; NULL with mt_last_error. sqlite3_finalize frees it. */
sqlite3_stmt *mg_query(mg_book *book, const char *sql, const char *kinds, ...);

/* mg_column -- a text column, "" for NULL. */
const char *mg_column(sqlite3_stmt *query, int column);

void mg_grading_free(mg_grading *grading);
