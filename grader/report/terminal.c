/* terminal.c -- the grade as a table for the terminal, with a last line for scripts. */
#include "report/results.h"
#include "text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct {
    const char *name, *words, *colour;
} verdicts[] = {
    [MG_PASS] = { "PASS", "passed", "32" },
    [MG_FAIL] = { "FAIL", "failed", "31" },
    [MG_TODO] = { "TODO", "to do", "33" },
    [MG_CRASH] = { "CRASH", "crashed", "31" },
    [MG_TIMEOUT] = { "TIMEOUT", "timed out", "31" },
    [MG_INCONCLUSIVE] = { "INCONCLUSIVE", "inconclusive", "35" },
    [MG_REVIEW] = { "REVIEW", "to be reviewed", "35" },
    [MG_SKIPPED] = { "SKIPPED", "not measured here", "35" },
    [MG_ERROR] = { "ERROR", "not graded", "35" },
};

/* The summary for people names failures first; the last line, for scripts, names TODO first. */
enum { OTHERS = 8 };
static const mg_verdict spoken[OTHERS] = { MG_FAIL,         MG_CRASH,  MG_TIMEOUT, MG_TODO,
                                           MG_INCONCLUSIVE, MG_REVIEW, MG_SKIPPED, MG_ERROR };
static const mg_verdict counted[OTHERS] = { MG_TODO,         MG_FAIL,   MG_CRASH,   MG_TIMEOUT,
                                            MG_INCONCLUSIVE, MG_REVIEW, MG_SKIPPED, MG_ERROR };

const char *mg_verdict_name(mg_verdict verdict)
{
    MT_CHECK((unsigned)verdict < MT_COUNT(verdicts), "no such verdict: %d", (int)verdict);
    return verdicts[verdict].name;
}

bool mg_verdict_open(mg_verdict verdict)
{
    return verdict == MG_INCONCLUSIVE || verdict == MG_REVIEW || verdict == MG_SKIPPED || verdict == MG_ERROR;
}

static int64_t count_of(const mg_results *results, mg_verdict verdict)
{
    int64_t count = 0;
    for (int64_t i = 0; i < results->count; i++)
        count += results->rows[i].ran && results->rows[i].verdict == verdict;
    return count;
}

int64_t mg_errors(const mg_results *results)
{
    return count_of(results, MG_ERROR);
}

/* ---- lines ------------------------------------------------------------------------------------ */

enum { MARGIN = 7 }; /* before lines that belong to a row */

/* One line, broken between words where it would be longer than `width`; the rest is indented by two more columns. */
static void put_wrapped(FILE *out, const char *label, const char *line, int length, int width)
{
    int column = MARGIN + mg_width(label);
    bool first = true;
    fprintf(out, "%*s%s", MARGIN, "", label);
    for (int at = 0, next; at < length; at = next) {
        next = at + (int)strspn(line + at, " ");
        next = next < length ? next + (int)strcspn(line + next, " ") : next;
        if (strncmp(line + next, " %", 2) == 0) /* no line begins with the sign of a number */
            next += 1 + (int)strcspn(line + next + 1, " ");
        next = next < length ? next : length;
        char *word = strndup(line + at, (size_t)(next - at));
        MT_CHECK(word, "out of memory");
        const char *text = word;
        if (width && !first && column + mg_width(word) > width) {
            fprintf(out, "\n%*s", MARGIN + 2, "");
            column = MARGIN + 2;
            text += strspn(text, " ");
        }
        mg_put(out, text, MG_PLAIN);
        column += mg_width(text);
        first = false;
        free(word);
    }
    fputc('\n', out);
}

/* Each line of text, under the name of its row. */
static void put_lines(FILE *out, const char *label, const char *text, int width)
{
    while (*text) {
        int length = (int)strcspn(text, "\n");
        put_wrapped(out, label, text, length, width);
        text += length + (text[length] == '\n');
        label = "";
    }
}

/* ---- rows ------------------------------------------------------------------------------------- */

/* The widths of the columns. */
typedef struct layout {
    int step, name, points, max;
    bool colour;
} layout;

enum { VERDICT = 7 }; /* INCONCLUSIVE is longer, and rare */

static void widen(int *column, int width)
{
    if (*column < width)
        *column = width;
}

/* From what is known before the first row has run. */
static layout layout_of(FILE *out, const mg_results *results)
{
    layout l = { .step = 4, .name = 28, .max = 2, .colour = isatty(fileno(out)) && !getenv("NO_COLOR") };
    for (int64_t i = 0; i < results->count; i++) {
        const mg_row *row = &results->rows[i];
        char number[32];
        widen(&l.step, (int)strlen(row->step));
        widen(&l.name, mg_width(row->name));
        widen(&l.max, (int)strlen(mg_points(number, row->max)));
    }
    l.points = l.max + 1;
    return l;
}

/* What the row called, what was wrong, and the likeliest cause. */
static void put_reason(FILE *out, const mg_row *row, int width)
{
    char call[sizeof row->call + 40];
    unsigned long long seed = row->seed;
    put_lines(out, "part: ", row->part, width);
    if (row->call[0]) {
        int n = snprintf(call, sizeof call, "%s   seed %llx", row->call, seed);
        bool fits = !width || MARGIN + n <= width;
        put_lines(out, "", fits ? call : row->call, width);
        if (!fits)
            fprintf(out, "%*sseed %llx\n", MARGIN, "", seed);
    }
    put_lines(out, "", row->detail, width);
    put_lines(out, "printed: ", row->printed, width);
    if (row->follows[0])
        put_lines(out, "hint: mend this first: ", row->follows, width);
    else
        put_lines(out, "hint: ", row->hint, width);
}

/* The remark behind the points. */
static void note_of(const mg_row *row, char *note, size_t size)
{
    if (row->verdict == MG_TODO && !row->note[0])
        snprintf(note, size, "step not written yet");
    else if (row->same && row->follows[0])
        snprintf(note, size, "after %s", row->follows);
    else
        snprintf(note, size, "%s", row->note);
}

void mg_report_row(FILE *out, const mg_results *results, const mg_row *any, int width)
{
    const mg_row seen = mg_row_seen(any), *row = &seen;
    const layout l = layout_of(out, results);
    const char *verdict = mg_verdict_name(row->verdict);
    char points[32], max[32], note[sizeof row->note];
    int used = 1 + l.step + 2 + (int)mt_max(l.name, mg_width(row->name)) + 2 +
               (int)mt_max(VERDICT, (int64_t)strlen(verdict)) + 1 + l.points + 1 + l.max;
    mg_points(points, row->points);
    mg_points(max, row->max);
    note_of(row, note, sizeof note);
    fprintf(out, " %-*s  ", l.step, row->step);
    mg_put(out, row->name, MG_PLAIN);
    fprintf(out, "%*s", l.name + 2 - mg_width(row->name), "");
    fprintf(out, l.colour ? "\033[%sm%s\033[0m" : "%.0s%s", verdicts[row->verdict].colour, verdict);
    fprintf(out, "%*s %*s/%s", (int)mt_max(VERDICT - (int64_t)strlen(verdict), 0), "", l.points, points, max);
    bool fits = !width || used + 2 + mg_width(note) <= width;
    if (note[0] && fits) {
        fprintf(out, "%*s", l.max - (int)strlen(max) + 2, "");
        mg_put(out, note, MG_PLAIN);
    }
    fputc('\n', out);
    if (!fits && !(row->verdict == MG_TODO && !row->note[0])) /* the verdict says enough */
        put_lines(out, "", note, width);
    if (row->verdict != MG_PASS && row->verdict != MG_TODO && !(row->same && row->follows[0]))
        put_reason(out, row, width);
}

/* What was earned; "-" where rows are missing that the grader could not run. */
static const char *points_of(const mg_results *results, char text[32])
{
    return mg_errors(results) ? strcpy(text, "-") : mg_points(text, results->points);
}

/* " 63/85 points    1 failed, 1 to do        report: build/report/02.html" */
static void put_summary(FILE *out, const mg_results *results, const char *html_path)
{
    char points[32], max[32], words[200] = "";
    size_t used = 0;
    for (int i = 0; i < OTHERS; i++) {
        int64_t count = count_of(results, spoken[i]);
        if (count)
            used += (size_t)snprintf(words + used, sizeof words - used, "%s%lld %s", used ? ", " : "", (long long)count,
                                     verdicts[spoken[i]].words);
    }
    int64_t left = 0, less = 0;
    for (int64_t i = 0; i < results->count; i++) {
        const mg_row *row = &results->rows[i];
        left += !row->ran;
        less += row->ran && row->verdict == MG_PASS && row->points < row->max;
    }
    if (left)
        snprintf(words + used, sizeof words - used, "%s%lld did not run", used ? ", " : "", (long long)left);
    else if (!used)
        snprintf(words, sizeof words, "%s", results->count ? "all passed" : "nothing was graded");
    used = strlen(words);
    if (less)
        snprintf(words + used, sizeof words - used, ", %lld with part of the points", (long long)less);
    fprintf(out, "\n %s/%s points    %s%s\n", points_of(results, points), mg_points(max, results->max), words,
            mg_errors(results) ? ": this is no grade, run it again" : "");
    if (html_path && html_path[0]) {
        fprintf(out, " report: ");
        mg_put(out, html_path, MG_PLAIN);
        fputc('\n', out);
    }
}

static void put_machine_line(FILE *out, const mg_results *results)
{
    char points[32], max[32];
    fprintf(out, "grade %.2s: %s/%s", results->lab, points_of(results, points), mg_points(max, results->max));
    for (int i = 0; i < OTHERS; i++) {
        int64_t count = count_of(results, counted[i]);
        if (count)
            fprintf(out, " %s=%lld", verdicts[counted[i]].name, (long long)count);
    }
    fputc('\n', out);
}

static void put_remark(FILE *out, const char *label, const char *text)
{
    if (!text[0])
        return;
    fputs(label, out);
    mg_put(out, text, MG_PLAIN);
    fputc('\n', out);
}

/* Whether a line looks like one of ours (a row, points, the last line; also behind a space of another kind). */
static bool is_like_ours(const char *line)
{
    int row = 0, points = 0;
    while (*line && !isalnum((unsigned char)*line))
        line++;
    sscanf(line, "%*2[0-9].%*[0-9]%n", &row);
    sscanf(line, "%*[0-9.]/%*[0-9.] points%n", &points);
    return row || points || strncmp(line, "grade ", 6) == 0 || strncmp(line, "report:", 7) == 0;
}

/* What the compiler said; not indented, so that editors find "labs/NN-name/unit.c:53". A unit can make it print any
 * line (#line, #pragma message), also one that looks like ours: those get a mark. */
static void put_log(FILE *out, const char *log)
{
    char *line = strdup(log), *rest = line;
    MT_CHECK(line, "out of memory");
    for (char *one; (one = strsep(&rest, "\n")) && (*one || rest);) {
        fputs(is_like_ours(one) ? "| " : "", out);
        mg_put(out, one, MG_PLAIN);
        fputs(rest ? "\n" : "", out);
    }
    free(line);
}

void mg_report_compiler(FILE *out, const char *log)
{
    if (!log[0])
        return;
    fputs("The compiler says:\n", out);
    put_log(out, log);
    fputs("\n", out);
}

void mg_report_begin(FILE *out, const mg_results *results)
{
    char head[160];
    snprintf(head, sizeof head, "lab %.2s %s", results->lab, results->title);
    mg_put(out, head, MG_PLAIN);
    fprintf(out, "%*syour units: ", (int)mt_max(38 - mg_width(head), 2), "");
    mg_put(out, results->units, MG_PLAIN);
    fputs("\n", out);
    put_remark(out, "warning: ", results->warning);
    put_remark(out, "ignored in the submission: ", results->ignored);
    fputs("\n", out);
    mg_report_compiler(out, results->build_log);
}

void mg_report_end(FILE *out, const mg_results *results, const char *html_path)
{
    put_summary(out, results, html_path);
    put_machine_line(out, results);
}

void mg_report_text(FILE *out, const mg_results *results, const char *html_path, int width)
{
    mg_report_begin(out, results);
    for (int64_t i = 0; i < results->count; i++)
        if (results->rows[i].ran)
            mg_report_row(out, results, &results->rows[i], width);
    mg_report_end(out, results, html_path);
}
