/* progress.c -- drawing the progress line. */
#include "cli/progress.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define BAR_CELLS 24

static const double period[] = { [MT_PROGRESS_OFF] = 0, [MT_PROGRESS_LINES] = 10, [MT_PROGRESS_BAR] = 0.1 };

mt_progress mt_progress_begin(const char *unit, int64_t total)
{
    MT_CHECK(total > 0, "progress: the total is %" PRId64 " %s; it must be positive", total, unit);
    mt_progress_mode mode = isatty(STDERR_FILENO) ? MT_PROGRESS_BAR : MT_PROGRESS_LINES;
    double now = mt_now();
    return (mt_progress){ mode, unit, total, now, now + period[mode], false };
}

const char *mt_progress_duration(char text[32], double seconds)
{
    int64_t s = (int64_t)fmin(fmax(round(seconds), 0), 1e15), m = (s + 30) / 60;
    if (s < 120)
        snprintf(text, 32, "%" PRId64 " s", s);
    else if (m < 120)
        snprintf(text, 32, "%" PRId64 " min", m);
    else if (m < 48 * 60)
        snprintf(text, 32, "%" PRId64 " h %" PRId64 " min", m / 60, m % 60);
    else
        snprintf(text, 32, "%" PRId64 " d %" PRId64 " h", m / 1440, m % 1440 / 60);
    return text;
}

/* "500 steps/s", and below one a second "2.5 s/step". */
static int put_rate(char *text, size_t size, double rate, const char *unit)
{
    int length = (int)strlen(unit), one = length - (unit[length - 1] == 's');
    if (rate > 0 && rate < 1)
        return snprintf(text, size, "%.3g s/%.*s", 1 / rate, one, unit);
    return snprintf(text, size, "%.*f %s/s", rate < 10 && rate > 0, rate, unit);
}

void mt_progress_text(char *text, int64_t size, const mt_progress *progress, int64_t done, double seconds)
{
    char bar[BAR_CELLS + 1], speed[64], left[32];
    double part = (double)done / (double)progress->total, rate = seconds > 0 ? (double)done / seconds : 0;
    int full = (int)(part * BAR_CELLS);
    for (int i = 0; i < BAR_CELLS; i++)
        bar[i] = i < full ? '#' : '.';
    bar[BAR_CELLS] = '\0';
    put_rate(speed, sizeof speed, rate, progress->unit);
    int length = snprintf(text, (size_t)size, "[%s] %3.0f %%  %s", bar, 100 * part, speed);
    if (rate > 0 && length > 0 && length < size)
        snprintf(text + length, (size_t)(size - length), "  %s left",
                 mt_progress_duration(left, (double)(progress->total - done) / rate));
}

/* How much of a line fits: one that wraps could not be drawn over. */
static int room_on_terminal(int most)
{
    struct winsize size;
    bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    return known && size.ws_col - 1 < most ? size.ws_col - 1 : most;
}

enum { FIRST = 5 /* steps, of which the first is slower */, WORTH = 60 /* seconds */ };

/* Once, after the first steps. */
static void tell(mt_progress *progress, int64_t done, double seconds)
{
    char all[32], speed[64];
    double whole = seconds / (double)done * (double)progress->total;
    progress->told = done >= FIRST || seconds > WORTH / 3;
    if (!progress->told || done == progress->total || whole < WORTH)
        return;
    put_rate(speed, sizeof speed, (double)done / seconds, progress->unit);
    mt_progress_clear(progress);
    fflush(stdout);
    fprintf(stderr, "%" PRId64 " %s, %s: about %s\n", progress->total, progress->unit, speed,
            mt_progress_duration(all, whole));
}

void mt_progress_show(mt_progress *progress, int64_t done, const char *fmt, ...)
{
    char words[120], text[120], line[sizeof words + 2 + sizeof text];
    va_list args;
    if (progress->mode == MT_PROGRESS_OFF)
        return;
    double now = mt_now();
    if (!progress->told && done > 0)
        tell(progress, done, now - progress->started);
    if (now < progress->next)
        return;
    progress->next = now + period[progress->mode];
    va_start(args, fmt);
    vsnprintf(words, sizeof words, fmt, args);
    va_end(args);
    mt_progress_text(text, sizeof text, progress, done, now - progress->started);
    snprintf(line, sizeof line, "%s  %s", words, text);
    fflush(stdout);
    if (progress->mode == MT_PROGRESS_BAR) /* ESC [ K wipes what an older, longer line left */
        fprintf(stderr, "\r%.*s\033[K", room_on_terminal(sizeof line), line);
    else
        fprintf(stderr, "%s\n", line);
}

void mt_progress_clear(const mt_progress *progress)
{
    if (progress->mode == MT_PROGRESS_BAR)
        fputs("\r\033[K", stderr);
}
