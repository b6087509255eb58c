/* worlds.h -- how many ranks, and how many elements, the calls of a row have that runs on ranks.
 *
 * A row makes calls number 0, 1, 2, ...; each has a world of its own kind, so that every row meets one rank, odd
 * numbers and powers of two, and more ranks than a word has bits. */
#pragma once

#include "core/dtype.h"
#include "core/rng.h"

enum {
    MG_WORLD_ONE,
    MG_WORLD_TWO,
    MG_WORLD_THREE,
    MG_WORLD_POWER, /* of two: 4, 8, 16 */
    MG_WORLD_PRIME, /* 5, 7, 11, 13 */
    MG_WORLD_MANY,  /* 65 to MG_WORLD_MOST */
    MG_WORLDS,
    MG_WORLD_MOST = 67,
};

/* mg_world -- the number of ranks of call number `call` of a row; the kinds follow one another. */
int mg_world(mt_rng *rng, int call);

/* mg_node -- so many ranks of a node that all nodes have equally many: neither one nor all, where that is possible. */
int mg_node(mt_rng *rng, int ranks);

/* Hints of parts on many ranks, and with long messages. */
#define MG_MANY_RANKS \
    "any number of ranks is allowed, also more than a word has bits or an array of fixed size elements"
#define MG_LONG "a long message is not sent at once: a send may wait for its receive"

/* mg_long_parts -- so many elements that each of `ranks` equal parts has more than that many bytes, and some are longer
 * by one element. A message of more than 64 KiB, or 1 MiB, is above what transports send at once. */
int64_t mg_long_parts(mt_rng *rng, int ranks, mt_dtype dtype, int64_t bytes);
