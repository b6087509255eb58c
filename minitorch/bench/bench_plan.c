/* bench_plan.c -- what training costs, by the units of lab 15: the memory of GPT-2 XL under every stage of ZeRO and
 * kind of recomputation; the book's table of V100, A100 and H100 with what it would need; figures of the book that do
 * not follow from its own inputs; the best plan for GPT-3 on 1,024 A100s, and how few estimates find it (lab 15's
 * experiment).
 *
 *     build/release/bin/bench_plan
 *     build/release/bin/bench_plan --all    estimates all strategies of the last one, too
 *
 * Nothing is measured: the same figures on every machine. The last line is for programs:
 * `bench_plan: days=30.89 estimates=25`. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "plan/planner.h"
#include "cli/cli.h"

typedef struct options {
    bool all;
} options;

static const mt_option flags[] = {
    { "all", 0, NULL, MT_FLAG(options, all), "Also estimate every strategy, for comparison" },
    { 0 },
};

static const mt_plan_model xl = { 50257, 0, 1024, 48, 25, 1600 };

static double gb(int64_t bytes)
{
    return (double)bytes / 1e9;
}

/* ---- memory -------------------------------------------------------------------------------------------------- */

static void print_memory(void)
{
    static const char *const how[] = { "none", "selective", "block" };
    printf("GPT-2 XL, batches of 8 x 1024 in bf16 on 8 ranks, GB of a rank\n");
    printf("  %-5s %-10s %10s %10s %10s %10s %12s %8s\n", "ZeRO", "again", "parameters", "copies", "gradients",
           "optimizer", "activations", "peak");
    for (int64_t zero = 0; zero <= 3; zero++)
        for (int again = 0; again < MT_RECOMPUTES; again++) {
            const mt_plan_strategy s = { 8, 1, 1, 8, 1024, 1, zero, (mt_recompute)again, MT_BF16, false };
            mt_plan_cost c = mt_plan_cost_of(&xl, &s, 0);
            printf("  %-5" PRId64 " %-10s %10.2f %10.2f %10.2f %10.2f %12.2f %8.2f\n", zero, how[again],
                   gb(c.parameters), gb(c.copies), gb(c.gradients), gb(c.optimizer), gb(c.activations), gb(c.peak));
        }
}

/* ---- the book's table ---------------------------------------------------------------------------------------- */

/* 8 devices; dollars as printed. */
static const struct {
    const char *device;
    double samples, days, dollars;
} book[] = { { "V100", 220, 14, 10252 }, { "A100", 450, 7, 6877 }, { "H100", 820, 3.5, 6720 } };

static void print_book(void)
{
    const mt_plan_strategy s = { 1, 1, 1, 1, 1024, 1, 0, MT_RECOMPUTE_NONE, MT_BF16, false };
    mt_plan_cost cost = mt_plan_cost_of(&xl, &s, 0);
    double flops = (double)(cost.forward + cost.backward);
    printf("\nThe book's table: GPT-2 on 8 devices. A sample of 1024 tokens takes GPT-2 XL %.2f TFLOP\n", flops / 1e12);
    printf("  %-6s %10s %6s %10s %14s %8s %12s\n", "device", "samples/s", "days", "dollars", "days x rate", "ratio",
           "MFU needed");
    for (int i = 0; i < MT_COUNT(book); i++) {
        const mt_plan_device *d = mt_plan_device_named(book[i].device);
        double mfu, hfu, rate = book[i].days * 24 * 8 * d->dollars;
        mt_plan_utilisation(&mfu, &hfu, flops * book[i].samples, 0, 1, 8, d->half);
        printf("  %-6s %10.0f %6.1f %10.0f %14.0f %8.3f %11.0f%%\n", d->name, book[i].samples, book[i].days,
               book[i].dollars, rate, book[i].dollars / rate, 100 * mfu);
    }
}

/* ---- figures that do not follow from the book's own inputs ------------------------------------------------------- */

/* GPT-2 of 1.5 G parameters on nodes of 8 devices: the inputs of the chapter's example, "1, 8, 32 GPUs". */
static const struct {
    double gradients, network; /* bytes in 16 bits; bytes/s between nodes */
    double alone, work;        /* seconds: 16 samples on one device, and on one of several */
    double inside, between;    /* seconds: an all-reduce in a node, among nodes */
    double steps, rate;        /* rate: dollars an hour of 8 devices */
} inputs = { 3e9, 12.5e9, 1.8, 0.180, 0.005, 0.240, 50e3, 128 };

/* printed: NAN if the book has no such figure. */
static void slip(const char *what, double printed, double computed)
{
    char text[16] = "-";
    if (!isnan(printed))
        snprintf(text, sizeof text, "%g", printed);
    printf("  %-68s %8s %10.4g\n", what, text, computed);
}

/* Bytes a rank sends in an all-reduce of `bytes` by a ring of d. */
static double ring(double bytes, double d)
{
    return 2 * bytes * (d - 1) / d;
}

static void print_example(void)
{
    enum { NODES = 4, MICRO = 4, ALL = 32 };
    double step8 = inputs.work + inputs.inside, step32 = step8 + inputs.between;
    double hours8 = inputs.steps * (MICRO * inputs.work + inputs.inside) / 3600, hours32 = inputs.steps * step32 / 3600;
    double dollars8 = hours8 * inputs.rate, dollars32 = hours32 * inputs.rate * NODES;
    slip("3 GB of gradients by a ring of 4 nodes at 12.5 GB/s, ms", 1e3 * inputs.between,
         1e3 * ring(inputs.gradients, NODES) / inputs.network);
    slip("efficiency of 8 devices by samples/s: 128 in 0.185 s, 16 in 1.8, %", 121, 100 * inputs.alone / step8);
    slip("  ... if 16 take 0.18 s on one device, as on each of 8, %", 121, 100 * inputs.work / step8);
    slip("  ... of 32 devices, %", 13, 100 * inputs.work / step32);
    slip("8 devices, 4 micro-batches a step: hours of 50,000 steps", 3.8, hours8);
    slip("  ... dollars at 128 an hour", 486, dollars8);
    slip("  ... hours longer than 32 devices", 1, hours8 - hours32);
    slip("  ... saved of the dollars of 32 devices, %", 84, 100 * (1 - dollars8 / dollars32));
}

/* Bytes a rank sends of n gradients, with one bit an element: in two phases, as mt_compress does, or all to all. */
static void print_compression(void)
{
    const double n = 1e9, d = 8, wide = 128;
    slip("one bit an element, two phases, 8 ranks: times fewer bytes", 32,
         ring(4 * n, d) / (2 * (d - 1) * (4 + n / (8 * d))));
    slip("  ... sent to all by each of 128 ranks: times fewer bytes", 32, ring(4 * n, wide) / ((wide - 1) * n / 8));
    slip("the largest 1 %, value and index: bytes saved, %", 99, 100 * (1 - 0.01 * (4 + 4) / 4));
}

static void print_slips(void)
{
    enum { RANKS = 8, STAGES = 4, MICRO = 8, EVERY = 4 };
    const double turns = MICRO + STAGES - 1;
    const mt_plan_strategy once = { 8, 1, 1, 8, 1024, 1, 0, MT_RECOMPUTE_NONE, MT_BF16, false };
    const mt_plan_strategy sums = { 8, 1, 1, 8, 1024, EVERY, 0, MT_RECOMPUTE_NONE, MT_BF16, false };
    printf("\nFigures of the book, and what its own inputs give\n");
    printf("  %-68s %8s %10s\n", "", "printed", "computed");
    slip("steps of a ring all-reduce among 8", RANKS - 1, 2 * (RANKS - 1));
    slip("messages of it, where all to all has 56", NAN, 2 * (RANKS - 1) * RANKS);
    print_compression();
    slip("gradients exchanged each 4th step: bytes saved, %", 60, 100 * (1 - 1.0 / EVERY));
    slip("  ... memory of gradients for it, times the usual", 3,
         (double)mt_plan_cost_of(&xl, &sums, 0).gradients / (double)mt_plan_cost_of(&xl, &once, 0).gradients);
    print_example();
    slip("bubble of 4 stages with 8 micro-batches, % of the step", 100.0 * (STAGES - 1) / MICRO,
         100 * (STAGES - 1) / turns);
    slip("175 G parameters in f32, GB", 350, 175e9 * sizeof(float) / 1e9);
}

/* ---- GPT-3 --------------------------------------------------------------------------------------------------- */

static int64_t estimates;

static mt_plan_estimate count(const mt_plan_problem *p, const mt_plan_strategy *s)
{
    estimates++;
    return mt_plan_estimate_of(p, s);
}

static void print_all(const mt_plan_problem *p)
{
    int64_t groups, all = 0, fit = 0;
    double days = INFINITY, dollars = INFINITY;
    mt_plan_strategy *grid = mt_plan_grid(&groups, p);
    for (int64_t i = 0; i < groups; i++) {
        mt_plan_strategy s = grid[i];
        do {
            mt_plan_estimate e = mt_plan_estimate_of(p, &s);
            bool fits = e.peak <= p->device.memory;
            all++;
            fit += fits;
            days = fits ? fmin(days, e.days) : days;
            dollars = fits && e.days <= 60 ? fmin(dollars, e.dollars) : dollars;
        } while (mt_plan_next(&s, p));
    }
    free(grid);
    printf("  all %" PRId64 " strategies: %" PRId64
           " fit, the fastest takes %.9f days, the cheapest within 60 days $%.9f\n",
           all, fit, days, dollars);
}

static mt_status print_gpt3(const options *o, double *days)
{
    mt_plan_problem p = mt_plan_gpt3();
    p.estimate = count;
    mt_plan_answer a;
    mt_status status = mt_plan_best(&a, &p);
    if (status != MT_OK)
        return status;
    const mt_plan_strategy *s = &a.strategy;
    const mt_plan_estimate *e = &a.estimate;
    printf("\nGPT-3 on 1024 A100, 300 G tokens, 50 %% of the nominal speed in products\n");
    printf("  dp %" PRId64 ", pp %" PRId64 ", tp %" PRId64 ", %" PRId64 " micro-batches of %" PRId64 ", ZeRO %" PRId64
           ": %.1f GB, %.1f days, $%.0f\n",
           s->dp, s->pp, s->tp, s->micro, s->samples, s->zero, gb(e->peak), e->days, e->dollars);
    printf("  a step of %.2f s: work %.2f, bubble %.2f, gradients %.2f; MFU %.3f, HFU %.3f\n", e->step, e->busy,
           e->bubble, e->data, e->mfu, e->hfu);
    printf("  found with %" PRId64 " estimates\n", estimates);
    *days = e->days;
    if (o->all)
        print_all(&p);
    return MT_OK;
}

int main(int argc, char **argv)
{
    options o = { 0 };
    double days = 0;
    mt_cli_parse(argc, argv, "What training costs, by the plan.", flags, &o);
    print_memory();
    print_book();
    print_slips();
    mt_status status = print_gpt3(&o, &days);
    if (status != MT_OK)
        return mt_cli_exit(status);
    printf("bench_plan: days=%.2f estimates=%" PRId64 "\n", days, estimates);
    return 0;
}
