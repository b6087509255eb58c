/* space.h -- the hyperparameters of a sweep, and a setting of them as a point of the unit cube.
 *
 *     mt_space space;
 *     mt_space_parse(&space, "lr=log:1e-5..1e-2,batch=4|8|16,layers=int:1..6,dropout=0..0.5");
 *
 * NAME=A..B is a range of real numbers, log: one on a logarithmic axis, int: one of whole numbers; A|B|C are choices.
 * `:N` behind a range says how many of its values a grid takes (default 4; a choice has all of its own). */
#pragma once

#include "core/base.h"
#include "core/rng.h"

MT_C_BEGIN

enum { MT_SPACE_DIMENSIONS = 8, MT_SPACE_CHOICES = 16, MT_SPACE_NAME = 32 };

typedef enum mt_space_kind { MT_SPACE_REAL, MT_SPACE_LOG, MT_SPACE_WHOLE, MT_SPACE_CHOICE } mt_space_kind;

typedef struct mt_dimension {
    char name[MT_SPACE_NAME];
    mt_space_kind kind;
    double low, high; /* of a range */
    int64_t count;    /* choices, or values of a grid */
    char choice[MT_SPACE_CHOICES][MT_SPACE_NAME];
} mt_dimension;

typedef struct mt_space {
    int64_t count;
    mt_dimension dimension[MT_SPACE_DIMENSIONS];
} mt_space;

/* A setting: coordinate i is in [0, 1]. In a choice, coordinate (c + 0.5) / count means choice c. */
typedef struct mt_point {
    double at[MT_SPACE_DIMENSIONS];
} mt_point;

/* mt_space_parse -- MT_ERR_ARGUMENT, with what was expected, for any other text; *space is then undefined. Names and
 * choices are of letters, digits and . _ + - / only, so that they are one word of any command. */
mt_status mt_space_parse(mt_space *space, const char *text);

/* mt_space_value -- the value of dimension d at a point, as text; valid until four more calls. */
const char *mt_space_value(const mt_space *space, int64_t d, const mt_point *point);

/* mt_space_grid -- points of the grid, INT64_MAX / 2 if there are more; mt_space_grid_point -- number i of them, the
 * last dimension fastest, both ends of each range included. */
int64_t mt_space_grid(const mt_space *space);
mt_point mt_space_grid_point(const mt_space *space, int64_t i);

/* mt_space_random -- uniform in the cube; whole numbers and choices have equal probabilities. */
mt_point mt_space_random(const mt_space *space, mt_rng *rng);

/* mt_space_snap -- coordinate `u` (any number) moved to the nearest one that dimension d can take. */
double mt_space_snap(const mt_space *space, int64_t d, double u);

MT_C_END
