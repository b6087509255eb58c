/* calls_13.h -- how calls of labs 13 and 14 run: as ranks whose messages are noted (worker/ranks.h). */
#pragma once

#include "dist/threads.h"
#include "worker/call.h"
#include "worker/ranks.h"

#include <string.h>

/* mg_number -- the double with these bits. */
static inline double mg_number(int64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* What one rank calls, with its array and the numbers MG_CALL_*. */
typedef mt_status (*mg_rank)(mt_comm *comm, void *data, const int64_t *numbers);

/* mg_on_ranks -- each rank runs `rank` on an array of its own, or on its part of an array of all (ranks.h). */
void mg_on_ranks(const mg_value *v, mg_rank rank);

/* mg_ranks_work -- notes that a part of a pipeline is computed, in the row of the rank whose first communicator comm
 * is; live: micro-batches after it in a forward, before it in a backward. */
void mg_ranks_work(mt_comm *comm, bool backward, int64_t micro, int64_t chunk, int64_t live);

/* mg_ranks_message_in -- the row of a message whose buffer is in this block, and that has not been waited for, although
 * its communicator is still there; -1: none. comm: as above. */
int64_t mg_ranks_message_in(mt_comm *comm, const void *block, int64_t bytes);

/* mg_ranks_clock -- the clock of the ranks that run. */
mt_clock *mg_ranks_clock(void);
