/* progress.c -- see progress.h. */
#include "progress.h"
#include "sandbox/session.h"
#include "text.h"

#include <stdio.h>
#include <unistd.h>

static void clear(mg_progress *p)
{
    if (p->shown)
        fputs("\r\033[K", stderr);
    p->shown = false;
}

/* "3 min", "40 s" of what is left, when all go on as fast as those before; "" before the first. */
static const char *time_left(const mg_progress *p, char text[32])
{
    double seconds = p->worked ? (mt_now() - p->phase) / (double)p->worked * (double)(p->total - p->done) : 0;
    text[0] = 0;
    if (p->worked && seconds >= 90)
        snprintf(text, 32, "%.0f min left", seconds / 60);
    else if (p->worked)
        snprintf(text, 32, "%.0f s left", seconds);
    return text;
}

void mg_progress_begin(mg_progress *p, int64_t submissions)
{
    *p = (mg_progress){ .began = mt_now(), .phase = mt_now(), .total = submissions };
    printf("%lld submissions\n", (long long)submissions);
}

void mg_progress_timed(mg_progress *p, int64_t submissions, const char *engine)
{
    clear(p);
    if (submissions == 0 || mg_stop)
        return;
    p->phase = mt_now();
    p->total = submissions;
    p->done = p->worked = 0;
    p->timing = true;
    printf("%lld to be timed, or graded again after an error; one after the other%s:\n", (long long)submissions,
           engine ? " on each machine" : "");
}

void mg_progress_skip(mg_progress *p)
{
    p->done++;
    p->skipped++;
}

void mg_progress_done(mg_progress *p, const mg_handin *handin, const mg_grading *g)
{
    char left[32], points[32], max[32];
    const char *name = handin->student[0].name;
    clear(p);
    p->done++;
    p->worked += g->state != MG_REFUSED;
    p->refused += g->state == MG_REFUSED;
    p->broken += g->state == MG_BROKEN;
    if (p->done > p->total)
        p->total = p->done;
    printf("[%*lld/%lld] %s%*s ", p->total < 100 ? 2 : 3, (long long)p->done, (long long)p->total, name,
           (int)mt_max(0, 28 - mg_width(name)), "");
    if (g->state == MG_BROKEN || g->state == MG_REFUSED)
        printf("%s  %s", g->state == MG_BROKEN ? "ERROR" : "refused", g->message);
    else
        printf("%6s/%-6s", mg_points(points, g->points), mg_points(max, g->max));
    if (g->state == MG_UNTIMED && !p->timing)
        fputs("  without timed rows", stdout);
    printf("  %s\n", time_left(p, left));
    fflush(stdout);
}

void mg_progress_tick(mg_progress *p)
{
    char left[32];
    if (!isatty(2))
        return;
    clear(p);
    fprintf(stderr, "  %lld/%lld  %s", (long long)p->done, (long long)p->total, time_left(p, left));
    p->shown = true;
}

void mg_progress_say(mg_progress *p, const char *fmt, ...)
{
    va_list args;
    clear(p);
    va_start(args, fmt);
    fputs("grade-all: ", stderr);
    vfprintf(stderr, fmt, args);
    fputc('\n', stderr);
    va_end(args);
}

mt_status mg_progress_open(mg_book *book, const char *lab, const char *folder)
{
    static const struct {
        mg_verdict verdict;
        const char *words;
    } kinds[] = {
        { MG_INCONCLUSIVE, "when the machine is quiet, make grade-all REGRADE=inconclusive measures these rows again" },
        { MG_REVIEW, "look at the code of these rows and give their points by hand (docs/INSTRUCTORS.md, Batch)" },
    };
    mt_status status = MT_OK;
    for (int64_t i = 0; status == MT_OK && i < MT_COUNT(kinds); i++) {
        mg_open_rows open;
        status = mg_book_open_rows(book, kinds[i].verdict, lab, folder, 0, &open);
        if (open.rows)
            printf("%lld rows of %lld submissions are %s and have no points yet: %s\n", (long long)open.rows,
                   (long long)open.submissions, mg_verdict_name(kinds[i].verdict), kinds[i].words);
    }
    return status;
}

mt_status mg_progress_end(mg_progress *p, mg_book *book, const char *lab, const char *folder, int64_t left,
                          int64_t other_version)
{
    clear(p);
    printf("%s%.0f s; ", mg_stop ? "interrupted; " : "", mt_now() - p->began);
    if (p->skipped)
        printf("%lld were in the gradebook already, ", (long long)p->skipped);
    printf("%lld refused, %lld errors of the grader\n", (long long)p->refused, (long long)p->broken);
    mt_status status = mg_progress_open(book, lab, folder);
    if (other_version)
        printf("%lld were graded by another version of the grader; REGRADE=all grades them again\n",
               (long long)other_version);
    if (left)
        printf("%lld are not finished: the same command goes on with them\n", (long long)left);
    return status;
}
