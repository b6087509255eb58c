/* plot.c -- measured rows against their bars, and the roofline. Bars stretch with the page: words stand beside
 * them as text, not in the picture. */
#include "report/page.h"
#include "text.h"

#include <math.h>
#include <string.h>

/* ---- bars ---------------------------------------------------------------------------------------- */

/* The axis of a row: from 0, or logarithmic when its numbers are far apart. */
typedef struct axis {
    double low, high;
    bool log;
} axis;

enum { WIDTH = 1000, FAR = 20 };

static axis axis_of(const mg_row *row)
{
    const double all[] = { row->measured, row->low, row->full, row->toy, row->reference };
    double least = INFINITY, most = 0;
    for (int i = 0; i < MT_COUNT(all); i++)
        if (isfinite(all[i]) && all[i] > 0) {
            least = fmin(least, all[i]);
            most = fmax(most, all[i]);
        }
    if (most > FAR * least && most < 1e30)
        return (axis){ least / 1.5, most * 1.2, true };
    return (axis){ 0, most > 0 && most < 1e300 ? most * 1.05 : 1, false };
}

static double place(const axis *a, double value)
{
    double v = fmin(fmax(value, a->low), a->high); /* NaN: low */
    double share = a->log ? log(v / a->low) / log(a->high / a->low) : v / a->high;
    return WIDTH * fmin(fmax(share, 0), 1);
}

static void put_edge(FILE *out, const axis *a, double value, const char *kind)
{
    if (isfinite(value))
        fprintf(out, "<path class=\"edge %s\" d=\"M%.1f 0V24\"/>", kind, place(a, value));
}

static void put_number(FILE *out, const char *words, double value)
{
    if (isfinite(value))
        fprintf(out, "%s %.4g", words, value);
}

static void put_bar(FILE *out, const mg_row *row)
{
    const axis a = axis_of(row);
    double full = place(&a, row->full), from = row->full < row->low ? 0 : full,
           to = row->full < row->low ? full : WIDTH;
    mg_put_element(out, "<li>\n<div class=\"measured\"><span><strong>", row->step, "</strong> ");
    mg_put_element(out, "", row->name, "</span>");
    fprintf(out,
            "<strong class=\"%s\">%.3g</strong></div>\n<svg class=\"bar\" viewBox=\"0 0 %d 24\" "
            "preserveAspectRatio=\"none\" role=\"img\" aria-label=\"measured %.3g\">"
            "<rect class=\"track\" y=\"2\" width=\"%d\" height=\"20\"/>",
            mg_verdict_name(row->verdict), row->measured, WIDTH, row->measured, WIDTH);
    if (isfinite(row->full))
        fprintf(out, "<rect class=\"zone\" x=\"%.1f\" y=\"2\" width=\"%.1f\" height=\"20\"/>", from, to - from);
    fprintf(out, "<rect class=\"value\" y=\"6\" width=\"%.1f\" height=\"12\"/>", place(&a, row->measured));
    put_edge(out, &a, row->low, "dashed");
    put_edge(out, &a, row->full, "");
    put_edge(out, &a, row->toy, "thin dashed");
    put_edge(out, &a, row->reference, "thin");
    fputs("</svg>\n<p class=\"faint\">", out);
    put_number(out, "no points at", row->low);
    put_number(out, " \xc2\xb7 full points from", row->full);
    put_number(out, " \xc2\xb7 a simple version has", row->toy);
    put_number(out, " \xc2\xb7 the reference", row->reference);
    fputs(a.log ? " \xc2\xb7 logarithmic</p></li>\n" : "</p></li>\n", out);
}

void mg_html_measured(FILE *out, const mg_results *results)
{
    if (!mg_html_has(results, "measured"))
        return;
    fputs("<section id=\"measured\"><h2>Measured</h2>\n<p class=\"faint\">Points grow from the dashed line to the full "
          "one; the tinted part of the bar earns all of them. Thin lines: a simple version (dashed) and the reference, "
          "as measured when the bar was set.</p>\n<ul class=\"plain\">\n",
          out);
    for (int64_t i = 0; i < results->count; i++)
        if (isfinite(results->rows[i].measured))
            put_bar(out, &results->rows[i]);
    fputs("</ul></section>\n", out);
}

/* ---- roofline -------------------------------------------------------------------------------------- */

/* FLOPs for each byte at which memory no longer limits. Sources: one core of the Xeon in labs/01-matmul/README.md,
 * bench_roofline; H100 SXM data sheet, 67 TFLOP/s in f32 and 3.35 TB/s. */
#define RIDGE_CPU 2.3
#define RIDGE_GPU 20.0

enum { LEFT = 44, RIGHT = 350, TOP = 14, BOTTOM = 200, HEIGHT = 240 };

static double plot_x(double intensity)
{
    return LEFT + (RIGHT - LEFT) * fmin(fmax(log10(intensity) + 2, 0), 5) / 5; /* 0.01 .. 1000 */
}

static double plot_y(double share)
{
    return TOP + (BOTTOM - TOP) * fmin(fmax(-log10(share), 0), 3) / 3; /* 0.001 .. 1 */
}

static double intensity_of(const mg_row *row)
{
    return row->flops / row->bytes;
}

/* The ridge of the roofline: a GPU's for calls of .cu units. */
static double ridge_of(const mg_row *row)
{
    return strstr(row->call, "_cuda") || strstr(row->call, "_cublas") ? RIDGE_GPU : RIDGE_CPU;
}

/* Whether row i has a point under this roof; rows of a step that count the same call share one. */
static bool has_point(const mg_results *results, int64_t i, double ridge)
{
    const mg_row *row = &results->rows[i];
    if (!(row->flops > 0 && row->bytes > 0 && isfinite(row->flops) && isfinite(row->bytes)) || ridge_of(row) != ridge)
        return false;
    for (int64_t j = 0; j < i; j++) {
        const mg_row *old = &results->rows[j];
        if (strcmp(old->step, row->step) == 0 && old->flops == row->flops && old->bytes == row->bytes)
            return false;
    }
    return true;
}

static void put_axes(FILE *out)
{
    static const char *const across[] = { "0.01", "0.1", "1", "10", "100", "1000" };
    static const char *const down[] = { "100 %", "10 %", "1 %", "0.1 %" };
    for (int i = 0; i < MT_COUNT(across); i++) {
        double x = LEFT + (RIGHT - LEFT) * i / 5.0;
        fprintf(out,
                "<path class=\"edge thin\" opacity=\".4\" d=\"M%.1f %dV%d\"/><text class=\"small\" x=\"%.1f\" y=\"%d\" "
                "text-anchor=\"middle\">%s</text>\n",
                x, TOP, BOTTOM, x, BOTTOM + 14, across[i]);
    }
    for (int i = 0; i < MT_COUNT(down); i++) {
        double y = TOP + (BOTTOM - TOP) * i / 3.0;
        fprintf(out,
                "<path class=\"edge thin\" opacity=\".4\" d=\"M%d %.1fH%d\"/><text class=\"small\" x=\"%d\" y=\"%.1f\" "
                "text-anchor=\"end\">%s</text>\n",
                LEFT, y, RIGHT, LEFT - 4, y + 3, down[i]);
    }
    fprintf(out, "<text class=\"small\" x=\"%d\" y=\"%d\" text-anchor=\"middle\">FLOPs for each byte moved</text>\n",
            (LEFT + RIGHT) / 2, BOTTOM + 30);
}

static void put_roof(FILE *out, double ridge)
{
    double least = fmax(0.01, 1e-3 * ridge);
    fprintf(out, "<path class=\"edge\" d=\"M%.1f %.1fL%.1f %dH%d\"/>\n", plot_x(least), plot_y(least / ridge),
            plot_x(ridge), TOP, RIGHT);
}

static void put_points(FILE *out, const mg_results *results, double ridge)
{
    int number = 0;
    for (int64_t i = 0; i < results->count; i++) {
        if (!has_point(results, i, ridge))
            continue;
        double of = intensity_of(&results->rows[i]), x = plot_x(of), y = plot_y(of / ridge);
        int near = 0;
        for (int64_t j = 0; j < i; j++) /* numbers of neighbours stand below each other */
            near += has_point(results, j, ridge) && fabs(plot_x(intensity_of(&results->rows[j])) - x) < 4;
        fprintf(out, "<circle class=\"value\" cx=\"%.1f\" cy=\"%.1f\" r=\"4\"/><text x=\"%.1f\" y=\"%.1f\">%d</text>\n",
                x, y, x + 6, y + 14 + 12 * near, ++number);
    }
}

static void put_table(FILE *out, const mg_results *results, double ridge)
{
    int number = 0;
    fputs(
        "<table><thead><tr><th scope=\"col\">No.</th><th scope=\"col\">Row</th><th scope=\"col\" class=\"number "
        "wide\">MFLOP</th><th scope=\"col\" class=\"number wide\">MB</th><th scope=\"col\" class=\"number\">FLOP/B</th>"
        "<th scope=\"col\" class=\"number\">Share of peak</th></tr></thead>\n<tbody>\n",
        out);
    for (int64_t i = 0; i < results->count; i++) {
        const mg_row *row = &results->rows[i];
        if (!has_point(results, i, ridge))
            continue;
        fprintf(out, "<tr><td>%d</td>", ++number);
        mg_put_element(out, "<th scope=\"row\" class=\"words\">", row->step, " ");
        mg_put_element(out, "", row->name, "</th>");
        fprintf(out,
                "<td class=\"number wide\">%.3g</td><td class=\"number wide\">%.3g</td><td class=\"number\">%.3g</td>"
                "<td class=\"number\">%.3g %%</td></tr>\n",
                row->flops / 1e6, row->bytes / 1e6, intensity_of(row), 100 * fmin(intensity_of(row) / ridge, 1));
    }
    fputs("</tbody></table>\n", out);
}

static void put_roofline(FILE *out, const mg_results *results, double ridge, const char *machine)
{
    bool any = false;
    for (int64_t i = 0; i < results->count; i++)
        any = any || has_point(results, i, ridge);
    if (!any)
        return;
    fprintf(out,
            "<figure><figcaption>%s: memory limits below %.3g FLOPs a byte.</figcaption>\n"
            "<svg class=\"plot\" viewBox=\"0 0 366 %d\" role=\"img\" aria-label=\"roofline; the table has its "
            "numbers\">\n",
            machine, ridge, HEIGHT);
    put_axes(out);
    put_roof(out, ridge);
    put_points(out, results, ridge);
    fputs("</svg>\n", out);
    put_table(out, results, ridge);
    fputs("</figure>\n", out);
}

void mg_html_roofline(FILE *out, const mg_results *results)
{
    if (!mg_html_has(results, "roofline"))
        return;
    fputs("<section id=\"roofline\"><h2>Roofline</h2>\n<p class=\"faint\">The share of a machine's arithmetic that the "
          "counted bytes leave possible: a bound from counts, not a time. Bytes are those that the row counts, through "
          "the cache or to the memory that it names.</p>\n",
          out);
    put_roofline(out, results, RIDGE_CPU, "One core of a Xeon (118 GFLOP/s, 52 GB/s)");
    put_roofline(out, results, RIDGE_GPU, "H100 SXM (67 TFLOP/s in f32, 3.35 TB/s)");
    fputs("</section>\n", out);
}
