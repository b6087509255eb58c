/* 10-choose.c -- how the checks of the choice of options run (step 10.5). Few blocks: every choice is tried. Many: a
 * table over the bytes that are kept, in multiples of a unit. Rows: 10-memory.c. */
#include "checks/10-memory.h"
#include "checks/fill.h"
#include "memory/choose.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    FEW = 7,       /* blocks whose choices are all tried */
    LAYERS = 96,   /* as GPT-3's */
    BLOCKS = 2048, /* more than a fixed table of a unit may have */
    BUDGETS = 64,
    MESSAGE = 200
};

typedef struct problem {
    int64_t blocks, budgets;
    mt_memory_block block[BLOCKS];
    int64_t budget[BUDGETS];
} problem;

/* ---- what is right ---------------------------------------------------------------------------------------- */

static mt_memory_choice evaluate(const problem *p, const int64_t *option)
{
    mt_memory_choice c = { 0 };
    for (int64_t i = 0; i < p->blocks; i++) {
        const mt_memory_option *o = &p->block[i].option[option[i]];
        c.kept += o->kept;
        c.flops += o->flops;
        c.peak = mt_max(c.peak, c.kept + o->work);
    }
    return c;
}

/* The next choice after option[], counted like a number; false: there is none. */
static bool next_choice(const problem *p, int64_t *option)
{
    for (int64_t i = 0; i < p->blocks; i++) {
        if (++option[i] < p->block[i].options)
            return true;
        option[i] = 0;
    }
    return false;
}

static bool better(const mt_memory_choice *a, const mt_memory_choice *b)
{
    return a->flops != b->flops ? a->flops < b->flops : a->kept < b->kept;
}

/* The best choice of all, by trying each. */
static void try_all(mt_memory_choice *best, const problem *p, int64_t budget)
{
    int64_t option[BLOCKS] = { 0 };
    best->flops = INT64_MAX;
    do {
        mt_memory_choice c = evaluate(p, option);
        if (c.peak <= budget && better(&c, best))
            *best = c;
    } while (next_choice(p, option));
}

/* FLOPs and kept bytes of the best choice: fewest[i] are the FLOPs of the blocks so far, of which i bytes are kept. */
static void tabulate(mt_memory_choice *best, const problem *p, int64_t budget)
{
    size_t size = (size_t)(budget + 1) * sizeof(int64_t);
    int64_t *fewest = malloc(size), *next = malloc(size);
    MT_CHECK(fewest && next, "out of memory");
    for (int64_t i = 0; i <= budget; i++)
        fewest[i] = i ? INT64_MAX : 0;
    for (const mt_memory_block *b = p->block; b < p->block + p->blocks; b++) {
        for (int64_t i = 0; i <= budget; i++)
            next[i] = INT64_MAX;
        for (const mt_memory_option *o = b->option; o < b->option + b->options; o++)
            for (int64_t i = 0; i + o->kept + o->work <= budget; i++)
                if (fewest[i] < INT64_MAX)
                    next[i + o->kept] = mt_min(next[i + o->kept], fewest[i] + o->flops);
        memcpy(fewest, next, size);
    }
    best->flops = INT64_MAX;
    for (int64_t i = 0; i <= budget; i++)
        if (fewest[i] < best->flops)
            *best = (mt_memory_choice){ .kept = i, .flops = fewest[i] };
    free(fewest);
    free(next);
}

/* Whether there is a choice: in each block the one that keeps least, of those within the budget. */
static bool feasible(const problem *p, int64_t budget)
{
    int64_t kept = 0;
    for (const mt_memory_block *b = p->block; b < p->block + p->blocks; b++) {
        int64_t least = INT64_MAX;
        for (const mt_memory_option *o = b->option; o < b->option + b->options; o++)
            if (o->kept + o->work <= budget - kept)
                least = mt_min(least, o->kept);
        if (least == INT64_MAX)
            return false;
        kept += least;
    }
    return budget >= 0;
}

static int64_t least_of(const problem *p)
{
    int64_t low = 0, high = INT64_MAX; /* the answer is from low to high */
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (feasible(p, middle))
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* ---- a call ------------------------------------------------------------------------------------------------ */

static void describe_blocks(mg_run *run, const problem *p)
{
    int64_t *options = mg_in(run, "options", MT_I64, MT_SHAPE(p->blocks));
    int64_t *numbers = mg_in(run, "kept, work, flops", MT_I64, MT_SHAPE(p->blocks, MT_MEMORY_OPTIONS, 3));
    for (int64_t i = 0; i < p->blocks; i++) {
        options[i] = p->block[i].options;
        for (int k = 0; k < MT_MEMORY_OPTIONS; k++, numbers += 3) {
            const mt_memory_option *o = &p->block[i].option[k];
            memcpy(numbers, (int64_t[]){ o->kept, o->work, o->flops }, 3 * sizeof *numbers);
        }
    }
}

/* "0 2 1", for a message. */
static const char *words(const int64_t *option, int64_t count)
{
    static char text[160];
    int at = 0;
    text[0] = 0;
    for (int64_t i = 0; i < count && at < (int)sizeof text - 8; i++)
        at += snprintf(text + at, sizeof text - (size_t)at, "%s%" PRId64, i ? " " : "", option[i]);
    return text;
}

static bool judge_refused(mg_run *run, const problem *p, int64_t n, int64_t least)
{
    const int64_t *choice = mg_result(run, "choice"), *option = mg_result(run, "option");
    const char *message = (const char *)mg_result(run, "message") + n * MESSAGE;
    char number[32];
    int64_t changed = choice[3 * n] != -1 || choice[3 * n + 1] != -1 || choice[3 * n + 2] != -1;
    for (int64_t i = 0; i < p->blocks; i++)
        changed += option[n * p->blocks + i] != -1;
    snprintf(number, sizeof number, "%" PRId64, least);
    if (changed)
        mg_hint(run, "after a refusal out and option are as they were: check before the first write");
    if (changed)
        mg_fail(run, "budget %" PRId64 ": refused, but outputs were changed", p->budget[n]);
    else if (!memchr(message, 0, MESSAGE) || !strstr(message, number))
        mg_fail(run, "budget %" PRId64 ": the message \"%.*s\" does not say the least, %s", p->budget[n], MESSAGE,
                message, number);
    else
        return true;
    return false;
}

static bool judge_choice(mg_run *run, const problem *p, int64_t n)
{
    const int64_t *said = (const int64_t *)mg_result(run, "choice") + 3 * n;
    const int64_t *option = (const int64_t *)mg_result(run, "option") + n * p->blocks;
    int64_t budget = p->budget[n];
    mt_memory_choice want;
    for (int64_t i = 0; i < p->blocks; i++)
        if (option[i] < 0 || option[i] >= p->block[i].options) {
            mg_hint(run,
                    "option[i] is the number of the option of block i, also where there is only one: from the last "
                    "block back along the states that each was made from");
            mg_fail(run, "block %" PRId64 " has options 0 .. %d, not %" PRId64, i, p->block[i].options - 1, option[i]);
            return false;
        }
    mt_memory_choice is = evaluate(p, option);
    (p->blocks <= FEW ? try_all : tabulate)(&want, p, budget);
    if (is.peak > budget)
        mg_fail(run, "budget %" PRId64 ": options %s have their peak at %" PRId64 " bytes", budget,
                words(option, p->blocks), is.peak);
    else if (is.flops != want.flops)
        mg_fail(run, "budget %" PRId64 ": options %s have %" PRId64 " FLOPs, %" PRId64 " are enough", budget,
                words(option, p->blocks), is.flops, want.flops);
    else if (is.kept != want.kept)
        mg_fail(run, "budget %" PRId64 ": options %s keep %" PRId64 " bytes, with as many FLOPs %" PRId64 " are enough",
                budget, words(option, p->blocks), is.kept, want.kept);
    else if (said[0] != is.peak || said[1] != is.kept || said[2] != is.flops)
        mg_fail(run,
                "budget %" PRId64 ": options %s are said to have %" PRId64 " bytes at their peak, %" PRId64
                " kept, %" PRId64 " FLOPs; they have %" PRId64 ", %" PRId64 ", %" PRId64,
                budget, words(option, p->blocks), said[0], said[1], said[2], is.peak, is.kept, is.flops);
    else
        return true;
    return false;
}

static bool check(mg_run *run, const problem *p)
{
    int64_t least = least_of(p);
    mg_begin(run, "mt_memory_choose");
    mg_out(run, "status", MT_I64, MT_SHAPE(p->budgets));
    mg_out(run, "choice", MT_I64, MT_SHAPE(p->budgets, 3));
    mg_out(run, "option", MT_I64, MT_SHAPE(p->budgets, p->blocks));
    mg_out(run, "message", MT_U8, MT_SHAPE(p->budgets, MESSAGE));
    describe_blocks(run, p);
    memcpy(mg_in(run, "budgets", MT_I64, MT_SHAPE(p->budgets)), p->budget, (size_t)p->budgets * sizeof *p->budget);
    if (!mg_call(run))
        return false;
    const int64_t *status = mg_result(run, "status");
    for (int64_t n = 0; n < p->budgets; n++) {
        bool enough = p->budget[n] >= least;
        if (status[n] != (enough ? MT_OK : MT_ERR_ARGUMENT)) {
            mg_hint(run, "a budget is refused if it is below mt_memory_least: from the last block to the first the "
                         "smallest of kept + max(work, least behind it)");
            mg_fail(run, "budget %" PRId64 ": the status is %" PRId64 ", expected %s; the least is %" PRId64,
                    p->budget[n], status[n], enough ? "MT_OK" : "MT_ERR_ARGUMENT", least);
            return false;
        }
        if (!(enough ? judge_choice(run, p, n) : judge_refused(run, p, n, least)))
            return false;
    }
    return true;
}

static bool check_least(mg_run *run, const problem *p)
{
    int64_t want = least_of(p), got;
    mg_begin(run, "mt_memory_least");
    mg_out(run, "least", MT_I64, MT_SHAPE(1));
    describe_blocks(run, p);
    if (!mg_call(run))
        return false;
    got = *(const int64_t *)mg_result(run, "least");
    if (got != want)
        mg_hint(run, "mt_memory_least: from the last block to the first the smallest over the options of kept + "
                     "max(work, least behind it)");
    if (got != want)
        mg_fail(run, "the least budget is %" PRId64 ", expected %" PRId64, got, want);
    return got == want;
}

/* ---- problems ---------------------------------------------------------------------------------------------- */

/* Random blocks: work is `heavy` times as large as what is kept. */
static problem random_blocks(mt_rng *rng, int64_t blocks, int64_t most, int64_t heavy)
{
    problem p = { .blocks = blocks };
    for (int64_t i = 0; i < blocks; i++) {
        p.block[i].options = (int)mg_pick(rng, 2, MT_MEMORY_OPTIONS);
        for (int k = 0; k < p.block[i].options; k++)
            p.block[i].option[k] =
                (mt_memory_option){ mg_pick(rng, 0, most), mg_pick(rng, 0, heavy * most), mg_pick(rng, 0, most) };
    }
    return p;
}

/* A transformer's: everything is kept, or the inputs of elementwise ops are not, or only the block's input is. */
static problem equal_blocks(mt_rng *rng, int64_t blocks)
{
    int64_t C = mg_pick(rng, 8, 24), H = mg_pick(rng, 1, 4), rest = H + 4, inside = 5 * C;
    problem p = { .blocks = blocks };
    for (int64_t i = 0; i < blocks; i++)
        p.block[i] = (mt_memory_block){ .options = 3,
                                        .option = { { 16 * C + rest, inside, 0 },
                                                    { 10 * C + rest, inside + 4 * C, 20 * C },
                                                    { C, 15 * C + rest + inside, 24 * C * C + 40 * C } } };
    return p;
}

/* So many budgets: the least, some of the next bytes, then evenly up to what the first options need and one more. */
static void spread_budgets(problem *p, int64_t budgets)
{
    int64_t least = least_of(p), option[BLOCKS] = { 0 }, most = mt_max(evaluate(p, option).peak, least) + 1;
    p->budgets = budgets;
    for (int64_t n = 0; n < budgets; n++)
        p->budget[n] = n < budgets / 4 ? least + n : least + (most - least) / (budgets - 1) * n;
    p->budget[budgets - 1] = most;
}

/* Budgets that some random choice needs exactly, and one byte less. */
static void exact_budgets(mt_rng *rng, problem *p)
{
    p->budgets = BUDGETS;
    for (int64_t n = 0; n < BUDGETS; n += 2) {
        int64_t option[BLOCKS];
        for (int64_t i = 0; i < p->blocks; i++)
            option[i] = mt_rng_below(rng, p->block[i].options);
        p->budget[n] = evaluate(p, option).peak;
        p->budget[n + 1] = p->budget[n] - 1;
    }
}

/* Sums that a double cannot tell apart; budgets too. Every second time all budgets and FLOPs are above 2^62. */
static problem large_numbers(mt_rng *rng, int call)
{
    problem p = random_blocks(rng, 4, 5, 1);
    int64_t most = call % 2 ? mt_rng_below(rng, p.blocks) : -1;
    for (int64_t i = 0; i < p.blocks; i++)
        for (int k = 0; k < p.block[i].options; k++) {
            mt_memory_option *o = &p.block[i].option[k];
            o->kept += o->kept / 3 * ((INT64_C(1) << 58) + (INT64_C(1) << 31)); /* the lower half has another order */
            o->work += INT64_C(1) << (i == most ? 62 : 57);
            o->flops += (INT64_C(1) << 60) + (most < 0 ? 0 : INT64_C(1) << 59);
        }
    exact_budgets(rng, &p);
    return p;
}

static problem nothing(mt_rng *rng, int i)
{
    problem p = random_blocks(rng, i < 2 ? 0 : mg_pick(rng, 1, FEW), 30, 2);
    for (int64_t b = 0; b < p.blocks; b++)
        p.block[b].options = 1;
    spread_budgets(&p, 4);
    p.budget[0] = least_of(&p) - 1;
    return p;
}

/* Every number of bytes up to the sum is the best choice of some budget: 2^12 states behind the last block. */
static problem binary_blocks(void)
{
    problem p = { .blocks = 12 };
    for (int64_t i = 0; i < p.blocks; i++)
        p.block[i] =
            (mt_memory_block){ .options = 2, .option = { { INT64_C(1) << i, 0, 0 }, { 0, 0, INT64_C(1) << i } } };
    return p;
}

/* Only one of all sums of FLOPs is of use; the others are different. The option with fewer is neither the first nor the
 * last: a table that keeps the others has 2^i states behind block i, and is out of time or memory. */
static problem equal_kept(void)
{
    problem p = { .blocks = 48 };
    for (int64_t i = 0; i < p.blocks; i++) {
        const mt_memory_option more = { 10, 0, INT64_C(1) << i };
        p.block[i] = (mt_memory_block){ .options = 3, .option = { more, { 10, 0, 0 }, more } };
    }
    return p;
}

/* Thousands of blocks, with so little room that there are few states behind each. */
static problem thousands(mt_rng *rng)
{
    problem p = random_blocks(rng, mg_pick(rng, 2000, BLOCKS), 3, 1);
    p.budgets = 2;
    p.budget[0] = least_of(&p) + mg_pick(rng, 0, 9);
    p.budget[1] = p.budget[0] + 40;
    return p;
}

static problem problem_of(mt_rng *rng, choose_about about, int i)
{
    problem p;
    switch (about) {
    case CHOOSE_SMALL:
    case CHOOSE_BEYOND:
        p = random_blocks(rng, mg_pick(rng, 1, 6), mg_pick(rng, 3, 16), 1);
        break;
    case CHOOSE_WORK:
        p = random_blocks(rng, mg_pick(rng, 1, 6), mg_pick(rng, 3, 9), 6);
        break;
    case CHOOSE_PLACE:
        p = equal_blocks(rng, mg_pick(rng, 2, FEW));
        break;
    case CHOOSE_MANY:
        if (i == 7)
            return thousands(rng);
        p = i == 4   ? equal_kept()
            : i == 5 ? binary_blocks()
                     : random_blocks(rng, i < 6 ? mg_pick(rng, 10, 24) : LAYERS, 40, 3);
        break;
    case CHOOSE_EQUAL:
        p = equal_blocks(rng, i < 3 ? 12 * (i + 1) : LAYERS);
        break;
    case CHOOSE_LARGE:
        return large_numbers(rng, i);
    case CHOOSE_NOTHING:
        return nothing(rng, i);
    default:
        p = random_blocks(rng, mg_pick(rng, 1, 6), 1000000, 1);
        exact_budgets(rng, &p);
        return p;
    }
    spread_budgets(&p, p.blocks <= FEW ? BUDGETS : 12);
    for (int64_t n = 0; n < p.budgets && about == CHOOSE_BEYOND; n++)
        p.budget[n] = least_of(&p) - 1 - n / 2;
    return p;
}

void mg_10_choose(mg_run *run, const void *one_case)
{
    choose_about about = ((const choose_case *)one_case)->about;
    bool good = true;
    for (int i = 0; i < (about == CHOOSE_EQUAL ? 4 : 8) && good; i++) {
        problem p = problem_of(mg_rng(run), about, i);
        good = check(run, &p) && (about != CHOOSE_BEYOND || check_least(run, &p));
    }
}
