/* failed.c -- the failed rows of a grade, with the code that they called. */
#include "report/excerpt.h"
#include "report/page.h"
#include "text.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_EXCERPTS = 3, MOST_LINES = 60, SHOWN = 256, WIDEST = 400 };

/* The excerpts on the page so far: code is shown once. */
typedef struct shown {
    mg_excerpt excerpt[SHOWN];
    int count;
} shown;

/* An excerpt that is too long keeps its beginning, or the lines around the marked one. */
static mg_excerpt shorten(mg_excerpt e)
{
    if (e.last - e.first < MOST_LINES)
        return e;
    if (e.marked - e.first > MOST_LINES * 3 / 4)
        e.first = e.marked - MOST_LINES * 3 / 4;
    if (e.last > e.first + MOST_LINES - 1)
        e.last = e.first + MOST_LINES - 1;
    return e;
}

static void put_line(FILE *out, int number, const char *text, int length, bool marked)
{
    char line[WIDEST + 8];
    snprintf(line, sizeof line, "%.*s%s", length > WIDEST ? WIDEST : length, text, length > WIDEST ? " ..." : "");
    line[strcspn(line, "\r")] = 0;
    fprintf(out, "<span class=\"n\">%4d  </span>%s", number, marked ? "<mark>" : "");
    mg_put_element(out, "", line, marked ? "</mark>\n" : "\n");
}

static void put_code(FILE *out, const mg_excerpt *whole, int number, bool open)
{
    const mg_excerpt e = shorten(*whole);
    int length, line = e.first;
    mg_put_element(out, open ? "<details open><summary>Your code: " : "<details><summary>Your code: ", e.source->unit,
                   "");
    fprintf(out, ", from line %d</summary>\n<pre id=\"code-%d\" tabindex=\"0\" aria-label=\"code\"><code>", e.first,
            number);
    const char *text = mg_excerpt_line(e.source, line, &length);
    for (; text && line <= e.last; line++) {
        put_line(out, line, text, length, line == whole->marked);
        text += length;
        text = *text && text[1] ? text + 1 : NULL;
        length = text ? (int)strcspn(text, "\n") : 0;
    }
    fputs("</code></pre>\n", out);
    if (text && e.last < whole->last)
        fprintf(out, "<p class=\"faint\">The function ends in line %d.</p>\n", whole->last);
    fputs("</details>\n", out);
}

static void put_excerpt(FILE *out, const mg_excerpt *e, shown *all, bool open)
{
    for (int i = 0; i < all->count; i++) {
        const mg_excerpt *old = &all->excerpt[i];
        if (old->source != e->source || old->first != e->first || old->marked != e->marked)
            continue;
        mg_put_element(out, "<p class=\"faint\">Code: ", e->source->unit, "");
        fprintf(out, ", line %d, <a href=\"#code-%d\">shown above</a></p>\n", e->first, i);
        return;
    }
    if (all->count == SHOWN)
        return;
    put_code(out, e, all->count, open);
    all->excerpt[all->count++] = *e;
}

/* ---- rows -------------------------------------------------------------------------------------- */

static void put_message(FILE *out, const mg_row *row)
{
    if (row->part[0])
        mg_put_element(out, "<p>Part of the row: ", row->part, "</p>\n");
    if (row->call[0]) {
        mg_put_element(out, "<p>Called: <code>", row->call, "</code>");
        fprintf(out, " <span class=\"faint\">seed %llx</span></p>\n", (unsigned long long)row->seed);
    }
    if (row->detail[0])
        mg_put_element(out, "<pre class=\"wrap\">", row->detail, "</pre>\n");
    if (row->note[0])
        mg_put_element(out, "<p>", row->note, "</p>\n");
    if (row->printed[0])
        mg_put_element(out, "<p>It printed:</p>\n<pre class=\"wrap\">", row->printed, "</pre>\n");
    if (row->hint[0])
        mg_put_element(out, "<p class=\"hint\">Hint: ", row->hint, "</p>\n");
}

/* Rows without a call have the reason of a whole unit, which does not build or is missing: one entry for all. */
static bool same_entry(const mg_row *a, const mg_row *b)
{
    return mg_html_failed_row(b) && !a->follows[0] && !b->follows[0] && !a->call[0] && !b->call[0] && a->note[0] &&
           a->verdict == b->verdict && !strcmp(a->note, b->note) && !strcmp(a->detail, b->detail) &&
           !strcmp(a->printed, b->printed) && !strcmp(a->hint, b->hint);
}

static bool listed_before(const mg_results *results, int64_t row)
{
    for (int64_t i = 0; i < row; i++)
        if (mg_html_failed_row(&results->rows[i]) && same_entry(&results->rows[i], &results->rows[row]))
            return true;
    return false;
}

static void put_same(FILE *out, const mg_results *results, const mg_row *first)
{
    char points[32], max[32];
    bool any = false;
    for (const mg_row *row = first + 1; row < results->rows + results->count; row++) {
        if (!same_entry(first, row))
            continue;
        fputs(any ? "" : "<p>For the same reason:</p>\n<ul class=\"plain\">\n", out);
        any = true;
        mg_put_element(out, "<li>", row->step, " ");
        mg_put_element(out, "", row->name, "");
        fprintf(out, " <span class=\"faint\">%s/%s points</span></li>\n", mg_points(points, row->points),
                mg_points(max, row->max));
    }
    fputs(any ? "</ul>\n" : "", out);
}

static void put_leader(FILE *out, const mg_results *results, const mg_row *row, shown *all)
{
    mg_excerpt excerpts[MOST_EXCERPTS];
    char points[32], max[32];
    const char *verdict = mg_verdict_name(row->verdict);
    mg_put_element(out, "<article>\n<h3>", row->step, " ");
    mg_put_element(out, "", row->name, "");
    fprintf(out, " <span class=\"verdict %s\">%s</span> <span class=\"faint\">%s/%s points</span></h3>\n", verdict,
            verdict, mg_points(points, row->points), mg_points(max, row->max));
    put_message(out, row);
    /* Without a call the unit does not build, and the compiler has shown where. */
    int count = row->call[0] ? mg_excerpt_find(excerpts, MOST_EXCERPTS, results->sources, row) : 0;
    for (int i = 0; i < count; i++)
        put_excerpt(out, &excerpts[i], all, i == 0 || !excerpts[0].marked);
    put_same(out, results, row);
    fputs("</article>\n", out);
}

/* Rows that failed for what is probably the reason of an earlier one: short, the details behind a fold. */
static void put_followers(FILE *out, const mg_results *results)
{
    bool any = false;
    for (int64_t i = 0; i < results->count; i++) {
        const mg_row *row = &results->rows[i];
        if (!mg_html_failed_row(row) || !row->follows[0])
            continue;
        if (!any)
            fputs("<h3>Failed after one of these</h3>\n<p class=\"faint\">Probably for the same reason: repair the row "
                  "above first.</p>\n",
                  out);
        any = true;
        mg_put_element(out, "<details><summary>", row->step, " ");
        mg_put_element(out, "", row->name, " <span class=\"faint\">after ");
        mg_put_element(out, "", row->follows, "</span></summary>\n");
        put_message(out, row);
        fputs("</details>\n", out);
    }
}

void mg_html_failed(FILE *out, const mg_results *results)
{
    shown *all = calloc(1, sizeof *all);
    MT_CHECK(all, "out of memory");
    if (mg_html_has(results, "failed")) {
        fputs("<section id=\"failed\"><h2>What failed</h2>\n", out);
        for (int64_t i = 0; i < results->count; i++)
            if (mg_html_failed_row(&results->rows[i]) && !results->rows[i].follows[0] && !listed_before(results, i))
                put_leader(out, results, &results->rows[i], all);
        put_followers(out, results);
        fputs("</section>\n", out);
    }
    free(all);
}
