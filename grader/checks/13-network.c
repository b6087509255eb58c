/* 13-network.c -- see 13-network.h. */
#include "checks/13-network.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A message of a rank, under the number of the operation in which it began. */
typedef struct post {
    bool begun, paired;
    double ends;
} post;

typedef struct world {
    mg_deeds *deeds;
    int ranks;
    mg_network network;
    mg_nodes nodes;
    post *post[MG_RANKS];
    int64_t at[MG_RANKS]; /* the next operation */
    double now[MG_RANKS], sends_until[MG_RANKS], receives_until[MG_RANKS];
} world;

bool mg_13_is_possible(const mg_deeds *d, int rank, int ranks, int64_t most)
{
    if (d->ops < 0 || d->ops > most)
        return false;
    for (int64_t i = 0; i < d->ops; i++) {
        const int64_t *op = d->op[i], kind = op[MG_OP_KIND], peer = op[MG_OP_PEER];
        bool waits = kind == MG_OP_WAIT, works = kind == MG_OP_WORK;
        if (kind < MG_OP_SEND || kind > MG_OP_WORK || peer < 0 ||
            peer >= (waits   ? i
                     : works ? 2
                             : ranks) ||
            op[MG_OP_BYTES] < 0 || (!waits && !works && peer == rank) ||
            (waits && d->op[peer][MG_OP_KIND] >= MG_OP_WAIT))
            return false;
    }
    return true;
}

/* The first message of `peer` that has begun, goes the other way, and has no partner yet. */
static int64_t partner_of(const world *w, int rank, const int64_t *op)
{
    int64_t peer = op[MG_OP_PEER];
    for (int64_t i = 0; i < w->at[peer]; i++) {
        const int64_t *other = w->deeds[peer].op[i];
        if (w->post[peer][i].begun && !w->post[peer][i].paired && other[MG_OP_KIND] != op[MG_OP_KIND] &&
            other[MG_OP_PEER] == rank && other[MG_OP_COMM] == op[MG_OP_COMM])
            return i;
    }
    return -1;
}

static void begin(world *w, int rank)
{
    const int64_t *op = w->deeds[rank].op[w->at[rank]];
    int64_t peer = op[MG_OP_PEER], other = partner_of(w, rank, op);
    post *mine = &w->post[rank][w->at[rank]];
    mine->begun = true;
    if (other < 0)
        return;
    bool sends = op[MG_OP_KIND] == MG_OP_SEND;
    double *from = &w->sends_until[sends ? rank : peer], *to = &w->receives_until[sends ? peer : rank];
    double begins = fmax(w->now[rank], fmax(*from, *to));
    bool in_node = w->nodes.size > 0 && rank / w->nodes.size == (int)peer / w->nodes.size;
    const mg_network *link = in_node ? &w->nodes.inside : &w->network;
    *from = *to = begins + link->latency + (double)op[MG_OP_BYTES] * link->byte_time;
    mine->paired = w->post[peer][other].paired = true;
    mine->ends = w->post[peer][other].ends = *from;
}

/* What a rank that waits is waiting for, if that has no end yet. */
static bool is_stuck(const world *w, int rank)
{
    const int64_t *op = w->deeds[rank].op[w->at[rank]];
    return op[MG_OP_KIND] == MG_OP_WAIT && !w->post[rank][op[MG_OP_PEER]].paired;
}

static void step(world *w, int rank)
{
    const int64_t *op = w->deeds[rank].op[w->at[rank]];
    if (op[MG_OP_KIND] == MG_OP_WAIT)
        w->now[rank] = fmax(w->now[rank], w->post[rank][op[MG_OP_PEER]].ends);
    else if (op[MG_OP_KIND] == MG_OP_WORK)
        w->now[rank] += w->deeds[rank].work[op[MG_WORK_BACKWARD]];
    else
        begin(w, rank);
    w->at[rank]++;
}

static bool sends(const world *w, int rank)
{
    return w->deeds[rank].op[w->at[rank]][MG_OP_KIND] == MG_OP_SEND;
}

/* The earliest rank that can go on, of these one that does not send: a send that begins at the same second as its
 * receive and another send of that rank is taken first if it began first; -1: none. */
static int next_rank(const world *w)
{
    int next = -1;
    for (int r = 0; r < w->ranks; r++)
        if (w->at[r] < w->deeds[r].ops && !is_stuck(w, r) &&
            (next < 0 || w->now[r] < w->now[next] || (w->now[r] == w->now[next] && sends(w, next) && !sends(w, r))))
            next = r;
    return next;
}

static void count(mg_deeds *d)
{
    d->sends = d->sent = d->receives = d->received = 0;
    for (int64_t i = 0; i < d->ops; i++) {
        bool sends = d->op[i][MG_OP_KIND] == MG_OP_SEND, receives = d->op[i][MG_OP_KIND] == MG_OP_RECV;
        d->sends += sends;
        d->receives += receives;
        d->sent += sends ? d->op[i][MG_OP_BYTES] : 0;
        d->received += receives ? d->op[i][MG_OP_BYTES] : 0;
    }
}

double mg_13_replay(mg_deeds *deeds, int ranks, mg_network network)
{
    return mg_13_replay_in_nodes(deeds, ranks, network, (mg_nodes){ 0 });
}

double mg_13_replay_in_nodes(mg_deeds *deeds, int ranks, mg_network network, mg_nodes nodes)
{
    world w = { .deeds = deeds, .ranks = ranks, .network = network, .nodes = nodes };
    double ends = 0;
    for (int r = 0; r < ranks; r++)
        w.post[r] = mt_calloc(deeds[r].ops, sizeof *w.post[r]);
    for (int rank; (rank = next_rank(&w)) >= 0;)
        step(&w, rank);
    for (int r = 0; r < ranks; r++) {
        count(&deeds[r]);
        deeds[r].ends = w.now[r];
        deeds[r].waits = w.at[r] < deeds[r].ops ? w.at[r] : -1;
        ends = fmax(ends, w.now[r]);
        free(w.post[r]);
    }
    return ends;
}

int64_t mg_13_operations(int ranks)
{
    return mt_min(2 * (ranks - 1) * 4 + 40, MG_RANKS_OPS);
}

int64_t *mg_13_describe(mg_run *run, const char *function, int ranks)
{
    mg_begin(run, function);
    mg_out(run, "status, operations", MT_I64, MT_SHAPE(ranks, 2));
    mg_out(run, "words", MT_U8, MT_SHAPE(ranks, MG_RANKS_WORDS));
    mg_out(run, "operations", MT_I64, MT_SHAPE(ranks, mg_13_operations(ranks), MG_OP_COLUMNS));
    return mg_in(run, "numbers", MT_I64, MT_SHAPE(MG_CALL_NUMBERS));
}

bool mg_13_deeds(mg_run *run, mg_deeds *deeds, int ranks, int64_t most)
{
    const mg_op *op = mg_result(run, "operations");
    const int64_t *status = mg_result(run, "status, operations");
    for (int r = 0; r < ranks; r++) {
        deeds[r] = (mg_deeds){ .op = op + r * most, .ops = status[2 * r + 1] };
        if (mg_13_is_possible(&deeds[r], r, ranks, most))
            continue;
        return mg_fail(run, "rank %d: what the worker says of its messages is impossible", r);
    }
    return true;
}

static const char *array_name(char name[32], int rank)
{
    snprintf(name, 32, "data of rank %d", rank);
    return name;
}

static const char all_arrays[] = "data of all ranks";

void mg_13_arrays(mg_run *run, void **array, int ranks, mt_dtype dtype, int64_t n)
{
    char name[32], *all = ranks > MG_RANKS_APART ? mg_inout(run, all_arrays, dtype, MT_SHAPE(ranks, n)) : NULL;
    for (int r = 0; r < ranks; r++)
        array[r] = all ? all + r * n * mt_dtype_size(dtype) : mg_inout(run, array_name(name, r), dtype, MT_SHAPE(n));
}

void mg_13_arrays_after(mg_run *run, const void **array, int ranks, mt_dtype dtype, int64_t n)
{
    char name[32];
    const char *all = ranks > MG_RANKS_APART ? mg_result(run, all_arrays) : NULL;
    for (int r = 0; r < ranks; r++)
        array[r] = all ? all + r * n * mt_dtype_size(dtype) : mg_result(run, array_name(name, r));
}

bool mg_13_stops(mg_run *run, const char *name, const mg_deeds *d, int rank, int64_t status)
{
    int64_t first = 0;
    while (first < d->ops && d->op[first][MG_OP_STATUS] == MT_OK)
        first++;
    int64_t failed = first < d->ops ? d->op[first][MG_OP_STATUS] : MT_OK;
    if (status == failed && (first == d->ops || first == d->ops - 1))
        return true;
    if (failed == MT_OK)
        mg_fail(run, "%s: no message of rank %d failed, and it returns status %" PRId64, name, rank, status);
    else if (status != failed)
        mg_fail(run,
                "%s: the %" PRId64 ". operation of rank %d failed with status %" PRId64 ", and it returns %" PRId64,
                name, first + 1, rank, failed, status);
    else
        mg_fail(run, "%s: after its %" PRId64 ". operation, which failed, rank %d goes on: %" PRId64 " more", name,
                first + 1, rank, d->ops - 1 - first);
    return false;
}

void mg_13_say_deadlock(char *words, size_t size, const mg_deeds *deeds, int ranks)
{
    size_t used = 0;
    for (int r = 0; r < ranks && used < size; r++) {
        if (deeds[r].waits < 0)
            continue;
        const int64_t *wait = deeds[r].op[deeds[r].waits], *begun = deeds[r].op[wait[MG_OP_PEER]];
        used += (size_t)snprintf(words + used, size - used, "%srank %d %s rank %d", used ? ", " : "", r,
                                 begun[MG_OP_KIND] == MG_OP_SEND ? "to send to" : "to receive from",
                                 (int)begun[MG_OP_PEER]);
    }
}

void mg_13_hint_deadlock(mg_run *run, const mg_deeds *deeds, int ranks)
{
    int waiting = 0, sending = 0, last = 0, peer = 0;
    for (int r = 0; r < ranks; r++) {
        if (deeds[r].waits < 0)
            continue;
        const int64_t *begun = deeds[r].op[deeds[r].op[deeds[r].waits][MG_OP_PEER]];
        waiting++;
        sending += begun[MG_OP_KIND] == MG_OP_SEND;
        last = r, peer = (int)begun[MG_OP_PEER];
    }
    if (waiting == 1)
        mg_hint(run, "rank %d has ended or goes on without it: it exchanges one message fewer with rank %d", peer,
                last);
    else if (sending == waiting)
        mg_hint(run, "a call without a handle waits for the other rank: one of the two begins with a handle");
    else
        mg_hint(run,
                "of two ranks that wait for each other, each message that one sends must be received by the other, in "
                "the same order");
}
