/* accesses.c -- what the emulator counted: a table of the accesses of a kernel, line by line, and the banks of
 * shared memory that one request touched. */
#include "report/excerpt.h"
#include "report/page.h"
#include "text.h"

#include <stdlib.h>
#include <string.h>

static const char *const spaces[] = { "global", "shared" }, *const kinds[] = { "load", "store", "atomic" };

static double per_request(int64_t sum, const mg_device_site *s)
{
    return (double)sum / (double)s->requests;
}

/* The text of the line, if it is one of the student's units. */
static void put_text(FILE *out, const mg_sources *sources, const mg_site *site)
{
    char line[120];
    for (int i = 0; sources && i < sources->count; i++) {
        int length;
        const char *text = strcmp(sources->source[i].unit, site->unit) == 0 && site->line > 0
                               ? mg_excerpt_line(&sources->source[i], site->line, &length)
                               : NULL;
        if (!text)
            continue;
        int indent = (int)strspn(text, " \t");
        if (indent < length)
            snprintf(line, sizeof line, "%.*s", length - indent, text + indent);
        else
            line[0] = 0;
        mg_put_element(out, "<br><code>", line, "</code>");
        return;
    }
}

static void put_place(FILE *out, const mg_site *site)
{
    if (!site->unit[0]) {
        fputs("given code", out);
        return;
    }
    mg_put_element(out, "", site->unit, "");
    fprintf(out, ":%d", site->line);
}

static bool same_line(const mg_site *a, const mg_site *b)
{
    return a->line == b->line && strcmp(a->unit, b->unit) == 0;
}

/* An access; before the first of a line stands the line, for `rows` of them. */
static void put_site(FILE *out, const mg_sources *sources, const mg_site *site, int rows)
{
    const mg_device_site *s = &site->count;
    double times = s->ideal > 0 ? (double)s->passes / (double)s->ideal : 1;
    fputs("<tr>", out);
    if (rows) {
        fprintf(out, "<th scope=\"rowgroup\" rowspan=\"%d\">", rows);
        put_place(out, site);
        put_text(out, sources, site);
        fputs("</th>", out);
    }
    fprintf(out,
            "<td class=\"kind\">%s %s, %d B</td><td class=\"number\">%lld</td><td class=\"number\">%.1f</td>"
            "<td class=\"number\">%.2f</td><td class=\"number\">%.2f</td><td class=\"number%s\">%.1fx</td></tr>\n",
            spaces[s->space], kinds[s->kind], s->size, (long long)s->requests, per_request(s->lanes, s),
            per_request(s->passes, s), per_request(s->ideal, s), times >= 1.5 ? " FAIL" : "", times);
}

static void put_sites(FILE *out, const mg_results *results, const mg_row *row)
{
    fputs("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"accesses by line\"><table>\n<thead><tr>"
          "<th scope=\"col\">Line</th><th scope=\"col\">Access</th><th scope=\"col\" class=\"number\">Requests</th>"
          "<th scope=\"col\" class=\"number\">Lanes</th><th scope=\"col\" class=\"number\">Per request</th>"
          "<th scope=\"col\" class=\"number\">Ideal</th><th scope=\"col\" class=\"number\">Over it</th></tr></thead>\n"
          "<tbody>\n",
          out);
    const mg_counted *c = &row->counted;
    for (int i = 0; i < c->sites; i++) {
        int rows = 0;
        while (!(i && same_line(&c->site[i], &c->site[i - 1])) && i + rows < c->sites &&
               same_line(&c->site[i], &c->site[i + rows]))
            rows++;
        put_site(out, results->sources, &c->site[i], rows);
    }
    fputs("</tbody></table></div>\n", out);
}

/* ---- banks ----------------------------------------------------------------------------------------- */

enum { CELL = 20, MOST_ROWS = 32, BANKS = 32 };

/* Draws each lane's first word in the column of its bank, different words of one bank below each other: as many rows as
 * wavefronts, for words of 4 bytes. Returns the rows. */
static int put_cells(FILE *out, const mg_counted *c)
{
    uint32_t word[BANKS][MOST_ROWS];
    int height[BANKS] = { 0 }, most = 0;
    for (int lane = 0; lane < 32; lane++) {
        uint32_t at = c->offset[lane] >> 2;
        int bank = (int)(at % BANKS), row = 0;
        if (!(c->lanes >> lane & 1))
            continue;
        while (row < height[bank] && word[bank][row] != at)
            row++;
        if (row < height[bank]) /* the same word: one wavefront serves both lanes */
            continue;
        word[bank][height[bank]++] = at;
        most = height[bank] > most ? height[bank] : most;
        fprintf(out,
                "<rect class=\"cell%s\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/><text class=\"oncell\" x=\"%d\" "
                "y=\"%d\" text-anchor=\"middle\">%d</text>\n",
                row ? " hot" : "", bank * CELL, 16 + row * CELL, CELL, CELL, bank * CELL + CELL / 2,
                16 + row * CELL + 13, lane);
    }
    return most;
}

static int count_rows(const mg_counted *c)
{
    char *nothing = NULL;
    size_t size;
    FILE *out = open_memstream(&nothing, &size);
    MT_CHECK(out, "out of memory");
    int rows = put_cells(out, c);
    fclose(out);
    free(nothing);
    return rows;
}

static void put_banks(FILE *out, const mg_counted *c)
{
    const mg_device_site *s = &c->drawn.count;
    int rows = count_rows(c);
    fputs("<figure><figcaption>One request to shared memory, at ", out);
    put_place(out, &c->drawn);
    fprintf(out,
            " (%s, %d B a lane): %lld wavefront%s, ideally %lld. A column is a bank, a number the lane; lanes below "
            "each other wait for one another.</figcaption>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" "
            "aria-label=\"banks\"><svg class=\"plot banks\" viewBox=\"0 0 "
            "%d %d\" role=\"img\" aria-label=\"%lld wavefronts\">\n",
            kinds[s->kind], s->size, (long long)s->passes, s->passes == 1 ? "" : "s", (long long)s->ideal, BANKS * CELL,
            16 + rows * CELL + 2, (long long)s->passes);
    for (int bank = 0; bank < BANKS; bank++)
        fprintf(out,
                "<text class=\"small\" x=\"%d\" y=\"11\" text-anchor=\"middle\">%d</text><rect class=\"track\" "
                "x=\"%d\" y=\"16\" width=\"%d\" height=\"%d\"/>\n",
                bank * CELL + CELL / 2, bank, bank * CELL + 1, CELL - 2, rows * CELL);
    put_cells(out, c);
    fputs("</svg></div></figure>\n", out);
}

/* ---- rows -------------------------------------------------------------------------------------------- */

/* Rows of one step often count the same call: the table is shown once. */
static bool same_counts(const mg_counted *a, const mg_counted *b)
{
    if (a->sites != b->sites || a->lanes != b->lanes)
        return false;
    for (int i = 0; i < a->sites; i++) {
        mg_device_site x = a->site[i].count, y = b->site[i].count;
        if (a->site[i].line != b->site[i].line || x.passes != y.passes || x.requests != y.requests)
            return false;
    }
    return true;
}

/* The table of rows first .. end - 1, which counted the same; open if one of them lost points. */
static void put_counted(FILE *out, const mg_results *results, int64_t first, int64_t end)
{
    const mg_row *row = &results->rows[first];
    bool lost = false;
    for (int64_t i = first; i < end; i++)
        lost = lost || results->rows[i].points < results->rows[i].max;
    mg_put_element(out, lost ? "<details open><summary><strong>" : "<details><summary><strong>", row->step,
                   "</strong>");
    for (int64_t i = first; i < end; i++)
        mg_put_element(out, i > first ? ", " : " ", results->rows[i].name, "");
    fputs("</summary>\n", out);
    put_sites(out, results, row);
    if (row->counted.lanes)
        put_banks(out, &row->counted);
    fputs("</details>\n", out);
}

void mg_html_lines(FILE *out, const mg_results *results)
{
    if (!mg_html_has(results, "lines"))
        return;
    fputs(
        "<section id=\"lines\"><h2>Memory accesses</h2>\n<p class=\"faint\">Counted by the emulator in the call behind "
        "the bar, for each request of a warp: sectors of 32 bytes of global memory, wavefronts of shared memory, and "
        "the fewest that move as many bytes.</p>\n",
        out);
    for (int64_t i = 0, end; i < results->count; i = end) {
        const mg_counted *c = &results->rows[i].counted;
        for (end = i + 1; c->sites && end < results->count && same_counts(c, &results->rows[end].counted);)
            end++;
        if (c->sites)
            put_counted(out, results, i, end);
    }
    fputs("</section>\n", out);
}
