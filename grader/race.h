/* race.h -- the arithmetic of a race, apart from the running of it: minima, ratios, and whether to believe them. */
#ifndef MG_RACE_H
#define MG_RACE_H

#include "core/base.h"

enum { MG_SLICES = 512, MG_LAUNCHES = 16 };

typedef struct mg_side {
    double wall[MG_SLICES];     /* seconds of each timed call */
    double launch[MG_LAUNCHES]; /* the smallest of each launch; 0 before its first */
    double best;                /* the smallest of all */
    double best_share;          /* of that slice: wall / net */
    double best_net;            /* the smallest time that was left when waiting for a processor is taken off */
    int64_t count;
} mg_side;

typedef struct mg_tally {
    int processors; /* each side has */
    int launches;   /* begun */
    mg_side ours, theirs;
} mg_tally;

typedef struct mg_score {
    double ratio;       /* theirs / ours: above 1, ours is faster */
    double least, most; /* what it is at any rate, however much was disturbed */
    double spread;      /* how far our median lies above our minimum, as a share of it */
    bool contended;     /* something else used the processors while it mattered: believe least and most only */
    bool net;           /* ratio is of net times */
} mg_score;

/* mg_race_launch -- from now on slices are of fresh processes. */
void mg_race_launch(mg_tally *tally);

/* mg_race_slice -- one timed call of one side of the tally, in seconds.
 *   cpu     processor time of all its threads
 *   waited  time its threads were ready to run and had no processor, added up */
void mg_race_slice(mg_tally *tally, mg_side *side, double wall, double cpu, double waited);

/* mg_race_score -- what the slices so far say. With `last`, a contended race on one processor falls back on net times and
 * is contended no more. Rules: grading.md, "Performance bars". */
mg_score mg_race_score(const mg_tally *tally, bool last);

#endif
