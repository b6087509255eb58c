/* race.h -- the arithmetic of a race: minima, ratios, and whether they are reliable. */
#pragma once

#include "core/base.h"

enum { MG_SLICES = 512, MG_LAUNCHES = 16 };

typedef struct mg_side {
    double wall[MG_SLICES];     /* seconds of each timed call */
    double launch[MG_LAUNCHES]; /* the smallest of each launch; 0 before its first */
    double best;                /* the smallest of all */
    double best_share;          /* of that slice: wall / net */
    double best_net;            /* the smallest time without waiting for a processor */
    int64_t count;
} mg_side;

typedef struct mg_tally {
    int processors; /* each side has */
    int launches;   /* begun */
    mg_side ours, theirs;
} mg_tally;

typedef struct mg_score {
    double ratio;       /* theirs / ours: above 1, ours is faster */
    double least, most; /* bounds of the ratio in spite of disturbances */
    double spread;      /* the distance of our median from our minimum, relative to the minimum */
    bool contended; /* other programs used the processors in the decisive slices: only least and most are reliable */
    bool net;       /* ratio is of net times */
} mg_score;

/* mg_race_launch -- the following slices are of new processes. */
void mg_race_launch(mg_tally *tally);

/* mg_race_slice -- one timed call of one side of the tally, in seconds.
 *   cpu     processor time of all its threads
 *   waited  time its threads were ready to run and had no processor, added up, and such time of the grader, which
 *           sees later that the call has ended */
void mg_race_slice(mg_tally *tally, mg_side *side, double wall, double cpu, double waited);

/* mg_race_score -- the result of the slices so far. With `last`, a contended race on one processor uses net times and
 * is no longer contended. Rules: docs/GRADING.md, "Speed bars". */
mg_score mg_race_score(const mg_tally *tally, bool last);

/* mg_race_worse -- the score of two races, of which the one with the smaller ratio counts. */
mg_score mg_race_worse(const mg_score *a, const mg_score *b);

/* mg_race_median -- the middle one of three scores, by their ratios. */
mg_score mg_race_median(const mg_score scores[3]);

/* mg_race_near -- whether a ratio that earns nothing lies so little below the bar's `low` that another race of the same
 * units could lie above it: that is not a FAIL. No points are at stake, because credit begins at 0 there. */
bool mg_race_near(const mg_score *score, double ratio, double low);
