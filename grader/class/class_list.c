/* class_list.c -- the class one by one: submissions, those without a grade, similar pairs, the slowest. */
#include "class.h"
#include "text.h"

#include <string.h>
#include <time.h>

/* "2026-11-23 18:05", UTC; empty for none. */
static const char *date_of(char buffer[32], int64_t seconds)
{
    struct tm tm;
    time_t when = (time_t)seconds;
    buffer[0] = 0;
    if (seconds > 0 && gmtime_r(&when, &tm))
        strftime(buffer, 32, "%Y-%m-%d %H:%M", &tm);
    return buffer;
}

/* The name, as a link to the submission's page if it has one. */
static void put_name(mg_class_page *page, const char *name, int64_t submission, bool linked)
{
    if (linked)
        fprintf(page->out, "<a href=\"%.2s/%04lld/%.2s.html\">", page->lab, (long long)submission, page->lab);
    mg_put_element(page->out, "", name[0] ? name : "(no name)", linked ? "</a>" : "");
}

static bool has_page(const char *state)
{
    return strcmp(state, "graded") == 0 || strcmp(state, "untimed") == 0;
}

static void put_verdicts(FILE *out, int64_t failed, int64_t todo, int64_t unmeasured)
{
    const char *comma = failed && todo ? ", " : "";
    if (failed)
        fprintf(out, "%lld failed", (long long)failed);
    if (todo)
        fprintf(out, "%s%lld to do", comma, (long long)todo);
    if (unmeasured)
        fprintf(out, "%s%lld not measured", failed || todo ? ", " : "", (long long)unmeasured);
    if (!failed && !todo && !unmeasured)
        fputs("<span class=\"PASS\">all passed</span>", out);
}

/* dated: with the column of dates. */
static void put_student(mg_class_page *page, sqlite3_stmt *q, bool dated)
{
    FILE *out = page->out;
    char points[32], max[32], date[32], seconds[32];
    const char *state = mg_column(q, 2), *sid = mg_column(q, 9);
    bool known = has_page(state);
    fputs("<tr><th scope=\"row\" class=\"words\">", out);
    put_name(page, mg_column(q, 1), sqlite3_column_int64(q, 0), known);
    if (sid[0])
        mg_put_element(out, "<br><span class=\"faint\">", sid, "</span>");
    fputs("</th><td class=\"words\">", out);
    if (!known)
        mg_put_element(out, "<span class=\"ERROR\">", state, "</span>");
    else
        put_verdicts(out, sqlite3_column_int64(q, 7), sqlite3_column_int64(q, 8), sqlite3_column_int64(q, 11));
    if (dated)
        fprintf(out, "</td><td class=\"words\">%s%s", date_of(date, sqlite3_column_int64(q, 5)),
                sqlite3_column_int64(q, 6) ? " <strong class=\"TODO\">late</strong>" : "");
    fprintf(out, "</td><td class=\"number\">%s%s%s</td><td class=\"number wide\">%s</td></tr>\n",
            known ? mg_points(points, sqlite3_column_double(q, 3)) : "", known ? "/" : "",
            known ? mg_points(max, sqlite3_column_double(q, 4)) : "",
            mg_seconds(seconds, sqlite3_column_double(q, 10)));
}

/* Each submission with its last grading. The columns: see put_student. */
static const char students[] =
    "SELECT n.id, n.who, coalesce(g.state, 'ungraded'), coalesce(g.points, 0), coalesce(g.max, 0), n.handed_in, n.late,"
    " t.failed, t.todo, n.sid, coalesce(g.seconds, 0), t.unmeasured"
    " FROM named n LEFT JOIN last g ON g.submission = n.id LEFT JOIN tally t ON t.grading = g.id WHERE n.lab = ?1 "
    "ORDER BY n.who COLLATE NOCASE, n.id";

void mg_class_students(mg_class_page *page)
{
    int64_t all = 0, late = 0, dated = 0;
    sqlite3_stmt *q =
        mg_class_query(page, "SELECT count(*), coalesce(sum(late <> 0), 0), coalesce(sum(handed_in > 0 OR "
                             "late <> 0), 0) FROM submission WHERE lab = ?1");
    while (mg_class_next(page, q))
        all = sqlite3_column_int64(q, 0), late = sqlite3_column_int64(q, 1), dated = sqlite3_column_int64(q, 2);
    fprintf(page->out, "<section id=\"students\"><h2>Submissions</h2>\n<table>\n<caption>%lld submissions",
            (long long)all);
    if (dated)
        fprintf(page->out, ", %lld of them late; times are UTC", (long long)late);
    fprintf(page->out,
            "</caption>\n<thead><tr><th scope=\"col\">Students</th><th scope=\"col\">Rows</th>%s"
            "<th scope=\"col\" class=\"number\">Points</th><th scope=\"col\" class=\"number wide\">Graded in</th></tr>"
            "</thead>\n<tbody>\n",
            dated ? "<th scope=\"col\">Handed in</th>" : "");
    q = mg_class_query(page, students);
    while (mg_class_next(page, q))
        put_student(page, q, dated > 0);
    fputs("</tbody></table></section>\n", page->out);
}

void mg_class_refused(mg_class_page *page)
{
    FILE *out = page->out;
    int64_t count = 0;
    sqlite3_stmt *q =
        mg_class_query(page, "SELECT n.who, g.state, g.message FROM named n JOIN last g ON g.submission = n.id WHERE"
                             " n.lab = ?1 AND g.state NOT IN ('graded', 'untimed') ORDER BY n.who COLLATE NOCASE");
    fputs("<section id=\"refused\"><h2>Not graded</h2>\n", out);
    for (; mg_class_next(page, q); count++) {
        fputs(count ? "" : "<ul>\n", out);
        mg_put_element(out, "<li class=\"words\"><strong>", mg_column(q, 0), "</strong> ");
        mg_put_element(out, "(", mg_column(q, 1), "): ");
        mg_put_element(out, "", mg_column(q, 2), "</li>\n");
    }
    fputs(count ? "</ul></section>\n" : "<p>None.</p></section>\n", out);
}

void mg_class_similar(mg_class_page *page)
{
    FILE *out = page->out;
    int64_t count = 0;
    sqlite3_stmt *q = mg_class_query(
        page, "SELECT x.submission, a.who, x.other, b.who, x.source, x.percent, x.tokens FROM similarity x"
              " JOIN named a ON a.id = x.submission LEFT JOIN named b ON b.id = x.other WHERE x.lab = ?1"
              " ORDER BY x.percent DESC, x.tokens DESC LIMIT 100");
    fputs("<section id=\"similar\"><h2>Similar pairs</h2>\n", out);
    for (; mg_class_next(page, q); count++) {
        if (!count)
            fputs("<p class=\"faint\">A high share is a reason to read both, not a proof.</p>\n<table>\n<thead><tr>"
                  "<th scope=\"col\">Submission</th><th scope=\"col\">resembles</th><th scope=\"col\" class=\"number\">"
                  "Share</th><th scope=\"col\" class=\"number wide\">Tokens</th></tr></thead>\n<tbody>\n",
                  out);
        fputs("<tr><td class=\"words\">", out);
        put_name(page, mg_column(q, 1), sqlite3_column_int64(q, 0), true);
        fputs("</td><td class=\"words\">", out);
        if (sqlite3_column_type(q, 2) == SQLITE_NULL)
            mg_put_element(out, "", mg_column(q, 4), "");
        else
            put_name(page, mg_column(q, 3), sqlite3_column_int64(q, 2), true);
        fprintf(out, "</td><td class=\"number\">%.0f %%</td><td class=\"number wide\">%lld</td></tr>\n",
                sqlite3_column_double(q, 5), (long long)sqlite3_column_int64(q, 6));
    }
    fputs(count ? "</tbody></table></section>\n" : "<p>None found, or not searched for yet.</p></section>\n", out);
}

void mg_class_slowest(mg_class_page *page)
{
    FILE *out = page->out;
    char total[32], cpu[32], mean[32];
    fputs("<section id=\"time\"><h2>Time spent grading</h2>\n", out);
    sqlite3_stmt *q = mg_class_query(
        page, "SELECT coalesce(sum(g.seconds), 0), coalesce(sum(g.cpu), 0), coalesce(avg(g.seconds), 0) FROM grade g "
              "WHERE g.lab = ?1");
    while (mg_class_next(page, q))
        fprintf(out, "<p>Together %s, %s of processor time; %s for a submission.</p>\n",
                mg_seconds(total, sqlite3_column_double(q, 0)), mg_seconds(cpu, sqlite3_column_double(q, 1)),
                mg_seconds(mean, sqlite3_column_double(q, 2)));
    q = mg_class_query(page, "SELECT n.id, n.who, g.seconds, g.state FROM named n JOIN last g ON g.submission = n.id"
                             " WHERE n.lab = ?1 AND g.seconds > 0 ORDER BY g.seconds DESC LIMIT 5");
    fputs("<p>The slowest:</p>\n<ol>\n", out);
    while (mg_class_next(page, q)) {
        fputs("<li class=\"words\">", out);
        put_name(page, mg_column(q, 1), sqlite3_column_int64(q, 0), has_page(mg_column(q, 3)));
        fprintf(out, ": %s</li>\n", mg_seconds(total, sqlite3_column_double(q, 2)));
    }
    fputs("</ol></section>\n", out);
}
