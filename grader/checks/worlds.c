/* worlds.c -- see worlds.h. */
#include "checks/worlds.h"
#include "checks/fill.h"

int mg_world(mt_rng *rng, int call)
{
    static const int powers[] = { 4, 8, 16 }, primes[] = { 5, 7, 11, 13 };
    int kind = call % MG_WORLDS;
    switch (kind) {
    case MG_WORLD_POWER:
        return powers[mt_rng_below(rng, MT_COUNT(powers))];
    case MG_WORLD_PRIME:
        return primes[mt_rng_below(rng, MT_COUNT(primes))];
    case MG_WORLD_MANY:
        return (int)mg_pick(rng, 65, MG_WORLD_MOST);
    default:
        return kind + 1;
    }
}

int64_t mg_long_parts(mt_rng *rng, int ranks, mt_dtype dtype, int64_t bytes)
{
    int64_t part = bytes / mt_dtype_size(dtype) + mg_pick(rng, 1, 99);
    return part * ranks + (ranks > 1 ? mg_pick(rng, 1, ranks - 1) : 0);
}

int mg_node(mt_rng *rng, int ranks)
{
    int some[MG_WORLD_MOST], count = 0;
    for (int node = 2; node < ranks; node++)
        if (ranks % node == 0)
            some[count++] = node;
    return count ? some[mt_rng_below(rng, count)] : mt_rng_below(rng, 2) ? ranks : 1;
}
