/* similar.c -- Debian's similarity-tester, sim_c, compares; here are its input and its output.
 *
 * A text for each submission: its units without the lines of the skeleton (code_lines.h). sim_c parses untrusted
 * text: it runs with limits, and as root under another uid. */
#include "similar.h"
#include "code_lines.h"
#include "sandbox/sandbox.h"
#include "sandbox/scratch.h"
#include "text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_BYTES = 1 << 18, SECONDS = 600, MEMORY_MIB = 2048, LEAST_RUN = 24, LEAST_TOKENS = 80 };

/* A text that is compared. */
typedef struct source {
    int64_t submission; /* of the book; 0: an earlier one, or the reference */
    char *words;        /* who */
    int64_t tokens;     /* as sim_c counts; a text of fewer than LEAST_TOKENS says nothing */
} source;

typedef struct pair {
    int64_t a, b; /* sources; a is a submission of the book */
    int percent;  /* of the one that consists of the other to the larger part */
} pair;

typedef struct search {
    const mg_plan *plan;
    mg_labinfo info;
    mg_scratch scratch;
    uint64_t *given; /* hashes of the skeleton's lines */
    int64_t givens;
    source *source;
    int64_t count, cohort; /* those of the book come first */
    pair *pair;
    int64_t pairs;
} search;

/* ---- texts ---------------------------------------------------------------------------------- */

static void read_skeleton(search *s)
{
    char path[PATH_MAX];
    for (int i = 0; i < s->info.units; i++) {
        mg_path(path, "%s/labs/%s/%s", s->plan->root, s->info.id, s->info.unit[i]);
        char *code = mg_read_code(path, MOST_BYTES);
        for (const char *line = code; *line;) {
            s->given = realloc(s->given, (size_t)(s->givens + 1) * sizeof *s->given);
            MT_CHECK(s->given, "out of memory");
            s->given[s->givens++] = mg_hash_line(line, &line);
        }
        free(code);
    }
}

static bool is_given(const search *s, uint64_t hash)
{
    for (int64_t i = 0; i < s->givens; i++)
        if (s->given[i] == hash)
            return true;
    return hash == 0;
}

static void put_own_lines(const search *s, FILE *out, const char *path)
{
    char *code = mg_read_code(path, MOST_BYTES);
    for (const char *line = code, *next; *line; line = next)
        if (!is_given(s, mg_hash_line(line, &next)))
            fwrite(line, 1, (size_t)(next - line), out);
    free(code);
}

/* The units of a folder as one text, for sim_c. */
static mt_status add_source(search *s, const char *folder, int64_t submission, const char *words)
{
    char path[PATH_MAX], *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    MT_CHECK(out, "out of memory");
    for (int i = 0; i < s->info.units; i++) {
        mg_path(path, "%s/%s", folder, s->info.unit[i]);
        put_own_lines(s, out, path);
    }
    MT_CHECK(fclose(out) == 0, "out of memory");
    s->source = realloc(s->source, (size_t)(s->count + 1) * sizeof *s->source);
    MT_CHECK(s->source, "out of memory");
    mg_path(path, "%s/%lld.c", s->scratch.path, (long long)s->count);
    s->source[s->count++] = (source){ submission, strdup(words), 0 };
    mt_status status = mg_write_file(path, text, length);
    free(text);
    return status;
}

static mt_status add_cohort(search *s, mg_book *book)
{
    char folder[PATH_MAX];
    mt_status status = MT_OK;
    sqlite3_stmt *q = mg_query(book,
                               "SELECT s.id, n.name || ' (' || s.key || ')' FROM submission s JOIN student n"
                               " ON n.submission = s.id AND n.place = 0 WHERE s.lab = ? ORDER BY s.id",
                               "t", s->info.id);
    while (status == MT_OK && q && sqlite3_step(q) == SQLITE_ROW) {
        int64_t id = sqlite3_column_int64(q, 0);
        mg_job_folder(folder, s->plan, id);
        strncat(folder, "/units", sizeof folder - strlen(folder) - 1);
        if (access(folder, R_OK) == 0)
            status = add_source(s, folder, id, mg_column(q, 1));
    }
    sqlite3_finalize(q);
    s->cohort = s->count;
    return status != MT_OK || s->cohort ? status
                                        : mt_fail(MT_ERR_ARGUMENT, "no submission of lab %s is graded yet", s->info.id);
}

/* Submissions of another year, in any layout. */
static mt_status add_earlier(search *s, const char *folder)
{
    char units[PATH_MAX], words[PATH_MAX + 256], ignored[512];
    uint64_t digest;
    mg_class class;
    mt_status status = mg_class_read(&class, folder);
    for (int64_t i = 0; status == MT_OK && i < class.count; i++) {
        mg_path(units, "%s/earlier%lld", s->scratch.path, (long long)s->count);
        status = mg_folder(units, false);
        if (status == MT_OK &&
            mg_handin_unpack(units, &class, &class.handin[i], &s->info, ignored, sizeof ignored, &digest) == MT_OK) {
            snprintf(words, sizeof words, "%s in %s", class.handin[i].student[0].name, folder);
            status = add_source(s, units, 0, words);
        }
    }
    mg_class_free(&class);
    return status;
}

static mt_status add_others(search *s, const char *earlier)
{
    char path[PATH_MAX], *list = strdup(earlier ? earlier : ""), *rest = list;
    mt_status status = MT_OK;
    mg_path(path, "%s/solutions/%s", s->plan->root, s->info.id);
    if (access(path, R_OK) == 0)
        status = add_source(s, path, 0, "the reference");
    else
        fprintf(stderr, "similarity: no reference to compare with: %s is missing\n", path);
    for (char *folder; status == MT_OK && (folder = strsep(&rest, ":"));)
        if (folder[0])
            status = add_earlier(s, folder);
    free(list);
    return status;
}

/* ---- sim_c ---------------------------------------------------------------------------------- */

MT_NORETURN static void become_sim(const search *s, int in, int out, int threshold)
{
    char percent[16], run[16];
    snprintf(percent, sizeof percent, "%d", threshold);
    snprintf(run, sizeof run, "%d", LEAST_RUN);
    setrlimit(RLIMIT_CPU, &(struct rlimit){ SECONDS, SECONDS });
    setrlimit(RLIMIT_AS, &(struct rlimit){ (rlim_t)MEMORY_MIB << 20, (rlim_t)MEMORY_MIB << 20 });
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){ 0, 0 });
    if (dup2(in, 0) < 0 || dup2(out, 1) < 0 || chdir(s->scratch.path) || !mg_drop_root())
        _exit(126);
    execlp("sim_c", "sim_c", "-p", "-e", "-i", "-r", run, "-t", percent, (char *)NULL);
    _exit(127);
}

/* "File 3.c: 812 tokens, 95 lines" for each text; then one line for each pair, once: "3.c consists for 87 % of 12.c
 * material". */
static void read_line(search *s, const char *line)
{
    long long x, y;
    int percent;
    if (sscanf(line, "File %lld.c: %lld tokens", &x, &y) == 2 && x >= 0 && x < s->count)
        s->source[x].tokens = y;
    if (sscanf(line, "%lld.c consists for %d %% of %lld.c material", &x, &percent, &y) != 3 || x < 0 || y < 0 ||
        x >= s->count || y >= s->count || x == y || (x >= s->cohort && y >= s->cohort) ||
        mt_min(s->source[x].tokens, s->source[y].tokens) < LEAST_TOKENS)
        return;
    int64_t a = mt_min(x, y), b = mt_max(x, y);
    for (int64_t i = 0; i < s->pairs; i++)
        if (s->pair[i].a == a && s->pair[i].b == b) {
            s->pair[i].percent = (int)mt_max(percent, s->pair[i].percent);
            return;
        }
    s->pair = realloc(s->pair, (size_t)(s->pairs + 1) * sizeof *s->pair);
    MT_CHECK(s->pair, "out of memory");
    s->pair[s->pairs++] = (pair){ a, b, percent };
}

/* Names of the texts to a temporary file: its standard input. Those behind "/" are not compared with each other. */
static FILE *list_texts(const search *s)
{
    FILE *list = tmpfile();
    for (int64_t i = 0; list && i < s->count; i++)
        fprintf(list, "%s%lld.c\n", i == s->cohort ? "/\n" : "", (long long)i);
    if (list)
        rewind(list);
    return list;
}

static mt_status compare(search *s, int threshold)
{
    int pipes[2], status = 0;
    char *line = NULL;
    size_t size = 0;
    FILE *list = list_texts(s);
    if (!list || pipe(pipes))
        return mt_fail(MT_ERR_IO, "cannot start sim_c: %s", strerror(errno));
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0)
        become_sim(s, fileno(list), pipes[1], threshold);
    close(pipes[1]);
    FILE *out = fdopen(pipes[0], "re");
    while (pid > 0 && out && getline(&line, &size, out) > 0)
        read_line(s, line);
    fclose(out);
    fclose(list);
    free(line);
    if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return WIFEXITED(status) && WEXITSTATUS(status) == 127
                   ? mt_fail(MT_ERR_UNAVAILABLE, "sim_c is missing: apt-get install similarity-tester")
                   : mt_fail(MT_ERR_IO, "sim_c did not end well (status %d)", status);
    return MT_OK;
}

/* ---- results -------------------------------------------------------------------------------- */

/* The largest first; of equal ones those with texts from outside the class. */
static int by_percent(const void *a, const void *b)
{
    const pair *x = a, *y = b;
    int64_t more = y->percent != x->percent ? y->percent - x->percent : y->b != x->b ? y->b - x->b : x->a - y->a;
    return (more > 0) - (more < 0);
}

static int write_pairs(sqlite3 *db, void *arg)
{
    const search *s = arg;
    int code = mg_sql(db, "DELETE FROM similarity WHERE lab = ?", "t", s->info.id);
    for (int64_t i = 0; code == SQLITE_OK && i < s->pairs; i++) {
        const source *a = &s->source[s->pair[i].a], *b = &s->source[s->pair[i].b];
        code = mg_sql(db,
                      "INSERT INTO similarity (lab, submission, other, source, percent, tokens, found) VALUES"
                      " (?, ?, nullif(?, 0), ?, ?, ?, strftime('%s'))",
                      "tiitdi", s->info.id, a->submission, b->submission, b->words, (double)s->pair[i].percent,
                      mt_min(a->tokens, b->tokens));
    }
    return code;
}

static void print_text(const source *s, const char *after)
{
    char *plain = mg_plain(s->words);
    printf("%s%s", plain, after);
    free(plain);
}

/* Each submission once, with the text that is most like it. */
static void print_pairs(const search *s, const mg_search *wanted)
{
    bool *told = calloc((size_t)s->count + 1, sizeof *told);
    MT_CHECK(told, "out of memory");
    for (int64_t i = 0; i < s->pairs; i++) {
        const pair *p = &s->pair[i];
        int64_t more = -1;
        if (told[p->a] && (told[p->b] || p->b >= s->cohort))
            continue;
        int64_t one = told[p->a] ? p->b : p->a;
        for (int64_t k = 0; k < s->pairs; k++)
            more += s->pair[k].a == one || s->pair[k].b == one;
        told[p->a] = told[p->b] = true;
        printf("%3d %%  ", p->percent);
        print_text(&s->source[p->a], "  and  ");
        print_text(&s->source[p->b], "");
        printf(more ? "; and with %lld others\n" : "\n", (long long)more);
    }
    printf(
        "similarity: %lld pairs at %.0f %% or above, of %lld submissions and %lld other texts; the gradebook has all\n",
        (long long)s->pairs, wanted->threshold, (long long)s->cohort, (long long)(s->count - s->cohort));
    free(told);
}

/* What the grader found in their objects (build/machine.h). */
static void print_machine_code(const search *s)
{
    char path[PATH_MAX], name[64];
    snprintf(name, sizeof name, "/%.2s.machine-code", s->info.id);
    for (int64_t i = 0; i < s->cohort; i++) {
        mg_job_folder(path, s->plan, s->source[i].submission);
        strncat(path, name, sizeof path - strlen(path) - 1);
        char *words = access(path, R_OK) == 0 ? mg_read_text(path) : NULL;
        if (words) {
            print_text(&s->source[i], ": ");
            puts(words);
        }
        free(words);
    }
}

mt_status mg_similar(mg_book *book, const mg_plan *plan, const mg_search *wanted)
{
    search s = { .plan = plan };
    mt_status status = mg_labinfo_read(&s.info, plan->root, plan->lab->id);
    if (status == MT_OK)
        status = mg_scratch_open(&s.scratch);
    if (status == MT_OK) {
        read_skeleton(&s);
        status = add_cohort(&s, book);
    }
    if (status == MT_OK)
        status = add_others(&s, wanted->earlier);
    if (status == MT_OK)
        status = compare(&s, (int)wanted->threshold);
    qsort(s.pair, (size_t)s.pairs, sizeof *s.pair, by_percent);
    if (status == MT_OK)
        status = mg_book_write(book, write_pairs, &s);
    if (status == MT_OK) {
        print_machine_code(&s);
        print_pairs(&s, wanted);
    }
    mg_scratch_close(&s.scratch);
    for (int64_t i = 0; i < s.count; i++)
        free(s.source[i].words);
    free(s.source);
    free(s.pair);
    free(s.given);
    mg_labinfo_free(&s.info);
    return status;
}
