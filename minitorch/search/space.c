/* space.c -- see space.h. */
#include "search/space.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- parsing ---------------------------------------------------------------------------------------- */

static const char SYNTAX[] = "use NAME=A..B, NAME=log:A..B, NAME=int:A..B or NAME=A|B|C, separated by commas";

static bool plain(const char *text, size_t length)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._+-/";
    return length > 0 && length < MT_SPACE_NAME && strspn(text, allowed) >= length;
}

/* Copies the word up to one of `stop`, and says where it ended; NULL: not a word that is allowed. */
static const char *word(char out[MT_SPACE_NAME], const char *text, const char *stop)
{
    size_t length = strcspn(text, stop);
    if (!plain(text, length))
        return NULL;
    snprintf(out, MT_SPACE_NAME, "%.*s", (int)length, text);
    return text + length;
}

static const char *choices(mt_dimension *d, const char *text)
{
    d->kind = MT_SPACE_CHOICE;
    for (;; text++) {
        if (d->count == MT_SPACE_CHOICES || !(text = word(d->choice[d->count++], text, "|,")))
            return NULL;
        if (*text != '|')
            return text;
    }
}

static const char *range(mt_dimension *d, const char *text)
{
    char *end, low[MT_SPACE_NAME];
    const char *dots = strstr(text, "..");
    if (!dots || snprintf(low, sizeof low, "%.*s", (int)mt_min(dots - text, MT_SPACE_NAME), text) >= MT_SPACE_NAME)
        return NULL;
    d->low = strtod(low, &end); /* of "0..1" it would take "0." */
    if (end == low || *end)
        return NULL;
    text = dots + 2;
    d->high = strtod(text, &end);
    if (end == text || !isfinite(d->low) || !isfinite(d->high) || d->low >= d->high)
        return NULL;
    if ((d->kind == MT_SPACE_LOG && (d->low <= 0 || !isfinite(d->high / d->low))) || !isfinite(d->high - d->low) ||
        (d->kind == MT_SPACE_WHOLE &&
         (d->low != floor(d->low) || d->high != floor(d->high) || fmax(-d->low, d->high) > 1e9)))
        return NULL;
    d->count = 4;
    if (*end == ':') {
        text = end + 1;
        d->count = strtoll(text, &end, 10);
        if (end == text || d->count < 2 || d->count > 1000)
            return NULL;
    }
    if (d->kind == MT_SPACE_WHOLE)
        d->count = mt_min(d->count, (int64_t)(d->high - d->low) + 1);
    return end;
}

static const char *dimension(mt_dimension *d, const char *text)
{
    *d = (mt_dimension){ 0 };
    text = word(d->name, text, "=,");
    if (!text || *text++ != '=')
        return NULL;
    size_t length = strcspn(text, ",");
    bool log = strncmp(text, "log:", 4) == 0, whole = strncmp(text, "int:", 4) == 0;
    if (!log && !whole && !memmem(text, length, "..", 2))
        return choices(d, text);
    d->kind = log ? MT_SPACE_LOG : whole ? MT_SPACE_WHOLE : MT_SPACE_REAL;
    return range(d, text + (log || whole ? 4 : 0));
}

mt_status mt_space_parse(mt_space *space, const char *text)
{
    *space = (mt_space){ 0 };
    for (const char *at = text;;) {
        if (space->count == MT_SPACE_DIMENSIONS)
            return mt_fail(MT_ERR_ARGUMENT, "more than %d hyperparameters", MT_SPACE_DIMENSIONS);
        mt_dimension *d = &space->dimension[space->count++];
        const char *end = dimension(d, at);
        if (!end || (*end && *end != ','))
            return mt_fail(MT_ERR_ARGUMENT, "'%.*s': %s", (int)mt_min(80, (int64_t)strcspn(at, ",")), at, SYNTAX);
        for (const mt_dimension *other = space->dimension; other < d; other++)
            if (strcmp(other->name, d->name) == 0)
                return mt_fail(MT_ERR_ARGUMENT, "'%s' is named twice", d->name);
        if (!*end)
            return MT_OK;
        at = end + 1;
    }
}

/* ---- points ------------------------------------------------------------------------------------------ */

/* Values that lie apart: choices and whole numbers; 0: any real number. */
static int64_t levels(const mt_dimension *d)
{
    return d->kind == MT_SPACE_CHOICE ? d->count : d->kind == MT_SPACE_WHOLE ? (int64_t)(d->high - d->low) + 1 : 0;
}

static int64_t level_of(const mt_dimension *d, double u)
{
    return mt_max(0, mt_min((int64_t)(u * (double)levels(d)), levels(d) - 1));
}

double mt_space_snap(const mt_space *space, int64_t i, double u)
{
    const mt_dimension *d = &space->dimension[i];
    u = u > 0 ? fmin(u, 1) : 0;
    return levels(d) ? ((double)level_of(d, u) + 0.5) / (double)levels(d) : u;
}

const char *mt_space_value(const mt_space *space, int64_t i, const mt_point *point)
{
    static char text[4][MT_SPACE_NAME];
    static int turn;
    const mt_dimension *d = &space->dimension[i];
    double u = point->at[i];
    turn = (turn + 1) % 4;
    if (d->kind == MT_SPACE_CHOICE)
        snprintf(text[turn], MT_SPACE_NAME, "%s", d->choice[level_of(d, u)]);
    else if (d->kind == MT_SPACE_WHOLE)
        snprintf(text[turn], MT_SPACE_NAME, "%" PRId64, (int64_t)d->low + level_of(d, u));
    else
        snprintf(text[turn], MT_SPACE_NAME, "%.6g",
                 d->kind == MT_SPACE_LOG ? d->low * pow(d->high / d->low, u) : d->low + (d->high - d->low) * u);
    return text[turn];
}

int64_t mt_space_grid(const mt_space *space)
{
    int64_t points = 1;
    for (int64_t i = 0; i < space->count; i++)
        points =
            points > INT64_MAX / 2 / space->dimension[i].count ? INT64_MAX / 2 : points * space->dimension[i].count;
    return points;
}

mt_point mt_space_grid_point(const mt_space *space, int64_t i)
{
    mt_point point = { 0 };
    for (int64_t k = space->count - 1; k >= 0; k--) {
        const mt_dimension *d = &space->dimension[k];
        int64_t n = d->count, step = i % n;
        i /= n;
        double u = d->kind == MT_SPACE_CHOICE ? ((double)step + 0.5) / (double)n
                                              : (n > 1 ? (double)step / (double)(n - 1) : 0);
        if (d->kind == MT_SPACE_WHOLE) /* equally spaced numbers, not levels */
            u = (floor(u * (d->high - d->low) + 0.5) + 0.5) / (double)levels(d);
        point.at[k] = u;
    }
    return point;
}

mt_point mt_space_random(const mt_space *space, mt_rng *rng)
{
    mt_point point = { 0 };
    for (int64_t i = 0; i < space->count; i++)
        point.at[i] = mt_space_snap(space, i, mt_rng_uniform(rng));
    return point;
}
