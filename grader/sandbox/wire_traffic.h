/* wire_traffic.h -- the last argument of a counting worker's calls (worker/traffic.c), an array of bytes: the size of
 * the cache goes there, the counts come back. */
#pragma once

#include <stdint.h>

enum { MG_ONE_CALL = 0, MG_ALSO_AT_ONCE = -1 }; /* in place of a cache: search for data races */

/* Bytes of stack of a counted call, and of each thread that it starts: the blocks of lab 01's product take 1.4 MiB. */
enum { MG_COUNTED_STACK = 2 << 20 };

typedef struct mg_traffic_report {
    int64_t cache;            /* bytes; or one of the above */
    int64_t fetched, written; /* bytes, in whole lines of 64 */
    int64_t accesses;         /* of lines: loads and stores */
    int64_t raced;            /* an access that was part of a data race, as an address of the worker's code; 0: none */
    int64_t raced_at_once;    /* the same, of a race between calls at once */
    int64_t changed_statics;  /* 1: each of them writes static memory, by code that is not searched */
    int64_t unseen; /* the address at which a function was called whose accesses are not counted; 0: none was */
} mg_traffic_report;
