/* 10-choose.c -- how the checks of the choice of options run (step 10.5). Few blocks: every choice is tried. Many: a
 * table over the bytes that are kept, in multiples of a unit. Problems: 10-problems.c.
 * Rows: 10-memory.c. */
#include "checks/10-choose.h"
#include "checks/fill.h"
#include "memory/choose.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what is right ---------------------------------------------------------------------------------------- */

mt_memory_choice mg_10_evaluate(const choose_problem *p, const int64_t *option)
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
static bool next_choice(const choose_problem *p, int64_t *option)
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
static void try_all(mt_memory_choice *best, const choose_problem *p, int64_t budget)
{
    int64_t option[MG_10_BLOCKS] = { 0 };
    best->flops = INT64_MAX;
    do {
        mt_memory_choice c = mg_10_evaluate(p, option);
        if (c.peak <= budget && better(&c, best))
            *best = c;
    } while (next_choice(p, option));
}

/* FLOPs and kept bytes of the best choice: fewest[i] are the FLOPs of the blocks so far, of which i bytes are kept. */
static void tabulate(mt_memory_choice *best, const choose_problem *p, int64_t budget)
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
static bool feasible(const choose_problem *p, int64_t budget)
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

int64_t mg_10_least(const choose_problem *p)
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

static void describe_blocks(mg_run *run, const choose_problem *p)
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

static bool judge_refused(mg_run *run, const choose_problem *p, int64_t n, int64_t least)
{
    const int64_t *choice = mg_result(run, "choice"), *option = mg_result(run, "option");
    const char *message = (const char *)mg_result(run, "message") + n * MG_10_MESSAGE;
    char number[32];
    int64_t changed = choice[3 * n] != -1 || choice[3 * n + 1] != -1 || choice[3 * n + 2] != -1;
    for (int64_t i = 0; i < p->blocks; i++)
        changed += option[n * p->blocks + i] != -1;
    snprintf(number, sizeof number, "%" PRId64, least);
    if (changed)
        mg_hint(run, "after a refusal out and option are as they were: check before the first write");
    if (changed)
        mg_fail(run, "budget %" PRId64 ": refused, but outputs were changed", p->budget[n]);
    else if (!memchr(message, 0, MG_10_MESSAGE) || !strstr(message, number))
        mg_fail(run, "budget %" PRId64 ": the message \"%.*s\" does not say the least, %s", p->budget[n], MG_10_MESSAGE,
                message, number);
    else
        return true;
    return false;
}

static bool judge_choice(mg_run *run, const choose_problem *p, int64_t n)
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
            return mg_fail(run, "block %" PRId64 " has options 0 .. %d, not %" PRId64, i, p->block[i].options - 1,
                           option[i]);
        }
    mt_memory_choice is = mg_10_evaluate(p, option);
    (p->blocks <= MG_10_FEW ? try_all : tabulate)(&want, p, budget);
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

static bool check(mg_run *run, const choose_problem *p)
{
    int64_t least = mg_10_least(p);
    mg_begin(run, "mt_memory_choose");
    mg_out(run, "status", MT_I64, MT_SHAPE(p->budgets));
    mg_out(run, "choice", MT_I64, MT_SHAPE(p->budgets, 3));
    mg_out(run, "option", MT_I64, MT_SHAPE(p->budgets, p->blocks));
    mg_out(run, "message", MT_U8, MT_SHAPE(p->budgets, MG_10_MESSAGE));
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
            return mg_fail(run, "budget %" PRId64 ": the status is %" PRId64 ", expected %s; the least is %" PRId64,
                           p->budget[n], status[n], enough ? "MT_OK" : "MT_ERR_ARGUMENT", least);
        }
        if (!(enough ? judge_choice(run, p, n) : judge_refused(run, p, n, least)))
            return false;
    }
    return true;
}

static bool check_least(mg_run *run, const choose_problem *p)
{
    int64_t want = mg_10_least(p), got;
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

void mg_10_choose(mg_run *run, const void *one_case)
{
    enum { MANY = 1 << CHOOSE_MANY, EQUAL = 1 << CHOOSE_EQUAL };
    static const char states[] = "after each block only the states that no other one beats in both numbers are needed";
    static const mg_idea tries[] = {
        { .rows = ~EQUAL, .times = 4 },
        { .rows = ~(EQUAL | MANY | 1 << CHOOSE_LARGE), .times = 4 },
        { "48 blocks that all keep the same", states, CHOOSE_SAME_KEPT, MANY },
        { "a choice for every number of bytes", "there may be thousands of states that no other one beats",
          CHOOSE_BINARY, MANY },
        { "96 blocks", states, CHOOSE_BLOCKS + MG_10_LAYERS, MANY },
        { "thousands of blocks", "there may be any number of blocks", CHOOSE_THOUSANDS, MANY },
        { "12 blocks", NULL, CHOOSE_BLOCKS + 12, EQUAL },
        { "24 blocks", NULL, CHOOSE_BLOCKS + 24, EQUAL },
        { "36 blocks", NULL, CHOOSE_BLOCKS + 36, EQUAL },
        { "96 blocks", NULL, CHOOSE_BLOCKS + MG_10_LAYERS, EQUAL },
        { "above 2^62", NULL, CHOOSE_ABOVE_62, 1 << CHOOSE_LARGE, 4 },
        { "no blocks", NULL, CHOOSE_NO_BLOCKS, 1 << CHOOSE_NOTHING, 2 },
    };
    choose_about about = ((const choose_case *)one_case)->about;
    for (mg_ideas t = { 0 }; MG_NEXT(run, &t, tries, about);) {
        choose_problem p = mg_10_problem(mg_rng(run), about, t.is);
        if (check(run, &p) && about == CHOOSE_BEYOND)
            check_least(run, &p);
    }
}
