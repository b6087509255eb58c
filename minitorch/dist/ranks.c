/* ranks.c -- mt_ranks_run; see threads.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dist/threads.h"

typedef struct ranker {
    pthread_t thread;
    mt_comm *comm;
    mt_clock *clock;
    mt_status (*run)(mt_comm *comm, void *user);
    void *user;
    mt_status status;
    char words[400];
} ranker;

static void *run_rank(void *arg)
{
    ranker *r = arg;
    r->status = r->run(r->comm, r->user);
    if (r->status != MT_OK)
        snprintf(r->words, sizeof r->words, "%s", mt_last_error());
    mt_comm_free(r->comm);
    r->clock->leave(r->clock);
    return NULL;
}

mt_status mt_ranks_run(int size, const mt_wires *wires, mt_status (*run)(mt_comm *comm, void *user), void *user)
{
    mt_status status = MT_OK;
    mt_clock *clock = wires->clock ? wires->clock : mt_clock_real();
    mt_comm **comms = mt_calloc(size, sizeof *comms);
    ranker *rankers = mt_calloc(size, sizeof *rankers);
    mt_comm_threads(comms, size, wires);
    for (int rank = 0; rank < size; rank++) {
        rankers[rank] = (ranker){ .comm = comms[rank], .clock = clock, .run = run, .user = user };
        clock->enter(clock);
        int error = pthread_create(&rankers[rank].thread, NULL, run_rank, &rankers[rank]);
        MT_CHECK(error == 0, "no thread for rank %d: %s", rank, strerror(error));
    }
    clock->leave(clock);
    for (int rank = 0; rank < size; rank++)
        pthread_join(rankers[rank].thread, NULL);
    clock->enter(clock);
    for (int cause = 0; cause < 2; cause++)
        for (int rank = size - 1; rank >= 0; rank--)
            if (rankers[rank].status != MT_OK && (!cause || rankers[rank].status != MT_ERR_UNAVAILABLE))
                status = mt_fail(rankers[rank].status, "rank %d: %s", rank, rankers[rank].words);
    free(rankers);
    free(comms);
    return status;
}
