/* page.c -- the grade as one self-contained page. */
#include "report/page.h"
#include "report/excerpt.h"
#include "rows/rows.h"
#include "text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool mg_html_failed_row(const mg_row *row)
{
    return row->ran && mg_row_failed(row);
}

bool mg_html_has(const mg_results *results, const char *section)
{
    for (int64_t i = 0; i < results->count; i++) {
        const mg_row *row = &results->rows[i];
        if (strcmp(section, "failed") == 0     ? mg_html_failed_row(row)
            : strcmp(section, "measured") == 0 ? isfinite(row->measured) != 0
            : strcmp(section, "roofline") == 0 ? row->flops > 0 && row->bytes > 0
                                               : row->counted.sites > 0)
            return true;
    }
    return false;
}

/* ---- head -------------------------------------------------------------------------------------- */

static void put_menu(FILE *out, const mg_results *results)
{
    static const struct {
        const char *id, *title;
    } sections[] = { { "failed", "What failed" },    { "steps", "Steps" },       { "rows", "All rows" },
                     { "measured", "Measured" },     { "roofline", "Roofline" }, { "lines", "Memory accesses" },
                     { "graded", "What was graded" } };
    fputs("<nav aria-label=\"Sections\"><ul>\n", out);
    for (int i = 0; i < MT_COUNT(sections); i++) {
        bool always =
            !strcmp(sections[i].id, "steps") || !strcmp(sections[i].id, "rows") || !strcmp(sections[i].id, "graded");
        if (always || mg_html_has(results, sections[i].id))
            fprintf(out, "<li><a href=\"#%s\">%s</a></li>\n", sections[i].id, sections[i].title);
    }
    fputs("</ul></nav>\n", out);
}

static void put_head(FILE *out, const mg_results *results)
{
    char title[160], page[300], score[100], points[32], max[32];
    snprintf(title, sizeof title, "Lab %.2s %s", results->lab, results->title);
    int64_t errors = mg_errors(results);
    if (errors)
        snprintf(score, sizeof score, "not graded: %lld rows could not be run", (long long)errors);
    else
        snprintf(score, sizeof score, "%s of %s points", mg_points(points, results->points),
                 mg_points(max, results->max));
    snprintf(page, sizeof page, "%s: %s", title, score);
    mg_page_begin(out, page, title);
    mg_put_element(out, "<p class=\"score\">", score, "</p>\n");
    if (errors)
        fputs("\n<p>This is not a grade, and that is not the fault of the submission: grade it again.</p>\n", out);
    else
        mg_put_share(out, results->points, results->max);
    if (results->remark[0])
        mg_put_element(out, "\n<p>", results->remark, "</p>\n");
    if (results->warning[0])
        mg_put_element(out, "\n<p class=\"warning\">Warning: ", results->warning, "</p>\n");
    put_menu(out, results);
    if (results->build_log[0])
        mg_put_element(out, "<details open><summary>The compiler says</summary>\n<pre class=\"wrap\">",
                       results->build_log, "</pre></details>\n");
}

static void put_graded(FILE *out, const mg_results *results)
{
    char seconds[32];
    fputs("<section id=\"graded\"><h2>What was graded</h2>\n<dl>\n", out);
    mg_put_element(out, "<dt>Units</dt><dd>", results->units, "</dd>\n");
    mg_put_element(out, "<dt>Machine</dt><dd>", results->machine, "</dd>\n");
    mg_put_element(out, "<dt>Time</dt><dd>", mg_seconds(seconds, results->seconds), "</dd>\n");
    if (results->ignored[0])
        mg_put_element(out, "<dt>Ignored in the submission</dt><dd>", results->ignored, "</dd>\n");
    fputs("</dl></section>\n", out);
}

/* ---- what to do next ----------------------------------------------------------------------------- */

/* The first row that earned less than its points, but no row that follows another or that the student cannot change. */
static const mg_row *first_open(const mg_results *results)
{
    for (int64_t i = 0; i < results->count; i++) {
        const mg_row *row = &results->rows[i];
        if (row->ran && row->points < row->max && !row->follows[0] && !mg_verdict_open(row->verdict))
            return row;
    }
    return NULL;
}

/* "labs/02-backprop/softmax.c:41", or "softmax.c:41" of a submission from elsewhere. */
static void put_place(FILE *out, const mg_results *results, const mg_excerpt *e)
{
    fputs("<code>", out);
    if (strncmp(results->units, "labs/", 5) == 0)
        mg_put_element(out, "", results->units, "/");
    mg_put(out, e->source->unit, MG_HTML);
    fprintf(out, ":%d</code>", e->marked ? e->marked : e->first);
}

/* In what a compiler says, the end of the place of its first error, or of the assembler's; NULL: it names none. */
static const char *first_error(const char *log)
{
    const char *compiler = strstr(log, ": error: "), *assembler = strstr(log, ": Error: ");
    return !compiler || (assembler && assembler < compiler) ? assembler : compiler;
}

/* The row's unit does not build: where the compiler's first error is. Above it the page has all that the compiler
 * says. */
static void put_build(FILE *out, const mg_results *results, const mg_row *row)
{
    const char *log = results->build_log, *error = first_error(log), *line = error;
    char place[256];
    while (line > log && line[-1] != '\n')
        line--;
    mg_put_element(out, "<p>", row->note, "");
    if (error && error - line < (ptrdiff_t)sizeof place) {
        snprintf(place, sizeof place, "%.*s", (int)(error - line), line);
        mg_put_element(out, ": the compiler&rsquo;s first error is at <code>", place, "</code>");
    }
    fprintf(out, ".</p>\n<p>Then: <code>make grade LAB=%.2s</code></p>\n", results->lab);
}

static void put_next(FILE *out, const mg_results *results)
{
    const mg_row *row = first_open(results);
    mg_excerpt e;
    if (!row)
        return;
    fputs("<section id=\"next\"><h2>What to do next</h2>\n<div class=\"next\">\n", out);
    if (mg_html_failed_row(row) && !row->call[0]) {
        put_build(out, results, row);
        fputs("</div></section>\n", out);
        return;
    }
    mg_put_element(out,
                   row->verdict == MG_TODO   ? "<p>Write step <strong>"
                   : row->verdict == MG_PASS ? "<p>Improve step <strong>"
                                             : "<p>Repair step <strong>",
                   row->step, "</strong>: ");
    mg_put(out, row->name, MG_HTML);
    bool found = row->verdict == MG_TODO ? mg_excerpt_todo(&e, results->sources, row->step)
                                         : mg_excerpt_find(&e, 1, results->sources, row) == 1;
    fputs(found ? ", at " : "", out);
    if (found)
        put_place(out, results, &e);
    fputs(".</p>\n", out);
    if (row->verdict != MG_TODO && row->verdict != MG_PASS && row->hint[0])
        mg_put_element(out, "<p>Hint: ", row->hint, "</p>\n");
    fprintf(out, "<p>Then: <code>make grade LAB=%.2s", results->lab);
    mg_put_element(out, " STEP=", row->step, "</code></p>\n");
    fputs("</div></section>\n", out);
}

/* ---- tables -------------------------------------------------------------------------------------- */

typedef struct step_sum {
    double points, max, seconds;
    int rows, passed;
} step_sum;

/* The rows from `begin` on that belong to one step; returns the end. */
static int64_t sum_up(step_sum *sum, const mg_results *results, int64_t begin)
{
    int64_t i = begin;
    *sum = (step_sum){ 0 };
    for (; i < results->count && strcmp(results->rows[i].step, results->rows[begin].step) == 0; i++) {
        const mg_row *row = &results->rows[i];
        sum->points += row->ran ? row->points : 0;
        sum->max += row->max;
        sum->seconds += row->ran ? row->seconds : 0;
        sum->rows++;
        sum->passed += row->ran && row->verdict == MG_PASS;
    }
    return i;
}

static void put_steps(FILE *out, const mg_results *results)
{
    step_sum sum;
    char points[32], max[32], seconds[32], title[sizeof results->rows[0].name];
    fputs(
        "<section id=\"steps\"><h2>Steps</h2>\n<table>\n<caption>Points of each step, and the time that its rows took."
        "</caption>\n<thead><tr><th scope=\"col\">Step</th><th scope=\"col\">Subject</th>"
        "<th scope=\"col\" class=\"number\">Rows passed</th><th scope=\"col\" class=\"number\">Points</th>"
        "<td class=\"wide\"></td><th scope=\"col\" class=\"number\">Time</th></tr></thead>\n<tbody>\n",
        out);
    for (int64_t i = 0, end; i < results->count; i = end) {
        const mg_row *row = &results->rows[i];
        end = sum_up(&sum, results, i);
        snprintf(title, sizeof title, "%.*s", (int)strcspn(row->name, ":"), row->name);
        mg_put_element(out, "<tr><th scope=\"row\">", row->step, "</th>");
        mg_put_element(out, "<td class=\"words\">", title, "</td>");
        fprintf(out, "<td class=\"number\">%d of %d</td><td class=\"number\">%s/%s</td><td class=\"wide\">", sum.passed,
                sum.rows, mg_points(points, sum.points), mg_points(max, sum.max));
        mg_put_share(out, sum.points, sum.max);
        fprintf(out, "</td><td class=\"number\">%s</td></tr>\n", mg_seconds(seconds, sum.seconds));
    }
    fputs("</tbody></table></section>\n", out);
}

static void put_row(FILE *out, const mg_row *row)
{
    const char *verdict = row->ran ? mg_verdict_name(row->verdict) : "not run";
    char points[32], max[32];
    const char *note = row->verdict == MG_TODO && !row->note[0] ? "step not written yet" : row->note;
    const char *why = mg_verdict_open(row->verdict) ? row->detail : "";
    mg_put_element(out, "<tr><th scope=\"row\">", row->step, "</th>");
    mg_put_element(out, "<td class=\"words\">", row->name, "");
    if (row->ran && row->follows[0])
        mg_put_element(out, "<br><span class=\"faint\">after ", row->follows, "</span>");
    else if (row->ran && note[0])
        mg_put_element(out, "<br><span class=\"faint\">", note, "</span>");
    if (row->ran && why[0])
        mg_put_element(out, "<br>", why, "");
    fprintf(out, "</td><td class=\"verdict %s\">%s</td>", row->ran ? verdict : "", verdict);
    fprintf(out, "<td class=\"number\">%s/%s</td></tr>\n", mg_points(points, row->ran ? row->points : 0),
            mg_points(max, row->max));
}

static void put_rows(FILE *out, const mg_results *results)
{
    fputs("<section id=\"rows\"><h2>All rows</h2>\n<table>\n<thead><tr><th scope=\"col\">Step</th>"
          "<th scope=\"col\">Check</th><th scope=\"col\">Verdict</th><th scope=\"col\" class=\"number\">Points</th>"
          "</tr></thead>\n<tbody>\n",
          out);
    for (int64_t i = 0; i < results->count; i++)
        put_row(out, &results->rows[i]);
    fputs("</tbody></table></section>\n", out);
}

/* The rows as students may see them; the caller frees rows. */
static mg_results seen_by_students(const mg_results *results)
{
    mg_results seen = *results;
    seen.rows = malloc((size_t)results->count * sizeof seen.rows[0] + 1);
    MT_CHECK(seen.rows, "out of memory");
    for (int64_t i = 0; i < results->count; i++)
        seen.rows[i] = mg_row_seen(&results->rows[i]);
    return seen;
}

mt_status mg_report_html(const char *path, const mg_results *whole)
{
    const mg_results seen = seen_by_students(whole), *results = &seen;
    char *page = NULL;
    size_t length;
    FILE *out = open_memstream(&page, &length);
    MT_CHECK(out, "out of memory");
    put_head(out, results);
    put_next(out, results);
    mg_html_failed(out, results);
    put_steps(out, results);
    put_rows(out, results);
    mg_html_measured(out, results);
    mg_html_roofline(out, results);
    mg_html_lines(out, results);
    put_graded(out, results);
    mg_page_end(out);
    MT_CHECK(fclose(out) == 0, "out of memory");
    mt_status status = mg_write(path, page, length);
    free(page);
    free(seen.rows);
    return status;
}
