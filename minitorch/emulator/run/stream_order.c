/* stream_order.c -- clocks of the host and of each stream.
 *
 * The emulator runs every operation when it is issued. Its clocks say what a GPU may do: an operation begins after all
 * earlier ones of its stream, after what the host had waited for when it was issued, and after what its stream was told
 * to wait for. The legacy default stream waits for all blocking streams, and these wait for it. Where CUDA promises
 * less than programs may rely on (cudaFree, synchronous copies), the clocks take the stronger order: a race may be
 * missed, but none is reported wrongly. All host threads count as one.
 */
#include <string.h>
#include "emulator/run/stream_order.h"

emu_operation emu_current_operation;
bool emu_streams_concurrent, emu_graph_runs;

static emu_clock host, clocks[EMU_TIMELINES];
static bool blocking[EMU_TIMELINES] = { [EMU_LEGACY_STREAM] = true, [EMU_THREAD_STREAM] = true };
static int streams_of[EMU_TIMELINES] = { 1, 1 }; /* that are not destroyed */
static int used = EMU_FIRST_STREAM;              /* timelines that ever had a stream */
static int blocking_streams;
static int callback = -1; /* the timeline whose callback the host executes */

void emu_clock_join(emu_clock *clock, const emu_clock *other)
{
    for (int i = 0; i < used; i++)
        clock->done[i] = clock->done[i] > other->done[i] ? clock->done[i] : other->done[i];
}

/* Two streams that do not wait for each other: there is a second blocking one, or one that is not. */
static void count_stream(bool is_blocking)
{
    blocking_streams += is_blocking;
    if (!is_blocking || blocking_streams > 1)
        emu_streams_concurrent = true;
}

int emu_timeline_new(bool is_blocking)
{
    int least = EMU_FIRST_STREAM;
    for (int i = EMU_FIRST_STREAM; i < EMU_TIMELINES; i++)
        if (streams_of[i] < streams_of[least])
            least = i;
    blocking[least] = is_blocking || (streams_of[least] && blocking[least]);
    streams_of[least]++;
    used = used > least ? used : least + 1;
    count_stream(is_blocking);
    return least;
}

void emu_timeline_end(int timeline)
{
    streams_of[timeline]--;
    if (blocking[timeline]) /* the timeline's next stream may not be: the default stream waits for it now */
        emu_clock_join(&clocks[EMU_LEGACY_STREAM], &clocks[timeline]);
}

emu_clock *emu_timeline_clock(int timeline)
{
    emu_clock *clock = &clocks[timeline];
    emu_clock_join(clock, &host);
    for (int i = 0; i < used && timeline == EMU_LEGACY_STREAM; i++)
        if (blocking[i])
            emu_clock_join(clock, &clocks[i]);
    if (blocking[timeline])
        emu_clock_join(clock, &clocks[EMU_LEGACY_STREAM]);
    return clock;
}

emu_clock *emu_host_clock(void)
{
    return callback < 0 ? &host : &clocks[callback];
}

void emu_host_in_stream(int timeline)
{
    callback = timeline;
    if (timeline >= 0)
        emu_timeline_clock(timeline);
}

void emu_host_waits(int timeline)
{
    for (int i = 0; i < used; i++)
        if (timeline < 0 || i == timeline)
            emu_clock_join(&host, emu_timeline_clock(i));
}

void emu_operation_begin(int timeline, bool kernel, const char *name, emu_site site)
{
    static bool seen;
    if (timeline == EMU_THREAD_STREAM && !seen)
        count_stream(seen = true);
    uint32_t time = ++emu_timeline_clock(timeline)->done[timeline];
    emu_current_operation = (emu_operation){ .name = name, .kernel = kernel, .in_graph = emu_graph_runs, .site = site };
    emu_current_operation.timeline = timeline;
    emu_current_operation.time = time;
}
