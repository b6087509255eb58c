/* 14-pipe.c -- how the checks of steps 14.9 to 14.11 run: a pipeline of products on ranks that are threads. What they
 * did is judged in 14-pipe-judge.c, what they computed in 14-pipe-values.c. Rows: 14-model-parallel.c. */
#include "checks/14-model-parallel.h"
#include "checks/fill.h"
#include "rows/traffic.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/base.h"

enum { RANKS = 4 };

static const char *const arrays[RANKS] = { "data of rank 0", "data of rank 1", "data of rank 2", "data of rank 3" };

/* ---- calls ------------------------------------------------------------------------------------------------- */

static int64_t elements(const pipe_trial *t)
{
    int64_t count = t->width[0] * t->width[0] + mt_max(t->micro, 0) * t->rows * t->width[0];
    for (int s = 0; s < t->ranks * t->chunks && s < MG_PIPE_PARTS; s++)
        count += t->width[s] * t->width[s + 1];
    return count;
}

/* Odd widths; the first and the last are equal, as those of the table are. */
static void describe(mg_run *run, pipe_trial *t)
{
    mt_rng *rng = mg_rng(run);
    t->rows = mg_pick(rng, 1, 4);
    for (int s = 0; s <= MG_PIPE_PARTS; s++)
        t->width[s] = mg_pick(rng, 1, 13);
    if (t->wide)
        t->width[0] = mg_pick(rng, 129, MG_PIPE_WIDE);
    t->width[mt_min(mt_max(t->ranks * t->chunks, 0), MG_PIPE_PARTS)] = t->width[0];
    int64_t count = elements(t), weights = count - mt_max(t->micro, 0) * t->rows * t->width[0];
    mg_begin(run, "mt_pipe_step");
    mg_as_called(run, "mt_pipe_step(pipe, &loss), %d times: %s", t->steps, mg_14_pipe_name(t));
    mg_out(run, "status, operations", MT_I64, MT_SHAPE(t->ranks, 2));
    mg_inout(run, "words", MT_U8, MT_SHAPE(t->ranks, MG_RANKS_WORDS));
    mg_inout(run, "operations", MT_I64, MT_SHAPE(t->ranks, MG_PIPE_OPS, MG_OP_COLUMNS));
    int64_t *numbers = mg_in(run, "numbers", MT_I64, MT_SHAPE(MG_PIPE_NUMBERS));
    numbers[MG_CALL_FAULT] = t->fault, numbers[MG_CALL_WHO] = t->who, numbers[MG_CALL_MESSAGE] = t->message;
    const int64_t values[] = { t->kind, t->micro, t->chunks, t->rows, t->tied, t->steps };
    memcpy(numbers + MG_PIPE_KIND, values, sizeof values);
    memcpy(numbers + MG_PIPE_WIDTH, t->width, sizeof t->width);
    for (int rank = 0; rank < t->ranks; rank++) {
        float *data = mg_inout(run, arrays[rank], MT_F32, MT_SHAPE(count));
        if (rank == 0) {
            t->data = data;
            mg_fill(rng, data, weights, (mg_dist)UNIFORM(0.1, 0.3));
            mg_fill(rng, data + weights, count - weights, (mg_dist)UNIFORM(0.5, 1.5));
        } else
            memcpy(data, t->data, (size_t)count * sizeof *data);
    }
    mg_out(run, "results", MT_I64, MT_SHAPE(t->ranks, MG_PIPE_RESULTS));
}

/* A failure without a fault. */
static void judge_failure(mg_run *run, pipe_trial *t, int rank)
{
    char words[400] = "";
    mg_13_replay(t->deeds, t->ranks, (mg_network){ 0, 0 });
    mg_13_say_deadlock(words, sizeof words, t->deeds, t->ranks);
    if (words[0]) {
        mg_13_hint_deadlock(run, t->deeds, t->ranks);
        mg_fail(run, "%s: a deadlock. These wait for ever: %s", mg_14_pipe_name(t), words);
    } else
        mg_fail(run, "%s: rank %d returns status %" PRId64 ": %.*s", mg_14_pipe_name(t), rank, t->status[2 * rank],
                MG_RANKS_WORDS - 1, t->words + (ptrdiff_t)rank * MG_RANKS_WORDS);
}

/* No buffer is freed while a message uses it. */
static bool judge_buffers(mg_run *run, const pipe_trial *t, int rank)
{
    int64_t row = t->result[rank * MG_PIPE_RESULTS + MG_PIPE_FREED] - 1;
    if (row < 0 || row >= t->deeds[rank].ops)
        return true;
    const int64_t *op = t->deeds[rank].op[row];
    mg_hint(run, "the buffer of a message is not the rank's before mt_wait, or before it has left the communicator");
    return mg_fail(run, "%s%s: rank %d frees the buffer of its %s rank %" PRId64 " before it has waited for it",
                   mg_14_pipe_name(t), t->fault == MG_FAULT_FAILS ? ", a message fails" : "", rank,
                   op[MG_OP_KIND] == MG_OP_SEND ? "send to" : "receive from", op[MG_OP_PEER]);
}

/* Makes the call; false: the run has its verdict. `fails`: ranks may return another status than MT_OK. */
static bool call(mg_run *run, pipe_trial *t, bool fails)
{
    describe(run, t);
    if (!mg_ranks_call(run, t->searched))
        return false;
    t->status = mg_result(run, "status, operations");
    t->words = mg_result(run, "words");
    t->result = mg_result(run, "results");
    for (int rank = 0; rank < t->ranks; rank++)
        t->got[rank] = mg_result(run, arrays[rank]);
    if (!mg_13_deeds(run, t->deeds, t->ranks, MG_PIPE_OPS))
        return false;
    for (int rank = 0; rank < t->ranks && !fails; rank++)
        if (t->status[2 * rank] != MT_OK) {
            judge_failure(run, t, rank);
            return false;
        }
    for (int rank = 0; rank < t->ranks; rank++)
        if (!judge_buffers(run, t, rank))
            return false;
    if (t->result[MG_PIPE_LEFT] == 0)
        return true;
    mg_hint(run, "what the slots hold is released after backward (mt_release), also when a later step follows");
    return mg_fail(run, "%s: %" PRId64 " bytes of tensors are not freed", mg_14_pipe_name(t), t->result[MG_PIPE_LEFT]);
}

/* ---- rows --------------------------------------------------------------------------------------------------- */

static bool judge(mg_run *run, pipe_trial *t, pipe_about about)
{
    if (!call(run, t, false))
        return false;
    switch (about) {
    case PIPE_LOSS:
        return mg_14_judge_loss(run, t);
    case PIPE_MESSAGES:
        return mg_14_judge_order(run, t) && mg_14_judge_messages(run, t);
    case PIPE_TIME:
        return mg_14_judge_time(run, t, 0, 3 * (t->micro + (t->ranks - 1.0) / t->chunks)) &&
               (t->kind == MT_INTERLEAVED || mg_14_judge_time(run, t, ldexp(1, (int)mg_pick(mg_rng(run), -6, -3)), 0));
    case PIPE_LIVE:
        return mg_14_judge_live(run, t);
    default:
        return mg_14_judge_loss(run, t) && mg_14_judge_gradients(run, t);
    }
}

/* Every kind with up to 4 ranks; GPipe and 1F1B also with fewer micro-batches than ranks. Half of those with a tied
 * table add the gradients of two steps: what both ends have already added is not sent again. */
static bool sweep(mg_run *run, pipe_about about, bool tied)
{
    static const int micro[] = { 1, 2, 3, 8 }, more[] = { 1, 2, 0, 1 }; /* chunks */
    for (int ranks = 1; ranks <= RANKS; ranks++)
        for (int i = 0; i < MT_COUNT(micro); i++)
            for (mt_pipe_kind kind = MT_GPIPE; kind <= MT_INTERLEAVED; kind++) {
                pipe_trial t = { .kind = kind, .ranks = ranks, .micro = micro[i], .chunks = 1, .tied = tied };
                t.searched = ranks == RANKS && micro[i] == 8 && (about == PIPE_LOSS || about == PIPE_GRADIENTS);
                bool even = micro[i] % 2 == 0, few = micro[i] < ranks && kind != MT_INTERLEAVED;
                mg_part(run, ranks == 1 ? "one rank" : few ? "fewer micro-batches than ranks" : NULL, NULL);
                t.steps = about == PIPE_AGAIN || (about == PIPE_GRADIENTS && tied && even) ? 2 : 1;
                if (kind == MT_INTERLEAVED) {
                    t.micro = micro[i] > 2 ? 8 / ranks * ranks : ranks * micro[i];
                    t.chunks = ranks == 1 ? 1 : 1 + more[i] % mt_min(3, MG_PIPE_PARTS / ranks);
                }
                if (!judge(run, &t, about))
                    return false;
            }
    return true;
}

/* 4 stages, 8 micro-batches. */
static void book(mg_run *run)
{
    for (mt_pipe_kind kind = MT_GPIPE; kind <= MT_INTERLEAVED; kind++) {
        pipe_trial t = { .kind = kind, .ranks = 4, .micro = 8, .chunks = kind == MT_INTERLEAVED ? 2 : 1, .steps = 1 };
        static const double units[] = { 33, 33, 28.5 }, with_messages[] = { 33.6, 34.6 };
        if (!call(run, &t, false) || !mg_14_judge_live(run, &t))
            return;
        if (!mg_14_judge_time(run, &t, 0, units[kind]) ||
            (kind < MT_INTERLEAVED && !mg_14_judge_time(run, &t, 0.1, with_messages[kind])))
            return;
    }
    mg_note(run, "33 units, idle 27.27 %%; 33.6 and 34.6 with messages");
}

/* ---- failures --------------------------------------------------------------------------------------------------- */

/* A rank returns its first failure, does nothing after it, and fails in the next step. */
static bool judge_failing(mg_run *run, const pipe_trial *t, int rank)
{
    const mg_deeds *d = &t->deeds[rank];
    int64_t first = 0, status = t->status[2 * rank];
    while (first < d->ops && d->op[first][MG_OP_STATUS] == MT_OK)
        first++;
    int64_t failed = first < d->ops ? d->op[first][MG_OP_STATUS] : MT_OK;
    if (status != failed)
        mg_fail(run, "%s: %s of the messages of rank %d fails with status %" PRId64 ", and it returns %" PRId64,
                mg_14_pipe_name(t), failed == MT_OK ? "none" : "one", rank, failed, status);
    else if (failed != MT_OK && first < d->ops - 1)
        mg_fail(run, "%s: after its %" PRId64 ". operation, which failed, rank %d goes on: %" PRId64 " more",
                mg_14_pipe_name(t), first + 1, rank, d->ops - 1 - first);
    else if (failed != MT_OK && t->result[rank * MG_PIPE_RESULTS + MG_PIPE_AGAIN] == MT_OK)
        mg_fail(run, "%s: rank %d starts another step after a failed one", mg_14_pipe_name(t), rank);
    else
        return true;
    return false;
}

static void fail_each(mg_run *run, bool tied)
{
    static const pipe_trial like[] = {
        { .kind = MT_GPIPE, .ranks = 3, .micro = 2, .chunks = 1 },
        { .kind = MT_1F1B, .ranks = 3, .micro = 3, .chunks = 1 },
        { .kind = MT_INTERLEAVED, .ranks = 2, .micro = 2, .chunks = 2 },
    };
    for (int i = tied; i < MT_COUNT(like); i++)
        for (int who = 0; who < like[i].ranks; who++) {
            bool more = true;
            for (int64_t message = 0; more; message++) {
                pipe_trial t = like[i];
                t.steps = 1, t.tied = tied, t.fault = MG_FAULT_FAILS, t.who = who, t.message = message;
                if (!call(run, &t, true))
                    return;
                more = t.status[2 * (ptrdiff_t)who] != MT_OK && message < MG_PIPE_OPS;
                for (int rank = 0; rank < t.ranks; rank++)
                    if (!judge_failing(run, &t, rank))
                        return;
                if (!more && message == 0) {
                    mg_fail(run, "%s: rank %d sends and receives nothing", mg_14_pipe_name(&t), who);
                    return;
                }
            }
        }
}

/* Fewer micro-batches than stages are not an error; these are. */
static void refuse(mg_run *run)
{
    pipe_trial few = { .kind = MT_1F1B, .ranks = 3, .micro = 1, .chunks = 1, .steps = 1 };
    mg_part(run, "fewer micro-batches than ranks", NULL);
    if (!judge(run, &few, PIPE_GRADIENTS))
        return;
    static const struct {
        const char *part;
        pipe_trial like;
        const char *number;
    } wrong[] = {
        { "chunks on one rank", { .kind = MT_INTERLEAVED, .ranks = 1, .micro = 2, .chunks = 3 }, "3" },
        { "chunks in GPipe", { .kind = MT_GPIPE, .ranks = 2, .micro = 2, .chunks = 3 }, "3" },
        { "a part of a group", { .kind = MT_INTERLEAVED, .ranks = 4, .micro = 6, .chunks = 2 }, "6" },
        { "no micro-batches", { .kind = MT_1F1B, .ranks = 3, .micro = 0, .chunks = 1 }, "0" },
    };
    for (int i = 0; i < MT_COUNT(wrong); i++) {
        pipe_trial t = wrong[i].like;
        mg_part(run, wrong[i].part, NULL);
        if (!call(run, &t, true))
            return;
        for (int rank = 0; rank < t.ranks; rank++) {
            const char *said = t.words + (ptrdiff_t)rank * MG_RANKS_WORDS;
            bool made = t.result[rank * MG_PIPE_RESULTS + MG_PIPE_MADE];
            if (t.status[2 * rank] == MT_ERR_ARGUMENT && !made && strstr(said, wrong[i].number))
                continue;
            mg_fail(run,
                    "%s: mt_pipe_new returns status %" PRId64 ", expected %d; message \"%.99s\", expected with "
                    "%s; *out is %s",
                    mg_14_pipe_name(&t), t.status[2 * rank], MT_ERR_ARGUMENT, said, wrong[i].number,
                    made ? "written" : "unchanged");
            return;
        }
    }
}

void mg_14_pipe(mg_run *run, const void *one_case)
{
    pipe_about about = ((const pipe_case *)one_case)->about;
    if (about == PIPE_FAILS)
        fail_each(run, false);
    else if (about == PIPE_REFUSED)
        refuse(run);
    else if (about == PIPE_BOOK)
        book(run);
    else
        sweep(run, about, false);
}

void mg_14_tied(mg_run *run, const void *one_case)
{
    pipe_trial wide = { .kind = MT_1F1B, .ranks = 2, .micro = 2, .chunks = 1, .steps = 1, .tied = true, .wide = true };
    pipe_about about = ((const pipe_case *)one_case)->about;
    if (about == PIPE_FAILS)
        fail_each(run, true);
    else if (sweep(run, about, true) && about == PIPE_GRADIENTS)
        judge(run, &wide, about);
}
