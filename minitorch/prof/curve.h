/* curve.h -- columns of a CSV file as a picture (SVG), drawn by gnuplot. */
#pragma once

#include "core/base.h"

MT_C_BEGIN

#define MT_CURVE_LINES 6

typedef enum mt_curve_axis { MT_CURVE_LEFT, MT_CURVE_RIGHT } mt_curve_axis;

typedef struct mt_curve {
    const char *title, *x;    /* x: the column that runs along the bottom */
    const char *left, *right; /* what the axes show; right may be NULL */
    bool stacked;             /* areas on top of each other, the first line's lowest; the left axis begins at 0 */
    struct {
        const char *column, *label;
        mt_curve_axis axis;
    } line[MT_CURVE_LINES]; /* the first without a column ends the list */
} mt_curve;

/* mt_curve_svg -- draw columns of the CSV file into the SVG file, which is replaced only when all went well. The left
 * axis has the range of its values; it is logarithmic where they are positive and the largest is ten times the smallest
 * or more, otherwise linear. An empty field has no point, and the line goes on to the next one.
 * MT_ERR_UNAVAILABLE, saying how to get it, without gnuplot; MT_ERR_IO when gnuplot cannot draw. */
mt_status mt_curve_svg(const char *svg, const char *csv, const mt_curve *curve);

MT_C_END
