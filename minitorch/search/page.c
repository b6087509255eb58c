/* page.c -- see table.h. */
#include "search/table.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/io.h"
#include "prof/put.h"

enum { WIDE = 480, AXIS = 80, HIGH = 266, SIDE = 45, TOP = 36, BOTTOM = 236, LABEL = 12 /* letters */ };

static const char STYLE[] =
    "<style>:root{color-scheme:light dark;--ink:#1c2733;--line:#2f6fb3;--best:#c2410c;--soft:#8a96a3;--bg:#fff}"
    "@media(prefers-color-scheme:dark){:root{--ink:#e4e9ee;--line:#6caee8;--best:#ff9a5c;--soft:#7d8894;--bg:#14191f}}"
    "body{font:16px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--bg);max-width:720px;margin:auto;"
    "padding:16px}svg{width:100%;height:auto}svg text{font-size:14px;fill:var(--ink)}@media(min-width:700px){svg "
    "text{font-size:11px}}path{fill:none;stroke:var(--line);"
    "stroke-opacity:.35}.axis{stroke:var(--soft);stroke-opacity:1}.best{stroke:var(--best);stroke-opacity:1;"
    "stroke-width:3}.all{overflow-x:auto}table{border-collapse:collapse;font-variant-numeric:tabular-nums}td,th{"
    "padding:2px 10px;text-align:right;white-space:nowrap;border-bottom:1px solid var(--soft)}b,.won{color:var(--best);"
    "font-weight:bold}h1,p{overflow-wrap:anywhere}</style>\n";

typedef struct page {
    FILE *out;
    const mt_search *search;
    const char *metric;
    double sign, low, high; /* of the values of jobs that are done */
    bool above;             /* some values are above high, and are drawn there */
    const mt_job *jobs;
    int64_t count, best;
} page;

static double height(double part)
{
    return BOTTOM - (BOTTOM - TOP) * fmin(fmax(part, 0), 1);
}

static double part_of(const page *p, double value)
{
    return p->high > p->low ? (value - p->low) / (p->high - p->low) : 0;
}

/* A text of LABEL letters at most. */
static void text_at(const page *p, double x, double y, const char *anchor, const char *text)
{
    char label[LABEL + 4];
    bool fits = strlen(text) <= LABEL;
    int letters = fits ? LABEL : LABEL - 1;
    while (!fits && (text[letters] & 0xc0) == 0x80) /* within a character of UTF-8 */
        letters--;
    snprintf(label, sizeof label, "%.*s%s", letters, text, fits ? "" : "\u2026");
    fprintf(p->out, "<text x=\"%d\" y=\"%d\" text-anchor=\"%s\">", (int)x, (int)y, anchor);
    mt_put_xml(p->out, label);
    fprintf(p->out, "</text>");
}

/* The ends of the axis of values. */
static const char *end_of(const page *p, double value)
{
    static char text[2][32];
    static int turn;
    const char *beyond = p->sign < 0 ? "\u2264 " : "\u2265 ";
    turn = !turn;
    snprintf(text[turn], sizeof text[turn], "%s%.4g", p->above && value == p->high ? beyond : "", p->sign * value);
    return text[turn];
}

static int wide(const page *p)
{
    return (int)mt_max(WIDE, AXIS * (p->search->space.count + 1));
}

/* One line of the parallel coordinates; its last axis is the value, low at the bottom. */
static void trial(const page *p, const mt_job *j)
{
    int64_t axes = p->search->space.count;
    fprintf(p->out, "<path%s d=\"", j == p->jobs + p->best ? " class=\"best\"" : "");
    for (int64_t d = 0; d <= axes; d++)
        fprintf(p->out, "%c%d %d", d ? 'L' : 'M', (int)(SIDE + d * (wide(p) - 2 * SIDE) / axes),
                (int)height(d < axes ? j->point.at[d] : part_of(p, j->value)));
    fprintf(p->out, "\"/>\n");
}

static void coordinates(const page *p)
{
    int64_t axes = p->search->space.count;
    fprintf(p->out,
            "<h2>Settings</h2><div class=\"all\" tabindex=\"0\"><svg viewBox=\"0 0 %d %d\" style=\"min-width:%dpx\" "
            "role=\"img\" aria-label=\"parallel coordinates\">\n",
            wide(p), HIGH, wide(p) * 7 / 10);
    for (const mt_job *j = p->jobs; j < p->jobs + p->count; j++)
        if (j->state == MT_JOB_DONE && j != p->jobs + p->best)
            trial(p, j);
    trial(p, p->jobs + p->best);
    for (int64_t d = 0; d <= axes; d++) {
        double x = SIDE + (double)(d * (wide(p) - 2 * SIDE)) / (double)axes;
        mt_point bottom = { 0 }, top = { 0 };
        if (d < axes)
            top.at[d] = 1;
        fprintf(p->out, "<path class=\"axis\" d=\"M%d %dV%d\"/>", (int)x, TOP, BOTTOM);
        text_at(p, x, 12, "middle", d < axes ? p->search->space.dimension[d].name : p->metric);
        text_at(p, x, TOP - 6, "middle", d < axes ? mt_space_value(&p->search->space, d, &top) : end_of(p, p->high));
        text_at(p, x, BOTTOM + 17, "middle",
                d < axes ? mt_space_value(&p->search->space, d, &bottom) : end_of(p, p->low));
    }
    fprintf(p->out, "</svg></div>\n");
}

/* The best value so far over the steps of all jobs. */
static void so_far(page p)
{
    double cost = 0, all = 0, best = INFINITY;
    bool begun = false;
    char label[64];
    p.above = false;
    p.high = INFINITY; /* the first value */
    for (const mt_job *j = p.jobs; j < p.jobs + p.count; j++) {
        all += (double)j->steps;
        p.high = j->state == MT_JOB_DONE && p.high == INFINITY ? j->value : p.high;
    }
    fprintf(p.out, "<h2>Best so far</h2><svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"best value so far\">",
            WIDE, HIGH);
    fprintf(p.out, "<path class=\"axis\" d=\"M%d %dV%dH%d\"/><path class=\"best\" d=\"", SIDE, TOP, BOTTOM,
            WIDE - SIDE);
    for (const mt_job *j = p.jobs; j < p.jobs + p.count; j++) {
        cost += (double)j->steps;
        best = j->state == MT_JOB_DONE ? fmin(best, j->value) : best;
        if (!isfinite(best))
            continue;
        double x = SIDE + (WIDE - 2 * SIDE) * cost / all, y = height(part_of(&p, best));
        fprintf(p.out, begun ? "H%d V%d" : "M%d %d", (int)x, (int)y);
        begun = true;
    }
    fprintf(p.out, "\"/>");
    text_at(&p, 2, TOP - 6, "start", end_of(&p, p.high));
    text_at(&p, 2, BOTTOM + 17, "start", end_of(&p, p.low));
    snprintf(label, sizeof label, "%.4g steps", all);
    text_at(&p, WIDE - 2, BOTTOM + 17, "end", label);
    fprintf(p.out, "</svg>\n");
}

static void table(const page *p)
{
    fprintf(p->out, "<h2>Jobs</h2><div class=\"all\" tabindex=\"0\"><table><tr><th>trial</th><th>");
    mt_put_xml(p->out, p->metric);
    fprintf(p->out, "</th><th>steps</th>");
    for (int64_t d = 0; d < p->search->space.count; d++)
        fprintf(p->out, "<th>%s</th>", p->search->space.dimension[d].name);
    fprintf(p->out, "</tr>\n");
    for (const mt_job *j = p->jobs; j < p->jobs + p->count; j++) {
        fprintf(p->out, "<tr%s><td>%" PRId64 "</td>", j == p->jobs + p->best ? " class=\"won\"" : "", j->trial);
        if (j->state == MT_JOB_DONE)
            fprintf(p->out, "<td>%.6g</td>", p->sign * j->value);
        else
            fprintf(p->out, "<td>failed</td>");
        fprintf(p->out, "<td>%" PRId64 "</td>", j->steps);
        for (int64_t d = 0; d < p->search->space.count; d++)
            fprintf(p->out, "<td>%s</td>", mt_space_value(&p->search->space, d, &j->point));
        fprintf(p->out, "</tr>\n");
    }
    fprintf(p->out, "</table></div>\n");
}

/* The axis of values: from the best to the worst one, or to five times as far as the median, so that a few huge losses
 * leave a difference between the others to see. */
static void scale(page *p)
{
    int64_t done = 0;
    double *value = mt_calloc(mt_max(1, p->count), sizeof *value);
    for (const mt_job *j = p->jobs; j < p->jobs + p->count; j++)
        if (j->state == MT_JOB_DONE)
            value[done++] = j->value;
    MT_CHECK(done > 0, "no job is done");
    qsort(value, (size_t)done, sizeof *value, mt_search_ascending);
    double far = value[0] + 5 * (value[done / 2] - value[0]);
    p->low = value[0];
    p->above = far > p->low && far < value[done - 1];
    p->high = p->above ? far : value[done - 1];
    free(value);
}

static void head(const page *p)
{
    const mt_job *best = p->jobs + p->best;
    int64_t failed = 0;
    for (const mt_job *j = p->jobs; j < p->jobs + p->count; j++)
        failed += j->state == MT_JOB_FAILED;
    fprintf(p->out,
            "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" "
            "content=\"width=device-width\"><title>Sweep</title>\n%s<h1>Sweep</h1><p>Best: <b>",
            STYLE);
    mt_put_xml(p->out, p->metric);
    fprintf(p->out, " %.6g</b> with", p->sign * best->value);
    for (int64_t d = 0; d < p->search->space.count; d++)
        fprintf(p->out, " %s=%s", p->search->space.dimension[d].name,
                mt_space_value(&p->search->space, d, &best->point));
    fprintf(p->out,
            " (trial %" PRId64 ", steps %" PRId64 "). %" PRId64 " jobs of %" PRId64 " trials, %" PRId64
            " failed.</p>\n",
            best->trial, best->steps, p->count, mt_search_trials(p->search), failed);
}

mt_status mt_sweep_page(const char *path, const mt_search *search, const char *metric, double sign, const mt_job *jobs,
                        int64_t count, int64_t best)
{
    mt_file_writer file;
    mt_status status = mt_file_writer_open(&file, path);
    if (status != MT_OK)
        return status;
    page p = { .out = file.out, search, metric, sign, .jobs = jobs, .count = count, .best = best };
    scale(&p);
    head(&p);
    coordinates(&p);
    so_far(p);
    table(&p);
    fprintf(p.out, "</html>\n");
    return mt_file_writer_close(&file);
}
