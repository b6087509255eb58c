/* draw.h -- for the programs draw_NN: the pictures of the handout of lab NN, as SVG. What they show is computed by the
 * functions of the framework and of the units (yours, with MINE), not written down.
 *
 *     static const draw_picture pictures[] = { { "ring.svg", 860, 400, "What is seen, in words", ring }, { 0 } };
 *     return draw_all(argc, argv, pictures);
 *
 * Coordinates are units of the picture, of which 860 are the width of a page. Boxes have a light colour and dark text;
 * the picture has its own light background, so that it can be read on a dark page, too. */
#pragma once

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/cli.h"

enum { DRAW_WIDTH = 860 };

typedef struct draw_picture {
    const char *name;
    int height;
    const char *title; /* what is seen, for readers who do not see it */
    void (*draw)(void);
} draw_picture;

static FILE *draw_out; /* the picture that is being drawn */

__attribute__((format(printf, 1, 0))) static inline void draw_words(const char *format, va_list args)
{
    char words[400];
    vsnprintf(words, sizeof words, format, args);
    for (const char *c = words; *c; c++)
        fputs(*c == '<' ? "&lt;" : *c == '>' ? "&gt;" : *c == '&' ? "&amp;" : (char[]){ *c, 0 }, draw_out);
}

/* draw_text -- kind: 's', 't' (a title) and 'c' (code) begin at x, 'm' is centred there, 'e' ends there. */
__attribute__((format(printf, 4, 5))) static inline void draw_text(char kind, double x, double y, const char *format,
                                                                   ...)
{
    va_list args;
    fprintf(draw_out, "<text class=\"%c\" x=\"%.1f\" y=\"%.1f\">", kind, x, y);
    va_start(args, format);
    draw_words(format, args);
    va_end(args);
    fputs("</text>\n", draw_out);
}

/* draw_box -- a rectangle with words in its middle. color: 'a' to 'f', 'g' grey; shade: 0, white, to 1. */
__attribute__((format(printf, 7, 8))) static inline void draw_box(char color, double shade, double x, double y,
                                                                  double width, double height, const char *format, ...)
{
    static const int colors[] = { 0x7fb3d9, 0xf5b26b, 0x8ccf87, 0xe88b86, 0xb79bd3, 0xe3d75f, 0xc8c8c8 };
    int mixed = 0;
    for (int bits = 16; bits >= 0; bits -= 8)
        mixed = mixed << 8 | (255 - (int)lround(shade * (255 - (colors[color - 'a'] >> bits & 255))));
    fprintf(draw_out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"#%06x\"/>\n", x, y, width,
            height, (unsigned)mixed);
    va_list args;
    if (!*format)
        return;
    fprintf(draw_out, "<text class=\"m\" x=\"%.1f\" y=\"%.1f\">", x + width / 2, y + height / 2 + 4.5);
    va_start(args, format);
    draw_words(format, args);
    va_end(args);
    fputs("</text>\n", draw_out);
}

/* draw_line -- kind: 'l' a line, 'x' a thick one, 'd' dashed, 'h' with an arrow's head at its end. */
static inline void draw_line(char kind, double x, double y, double to_x, double to_y)
{
    fprintf(draw_out, "<path class=\"%c\" d=\"M%.1f %.1fL%.1f %.1f\"/>\n", kind, x, y, to_x, to_y);
}

/* draw_curve -- a line through count points. color as of a box. */
static inline void draw_curve(char color, const double *x, const double *y, int64_t count)
{
    fprintf(draw_out, "<path class=\"p%c\" d=\"", color);
    for (int64_t i = 0; i < count; i++)
        fprintf(draw_out, "%c%.1f %.1f", i ? 'L' : 'M', x[i], y[i]);
    fputs("\"/>\n", draw_out);
}

static inline void draw_one(const draw_picture *p)
{
    fprintf(draw_out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\">\n"
            "<title>%s</title>\n"
            "<style>text{font:12px sans-serif;fill:#1d2430}.t{font-size:14px;font-weight:bold}.m{text-anchor:middle}"
            ".e{text-anchor:end}.c{font-family:monospace}rect{stroke:#4a5568;stroke-width:.7}"
            "path{stroke:#4a5568;fill:none}.x{stroke-width:2.5;stroke:#b0532e}.d{stroke-dasharray:4 3}"
            ".h{marker-end:url(#h);stroke-width:1.3}.pa,.pb,.pc,.pd,.pe{stroke-width:2}.pa{stroke:#1f5fa8}"
            ".pb{stroke:#c05621}.pc{stroke:#2f7d32}.pd{stroke:#b3261e}.pe{stroke:#6b46a1}</style>\n"
            "<marker id=\"h\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" "
            "orient=\"auto\"><path d=\"M0 0L8 4L0 8z\" style=\"fill:#4a5568;stroke:none\"/></marker>\n"
            "<rect x=\".5\" y=\".5\" width=\"%d\" height=\"%d\" rx=\"6\" fill=\"#fcfcfa\"/>\n",
            DRAW_WIDTH, p->height, DRAW_WIDTH, p->height, p->title, DRAW_WIDTH - 1, p->height - 1);
    p->draw();
    fputs("</svg>\n", draw_out);
}

/* draw_all -- main of such a program: the pictures, of which the last has no name, into the folder that it is given. */
static inline int draw_all(int argc, char **argv, const draw_picture *pictures)
{
    static const mt_option flags[] = { { 0 } };
    mt_words words = mt_cli_parse_words(argc, argv, "Draw the pictures of a handout into DIR (build/pictures).", flags,
                                        NULL, "[DIR]", 1);
    const char *folder = words.count ? words.item[0] : "build/pictures";
    char path[4096];
    mkdir("build", 0777), mkdir(folder, 0777);
    for (const draw_picture *p = pictures; p->name; p++) {
        snprintf(path, sizeof path, "%s/%s", folder, p->name);
        draw_out = fopen(path, "we");
        if (!draw_out)
            return mt_cli_exit(mt_fail(MT_ERR_IO, "%s: %s", path, strerror(errno)));
        draw_one(p);
        bool bad = ferror(draw_out);
        if (fclose(draw_out) != 0 || bad)
            return mt_cli_exit(mt_fail(MT_ERR_IO, "%s: cannot be written", path));
        printf("%s\n", path);
    }
    return 0;
}
