/* 13-order.h -- what the checks of a parameter server share: a run, and the order of events that it should have. */
#pragma once

#include "check.h"
#include "dist/server.h"
#include "worker/ranks.h"

/* As mt_server_event, of which the worker may write any bits. */
typedef struct mg_event {
    double seconds;
    int64_t staleness;
    int32_t worker;
    uint8_t is_push;
} mg_event;
_Static_assert(sizeof(mg_event) == sizeof(mt_server_event), "the events of the worker are read as these");

enum { MG_EVENT_WORDS = sizeof(mg_event) / sizeof(int64_t) };

/* A run of the server. */
typedef struct mg_server_plan {
    int workers;
    int64_t updates, bound;
    double seconds[MG_RANKS];
    mg_event *events; /* what should happen */
    int64_t count;
} mg_server_plan;

/* mg_13_expect_order -- fills in p->events, to be freed, and p->count. */
void mg_13_expect_order(mg_server_plan *p);

/* mg_13_draw_seconds -- what each worker takes: 1 / 16 to 10 s, multiples of 2^-20 s. Equal: all take as long, or one,
 * two or four times as long. Slow: one of them takes 1000 s. */
void mg_13_draw_seconds(mt_rng *rng, mg_server_plan *p, bool equal, bool slow);
