/* nccl.h -- ranks with a GPU each: collectives and messages of device memory by NCCL. The same source runs on GPUs and,
 * each rank with its own emulated device, in the emulator (docs/EMULATOR.md, "NCCL").
 *
 * The engine stands on a communicator between the same processes (dist/mpi.h), the host's. That one hands the id
 * of NCCL to all ranks, makes barriers, and carries what is in host memory: the caller may pass either kind of pointer,
 * and all ranks the same kind.
 *
 * A call comes after all work that was launched on the device's stream (cuda/cuda.h) before it; it runs on a stream of
 * its own, beside what is launched later. mt_wait blocks the host until the device is done.
 *
 * Messages with a handle begin, all of them together, when one of them is waited for or another operation blocks. Those
 * to ranks with higher numbers run in order, and those to lower ones: a message that has begun keeps later ones of its
 * direction waiting until its partner has come. MT_MAX of floats is taken of integers in the same order, because NCCL's
 * maximum would lose a NaN.
 *
 * NCCL itself has no deadline. Its communicators do not block, so joining and beginning an operation end at ours, too.
 * mt_wait fails at it if a rank has not taken part; a barrier of the host's communicator, which has a deadline too,
 * then finds out which rank it is. A call of CUDA that itself waits for the device, as cudaFree does, is ended by the
 * deadline in the emulator only. */
#pragma once

#include "dist/comm.h"

MT_C_BEGIN

/* mt_comm_nccl -- collective: *out joins the ranks of host, which belongs to it from now on, also on failure. Each rank
 * gets the GPU of its number among the ranks of this machine, and must not have used another one.
 *   deadline   seconds after which an operation that has not ended fails; 0: never
 * Traffic is counted for messages, not for collectives of device memory.
 * Fails: MT_ERR_UNAVAILABLE, with words: built without NCCL, fewer GPUs than ranks, no connection. */
mt_status mt_comm_nccl(mt_comm **out, mt_comm *host, double deadline);

MT_C_END
