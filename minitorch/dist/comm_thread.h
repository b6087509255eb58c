/* comm_thread.h -- the communication thread of a rank: runs collectives (dist/collectives.h) one after the other, in
 * the order of their calls, while the caller computes. For engines that only have messages; its own messages go over
 * the communicator's channel, so that they never meet those of the caller. */
#pragma once

#include "core/clock.h"
#include "dist/comm.h"

MT_C_BEGIN

typedef struct mt_comm_thread mt_comm_thread;

/* mt_comm_thread_new -- starts the thread; it borrows channel and clock. With checked, each collective begins with a
 * message to the next rank that says what is called: ranks that call different ones get an error that names both. */
mt_comm_thread *mt_comm_thread_new(mt_comm *channel, mt_clock *clock, bool checked);

/* mt_comm_thread_free -- ends the thread after what was called; NULL is allowed. Whoever frees after a failure makes
 * the channel's messages fail first. Handles that nobody waited for are freed. Returns the
 * status of the first call that failed. */
mt_status mt_comm_thread_free(mt_comm_thread *thread);

/* mt_comm_thread_call -- mt_comm_engine.collective. Without a handle, and with nothing before it, the call runs in the
 * calling thread. */
mt_status mt_comm_thread_call(mt_comm_thread *thread, const mt_collective *call, mt_request **request);

MT_C_END
