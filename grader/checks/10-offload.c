/* 10-offload.c -- how the checks of the choice of segments to offload run (step 10.12): stalls are read off a schedule
 * of two resources, the device and the bus; choices are compared with all others, each of which is scheduled.
 * Rows: 10-memory.c. */
#include "checks/10-memory.h"
#include "checks/fill.h"
#include "memory/offload.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 9, BUDGETS = 48, MESSAGE = 200, TRIES = 6 };

typedef struct problem {
    mt_offload_segment segment[MOST];
    int64_t count, rate, budgets, budget[BUDGETS];
} problem;

/* ---- what is right: a schedule ------------------------------------------------------------------------- */

/* When the device and the bus are free again, and what the device has and had at most. */
typedef struct schedule {
    int64_t device, bus, bytes, peak;
} schedule;

static void bring(schedule *at, int64_t bytes)
{
    at->bytes += bytes;
    at->peak = mt_max(at->peak, at->bytes);
}

/* The bus begins a copy when it is free and the device has come here; the answer is when it ends. */
static int64_t begin_copy(schedule *at, const problem *p, int64_t s)
{
    at->bus = mt_max(at->bus, at->device) + p->segment[s].bytes * p->rate;
    return at->bus;
}

static void wait(schedule *at, int64_t until)
{
    at->device = mt_max(at->device, until);
}

/* Forward and backward, as offload.h describes them. The last segment is not among the chosen. */
static schedule run(const problem *p, unsigned chosen)
{
    schedule at = { 0 };
    int64_t gone[MOST], back[MOST];
    for (int64_t s = 0; s < p->count; s++) {
        bring(&at, p->segment[s].bytes);
        at.device += p->segment[s].forward;
        if (chosen >> s & 1)
            gone[s] = begin_copy(&at, p, s);
        if (s > 0 && chosen >> (s - 1) & 1) {
            wait(&at, gone[s - 1]);
            at.bytes -= p->segment[s - 1].bytes;
        }
    }
    for (int64_t s = p->count - 1; s >= 0; s--) {
        if (chosen >> s & 1)
            wait(&at, back[s]);
        if (s > 0 && chosen >> (s - 1) & 1) {
            bring(&at, p->segment[s - 1].bytes);
            back[s - 1] = begin_copy(&at, p, s - 1);
        }
        at.device += p->segment[s].backward;
        at.bytes -= p->segment[s].bytes;
    }
    return at;
}

static mt_memory_choice evaluate(const problem *p, unsigned chosen)
{
    schedule with = run(p, chosen);
    mt_memory_choice c = { .peak = with.peak, .flops = with.device - run(p, 0).device };
    for (int64_t s = 0; s < p->count; s++)
        c.kept += chosen >> s & 1 ? 0 : p->segment[s].bytes;
    return c;
}

/* The best choice within the budget; its peak is above the budget if there is none, and then the least there is. */
static mt_memory_choice best_of(const problem *p, int64_t budget)
{
    mt_memory_choice best = evaluate(p, 0);
    for (unsigned chosen = 1; chosen < 1u << mt_max(p->count - 1, 0); chosen++) {
        mt_memory_choice c = evaluate(p, chosen);
        bool first = best.peak > budget;
        if (first ? c.peak < best.peak
                  : c.peak <= budget && (c.flops < best.flops || (c.flops == best.flops && c.kept < best.kept)))
            best = c;
    }
    return best;
}

/* ---- problems ------------------------------------------------------------------------------------------- */

/* Copies of a neighbour's computing: from none to twice its time, in forward and backward alike. */
static problem draw(mt_rng *rng, int64_t count, int64_t most, int64_t rate)
{
    problem p = { .count = count, .rate = rate };
    for (int64_t s = 0; s < count; s++)
        p.segment[s] =
            (mt_offload_segment){ mg_pick(rng, 0, most), mg_pick(rng, 0, most) * rate, mg_pick(rng, 0, most) * rate };
    for (int64_t s = 0; s < count; s++) {
        p.segment[s].forward += mg_pick(rng, 0, rate);
        p.segment[s].backward += mg_pick(rng, 0, rate);
    }
    return p;
}

/* Above 2^32, and products with a rate below 2^53. */
static void enlarge(problem *p)
{
    for (int64_t s = 0; s < p->count; s++)
        p->segment[s].bytes <<= 30, p->segment[s].forward <<= 30, p->segment[s].backward <<= 30;
}

/* Peaks of random choices, a byte less and one more. */
static void budgets(mt_rng *rng, problem *p, int64_t step)
{
    p->budgets = BUDGETS;
    for (int64_t n = 0; n < BUDGETS; n++) {
        unsigned all = (1u << mt_max(p->count - 1, 0)) - 1, chosen = (unsigned)mg_pick(rng, 0, all);
        p->budget[n] = run(p, n < 3 ? all : chosen).peak + step * (n % 3 - 1);
    }
}

static void describe(mg_run *run, const problem *p)
{
    int64_t *numbers = mg_in(run, "bytes, forward, backward", MT_I64, MT_SHAPE(p->count, 3));
    for (int64_t s = 0; s < p->count; s++, numbers += 3)
        memcpy(numbers, (int64_t[]){ p->segment[s].bytes, p->segment[s].forward, p->segment[s].backward },
               3 * sizeof *numbers);
    mg_i64(run, "rate", p->rate);
}

/* ---- rows ----------------------------------------------------------------------------------------------- */

void mg_10_stall(mg_run *run, const void *one_case)
{
    stall_about about = ((const stall_case *)one_case)->about;
    for (int i = 0; i < 8; i++) {
        mt_rng *rng = mg_rng(run);
        problem p = draw(rng, about == STALL_LAST ? mg_pick(rng, 1, 2) : mg_pick(rng, 3, MOST), 20,
                         i == 0 ? 0 : mg_pick(rng, 1, 1000));
        if (about == STALL_LARGE)
            enlarge(&p);
        double want[MOST];
        for (int64_t s = 0; s < p.count; s++)
            want[s] = s < p.count - 1 ? (double)evaluate(&p, 1u << s).flops : 0;
        mg_begin(run, "mt_offload_stall");
        mg_out(run, "stall", MT_I64, MT_SHAPE(p.count));
        describe(run, &p);
        if (!mg_call(run) || !mg_expect(run, "stall", want, NULL))
            return;
    }
}

/* Which of the segments a call has chosen. */
static unsigned chosen_by(mg_run *run, const problem *p, int64_t n)
{
    const int64_t *chosen = (const int64_t *)mg_result(run, "chosen") + n * p->count;
    unsigned bits = 0;
    for (int64_t s = 0; s < p->count; s++)
        bits |= (unsigned)(chosen[s] != 0) << s;
    return bits;
}

static bool judge_refused(mg_run *run, const problem *p, int64_t n, int64_t least)
{
    const int64_t *choice = (const int64_t *)mg_result(run, "choice") + 3 * n;
    const char *message = (const char *)mg_result(run, "message") + n * MESSAGE;
    char number[32];
    snprintf(number, sizeof number, "%" PRId64, least);
    if (choice[0] != -1 || choice[1] != -1 || choice[2] != -1 ||
        chosen_by(run, p, n) != (0xAAAu & ((1u << p->count) - 1)))
        return mg_fail(run, "budget %" PRId64 ": refused, but outputs were changed", p->budget[n]);
    if (!memchr(message, 0, MESSAGE) || !strstr(message, number))
        return mg_fail(run, "budget %" PRId64 ": the message does not say the least, %" PRId64, p->budget[n], least);
    return true;
}

static bool judge_choice(mg_run *run, const problem *p, int64_t n, mt_memory_choice want)
{
    const int64_t *said = (const int64_t *)mg_result(run, "choice") + 3 * n, budget = p->budget[n];
    unsigned chosen = chosen_by(run, p, n);
    if (p->count > 0 && chosen >> (p->count - 1))
        return mg_fail(run, "budget %" PRId64 ": the last segment is chosen", budget);
    mt_memory_choice is = evaluate(p, chosen);
    if (is.peak > budget)
        return mg_fail(run, "budget %" PRId64 ": the device has %" PRId64 " bytes at the peak of this choice", budget,
                       is.peak);
    if (is.flops != want.flops)
        return mg_fail(run,
                       "budget %" PRId64 ": the device waits %" PRId64 " FLOPs for the bus, %" PRId64 " are enough",
                       budget, is.flops, want.flops);
    if (is.kept != want.kept)
        return mg_fail(run, "budget %" PRId64 ": %" PRId64 " bytes stay, with as long a wait %" PRId64 " are enough",
                       budget, is.kept, want.kept);
    if (said[0] != is.peak || said[1] != is.kept || said[2] != is.flops)
        return mg_fail(run,
                       "budget %" PRId64 ": the choice is said to have its peak at %" PRId64 " bytes, to keep %" PRId64
                       " and to wait %" PRId64 " FLOPs; it is %" PRId64 ", %" PRId64 ", %" PRId64,
                       budget, said[0], said[1], said[2], is.peak, is.kept, is.flops);
    return true;
}

static bool choose(mg_run *run, const problem *p)
{
    mg_begin(run, "mt_offload_choose");
    mg_out(run, "status", MT_I64, MT_SHAPE(p->budgets));
    mg_out(run, "choice", MT_I64, MT_SHAPE(p->budgets, 3));
    mg_out(run, "chosen", MT_I64, MT_SHAPE(p->budgets, p->count));
    mg_out(run, "message", MT_U8, MT_SHAPE(p->budgets, MESSAGE));
    describe(run, p);
    memcpy(mg_in(run, "budgets", MT_I64, MT_SHAPE(p->budgets)), p->budget, (size_t)p->budgets * sizeof *p->budget);
    if (!mg_call(run))
        return false;
    const int64_t *status = mg_result(run, "status");
    for (int64_t n = 0; n < p->budgets; n++) {
        mt_memory_choice want = best_of(p, p->budget[n]);
        bool enough = want.peak <= p->budget[n];
        if (status[n] != (enough ? MT_OK : MT_ERR_ARGUMENT))
            return mg_fail(run, "budget %" PRId64 ": the status is %" PRId64 ", expected %s", p->budget[n], status[n],
                           enough ? "MT_OK" : "MT_ERR_ARGUMENT");
        if (!(enough ? judge_choice(run, p, n, want) : judge_refused(run, p, n, want.peak)))
            return false;
    }
    return true;
}

void mg_10_offload(mg_run *run, const void *one_case)
{
    offload_about about = ((const offload_case *)one_case)->about;
    for (int i = 0; i < TRIES; i++) {
        mt_rng *rng = mg_rng(run);
        problem p = draw(rng, about == OFFLOAD_FEW ? i % 3 : mg_pick(rng, 3, MOST), 20, mg_pick(rng, 1, 100));
        for (int64_t s = 0; about == OFFLOAD_FREE && s < p.count; s++)
            p.segment[s].forward = p.segment[s].backward = 20 * p.rate;
        if (about == OFFLOAD_ANY && i == TRIES - 1)
            enlarge(&p);
        budgets(rng, &p, about == OFFLOAD_LEAST ? 0 : 1);
        for (int64_t n = 0; about == OFFLOAD_LEAST && n < p.budgets; n++)
            p.budget[n] = best_of(&p, -1).peak - n / 4;
        if (!choose(run, &p))
            return;
    }
}
