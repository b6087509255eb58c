/* calls_13_training.h -- the second half of lab 13: calls on ranks whose collectives are noted (worker/hub.h). */
#pragma once

#include "dist/threads.h"
#include "worker/call.h"
#include "worker/hub.h"

typedef struct mg_hub mg_hub;

/* One rank's communicator. */
typedef struct mg_hub_rank {
    mt_comm base;
    mg_hub *hub;
    int64_t calls;
    bool knows_failure;             /* a collective of this rank, or the wait for it, has returned one */
    int64_t (*row)[MG_HUB_COLUMNS]; /* [MG_HUB_ROWS] */
    const char *array;              /* which MG_HUB_AT counts from, and its bytes; NULL: none */
    int64_t bytes;
    void (*seen)(struct mg_hub_rank *rank, const mt_collective *call); /* at each collective; NULL: nothing */
    void *user;                                                        /* of seen */
} mg_hub_rank;

/* mg_on_hub -- run(rank, user) in a thread for each of size ranks, or for one in this thread; rows [size, MG_HUB_ROWS,
 * MG_HUB_COLUMNS]. */
void mg_on_hub(int size, const int64_t *numbers, int64_t *rows, mt_status (*run)(mg_hub_rank *rank, void *user),
               void *user);

mt_clock *mg_hub_clock(const mg_hub_rank *rank);
int64_t mg_hub_now(const mg_hub_rank *rank); /* nanoseconds */

void mg_call_ddp(const mg_value *v);
void mg_call_zero_part(const mg_value *v);
void mg_call_zero(const mg_value *v);
void mg_call_onebit(const mg_value *v);
void mg_call_topk(const mg_value *v);
void mg_call_outer(const mg_value *v);
void mg_call_server(const mg_value *v);
