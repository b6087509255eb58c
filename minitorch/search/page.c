/* page.c -- see page.h. */
#include "search/page.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "core/io.h"
#include "prof/put.h"

enum { WIDE = 480, HIGH = 260, SIDE = 45, TOP = 30, BOTTOM = 230 };

static const char STYLE[] =
    "<style>:root{color-scheme:light dark;--ink:#1c2733;--line:#2f6fb3;--best:#c2410c;--soft:#8a96a3;--bg:#fff}"
    "@media(prefers-color-scheme:dark){:root{--ink:#e4e9ee;--line:#6caee8;--best:#ff9a5c;--soft:#7d8894;--bg:#14191f}}"
    "body{font:16px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--bg);max-width:720px;margin:auto;"
    "padding:16px}svg{width:100%;height:auto}svg text{font-size:14px;fill:var(--ink)}path{fill:none;stroke:var(--line);"
    "stroke-opacity:.35}.axis{stroke:var(--soft);stroke-opacity:1}.best{stroke:var(--best);stroke-opacity:1;"
    "stroke-width:3}.all{overflow-x:auto}table{border-collapse:collapse;font-variant-numeric:tabular-nums}td,th{"
    "padding:2px 10px;text-align:right;white-space:nowrap;border-bottom:1px solid var(--soft)}b,.won{color:var(--best)}"
    "h1,p{overflow-wrap:anywhere}</style>\n";

typedef struct page {
    FILE *out;
    const mt_search *search;
    const char *metric;
    double sign, low, high; /* of the values of jobs that are done */
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

static void text_at(const page *p, double x, double y, const char *anchor, const char *text)
{
    fprintf(p->out, "<text x=\"%d\" y=\"%d\" text-anchor=\"%s\">", (int)x, (int)y, anchor);
    mt_put_xml(p->out, text);
    fprintf(p->out, "</text>");
}

/* One line of the parallel coordinates; its last axis is the value, low at the bottom. */
static void trial(const page *p, const mt_job *j)
{
    int64_t axes = p->search->space.count;
    fprintf(p->out, "<path%s d=\"", j == p->jobs + p->best ? " class=\"best\"" : "");
    for (int64_t d = 0; d <= axes; d++)
        fprintf(p->out, "%c%d %d", d ? 'L' : 'M', (int)(SIDE + d * (WIDE - 2 * SIDE) / axes),
                (int)height(d < axes ? j->point.at[d] : part_of(p, j->value)));
    fprintf(p->out, "\"/>\n");
}

static void coordinates(const page *p)
{
    int64_t axes = p->search->space.count;
    fprintf(p->out, "<h2>Settings</h2><svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"parallel coordinates\">\n",
            WIDE, HIGH);
    for (const mt_job *j = p->jobs; j < p->jobs + p->count; j++)
        if (j->state == MT_JOB_DONE && j != p->jobs + p->best)
            trial(p, j);
    trial(p, p->jobs + p->best);
    for (int64_t d = 0; d <= axes; d++) {
        char low[40], high[40];
        double x = SIDE + (double)(d * (WIDE - 2 * SIDE)) / (double)axes;
        mt_point bottom = { 0 }, top = { 0 };
        if (d < axes)
            top.at[d] = 1;
        snprintf(low, sizeof low, "%.4g", p->sign * p->low);
        snprintf(high, sizeof high, "%.4g", p->sign * p->high);
        fprintf(p->out, "<path class=\"axis\" d=\"M%d %dV%d\"/>", (int)x, TOP, BOTTOM);
        text_at(p, x, 12, "middle", d < axes ? p->search->space.dimension[d].name : p->metric);
        text_at(p, x, TOP - 3, "middle", d < axes ? mt_space_value(&p->search->space, d, &top) : high);
        text_at(p, x, BOTTOM + 16, "middle", d < axes ? mt_space_value(&p->search->space, d, &bottom) : low);
    }
    fprintf(p->out, "</svg>\n");
}

/* The best value so far over the steps of all jobs. */
static void so_far(const page *p)
{
    double cost = 0, all = 0, best = INFINITY;
    bool begun = false;
    char label[64];
    for (int64_t i = 0; i < p->count; i++)
        all += (double)p->jobs[i].steps;
    fprintf(p->out, "<h2>Best so far</h2><svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"best value so far\">",
            WIDE, HIGH);
    fprintf(p->out, "<path class=\"axis\" d=\"M%d %dV%dH%d\"/><path class=\"best\" d=\"", SIDE, TOP, BOTTOM,
            WIDE - SIDE);
    for (const mt_job *j = p->jobs; j < p->jobs + p->count; j++) {
        cost += (double)j->steps;
        best = j->state == MT_JOB_DONE ? fmin(best, j->value) : best;
        if (!isfinite(best))
            continue;
        double x = SIDE + (WIDE - 2 * SIDE) * cost / all, y = height(part_of(p, best));
        fprintf(p->out, begun ? "H%d V%d" : "M%d %d", (int)x, (int)y);
        begun = true;
    }
    fprintf(p->out, "\"/>");
    snprintf(label, sizeof label, "%.4g", p->sign * p->high);
    text_at(p, 2, TOP - 3, "start", label);
    snprintf(label, sizeof label, "%.4g", p->sign * p->low);
    text_at(p, 2, BOTTOM + 16, "start", label);
    snprintf(label, sizeof label, "%.0f steps", all);
    text_at(p, WIDE - 2, BOTTOM + 16, "end", label);
    fprintf(p->out, "</svg>\n");
}

static void table(const page *p)
{
    fprintf(p->out, "<h2>Jobs</h2><div class=\"all\"><table><tr><th>trial</th><th>steps</th>");
    for (int64_t d = 0; d < p->search->space.count; d++)
        fprintf(p->out, "<th>%s</th>", p->search->space.dimension[d].name);
    fprintf(p->out, "<th>");
    mt_put_xml(p->out, p->metric);
    fprintf(p->out, "</th></tr>\n");
    for (const mt_job *j = p->jobs; j < p->jobs + p->count; j++) {
        fprintf(p->out, "<tr%s><td>%" PRId64 "</td><td>%" PRId64 "</td>",
                j == p->jobs + p->best ? " class=\"won\"" : "", j->trial, j->steps);
        for (int64_t d = 0; d < p->search->space.count; d++)
            fprintf(p->out, "<td>%s</td>", mt_space_value(&p->search->space, d, &j->point));
        if (j->state == MT_JOB_DONE)
            fprintf(p->out, "<td>%.6g</td></tr>\n", p->sign * j->value);
        else
            fprintf(p->out, "<td>failed</td></tr>\n");
    }
    fprintf(p->out, "</table></div>\n");
}

mt_status mt_sweep_page(const char *path, const mt_search *search, const char *metric, double sign, const mt_job *jobs,
                        int64_t count, int64_t best)
{
    mt_file_writer file;
    mt_status status = mt_file_writer_open(&file, path);
    if (status != MT_OK)
        return status;
    page p = { file.out, search, metric, sign, INFINITY, -INFINITY, jobs, count, best };
    for (const mt_job *j = jobs; j < jobs + count; j++)
        if (j->state == MT_JOB_DONE) {
            p.low = fmin(p.low, j->value);
            p.high = fmax(p.high, j->value);
        }
    fprintf(p.out,
            "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" "
            "content=\"width=device-width\"><title>Sweep</title>\n%s<h1>Sweep</h1><p>Best: <b>",
            STYLE);
    mt_put_xml(p.out, metric);
    fprintf(p.out, " %.6g</b>, trial %" PRId64 ", %" PRId64 " steps</p>\n", sign * jobs[best].value, jobs[best].trial,
            jobs[best].steps);
    coordinates(&p);
    so_far(&p);
    table(&p);
    fprintf(p.out, "</html>\n");
    return mt_file_writer_close(&file);
}
