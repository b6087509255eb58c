/* class_rows.c -- the class as a whole: scores, steps, and the rows that most failed. */
#include "class.h"
#include "text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The last grading of each submission that has rows. */
#define GRADED "FROM grade g WHERE g.lab = ?1 AND g.state IN ('graded', 'untimed')"

/* Rows that say something about the unit: measured, and not the grader's own failure. */
#define JUDGED "r.verdict NOT IN ('ERROR', 'INCONCLUSIVE', 'REVIEW', 'SKIPPED')"

enum { BINS = 11 }; /* ten bins below full marks, and those with full marks */

/* ---- scores --------------------------------------------------------------------------------------- */

typedef struct scores {
    double *point;
    int64_t count, room, bin[BINS];
    double max, sum;
} scores;

static void add(scores *s, double points, double max)
{
    if (s->count == s->room) {
        s->room = s->room ? 2 * s->room : 64;
        s->point = realloc(s->point, (size_t)s->room * sizeof *s->point);
        MT_CHECK(s->point, "out of memory");
    }
    s->point[s->count++] = points;
    s->sum += points;
    s->max = fmax(s->max, max);
    int bin = max > 0 ? (int)(10 * fmin(fmax(points / max, 0), 1)) : 0;
    s->bin[bin == 10 && points < max ? 9 : bin]++;
}

static void put_bins(FILE *out, const scores *s)
{
    fputs("<table>\n<caption>Score distribution, in percent of the points</caption>\n<thead><tr><th scope=\"col\">Score"
          "</th><th scope=\"col\" class=\"number\">Submissions</th><td></td></tr></thead>\n<tbody>\n",
          out);
    int64_t most = 1;
    for (int i = 0; i < BINS; i++)
        most = mt_max(most, s->bin[i]);
    for (int i = BINS - 1; i >= 0; i--) {
        char range[32];
        snprintf(range, sizeof range, i == 10 ? "all points" : "%d to %d %%", 10 * i, 10 * i + 10);
        fprintf(out, "<tr><th scope=\"row\">%s</th><td class=\"number\">%lld</td><td class=\"bar\">", range,
                (long long)s->bin[i]);
        mg_put_share(out, (double)s->bin[i], (double)most);
        fputs("</td></tr>\n", out);
    }
    fputs("</tbody></table>\n", out);
}

void mg_class_scores(mg_class_page *page)
{
    char mean[32], median[32], max[32];
    scores s = { 0 };
    sqlite3_stmt *q = mg_class_query(page, "SELECT g.points, g.max " GRADED " ORDER BY g.points");
    while (mg_class_next(page, q))
        add(&s, sqlite3_column_double(q, 0), sqlite3_column_double(q, 1));
    fputs("<section id=\"scores\"><h2>Scores</h2>\n", page->out);
    if (s.count) {
        double middle = (s.point[(s.count - 1) / 2] + s.point[s.count / 2]) / 2;
        fprintf(page->out, "<p>%lld submissions graded, of %s points: mean %s, median %s.</p>\n", (long long)s.count,
                mg_points(max, s.max), mg_points(mean, s.sum / (double)s.count), mg_points(median, middle));
        put_bins(page->out, &s);
    } else {
        fputs("<p>No submission is graded yet.</p>\n", page->out);
    }
    fputs("</section>\n", page->out);
    free(s.point);
}

/* ---- steps ---------------------------------------------------------------------------------------- */

void mg_class_steps(mg_class_page *page)
{
    FILE *out = page->out;
    sqlite3_stmt *q = mg_class_query(
        page, "SELECT step, count(*), sum(passed), avg(points), avg(max), avg(seconds) FROM (SELECT r.step AS step,"
              " min(r.verdict = 'PASS') AS passed, sum(r.points) AS points, sum(r.max) AS max,"
              " sum(r.seconds) AS seconds, min(r.place) AS place FROM result r JOIN (SELECT g.id AS id " GRADED
              ") g ON g.id = r.grading WHERE " JUDGED " GROUP BY r.grading, r.step) GROUP BY step ORDER BY min(place)");
    fputs(
        "<section id=\"steps\"><h2>Steps</h2>\n<table>\n<caption>Submissions that pass all "
        "rows of a step, and its mean points, without rows that were not measured</caption>\n<thead><tr><th "
        "scope=\"col\">Step</th><th scope=\"col\" "
        "class=\"number\">Passed</th><td></td>"
        "<th scope=\"col\" class=\"number\">Mean points</th><th scope=\"col\" class=\"number wide\">Mean time</th></tr>"
        "</thead>\n<tbody>\n",
        out);
    while (mg_class_next(page, q)) {
        char mean[32], max[32], seconds[32];
        double count = sqlite3_column_double(q, 1), passed = sqlite3_column_double(q, 2);
        mg_put_element(out, "<tr><th scope=\"row\">", mg_column(q, 0), "</th>");
        fprintf(out, "<td class=\"number\">%.0f %%</td><td class=\"bar\">", 100 * passed / count);
        mg_put_share(out, passed, count);
        fprintf(out, "</td><td class=\"number\">%s/%s</td><td class=\"number wide\">%s</td></tr>\n",
                mg_points(mean, sqlite3_column_double(q, 3)), mg_points(max, sqlite3_column_double(q, 4)),
                mg_seconds(seconds, sqlite3_column_double(q, 5)));
    }
    fputs("</tbody></table></section>\n", out);
}

/* ---- rows ----------------------------------------------------------------------------------------- */

static void put_count(FILE *out, bool *any, int64_t count, const char *words)
{
    if (!count)
        return;
    fprintf(out, "%s%lld %s", *any ? ", " : "", (long long)count, words);
    *any = true;
}

void mg_class_hardest(mg_class_page *page)
{
    static const char *const words[] = { "failed", "crashed", "timed out", "to do" };
    FILE *out = page->out;
    sqlite3_stmt *q = mg_class_query(
        page, "SELECT r.step, r.name, count(*), sum(r.verdict = 'PASS') AS passed, sum(r.verdict = 'FAIL'),"
              " sum(r.verdict = 'CRASH'), sum(r.verdict = 'TIMEOUT'), sum(r.verdict = 'TODO'), max(CASE WHEN r.hint "
              "NOT LIKE 'make debug%' THEN r.hint END)"
              " FROM result r JOIN (SELECT g.id AS id " GRADED ") g ON g.id = r.grading"
              " WHERE " JUDGED " GROUP BY r.step, r.name"
              " HAVING passed < count(*) ORDER BY 1.0 * passed / count(*), min(r.place) LIMIT 12");
    fputs(
        "<section id=\"hardest\"><h2>Hardest rows</h2>\n<table>\n<caption>The twelve rows that the fewest submissions "
        "pass</caption>\n<thead><tr><th scope=\"col\">Step</th><th scope=\"col\">Row</th><th scope=\"col\" "
        "class=\"number\">Passed</th></tr></thead>\n<tbody>\n",
        out);
    while (mg_class_next(page, q)) {
        bool any = false;
        mg_put_element(out, "<tr><th scope=\"row\">", mg_column(q, 0), "</th>");
        mg_put_element(out, "<td class=\"words\">", mg_column(q, 1), "<br><span class=\"faint\">");
        for (int i = 0; i < MT_COUNT(words); i++)
            put_count(out, &any, sqlite3_column_int64(q, 4 + i), words[i]);
        if (mg_column(q, 8)[0])
            mg_put_element(out, "<br>Hint: ", mg_column(q, 8), "");
        fprintf(out, "</span></td><td class=\"number\">%.0f %%</td></tr>\n",
                100 * sqlite3_column_double(q, 3) / sqlite3_column_double(q, 2));
    }
    fputs("</tbody></table></section>\n", out);
}
