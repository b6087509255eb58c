/* wire_traffic.h -- what a counting worker (worker/traffic.c) returns: the last argument of its calls, an array of
 * bytes. */
#ifndef MG_WIRE_TRAFFIC_H
#define MG_WIRE_TRAFFIC_H

#include <stdint.h>

typedef struct mg_traffic_report {
    int64_t fetched, written; /* bytes, in whole lines of 64 */
} mg_traffic_report;

#endif
