/* faulty_rank.h -- for check_mpi and check_nccl: ranks that add numbers, of which rank 1 does something else in the
 * third round. */
#pragma once

#include <signal.h>
#include <string.h>

#include "dist/comm.h"

/* data [8] of any memory; fault: kill, stop, leave, count, kind, size, or anything else for none. */
static inline mt_status rounds_with_fault(mt_comm *comm, const char *fault, float *data)
{
    mt_status status = MT_OK;
    for (int round = 0; round < 6 && status == MT_OK; round++) {
        bool now = comm->rank == 1 && round == 3;
        if (now && strcmp(fault, "kill") == 0)
            raise(SIGKILL);
        if (now && strcmp(fault, "stop") == 0)
            raise(SIGSTOP);
        if (now && strcmp(fault, "leave") == 0)
            return MT_OK;
        if (now && strcmp(fault, "kind") == 0)
            status = mt_broadcast(comm, data, 8, MT_F32, 0, NULL);
        else if (strcmp(fault, "size") == 0 && comm->rank < 2)
            status = comm->rank ? mt_send(comm, data, now ? 7 : 8, MT_F32, 0, NULL)
                                : mt_recv(comm, data, 8, MT_F32, 1, NULL);
        else
            status = mt_all_reduce(comm, data, now && strcmp(fault, "count") == 0 ? 7 : 8, MT_F32, MT_SUM, NULL);
    }
    return status;
}
