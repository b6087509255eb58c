/* 14-pipe-judge.c -- what the ranks of a pipeline did, in order: work, messages, live micro-batches, and the time that
 * it takes on the checker's network. */
#include "checks/14-model-parallel.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "core/base.h"

const char *mg_14_pipe_name(const pipe_trial *t)
{
    static char text[96];
    static const char *const kind[] = { "GPipe", "1F1B", "interleaved" };
    snprintf(text, sizeof text, "%s, %d stages, %d micro-batches%s", kind[t->kind], t->ranks, t->micro,
             t->chunks == 1   ? ""
             : t->chunks == 2 ? ", 2 chunks"
                              : ", several chunks");
    return text;
}

/* ---- the schedule ---------------------------------------------------------------------------------------- */

/* Number k of the forwards or backwards of a stage. */
static mt_pipe_action numbered(const pipe_trial *t, bool backward, int k)
{
    int group = k / (t->ranks * t->chunks), chunk = k / t->ranks % t->chunks;
    if (t->kind != MT_INTERLEAVED)
        return (mt_pipe_action){ backward, k, 0 };
    return (mt_pipe_action){ backward, group * t->ranks + k % t->ranks, backward ? t->chunks - 1 - chunk : chunk };
}

/* How many forwards come before the first backward, that which is followed by it included. */
static int forwards_first(const pipe_trial *t, int stage)
{
    int behind = t->ranks - stage - 1, all = t->micro * t->chunks;
    int first = t->kind == MT_GPIPE  ? all
                : t->kind == MT_1F1B ? behind + 1
                                     : 2 * behind + (t->chunks - 1) * t->ranks + 1;
    return (int)mt_min(first, all);
}

int mg_14_actions(const pipe_trial *t, int stage, mt_pipe_action *out)
{
    int all = t->micro * t->chunks, ahead = forwards_first(t, stage), count = 0;
    for (int k = 0; k < all + ahead; k++) {
        if (k < all)
            out[count++] = numbered(t, false, k);
        if (k + 1 >= ahead && k + 1 - ahead < all)
            out[count++] = numbered(t, true, k + 1 - ahead);
    }
    return count;
}

static int part_of(const pipe_trial *t, int rank, const mt_pipe_action *a)
{
    return a->chunk * t->ranks + rank;
}

/* Whether the action gets a message from another rank, or sends one. */
static bool receives(const pipe_trial *t, int rank, const mt_pipe_action *a)
{
    return a->backward ? part_of(t, rank, a) < t->ranks * t->chunks - 1 : part_of(t, rank, a) > 0;
}

static bool sends(const pipe_trial *t, int rank, const mt_pipe_action *a)
{
    return receives(t, rank, &(mt_pipe_action){ !a->backward, a->micro, a->chunk });
}

/* ---- order and messages ------------------------------------------------------------------------------------ */

bool mg_14_judge_order(mg_run *run, const pipe_trial *t)
{
    static const char *const way[] = { "forward", "backward" };
    mt_pipe_action list[2 * MG_PIPE_WORK];
    for (int rank = 0; rank < t->ranks; rank++) {
        int count = mg_14_actions(t, rank, list), done = 0;
        const mg_deeds *d = &t->deeds[rank];
        for (int64_t i = 0; i < d->ops; i++) {
            const int64_t *op = d->op[i];
            const mt_pipe_action *want = &list[done % count];
            if (op[MG_OP_KIND] != MG_OP_WORK)
                continue;
            if (done < count * t->steps && op[MG_WORK_BACKWARD] == want->backward && op[MG_WORK_MICRO] == want->micro &&
                op[MG_WORK_CHUNK] == want->chunk) {
                done++;
                continue;
            }
            return mg_fail(run,
                           "%s: action %d of rank %d is the %s of micro-batch %" PRId64 " in chunk %" PRId64
                           ", in its schedule it is the %s of %d in %d",
                           mg_14_pipe_name(t), done, rank, way[op[MG_WORK_BACKWARD]], op[MG_WORK_MICRO],
                           op[MG_WORK_CHUNK], way[want->backward], want->micro, want->chunk);
        }
        if (done < count * t->steps)
            return mg_fail(run, "%s: rank %d ends after %d of %d actions", mg_14_pipe_name(t), rank, done,
                           count * t->steps);
    }
    return true;
}

/* Each handle is waited for once: its buffer is the rank's again only then. */
static bool right_waits(mg_run *run, const pipe_trial *t, int rank)
{
    int waits[MG_RANKS_OPS] = { 0 };
    const mg_deeds *d = &t->deeds[rank];
    for (int64_t i = 0; i < d->ops; i++)
        if (d->op[i][MG_OP_KIND] == MG_OP_WAIT)
            waits[d->op[i][MG_OP_PEER]]++;
    for (int64_t i = 0; i < d->ops; i++) {
        if (d->op[i][MG_OP_KIND] >= MG_OP_WAIT || waits[i] == 1)
            continue;
        mg_hint(run, "every handle is waited for once (mt_wait)");
        return mg_fail(run, "%s: rank %d waits %d times for the end of its %s rank %" PRId64, mg_14_pipe_name(t), rank,
                       waits[i], d->op[i][MG_OP_KIND] == MG_OP_SEND ? "send to" : "receive from", d->op[i][MG_OP_PEER]);
    }
    return true;
}

/* When a rank has done k actions of a step, only what the next one and the one after it need may have begun to
 * arrive: each receive has a buffer. */
static bool right_ahead(mg_run *run, const pipe_trial *t, int rank)
{
    mt_pipe_action list[2 * MG_PIPE_WORK];
    int count = mg_14_actions(t, rank, list), done = 0, begun = 0, needed = receives(t, rank, &list[0]);
    const mg_deeds *d = &t->deeds[rank];
    for (int64_t i = 0; i < d->ops && done < count; i++) {
        begun += d->op[i][MG_OP_KIND] == MG_OP_RECV;
        if (d->op[i][MG_OP_KIND] != MG_OP_WORK)
            continue;
        done++;
        needed += done < count && receives(t, rank, &list[done]);
        if (begun <= needed)
            continue;
        mg_hint(run, "the receive of an action begins before the action in front of it, and not earlier");
        return mg_fail(run,
                       "%s: rank %d has begun %d receives in its first %d actions, which need %d with the next one",
                       mg_14_pipe_name(t), rank, begun, done, needed);
    }
    return true;
}

/* What a rank sends in one step, but for the tied table. */
static void expected(const pipe_trial *t, int rank, int64_t *messages, int64_t *bytes)
{
    mt_pipe_action list[2 * MG_PIPE_WORK];
    int count = mg_14_actions(t, rank, list);
    *messages = *bytes = 0;
    for (int k = 0; k < count; k++)
        if (sends(t, rank, &list[k])) {
            ++*messages;
            *bytes += 4 * t->rows * t->width[part_of(t, rank, &list[k]) + !list[k].backward];
        }
}

bool mg_14_judge_messages(mg_run *run, pipe_trial *t)
{
    mg_13_replay(t->deeds, t->ranks, (mg_network){ 0, 0 });
    for (int rank = 0; rank < t->ranks; rank++) {
        const mg_deeds *d = &t->deeds[rank];
        const int64_t *result = &t->result[rank * MG_PIPE_RESULTS];
        int64_t messages, bytes;
        expected(t, rank, &messages, &bytes);
        if (t->tied && t->ranks > 1 && (rank == 0 || rank == t->ranks - 1))
            messages++, bytes += 4 * t->width[0] * t->width[0];
        messages *= t->steps, bytes *= t->steps;
        if (d->sends != messages || d->sent != bytes)
            return mg_fail(run,
                           "%s: rank %d sends %" PRId64 " messages, %" PRId64 " bytes; expected %" PRId64 ", %" PRId64
                           " bytes",
                           mg_14_pipe_name(t), rank, d->sends, d->sent, messages, bytes);
        if (result[MG_PIPE_SAID_MESSAGES] != messages || result[MG_PIPE_SAID_BYTES] != bytes)
            return mg_fail(
                run,
                "%s: rank %d: mt_pipe_traffic says %" PRId64 " messages, %" PRId64 " bytes of %" PRId64 ", %" PRId64,
                mg_14_pipe_name(t), rank, result[MG_PIPE_SAID_MESSAGES], result[MG_PIPE_SAID_BYTES], messages, bytes);
        if (!right_waits(run, t, rank) || !right_ahead(run, t, rank))
            return false;
    }
    return true;
}

/* ---- live micro-batches --------------------------------------------------------------------------------------- */

bool mg_14_judge_live(mg_run *run, const pipe_trial *t)
{
    if (!mg_14_judge_order(run, t))
        return false;
    for (int rank = 0; rank < t->ranks; rank++) {
        const mg_deeds *d = &t->deeds[rank];
        int64_t live = 0, most = 0, want = forwards_first(t, rank);
        for (int64_t i = 0; i < d->ops; i++) {
            const int64_t *op = d->op[i];
            if (op[MG_OP_KIND] != MG_OP_WORK)
                continue;
            live += !op[MG_WORK_BACKWARD];
            most = mt_max(most, op[MG_WORK_LIVE]);
            if (op[MG_WORK_LIVE] != live)
                return mg_fail(run,
                               "%s: rank %d, %s of micro-batch %" PRId64 ": the activations of %" PRId64
                               " micro-batches are live, expected %" PRId64,
                               mg_14_pipe_name(t), rank, op[MG_WORK_BACKWARD] ? "backward" : "forward",
                               op[MG_WORK_MICRO], op[MG_WORK_LIVE], live);
            live -= op[MG_WORK_BACKWARD];
        }
        if (most != want)
            return mg_fail(run, "%s: rank %d has up to %" PRId64 " live micro-batches, expected %" PRId64,
                           mg_14_pipe_name(t), rank, most, want);
    }
    return true;
}

/* ---- time -------------------------------------------------------------------------------------------------- */

/* Each action begins when its rank is free and its input has come, `transfer` after it was made. */
static double law(const pipe_trial *t, double transfer)
{
    enum { NOT_YET = -1 };
    static double ended[2][MG_PIPE_PARTS][MG_PIPE_WORK];
    mt_pipe_action list[MG_RANKS][2 * MG_PIPE_WORK];
    double until[MG_RANKS] = { 0 }, took = 0;
    int next[MG_RANKS] = { 0 }, count = 0, left = 0;
    for (int s = 0; s < t->ranks; s++)
        left += count = mg_14_actions(t, s, list[s]);
    for (int i = 0; i < 2 * MG_PIPE_PARTS * MG_PIPE_WORK; i++)
        (&ended[0][0][0])[i] = NOT_YET;
    for (int s = 0; left > 0; s = (s + 1) % t->ranks)
        for (; next[s] < count; next[s]++, left--) {
            const mt_pipe_action *a = &list[s][next[s]];
            int part = part_of(t, s, a), before = part + (a->backward ? 1 : -1);
            double from = receives(t, s, a) ? ended[a->backward][before][a->micro] : 0;
            if (from == NOT_YET)
                break;
            until[s] = fmax(until[s], from + (receives(t, s, a) ? transfer : 0)) + (1.0 + a->backward) / t->chunks;
            ended[a->backward][part][a->micro] = until[s];
            took = fmax(took, until[s]);
        }
    return took;
}

bool mg_14_judge_time(mg_run *run, pipe_trial *t, double transfer, double want)
{
    if (want == 0)
        want = law(t, transfer);
    for (int rank = 0; rank < t->ranks; rank++) {
        t->deeds[rank].work[0] = 1.0 / t->chunks;
        t->deeds[rank].work[1] = 2.0 / t->chunks;
    }
    double took = mg_13_replay(t->deeds, t->ranks, (mg_network){ .latency = transfer });
    if (fabs(took - want) <= 1e-9 * want)
        return true;
    if (took > want && transfer > 0)
        mg_hint(run, "a receive begins before the action in front of it, and no rank waits for a send sooner than it "
                     "has to");
    return mg_fail(run, "%s, messages of %g: a step takes %.6g units (a forward 1, a backward 2), expected %.6g",
                   mg_14_pipe_name(t), transfer, took, want);
}
