/* 13-messages.c -- how the checks of steps 13.1 to 13.4 judge messages: their number and bytes, the time that they
 * take, and what happens when one fails or brings another number. Rows: 13-data-parallel.c. */
#include "checks/13-data-parallel.h"
#include "checks/fill.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---- number and bytes ------------------------------------------------------------------------------------ */

static int power_below(int ranks)
{
    int power = 1;
    while (power * 2 <= ranks)
        power *= 2;
    return power;
}

static int floor_log2(int ranks)
{
    return __builtin_ctz((unsigned)power_below(ranks));
}

static int64_t part_bytes(const trial *t, int rank)
{
    rank = (rank + t->ranks) % t->ranks;
    return (mg_13_part(t, rank + 1) - mg_13_part(t, rank)) * mt_dtype_size(t->dtype);
}

/* In a ring, the messages of a rank are known: every part but its own when it reduces; when it gathers, every part but
 * that of the next rank, which has it. -1: only the sum over all ranks is known. */
static void expected(const trial *t, int rank, int64_t *sends, int64_t *sent)
{
    int64_t all = t->n * mt_dtype_size(t->dtype), steps = t->ranks - 1;
    int power = power_below(t->ranks);
    *sends = *sent = -1;
    switch (t->what) {
    case RING_REDUCE_SCATTER:
        *sends = steps, *sent = all - part_bytes(t, rank);
        break;
    case RING_ALL_GATHER:
        *sends = steps, *sent = all - part_bytes(t, rank + 1);
        break;
    case RING_ALL_REDUCE:
        *sends = 2 * steps, *sent = 2 * all - part_bytes(t, rank) - part_bytes(t, rank + 1);
        break;
    case DOUBLING_ALL_REDUCE:
        *sends = rank >= power ? 1 : floor_log2(t->ranks) + (rank + power < t->ranks);
        *sent = *sends * all;
        break;
    default:
        break;
    }
}

/* In nodes, a rank's messages to its own node are a reduce-scatter and an all-gather of the whole array, those to
 * others an all-reduce of its part. */
static void expected_in_nodes(const trial *t, int rank, bool others, int64_t *sends, int64_t *sent)
{
    int place = rank % t->node, nodes = t->ranks / t->node;
    trial inside = *t, across = *t;
    inside.ranks = t->node;
    across.ranks = nodes, across.n = mg_13_part(&inside, place + 1) - mg_13_part(&inside, place);
    across.what = inside.what = RING_ALL_REDUCE;
    expected(others ? &across : &inside, others ? rank / t->node : place, sends, sent);
}

static bool right_in_nodes(mg_run *run, const trial *t, int rank)
{
    const mg_deeds *d = &t->deeds[rank];
    char name[120];
    for (int others = 0; others < 2 && t->node; others++) {
        int64_t sends = 0, sent = 0, want_sends, want_sent;
        expected_in_nodes(t, rank, others, &want_sends, &want_sent);
        for (int64_t i = 0; i < d->ops; i++)
            if (d->op[i][MG_OP_KIND] == MG_OP_SEND && (d->op[i][MG_OP_PEER] / t->node != rank / t->node) == others) {
                sends++;
                sent += d->op[i][MG_OP_BYTES];
            }
        if (sends != want_sends || sent != want_sent)
            return mg_fail(run,
                           "%s: rank %d sends %" PRId64 " messages, %" PRId64 " bytes, to %s; expected %" PRId64
                           ", %" PRId64 " bytes",
                           mg_13_name(t, name), rank, sends, sent, others ? "other nodes" : "its own node", want_sends,
                           want_sent);
    }
    return true;
}

/* A ring has one next rank and one before. */
static bool right_peers(mg_run *run, const trial *t, int rank)
{
    char name[120];
    const mg_deeds *d = &t->deeds[rank];
    for (int64_t i = 0; t->what <= RING_ALL_REDUCE && i < d->ops; i++) {
        int64_t kind = d->op[i][MG_OP_KIND], peer = d->op[i][MG_OP_PEER];
        if (kind == MG_OP_WAIT || peer == (rank + (kind == MG_OP_SEND ? 1 : t->ranks - 1)) % t->ranks)
            continue;
        return mg_fail(run, "%s: rank %d %s rank %" PRId64, mg_13_name(t, name), rank,
                       kind == MG_OP_SEND ? "sends to" : "receives from", peer);
    }
    return true;
}

/* Each handle is waited for once: its rank may not go on to use the buffer, or end, before. */
static bool right_waits(mg_run *run, const trial *t, int rank)
{
    char name[120];
    const mg_deeds *d = &t->deeds[rank];
    int waits[MG_RANKS_OPS] = { 0 };
    for (int64_t i = 0; i < d->ops; i++)
        if (d->op[i][MG_OP_KIND] == MG_OP_WAIT)
            waits[d->op[i][MG_OP_PEER]]++;
    for (int64_t i = 0; i < d->ops; i++) {
        if (d->op[i][MG_OP_KIND] == MG_OP_WAIT || waits[i] == 1)
            continue;
        mg_hint(run, "every handle is waited for once (mt_wait)");
        return mg_fail(run, "%s: rank %d waits %d times for the end of its %s rank %" PRId64, mg_13_name(t, name), rank,
                       waits[i], d->op[i][MG_OP_KIND] == MG_OP_SEND ? "send to" : "receive from", d->op[i][MG_OP_PEER]);
    }
    return true;
}

/* Far away there are no values, so places are checked. In a gather, every part but a rank's own arrives where it
 * belongs. */
static bool right_places(mg_run *run, const trial *t, int rank)
{
    const mg_deeds *d = &t->deeds[rank];
    int64_t size = mt_dtype_size(t->dtype);
    char name[120];
    for (int64_t i = 0; t->fault == MG_FAULT_NO_DATA && i < d->ops; i++) {
        const int64_t *op = d->op[i];
        int part = 0;
        while (t->what == RING_ALL_GATHER && part < t->ranks - 1 && mg_13_part(t, part) * size != op[MG_OP_AT])
            part++;
        int64_t at = t->what == RING_ALL_GATHER ? mg_13_part(t, part) * size : 0;
        int64_t bytes = t->what == RING_ALL_GATHER ? part_bytes(t, part) : t->n * size;
        if (op[MG_OP_KIND] == MG_OP_WAIT || (op[MG_OP_AT] == at && op[MG_OP_BYTES] == bytes))
            continue;
        return mg_fail(run, "%s: rank %d %s %" PRId64 " bytes at byte %" PRId64 " of its data", mg_13_name(t, name),
                       rank, op[MG_OP_KIND] == MG_OP_SEND ? "sends" : "receives", op[MG_OP_BYTES], op[MG_OP_AT]);
    }
    return true;
}

static bool right_sum(mg_run *run, const trial *t)
{
    int64_t sends = 0, sent = 0, want = (t->what == TREE_ALL_REDUCE ? 2 : 1) * (t->ranks - 1);
    char name[120];
    for (int rank = 0; rank < t->ranks; rank++) {
        sends += t->deeds[rank].sends;
        sent += t->deeds[rank].sent;
    }
    if (t->what != TREE_ALL_REDUCE && t->what != TREE_BROADCAST)
        return true;
    if (sends == want && sent == want * t->n * mt_dtype_size(t->dtype))
        return true;
    return mg_fail(
        run, "%s: all ranks together send %" PRId64 " messages, %" PRId64 " bytes; expected %" PRId64 ", %" PRId64,
        mg_13_name(t, name), sends, sent, want, want * t->n * mt_dtype_size(t->dtype));
}

bool mg_13_judge_messages(mg_run *run, trial *t)
{
    char name[120];
    mg_13_replay(t->deeds, t->ranks, (mg_network){ 0, 0 });
    for (int rank = 0; rank < t->ranks; rank++) {
        int64_t sends, sent;
        expected(t, rank, &sends, &sent);
        const mg_deeds *d = &t->deeds[rank];
        if (sends >= 0 && (d->sends != sends || d->sent != sent))
            return mg_fail(run,
                           "%s: rank %d sends %" PRId64 " messages, %" PRId64 " bytes; expected %" PRId64 ", %" PRId64
                           " bytes",
                           mg_13_name(t, name), rank, d->sends, d->sent, sends, sent);
        if (!right_peers(run, t, rank) || !right_waits(run, t, rank) || !right_places(run, t, rank) ||
            !right_in_nodes(run, t, rank))
            return false;
    }
    return right_sum(run, t);
}

/* ---- time ------------------------------------------------------------------------------------------------ */

double mg_13_law(collective what, int ranks, double bytes, mg_network network)
{
    int low = floor_log2(ranks), high = low + (power_below(ranks) < ranks);
    double whole = network.latency + bytes * network.byte_time;
    switch (what) {
    case RING_ALL_REDUCE:
        return 2.0 * (ranks - 1) * (network.latency + bytes / ranks * network.byte_time);
    case TREE_ALL_REDUCE:
        return 2.0 * high * whole;
    case DOUBLING_ALL_REDUCE:
        return (low + (high > low ? 2 : 0)) * whole;
    default:
        return 0;
    }
}

/* The largest part goes all the way round: of uneven parts it takes the time, whatever the others do. */
static double law_of(const trial *t, mg_network network)
{
    double bytes = (double)(t->n * mt_dtype_size(t->dtype));
    double largest = (double)(part_bytes(t, 0) * t->ranks);
    switch (t->what) {
    case RING_REDUCE_SCATTER:
    case RING_ALL_GATHER:
        return mg_13_law(RING_ALL_REDUCE, t->ranks, largest, network) / 2;
    case RING_ALL_REDUCE:
        return mg_13_law(RING_ALL_REDUCE, t->ranks, largest, network);
    case TREE_BROADCAST:
        return mg_13_law(TREE_ALL_REDUCE, t->ranks, bytes, network) / 2;
    case CHOSEN_ALL_REDUCE: {
        double ring = mg_13_law(RING_ALL_REDUCE, t->ranks, bytes, network);
        double tree = mg_13_law(TREE_ALL_REDUCE, t->ranks, bytes, network);
        return fmin(fmin(ring, tree), mg_13_law(DOUBLING_ALL_REDUCE, t->ranks, bytes, network));
    }
    default:
        return mg_13_law(t->what, t->ranks, bytes, network);
    }
}

/* Between nodes a message takes four times as long; a rank's part is the array of a ring between them. */
static bool judge_time_in_nodes(mg_run *run, trial *t, mg_network network)
{
    const mg_nodes nodes = { t->node, { network.latency / 4, network.byte_time / 4 } };
    trial inside = *t, across = *t;
    inside.ranks = t->node, inside.what = RING_ALL_REDUCE;
    across.ranks = t->ranks / t->node, across.n = mg_13_part(&inside, 1), across.what = RING_ALL_REDUCE;
    double took = mg_13_replay_in_nodes(t->deeds, t->ranks, network, nodes);
    double law = law_of(&inside, nodes.inside) + law_of(&across, network);
    char name[120];
    return fabs(took - law) <= 1e-9 * law ||
           mg_fail(run,
                   "%s, latency %g s and %g s a byte between nodes, a quarter of both inside: took %.9g s, the model "
                   "predicts %.9g s",
                   mg_13_name(t, name), network.latency, network.byte_time, took, law);
}

bool mg_13_judge_time(mg_run *run, trial *t)
{
    mg_network network = t->network;
    char name[120];
    if (t->what != CHOSEN_ALL_REDUCE)
        network =
            (mg_network){ ldexp(1, (int)mg_pick(mg_rng(run), -16, -10)), ldexp(1, -(int)mg_pick(mg_rng(run), 20, 30)) };
    if (t->node)
        return judge_time_in_nodes(run, t, network);
    double took = mg_13_replay(t->deeds, t->ranks, network), law = law_of(t, network);
    if (fabs(took - law) <= 1e-9 * law) /* a sum of at most 128 times */
        return true;
    return mg_fail(
        run,
        "%s, latency %g s, %g s a byte: took %.9g s, the model predicts %.9g s. Rank %d ends last, after %" PRId64
        " operations",
        mg_13_name(t, name), network.latency, network.byte_time, took, law,
        (int)(t->deeds[0].ends == took ? 0 : t->ranks - 1), t->deeds[0].ops);
}

/* ---- a message that fails -------------------------------------------------------------------------------- */

/* A rank returns its first failure, and does nothing after it. */
static bool judge_failing(mg_run *run, const trial *t, int rank)
{
    char name[120];
    return mg_13_stops(run, mg_13_name(t, name), &t->deeds[rank], rank, t->result[2 * rank]);
}

void mg_13_fail_each(mg_run *run, const trial *like)
{
    bool struck = false;
    for (int ranks = 3; ranks <= 4; ranks++)
        for (int who = 0; who < ranks; who++) {
            bool more = true;
            for (int64_t message = 0; more; message++) {
                trial t = *like;
                t.ranks = ranks, t.n = 9, t.fault = MG_FAULT_FAILS, t.who = who, t.message = message;
                t.node = like->node ? ranks == 4 ? 2 : ranks : 0;
                t.root = (int)mt_rng_below(mg_rng(run), ranks);
                if (!mg_13_call(run, &t))
                    return;
                more = t.result[2 * (ptrdiff_t)who] != MT_OK && message < mg_13_operations(ranks);
                struck = struck || more;
                for (int rank = 0; rank < ranks; rank++)
                    if (!judge_failing(run, &t, rank))
                        return;
            }
        }
    if (!struck)
        mg_fail(run, "no rank sends or receives anything");
}

/* ---- a message that brings another number ------------------------------------------------------------------ */

/* One element is one more than without the change, on at least one rank. */
static bool judge_changed(mg_run *run, const trial *t)
{
    int64_t place = -1;
    char name[120];
    for (int rank = 0; rank < t->ranks; rank++) {
        bool part = t->what == RING_REDUCE_SCATTER;
        int64_t first = part ? mg_13_part(t, rank) : 0, end = part ? mg_13_part(t, rank + 1) : t->n;
        for (int64_t i = first; i < end; i++) {
            uint32_t sum = 0, got = ((const uint32_t *)t->got[rank])[i];
            for (int r = 0; r < t->ranks; r++)
                if (mg_13_is_reduction(t->what) || r == mg_13_source(t, i))
                    sum += ((const uint32_t *)t->data[r])[i];
            if (got == sum || (got == sum + 1 && (place < 0 || place == i))) {
                place = got == sum ? place : i;
                continue;
            }
            return mg_fail(run,
                           "%s: the %" PRId64 ". message that rank %" PRId64
                           " receives brings a number that is one more "
                           "than was sent; element %" PRId64 " of rank %d is then %d, expected %d or one more",
                           mg_13_name(t, name), t->message + 1, t->who, i, rank, (int)got, (int)sum);
        }
    }
    if (place < 0)
        mg_fail(run,
                "%s: the %" PRId64 ". message that rank %" PRId64 " receives brings another number, and no rank "
                "has another result: what arrives is not used",
                mg_13_name(t, name), t->message + 1, t->who);
    return place >= 0;
}

void mg_13_change_each(mg_run *run, const trial *like)
{
    bool struck = false;
    int ranks = like->node ? 6 : 5;
    for (int who = 0; who < ranks; who++)
        for (int64_t message = 0, receives = 1; message < receives; message++) {
            trial t = *like;
            t.node = like->node ? 2 + who % 2 : 0;
            t.ranks = ranks, t.n = 13, t.dtype = MT_I32, t.fault = MG_FAULT_CHANGES, t.who = who, t.message = message;
            if (!mg_13_call(run, &t))
                return;
            mg_13_replay(t.deeds, t.ranks, (mg_network){ 0, 0 });
            receives = t.deeds[who].receives;
            if (message < receives && !judge_changed(run, &t))
                return;
            struck = struck || receives > 0;
        }
    if (!struck)
        mg_fail(run, "no rank receives anything");
}
