/* bench_plan.c -- what training costs, by the units of lab 15: the memory of GPT-2 XL under every stage of ZeRO and
 * kind of recomputation; the book's table of V100, A100 and H100 with what it would need; the best plan for GPT-3 on
 * 1,024 A100s, and how few estimates find it (lab 15's experiment).
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
#include "prof/cli.h"

typedef struct options {
    bool all;
} options;

static const mt_option flags[] = {
    { "all", 0, NULL, MT_FLAG(options, all), "Also estimate every strategy, for comparison" },
    { 0 },
};

static const mt_plan_model xl = { 50257, 0, 1024, 48, 25, 1600 }, gpt3 = { 50257, 0, 2048, 96, 96, 12288 };

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
            const mt_plan_strategy s = { 8, 1, 1, 8, 1024, 1, zero, (mt_recompute)again, MT_BF16 };
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
    const mt_plan_strategy s = { 1, 1, 1, 1, 1024, 1, 0, MT_RECOMPUTE_NONE, MT_BF16 };
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
    double days = INFINITY;
    mt_plan_strategy *grid = mt_plan_grid(&groups, p);
    for (int64_t i = 0; i < groups; i++) {
        mt_plan_strategy s = grid[i];
        do {
            mt_plan_estimate e = mt_plan_estimate_of(p, &s);
            bool fits = e.peak <= p->device.memory;
            all++;
            fit += fits;
            days = fits ? fmin(days, e.days) : days;
        } while (mt_plan_next(&s, p));
    }
    free(grid);
    printf("  all %" PRId64 " strategies: %" PRId64 " fit, the fastest takes %.9f days\n", all, fit, days);
}

static mt_status print_gpt3(const options *o, double *days)
{
    const mt_plan_problem p = { .model = gpt3,
                                .device = *mt_plan_device_named("A100"),
                                .devices = 1024,
                                .batch = 1536,
                                .time = 2048,
                                .tokens = 300e9,
                                .dtype = MT_BF16,
                                .efficiency = 0.5,
                                .overhead = 20e-6,
                                .days = INFINITY,
                                .dollars = INFINITY,
                                .goal = MT_PLAN_FASTEST,
                                .zero = 3,
                                .zero_divided = 1,
                                .estimate = count };
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
    mt_status status = print_gpt3(&o, &days);
    if (status != MT_OK)
        return mt_cli_exit(status);
    printf("bench_plan: days=%.2f estimates=%" PRId64 "\n", days, estimates);
    return 0;
}
