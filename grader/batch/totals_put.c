/* totals_put.c -- the table of all grades as a CSV file and as a page. */
#include "totals_put.h"
#include "report/html.h"
#include "text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Why a lab has no points, or what was decided about its points: "refused: ...", "3 days more: ill". */
static void put_remark(FILE *out, const mg_pupil *p)
{
    if (!p->graded && !p->excused)
        fprintf(out, "%s%s%s", p->state, p->message[0] ? ": " : "", p->message);
    else if (p->open)
        fprintf(out, "%lld rows are not final", (long long)p->open);
    fprintf(out, "%s%s", p->notes[0] && ((!p->graded && !p->excused) || p->open) ? "; " : "", p->notes);
}

static char *remarks_of(const mg_table *t, const mg_total *total)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    MT_CHECK(out, "out of memory");
    for (int i = 0; i < t->labs; i++) {
        const mg_pupil *p = total->cell[i];
        if (!p || !(mg_total_open(p) || p->notes[0]))
            continue;
        fprintf(out, "%slab %.2s: ", ftell(out) > 0 ? "; " : "", t->lab[i]->id);
        put_remark(out, p);
    }
    MT_CHECK(fclose(out) == 0, "out of memory");
    return text;
}

/* The labs for which `is` holds: "00 02". */
static void put_labs(FILE *out, const mg_table *t, const mg_total *total, bool open)
{
    const char *blank = "";
    for (int i = 0; i < t->labs; i++)
        if (open ? mg_total_open(total->cell[i]) : total->counts[i]) {
            fprintf(out, "%s%.2s", blank, t->lab[i]->id);
            blank = " ";
        }
}

static mt_status write_text(const char *path, FILE *out, char **text, const size_t *size)
{
    MT_CHECK(fclose(out) == 0, "out of memory");
    mt_status status = mg_write(path, *text, *size);
    free(*text);
    return status;
}

mt_status mg_totals_csv(const mg_table *t, const char *path)
{
    char *text = NULL, points[32], max[32];
    size_t size;
    FILE *out = open_memstream(&text, &size);
    MT_CHECK(out, "out of memory");
    fputs("Rank,Name,ID,Email,Team,Points,Maximum,Percent,Late days,Counted,Open", out);
    for (int i = 0; i < t->labs; i++)
        fprintf(out, ",%.2s,%.2s late days", t->lab[i]->id, t->lab[i]->id);
    fputs(",Notes\n", out);
    for (int64_t n = 0; n < t->count; n++) {
        const mg_total *total = &t->total[n];
        fprintf(out, total->rank ? "%lld," : ",", (long long)total->rank);
        mg_put_cells(out, (const char *const[]){ total->name, total->id, total->email, total->team }, 4);
        fprintf(out, ",%s,%s,%.1f,%g,", mg_points(points, total->points), mg_points(max, total->max),
                mg_total_share(total), total->days);
        put_labs(out, t, total, false);
        fputc(',', out);
        put_labs(out, t, total, true);
        for (int i = 0; i < t->labs; i++) {
            const mg_pupil *p = total->cell[i];
            bool known = p && p->graded;
            fprintf(out, known ? ",%s,%g" : ",,", mg_points(points, known ? p->points : 0), known ? p->days : 0);
        }
        char *remarks = remarks_of(t, total), *plain = mg_plain(remarks);
        fputc(',', out);
        mg_put_cell(out, plain);
        fputc('\n', out);
        free(plain);
        free(remarks);
    }
    return write_text(path, out, &text, &size);
}

/* ---- the page --------------------------------------------------------------------------------- */

/* Points, with a link to the report; a lab that best_of leaves out is faint. */
static void put_points(FILE *out, const mg_table *t, const mg_total *total, int lab)
{
    char points[32];
    const mg_pupil *p = total->cell[lab];
    fputs(total->counts[lab] ? "<td class=\"number\">" : "<td class=\"number faint\">", out);
    if (p && p->excused)
        fputs("excused", out);
    else if (p && !p->graded)
        mg_put_element(out, "", p->state, "");
    else if (p && p->grading)
        fprintf(out, "<a href=\"%.2s/%04lld/%.2s.html\">%s</a>", t->lab[lab]->id, (long long)p->submission,
                t->lab[lab]->id, mg_points(points, p->points));
    else
        fputs(p ? mg_points(points, p->points) : total->due[lab] ? "0" : "", out);
    if (p && p->graded && p->days > 0)
        fprintf(out, "<br><span class=\"TODO\">%g days late</span>", p->days);
    fputs("</td>", out);
}

static void put_line(FILE *out, const mg_table *t, const mg_total *total)
{
    char points[32], max[32];
    fprintf(out, total->rank ? "<tr><td class=\"number\">%lld</td>" : "<tr><td></td>", (long long)total->rank);
    mg_put_element(out, "<th scope=\"row\">", total->name, "");
    mg_put_element(out, "<br><span class=\"faint\">", total->id, "</span></th>");
    for (int i = 0; i < t->labs; i++)
        put_points(out, t, total, i);
    fprintf(out, "<td class=\"number\">%g</td><td class=\"number\">%s/%s</td><td class=\"number\">%.1f %%</td></tr>\n",
            total->days, mg_points(points, total->points), mg_points(max, total->max), mg_total_share(total));
}

static void put_table(FILE *out, const mg_table *t)
{
    char max[32];
    fputs("<section id=\"ranks\"><h2>Ranks</h2>\n<div class=\"scroll\" tabindex=\"0\"><table>\n<caption>Points by lab "
          "and in all",
          out);
    if (t->best_of)
        fprintf(out, "; of each student the best %d labs count", t->best_of);
    fputs("</caption>\n<thead><tr><th scope=\"col\" class=\"number\">Rank</th><th scope=\"col\">Student</th>", out);
    for (int i = 0; i < t->labs; i++)
        fprintf(out, "<th scope=\"col\" class=\"number\">%.2s<br>of %s</th>", t->lab[i]->id, mg_points(max, t->max[i]));
    fputs("<th scope=\"col\" class=\"number\">Late days</th><th scope=\"col\" class=\"number\">Total</th>"
          "<th scope=\"col\" class=\"number\">Share</th></tr></thead>\n<tbody>\n",
          out);
    for (int64_t i = 0; i < t->count; i++)
        put_line(out, t, &t->total[i]);
    fputs("</tbody></table></div></section>\n", out);
}

mt_status mg_totals_html(const mg_table *t, const char *path)
{
    char *text = NULL;
    size_t size;
    int64_t notes = 0;
    FILE *out = open_memstream(&text, &size);
    MT_CHECK(out, "out of memory");
    mg_page_begin(out, t->title, t->title);
    put_table(out, t);
    fputs("<section id=\"notes\"><h2>Notes</h2>\n", out);
    for (int64_t i = 0; i < t->count; i++) {
        char *remarks = remarks_of(t, &t->total[i]);
        if (remarks[0]) {
            fputs(notes++ ? "" : "<ul>\n", out);
            mg_put_element(out, "<li class=\"words\"><strong>", t->total[i].name, "</strong> ");
            mg_put_element(out, "", remarks, "</li>\n");
        }
        free(remarks);
    }
    fputs(notes ? "</ul></section>\n" : "<p>None.</p></section>\n", out);
    mg_page_end(out);
    return write_text(path, out, &text, &size);
}
