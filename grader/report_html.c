/* report_html.c -- the grade as one self-contained page: no script, font or picture from elsewhere. All text that may
 * come from a submission goes through mg_put; in addition, the page's policy forbids scripts. */
#include "results.h"
#include "text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char head[] =
    "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
    "<style>\n"
    ":root { color-scheme: light dark; --page: #fff; --ink: #1c2024; --faint: #646b73; --line: #dfe2e6;\n"
    "        --good: #16793c; --bad: #b3261e; --todo: #8a5a00; --other: #7a3e9d; --bar: #3b6fb5; }\n"
    "@media (prefers-color-scheme: dark) {\n"
    ":root { --page: #15181b; --ink: #e6e8ea; --faint: #9aa2aa; --line: #33393f;\n"
    "        --good: #5fce89; --bad: #ff8a80; --todo: #e5b454; --other: #cf9bee; --bar: #7aa7e6; } }\n"
    "body { background: var(--page); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; max-width: 60rem;\n"
    "       margin: 2rem auto; padding: 0 1rem; }\n"
    "h1 { margin-bottom: 0; } .score { font-size: 1.5rem; margin: 0; } .faint { color: var(--faint); }\n"
    "table { border-collapse: collapse; width: 100%; }\n"
    "th, td { text-align: left; padding: .3rem .6rem; vertical-align: top; overflow-wrap: anywhere; }\n"
    "th { white-space: nowrap; overflow-wrap: normal; }\n"
    "tr.row > td { border-top: 1px solid var(--line); } .points { "
    "text-align: right; white-space: nowrap; }\n"
    "td.step, td.verdict { white-space: nowrap; overflow-wrap: normal; } td.verdict { font-weight: 600; }\n"
    ".PASS { color: var(--good); } .FAIL, .CRASH, .TIMEOUT { color: var(--bad); } .TODO { color: var(--todo); }\n"
    ".INCONCLUSIVE, .ERROR { color: var(--other); }\n"
    "pre { white-space: pre-wrap; overflow-wrap: anywhere; margin: .3rem 0; font-size: .85rem; }\n"
    ".warning { border-left: .3rem solid var(--todo); padding-left: .6rem; }\n"
    "svg { width: 100%; height: auto; } svg text { fill: var(--ink); font: 13px system-ui, sans-serif; }\n"
    "svg .track { fill: var(--line); } svg .value { fill: var(--bar); } svg .mark { stroke: var(--ink); stroke-width: "
    "2; }\n"
    "svg text.small { fill: var(--faint); font-size: 11px; }\n"
    "</style>\n";

/* An element with untrusted text. */
static void put_element(FILE *out, const char *open, const char *text, const char *close)
{
    fputs(open, out);
    mg_put(out, text, MG_HTML);
    fputs(close, out);
}

static void put_head(FILE *out, const mg_results *results)
{
    char title[160], score[100], points[32], max[32], seconds[40];
    snprintf(title, sizeof title, "Lab %.2s %s", results->lab, results->title);
    snprintf(score, sizeof score, "%s of %s points", mg_points(points, results->points), mg_points(max, results->max));
    snprintf(seconds, sizeof seconds, "graded in %.1f s", results->seconds);
    fputs(head, out);
    put_element(out, "<title>", title, ": ");
    put_element(out, "", score, "</title>\n</head>\n<body>\n");
    put_element(out, "<h1>", title, "</h1>\n");
    put_element(out, "<p class=\"score\">", score, "</p>\n");
    put_element(out, "<p class=\"faint\">Units: ", results->units, "<br>\n");
    put_element(out, "", results->machine, "<br>\n");
    put_element(out, "", seconds, "</p>\n");
    if (results->remark[0])
        put_element(out, "<p>", results->remark, "</p>\n");
    if (results->warning[0])
        put_element(out, "<p class=\"warning\">Warning: ", results->warning, "</p>\n");
    if (results->ignored[0])
        put_element(out, "<p class=\"faint\">Ignored in the submission: ", results->ignored, "</p>\n");
    if (results->build_log[0])
        put_element(out, "<details open><summary>The compiler says</summary>\n<pre>", results->build_log,
                    "</pre></details>\n");
}

/* ---- the table -------------------------------------------------------------------------------- */

static void put_row(FILE *out, const mg_row *any)
{
    const mg_row seen = mg_row_seen(any), *row = &seen;
    const char *verdict = mg_verdict_name(row->verdict);
    char points[32], max[32];
    put_element(out, "<tr class=\"row\"><td class=\"step\">", row->step, "</td>");
    put_element(out, "<td>", row->name, "</td>");
    fprintf(out, "<td class=\"verdict %s\">%s</td>", verdict, verdict);
    fprintf(out, "<td class=\"points\">%s/%s</td>", mg_points(points, row->points), mg_points(max, row->max));
    put_element(out, "<td>", row->verdict == MG_TODO && !row->note[0] ? "step not written yet" : row->note,
                "</td></tr>\n");
    if (row->verdict == MG_PASS || row->verdict == MG_TODO || !(row->call[0] || row->detail[0] || row->hint[0]))
        return;
    fputs("<tr><td></td><td colspan=\"4\"><details open><summary>what happened</summary>\n<pre>", out);
    if (row->call[0]) {
        mg_put(out, row->call, MG_HTML);
        fprintf(out, "   seed %llx\n", (unsigned long long)row->seed);
    }
    put_element(out, "", row->detail, "");
    if (row->printed[0])
        put_element(out, "\nprinted: ", row->printed, "");
    fputs("</pre>\n", out);
    if (row->follows[0])
        put_element(out, "Hint: mend this first: ", row->follows, "\n");
    else if (row->hint[0])
        put_element(out, "Hint: ", row->hint, "\n");
    fputs("</details></td></tr>\n", out);
}

/* ---- measured rows against their bars --------------------------------------------------------- */

enum { PLOT_WIDTH = 720, PLOT_ROW = 64, PLOT_LEFT = 10, PLOT_SPAN = 640 };

/* A mark across the bar with its number below; `anchor` keeps low and full apart when they are neighbours. */
static void put_mark(FILE *out, double value, double scale, double y, const char *name, const char *anchor)
{
    double x = PLOT_LEFT + PLOT_SPAN * fmin(fmax(value, 0) / scale, 1);
    if (!isfinite(value))
        return;
    fprintf(out, "<line class=\"mark\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>", x, x, y + 20, y + 42);
    fprintf(out, "<text class=\"small\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s %.4g</text>\n", x, y + 54, anchor,
            name, value);
}

static void put_bar(FILE *out, const mg_row *row, double y)
{
    double scale = fmax(fmax(row->measured, row->low), row->full) * 1.05; /* fmax ignores NaN */
    if (!(scale > 0) || !isfinite(scale))
        scale = 1;
    double length = fmin(fmax(row->measured, 0) / scale, 1) * PLOT_SPAN;
    fprintf(out, "<text x=\"%d\" y=\"%.1f\">", PLOT_LEFT, y + 15);
    put_element(out, "", row->step, "  ");
    put_element(out, "", row->name, "</text>\n");
    fprintf(out, "<rect class=\"track\" x=\"%d\" y=\"%.1f\" width=\"%d\" height=\"14\"/>", PLOT_LEFT, y + 24,
            PLOT_SPAN);
    fprintf(out, "<rect class=\"value\" x=\"%d\" y=\"%.1f\" width=\"%.1f\" height=\"14\"/>", PLOT_LEFT, y + 24, length);
    fprintf(out, "<text x=\"%d\" y=\"%.1f\">%.3g</text>\n", PLOT_LEFT + PLOT_SPAN + 8, y + 36, row->measured);
    bool upward = !(row->low > row->full);
    put_mark(out, row->low, scale, y, "low", upward ? "end" : "start");
    put_mark(out, row->full, scale, y, "full", upward ? "start" : "end");
}

static bool is_measured(const mg_row *row)
{
    return isfinite(row->measured) && !row->hidden;
}

static void put_plot(FILE *out, const mg_results *results)
{
    int measured = 0;
    for (int64_t i = 0; i < results->count; i++)
        measured += is_measured(&results->rows[i]);
    if (!measured)
        return;
    fprintf(out,
            "<h2>Measured</h2>\n<p class=\"faint\">No credit up to <em>low</em>, all of it from <em>full</em> on.</p>\n"
            "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"measured rows against their bars\">\n",
            PLOT_WIDTH, measured * PLOT_ROW);
    for (int64_t i = 0, y = 0; i < results->count; i++)
        if (is_measured(&results->rows[i])) {
            put_bar(out, &results->rows[i], (double)y);
            y += PLOT_ROW;
        }
    fputs("</svg>\n", out);
}

mt_status mg_report_html(const char *path, const mg_results *results)
{
    char *page = NULL;
    size_t length;
    FILE *out = open_memstream(&page, &length);
    MT_CHECK(out, "out of memory");
    put_head(out, results);
    fputs("<table>\n<tr><th>Step</th><th>Check</th><th>Verdict</th><th class=\"points\">Points</th><th></th></tr>\n",
          out);
    for (int64_t i = 0; i < results->count; i++)
        put_row(out, &results->rows[i]);
    fputs("</table>\n", out);
    put_plot(out, results);
    fputs("</body>\n</html>\n", out);
    MT_CHECK(fclose(out) == 0, "out of memory");
    mt_status status = mg_write(path, page, length);
    free(page);
    return status;
}
