/* timeline.c -- a profile as a picture: a lane per thread, in it a row per depth, time to the right, a colour per name.
 *
 * However many spans there are the file stays small: one that would not reach half a unit beyond the last one drawn in
 * its row is left out, and counted. */
#include "core/io.h"
#include "prof/profile.h"
#include "prof/put.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum {
    LEFT = 110,  /* where time begins; left of it the threads' names */
    PLOT = 1070, /* width of the time that is drawn */
    RIGHT = 30,
    ROW = 18,
    GAP = 10,     /* between lanes */
    MAX_ROWS = 8, /* of a lane; deeper spans are not drawn */
    LEGEND = 4,   /* names in a line of the legend */
    LETTER = 7,   /* width of a letter, about */
};

#define COLORS 12
#define LEAST  0.5 /* width of the narrowest span drawn */
#define OTHERS "#c8c8c8"

static const char *const color[COLORS] = { "#7fb3d9", "#f5b26b", "#8ccf87", "#e88b86", "#b79bd3", "#c4a289",
                                           "#f0a6d2", "#d9d469", "#79d2d2", "#a3b8ff", "#ffd0a1", "#b8d8ba" };

typedef struct picture {
    FILE *out;
    const mt_profile *p;
    double seconds, scale; /* of the whole picture; x = LEFT + seconds * scale */
    double y;              /* of the next thing to draw */
    int64_t narrow, deep;  /* spans that are not drawn */
} picture;

static void put_rect(FILE *out, double x, double y, double width, double height, const char *fill)
{
    const struct {
        const char *key;
        double value;
    } side[] = { { "x", x }, { "y", y }, { "width", width }, { "height", height } };
    fputs("<rect", out);
    for (int i = 0; i < (int)MT_COUNT(side); i++) {
        fprintf(out, " %s=\"", side[i].key);
        mt_put_fixed(out, side[i].value, 2);
        fputc('"', out);
    }
    fprintf(out, " fill=\"%s\"", fill);
}

static void put_text(FILE *out, double x, double y, const char *anchor, const char *text)
{
    fputs("<text x=\"", out);
    mt_put_fixed(out, x, 2);
    fputs("\" y=\"", out);
    mt_put_fixed(out, y, 2);
    fprintf(out, "\" text-anchor=\"%s\">", anchor);
    mt_put_xml(out, text);
    fputs("</text>\n", out);
}

static const char *color_of(int64_t line)
{
    return line < COLORS ? color[line] : OTHERS;
}

/* ---- the time axis ------------------------------------------------------------------------------------------- */

/* The unit of a time axis of so many seconds. */
static void unit_of(double seconds, const char **unit, double *per_second)
{
    *unit = seconds >= 1 ? "s" : seconds >= 1e-3 ? "ms" : "us";
    *per_second = seconds >= 1 ? 1 : seconds >= 1e-3 ? 1e3 : 1e6;
}

/* A step of 1, 2 or 5 times a power of ten that makes at most ten of seconds. */
static double step_of(double seconds)
{
    double least = seconds / 10, power = pow(10, floor(log10(least)));
    return power * (least <= power ? 1 : least <= 2 * power ? 2 : least <= 5 * power ? 5 : 10);
}

static void put_axis(picture *pic, double top)
{
    const char *unit;
    double per_second, step = step_of(pic->seconds);
    char label[64];
    unit_of(pic->seconds, &unit, &per_second);
    int decimals = (int)fmax(0, ceil(-log10(step * per_second) - 1e-9));
    for (int64_t i = 0; (double)i * step <= pic->seconds * (1 + 1e-12); i++) {
        double x = LEFT + (double)i * step * pic->scale;
        put_rect(pic->out, x, top, 0.5, pic->y - top, "#999999");
        fputs("/>\n", pic->out);
        snprintf(label, sizeof label, "%.*f %s", decimals, (double)i * step * per_second, unit);
        put_text(pic->out, x, pic->y + 14, "middle", label);
    }
    pic->y += 22;
}

/* ---- lanes ---------------------------------------------------------------------------------------------------- */

static void put_span(picture *pic, const mt_profile_event *e, double x, double width, double y)
{
    const char *name = pic->p->line[e->line].name, *unit;
    double per_second, room = (double)mt_text_width(name) * LETTER + 6;
    double seam = width > 3 ? 0.6 : 0; /* separates consecutive spans of one name */
    put_rect(pic->out, x, y, width - seam, ROW - 1, color_of(e->line));
    fputs("><title>", pic->out);
    mt_put_xml(pic->out, name);
    unit_of(e->end - e->begin, &unit, &per_second);
    fputs(", ", pic->out);
    mt_put_fixed(pic->out, (e->end - e->begin) * per_second, 3);
    fprintf(pic->out, " %s</title></rect>\n", unit);
    if (width >= room)
        put_text(pic->out, x + 3, y + ROW - 5, "start", name);
}

static int rows_of(const mt_profile_thread *thread)
{
    int rows = 1;
    for (int64_t i = 0; i < thread->count; i++)
        rows = thread->event[i].depth >= rows ? thread->event[i].depth + 1 : rows;
    return rows < MAX_ROWS ? rows : MAX_ROWS;
}

static void put_lane(picture *pic, const mt_profile_thread *thread)
{
    double drawn[MAX_ROWS] = { 0 }; /* how far each row is drawn, from LEFT on */
    int rows = rows_of(thread);
    put_rect(pic->out, LEFT, pic->y, PLOT, rows * ROW, "#f4f4f4");
    fputs("/>\n", pic->out);
    put_text(pic->out, LEFT - 8, pic->y + ROW - 5, "end", thread->name);
    for (int64_t i = 0; i < thread->count; i++) {
        const mt_profile_event *e = &thread->event[i];
        if (e->depth >= rows) {
            pic->deep++;
            continue;
        }
        double x = fmax(drawn[e->depth], e->begin * pic->scale);
        double end = fmin(PLOT, e->end * pic->scale);
        if (end < drawn[e->depth] + LEAST && drawn[e->depth] > 0) {
            pic->narrow++;
            continue;
        }
        drawn[e->depth] = fmax(end, x + LEAST);
        put_span(pic, e, LEFT + x, drawn[e->depth] - x, pic->y + e->depth * ROW);
    }
    pic->y += rows * ROW + GAP;
}

/* ---- around them ------------------------------------------------------------------------------------------------ */

static void put_legend(picture *pic)
{
    const mt_profile *p = pic->p;
    char share[32];
    int64_t named = mt_min(p->line_count, COLORS), shown = named + (p->line_count > COLORS);
    for (int64_t i = 0; i < shown; i++) {
        double x = LEFT + (double)(i % LEGEND) * ((double)PLOT / LEGEND);
        double y = pic->y + (double)(i / LEGEND) * ROW;
        put_rect(pic->out, x, y, 12, 12, color_of(i));
        fputs("/>\n", pic->out);
        snprintf(share, sizeof share, " %.1f %%", p->seconds > 0 ? 100 * p->line[i].self / p->seconds : 0);
        fprintf(pic->out, "<text x=\"%d\" y=\"%d\">", (int)x + 18, (int)y + 11);
        mt_put_xml(pic->out, i < named ? p->line[i].name : "others");
        mt_put_xml(pic->out, i < named ? share : "");
        fputs("</text>\n", pic->out);
    }
    pic->y += (double)((shown + LEGEND - 1) / LEGEND) * ROW + GAP;
}

static void put_notes(picture *pic)
{
    char note[200];
    snprintf(note, sizeof note, "%.3f s, %" PRId64 " spans; per cent: self time of all threads.", pic->p->seconds,
             pic->p->spans);
    put_text(pic->out, LEFT, pic->y + 14, "start", note);
    snprintf(note, sizeof note,
             "Not drawn: %" PRId64 " too narrow, %" PRId64 " too deep, %" PRId64 " older than the profile keeps.",
             pic->narrow, pic->deep, pic->p->dropped);
    if (pic->narrow + pic->deep + pic->p->dropped > 0)
        put_text(pic->out, LEFT + PLOT, pic->y + 14, "end", note);
    pic->y += 22;
}

static double height_of(const mt_profile *p)
{
    int64_t shown = mt_min(p->line_count, COLORS) + (p->line_count > COLORS);
    double height = 36 + (double)((shown + LEGEND - 1) / LEGEND) * ROW + GAP + 44 + GAP;
    for (int64_t t = 0; t < p->thread_count; t++)
        height += rows_of(&p->thread[t]) * ROW + GAP;
    return height;
}

mt_status mt_profile_timeline(const mt_profile *p, const char *path)
{
    mt_file_writer file;
    double seconds = fmax(p->seconds, 1e-9);
    MT_TRY(mt_file_writer_open(&file, path));
    picture pic = { file.out, p, seconds, PLOT / seconds, 36, 0, 0 };
    fprintf(file.out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" "
            "font-size=\"12\" fill=\"#222222\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
            LEFT + PLOT + RIGHT, (int)height_of(p));
    put_text(file.out, LEFT, 22, "start", "Where the time went");
    put_legend(&pic);
    double top = pic.y;
    for (int64_t t = 0; t < p->thread_count; t++)
        put_lane(&pic, &p->thread[t]);
    put_axis(&pic, top);
    put_notes(&pic);
    fputs("</svg>\n", file.out);
    return mt_file_writer_close(&file);
}
