/* mpi.h -- ranks that are processes, on one machine or several, started by mpirun or srun; messages by MPI.
 *
 *     mpirun -n 2 --oversubscribe --mca mpi_yield_when_idle 1 PROGRAM ...        (as root also --allow-run-as-root)
 *
 * Programs are linked with MPI where it is installed (Makefile); elsewhere mt_comm_mpi says which package is missing.
 * MPI works on a message only while it is asked: a message with a handle is sure to advance only in a call of
 * this communicator, or in its communication thread, so collectives do run while the caller computes.
 *
 * After a failure the program prints mt_last_error and exits with another status than 0, on which mpirun ends the
 * other ranks. A rank that is killed is noticed, and named, by mpirun. Nothing is left in /dev/shm.
 * mpirun of Open MPI 4.1.4 itself now and then does not end after it has ended all ranks of a failed job: scripts run
 * it under `timeout -k`. */
#pragma once

#include "dist/threads.h"

MT_C_BEGIN

/* mt_comm_mpi -- *out joins all processes of the job. Once in a process; the first call waits for all processes, and
 * freeing the last communicator does too; after the deadline they say so, and end the process with status 1.
 * wires: clock has to be NULL, and network only chooses algorithms.
 * Fails: MT_ERR_UNAVAILABLE, without MPI. */
mt_status mt_comm_mpi(mt_comm **out, const mt_wires *wires);

/* mt_mpi_launched -- with how many ranks mpirun or srun has started this process; 0: it has not. *rank is
 * its own number. */
int mt_mpi_launched(int *rank);

/* mt_mpi_launch -- this process becomes mpirun, which starts the program again, with the same arguments, as so many
 * ranks on this machine. Returns only on failure: MT_ERR_UNAVAILABLE, without mpirun. */
mt_status mt_mpi_launch(int ranks);

MT_C_END
