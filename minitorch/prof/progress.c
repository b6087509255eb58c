/* progress.c -- drawing the progress line. */
#include "prof/progress.h"

#include <inttypes.h>
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
    return (mt_progress){ mode, unit, total, now, now + period[mode] };
}

void mt_progress_text(char *text, int64_t size, const mt_progress *progress, int64_t done, double seconds)
{
    char bar[BAR_CELLS + 1];
    double part = (double)done / (double)progress->total, rate = seconds > 0 ? (double)done / seconds : 0;
    int full = (int)(part * BAR_CELLS);
    for (int i = 0; i < BAR_CELLS; i++)
        bar[i] = i < full ? '#' : '.';
    bar[BAR_CELLS] = '\0';
    int length = snprintf(text, (size_t)size, "[%s] %3.0f %%  %.0f %s/s", bar, 100 * part, rate, progress->unit);
    if (rate > 0 && length > 0 && length < size)
        snprintf(text + length, (size_t)(size - length), "  %.0f s left", (double)(progress->total - done) / rate);
}

/* How much of a line fits: one that wraps could not be drawn over. */
static int room_on_terminal(int most)
{
    struct winsize size;
    bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    return known && size.ws_col - 1 < most ? size.ws_col - 1 : most;
}

void mt_progress_show(mt_progress *progress, int64_t done, const char *fmt, ...)
{
    char words[120], text[120], line[sizeof words + 2 + sizeof text];
    va_list args;
    if (progress->mode == MT_PROGRESS_OFF)
        return;
    double now = mt_now();
    if (now < progress->next)
        return;
    progress->next = now + period[progress->mode];
    va_start(args, fmt);
    vsnprintf(words, sizeof words, fmt, args);
    va_end(args);
    mt_progress_text(text, sizeof text, progress, done, now - progress->started);
    snprintf(line, sizeof line, "%s  %s", words, text);
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
