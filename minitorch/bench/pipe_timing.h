/* pipe_timing.h -- when each stage of a pipeline does what, by the schedule that it has: a forward takes 1 unit, a
 * backward 2, a message none. For bench_pipe and draw_14. */
#pragma once

#include <inttypes.h>
#include <string.h>

#include "parallel/pipe.h"

enum { STAGES = 16, MICRO = 26, CHUNKS = 4, UNITS = 6 * (MICRO * CHUNKS + STAGES) * STAGES };

typedef struct timing {
    char row[STAGES][UNITS];
    int until[STAGES], next[STAGES], live[STAGES], most[STAGES], took;
    int ended[2][STAGES * CHUNKS][MICRO];  /* 0: not yet */
    int began[STAGES][2 * MICRO * CHUNKS]; /* each action of the list */
} timing;

static mt_pipe_action list[STAGES][2 * MICRO * CHUNKS];

/* Whether the stage's next action has its input; then it takes place. */
static inline bool advance(timing *t, int stages, int stage, int chunks)
{
    const mt_pipe_action *a = &list[stage][t->next[stage]];
    int part = a->chunk * stages + stage, before = part + (a->backward ? 1 : -1), from = 0;
    if (before >= 0 && before < stages * chunks && (from = t->ended[a->backward][before][a->micro]) == 0)
        return false;
    if (a->backward && t->ended[0][part][a->micro] == 0)
        return false;
    from = (int)mt_max(from, t->until[stage]);
    memset(t->row[stage] + from, (a->backward ? 'a' : 'A') + a->micro, a->backward ? 2 : 1);
    t->until[stage] = t->ended[a->backward][part][a->micro] = from + (a->backward ? 2 : 1);
    t->began[stage][t->next[stage]] = from;
    t->live[stage] += a->backward ? -1 : 1;
    t->most[stage] = (int)mt_max(t->most[stage], t->live[stage]);
    t->took = (int)mt_max(t->took, t->until[stage]);
    t->next[stage]++;
    return true;
}

/* Fills `t`; aborts if the schedule is refused or comes to no end. */
static inline void run_schedule(timing *t, int stages, int micro, mt_pipe_kind kind, int chunks)
{
    int all = 2 * micro * chunks;
    memset(t, 0, sizeof *t);
    for (int s = 0; s < stages; s++)
        MT_CHECK(mt_pipe_schedule(list[s], kind, s, stages, micro, chunks) == MT_OK, "%s", mt_last_error());
    for (int64_t left = (int64_t)stages * all; left > 0;) {
        int64_t before = left;
        for (int s = 0; s < stages; s++)
            while (t->next[s] < all && advance(t, stages, s, chunks))
                left--;
        MT_CHECK(left != before, "the schedule ends in a deadlock: %" PRId64 " actions wait for others", left);
    }
}
