/* report_text.c -- the grade as a table for the terminal, with a last line for scripts. */
#include "results.h"
#include "text.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct {
    const char *name, *words, *colour;
} verdicts[] = {
    [MG_PASS] = { "PASS", "passed", "32" },          [MG_FAIL] = { "FAIL", "failed", "31" },
    [MG_TODO] = { "TODO", "to do", "33" },           [MG_CRASH] = { "CRASH", "crashed", "31" },
    [MG_TIMEOUT] = { "TIMEOUT", "timed out", "31" }, [MG_INCONCLUSIVE] = { "INCONCLUSIVE", "inconclusive", "35" },
    [MG_ERROR] = { "ERROR", "not graded", "35" },
};

/* The summary for people names failures first; the last line, for scripts, names TODO first. */
enum { OTHERS = 6 };
static const mg_verdict spoken[OTHERS] = { MG_FAIL, MG_CRASH, MG_TIMEOUT, MG_TODO, MG_INCONCLUSIVE, MG_ERROR };
static const mg_verdict counted[OTHERS] = { MG_TODO, MG_FAIL, MG_CRASH, MG_TIMEOUT, MG_INCONCLUSIVE, MG_ERROR };

const char *mg_verdict_name(mg_verdict verdict)
{
    MT_CHECK((unsigned)verdict < MT_COUNT(verdicts), "no such verdict: %d", (int)verdict);
    return verdicts[verdict].name;
}

static int64_t count_of(const mg_results *results, mg_verdict verdict)
{
    int64_t count = 0;
    for (int64_t i = 0; i < results->count; i++)
        count += results->rows[i].verdict == verdict;
    return count;
}

/* The widths of the columns. */
typedef struct layout {
    int step, name, verdict, points, max;
    bool colour;
} layout;

static void widen(int *column, int width)
{
    if (*column < width)
        *column = width;
}

static layout layout_of(const mg_results *results, bool colour)
{
    layout l = { .step = 4, .name = 28, .verdict = 4, .points = 2, .max = 2, .colour = colour };
    for (int64_t i = 0; i < results->count; i++) {
        const mg_row *row = &results->rows[i];
        char number[32];
        widen(&l.step, (int)strlen(row->step));
        widen(&l.name, mg_width(row->name));
        widen(&l.verdict, (int)strlen(mg_verdict_name(row->verdict)));
        widen(&l.points, (int)strlen(mg_points(number, row->points)));
        widen(&l.max, (int)strlen(mg_points(number, row->max)));
    }
    return l;
}

/* Each line of text, under the name of its row. */
static void put_lines(FILE *out, const char *label, const char *text)
{
    while (*text) {
        int length = (int)strcspn(text, "\n");
        char *line = strndup(text, (size_t)length);
        MT_CHECK(line, "out of memory");
        fprintf(out, "       %s", label);
        mg_put(out, line, MG_PLAIN);
        fputc('\n', out);
        free(line);
        text += length + (text[length] == '\n');
        label = "";
    }
}

/* What the row called, what was wrong, and the likeliest cause. */
static void put_reason(FILE *out, const mg_row *row)
{
    char call[sizeof row->call + 40];
    if (row->call[0]) {
        snprintf(call, sizeof call, "%s   seed %llx", row->call, (unsigned long long)row->seed);
        put_lines(out, "", call);
    }
    put_lines(out, "", row->detail);
    put_lines(out, "hint: ", row->hint);
}

static void put_row(FILE *out, const mg_row *row, const layout *l)
{
    const char *verdict = mg_verdict_name(row->verdict);
    const char *note = row->verdict == MG_TODO && !row->note[0] ? "step not written yet" : row->note;
    char points[32], max[32];
    mg_points(points, row->points);
    mg_points(max, row->max);
    fprintf(out, " %-*s  ", l->step, row->step);
    mg_put(out, row->name, MG_PLAIN);
    fprintf(out, "%*s", l->name + 2 - mg_width(row->name), "");
    if (l->colour)
        fprintf(out, "\033[%sm%s\033[0m", verdicts[row->verdict].colour, verdict);
    else
        fputs(verdict, out);
    fprintf(out, "%*s  %*s/%s", l->verdict - (int)strlen(verdict), "", l->points, points, max);
    if (note[0]) {
        fprintf(out, "%*s", l->max - (int)strlen(max) + 2, "");
        mg_put(out, note, MG_PLAIN);
    }
    fputc('\n', out);
    if (row->verdict != MG_PASS && row->verdict != MG_TODO)
        put_reason(out, row);
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
    if (!used)
        snprintf(words, sizeof words, "%s", results->count ? "all passed" : "nothing was graded");
    fprintf(out, "\n %s/%s points    %s", mg_points(points, results->points), mg_points(max, results->max), words);
    if (html_path && html_path[0]) {
        fprintf(out, "        report: ");
        mg_put(out, html_path, MG_PLAIN);
    }
    fputc('\n', out);
}

static void put_machine_line(FILE *out, const mg_results *results)
{
    char points[32], max[32];
    fprintf(out, "grade %.2s: %s/%s", results->lab, mg_points(points, results->points), mg_points(max, results->max));
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

void mg_report_text(FILE *out, const mg_results *results, const char *html_path)
{
    layout l = layout_of(results, isatty(fileno(out)) && !getenv("NO_COLOR"));
    char head[160];
    snprintf(head, sizeof head, "lab %.2s %s", results->lab, results->title);
    mg_put(out, head, MG_PLAIN);
    fprintf(out, "%*syour units: ", (int)mt_max(50 - mg_width(head), 4), "");
    mg_put(out, results->units, MG_PLAIN);
    fputs("\n", out);
    put_remark(out, "warning: ", results->warning);
    put_remark(out, "ignored in the submission: ", results->ignored);
    fputs("\n", out);
    if (results->build_log[0]) {
        fputs(" The units did not build:\n", out);
        put_lines(out, "", results->build_log);
        fputs(results->count ? "\n" : "", out);
    }
    for (int64_t i = 0; i < results->count; i++)
        put_row(out, &results->rows[i], &l);
    put_summary(out, results, html_path);
    put_machine_line(out, results);
}
