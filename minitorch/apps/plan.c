/* plan.c -- how should this model be trained, on what, for how much? Prints the best plans (plan/planner.h), why others
 * lose, or what would fit; writes plan.svg, train.sh, job.slurm and job.yaml.
 *
 *     build/release/bin/plan --model gpt2-xl --cluster 8xA100 --days 7
 *
 * Nothing is measured: speeds are the nominal ones of plan/devices.c times --efficiency. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dist/collectives.h"
#include "models/gpt2.h"
#include "plan/files.h"
#include "cli/cli.h"

enum { BEST = 4 /* rows of the table */, TOKENS = 20 /* a parameter, where --tokens is left out */ };

typedef struct options {
    mt_plan_problem problem;
    const char *cluster, *out;
    bool cheapest, devices;
    struct wanted {
        int64_t dp, pp, tp, zero, recompute; /* 0, of the last two -1: any */
    } wanted;
} options;

/* ---- command line -------------------------------------------------------------------------------------------- */

/* "layers=12,heads=12,width=768", and block=, vocabulary=. */
static mt_status own_model(mt_plan_model *model, const char *text)
{
    mt_plan_model m = { 50257, 0, 1024, 0, 0, 0 };
    char copy[256], *rest;
    struct {
        const char *key;
        int64_t *value, most;
    } keys[] = { { "layers", &m.layers, 1000 },
                 { "heads", &m.heads, 1000 },
                 { "width", &m.width, 1 << 16 },
                 { "block", &m.block, 1 << 20 },
                 { "vocabulary", &m.vocabulary, 1 << 24 } };
    snprintf(copy, sizeof copy, "%s", text);
    for (char *word = strtok_r(copy, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
        char *value = strchr(word, '=');
        int k = 0;
        if (value)
            *value++ = 0;
        while (k < MT_COUNT(keys) && strcmp(keys[k].key, word) != 0)
            k++;
        if (!value || k == MT_COUNT(keys))
            return mt_fail(MT_ERR_ARGUMENT,
                           "\"%s\": use toy, gpt2, gpt2-medium, gpt2-large, gpt2-xl, gpt3, or "
                           "layers=12,heads=12,width=768 (and block=, vocabulary=)",
                           word);
        if (mt_cli_i64(keys[k].value, value, 1, keys[k].most) != MT_OK)
            return MT_ERR_ARGUMENT;
    }
    if (!m.layers || !m.heads || !m.width || m.width % m.heads)
        return mt_fail(MT_ERR_ARGUMENT, "write layers=, heads= and width=, and heads that divide the width");
    *model = m;
    return MT_OK;
}

static mt_status parse_model(const char *text, void *field)
{
    const mt_gpt2_config *c = strcmp(text, "gpt3") != 0 && !strchr(text, '=') ? mt_gpt2_size(text) : NULL;
    if (c)
        *(mt_plan_model *)field = (mt_plan_model){ c->vocabulary, c->rows, c->block, c->layers, c->heads, c->width };
    else if (strcmp(text, "gpt3") == 0)
        *(mt_plan_model *)field = (mt_plan_model){ 50257, 0, 2048, 96, 96, 12288 };
    else
        return own_model(field, text);
    return MT_OK;
}

static mt_status parse_recompute(const char *text, void *field)
{
    for (int k = 0; k < MT_RECOMPUTES; k++)
        if (strcmp(text, mt_plan_again((mt_recompute)k)) == 0) {
            *(int64_t *)field = k;
            return MT_OK;
        }
    return mt_fail(MT_ERR_ARGUMENT, "'%.40s': use none, selective or block", text);
}

static const mt_option flags[] = {
    { "model", 'm', "NAME", MT_PARSED(options, problem.model, parse_model),
      "gpt2, gpt2-medium, gpt2-large, gpt2-xl, gpt3, toy, or layers=12,heads=12,width=768; default: gpt2" },
    { "cluster", 'c', "NxDEVICE", MT_TEXT(options, cluster),
      "Number and kind of devices, or a JSON file (plan/files.h)" },
    { "devices", 0, NULL, MT_FLAG(options, devices), "Print the devices that --cluster knows, and stop" },
    { "tokens", 0, "N", MT_F64(options, problem.tokens, 1, 1e18),
      "Number of tokens to train on; default: 20 a parameter" },
    { "batch", 'b', "N", MT_I64(options, problem.batch, 1, 1 << 20), "Samples of a step" },
    { "time", 0, "N", MT_I64(options, problem.time, 1, 1 << 20), "Tokens of a sample; default: the model's context" },
    { "dtype", 0, "NAME", MT_CHOICE(options, problem.dtype, mt_cli_floats),
      "Element type of matrix products: bf16 or f32" },
    { "efficiency", 0, "SHARE", MT_F64(options, problem.efficiency, 1e-6, 1),
      "Fraction of nominal speed that matrix products reach" },
    { "days", 0, "N", MT_F64(options, problem.days, 1e-9, 1e9), "Longest time of the training" },
    { "dollars", 0, "N", MT_F64(options, problem.dollars, 1e-9, 1e15), "Highest price of the training" },
    { "dp", 0, "N", MT_I64(options, wanted.dp, 1, 4096), "Only plans of so many replicas" },
    { "pp", 0, "N", MT_I64(options, wanted.pp, 1, 4096), "Only plans of so many stages" },
    { "tp", 0, "N", MT_I64(options, wanted.tp, 1, 4096), "Only plans with matrices divided among so many ranks" },
    { "sp", 0, NULL, MT_FLAG(options, problem.sequence),
      "Ranks among which matrices are divided also divide the tokens of layernorms and the residual stream" },
    { "zero", 0, "STAGE", MT_I64(options, wanted.zero, 0, 3), "Only plans with this stage of ZeRO" },
    { "recompute", 0, "WHAT", MT_PARSED(options, wanted.recompute, parse_recompute),
      "Only plans that compute this again: none, selective or block" },
    { "cheapest", 0, NULL, MT_FLAG(options, cheapest), "The fewest dollars, not the fewest days" },
    { "out", 'o', "DIR", MT_TEXT(options, out), "Folder for what is written" },
    { 0 },
};

/* ---- searches among a part of all strategies ----------------------------------------------------------------- */

enum family { ALL, ONLY_DATA, WITHOUT_ZERO, NOTHING_AGAIN, PIPELINE, TENSOR, FAMILIES };

static const char *const family_names[FAMILIES] = {
    "", "only data parallel", "without ZeRO", "nothing computed again", "with a pipeline", "matrices divided"
};

static bool belongs(const mt_plan_strategy *s, enum family family)
{
    const bool is[FAMILIES] = { true,         s->pp == 1 && s->tp == 1,
                                s->zero == 0, s->recompute == MT_RECOMPUTE_NONE,
                                s->pp > 1,    s->tp > 1 };
    return is[family];
}

/* What mt_plan_best may not find: `listed` divisions of the ranks, and what a family excludes. */
static struct {
    mt_plan_answer listed[BEST];
    int64_t count;
    enum family within;
    const struct wanted *wanted;
} limits;

static bool is_wanted(const mt_plan_strategy *s)
{
    const struct wanted *w = limits.wanted;
    return (!w->dp || w->dp == s->dp) && (!w->pp || w->pp == s->pp) && (!w->tp || w->tp == s->tp) &&
           (w->zero < 0 || w->zero == s->zero) && (w->recompute < 0 || w->recompute == (int64_t)s->recompute);
}

static mt_plan_estimate estimate(const mt_plan_problem *p, const mt_plan_strategy *s)
{
    bool excluded = !is_wanted(s) || !belongs(s, limits.within);
    for (int64_t i = 0; i < limits.count; i++) {
        const mt_plan_strategy *l = &limits.listed[i].strategy;
        excluded |= limits.within == ALL && l->dp == s->dp && l->pp == s->pp && l->tp == s->tp;
    }
    mt_plan_estimate never = { .peak = INT64_MAX, .step = INFINITY, .days = INFINITY, .dollars = INFINITY };
    return excluded ? never : mt_plan_estimate_of(p, s);
}

/* ---- the table ----------------------------------------------------------------------------------------------- */

static void print_head(void)
{
    printf("  %3s %3s %3s %4s  %-9s %11s %5s %8s %9s %6s %9s %10s\n", "dp", "pp", "tp", "ZeRO", "again", "micro-batch",
           "dtype", "GB", "s a step", "MFU", "days", "dollars");
}

static void print_row(const mt_plan_answer *a)
{
    const mt_plan_strategy *s = &a->strategy;
    const mt_plan_estimate *e = &a->estimate;
    char micro[32];
    snprintf(micro, sizeof micro, "%" PRId64 " of %" PRId64, s->micro, s->samples);
    printf("  %3" PRId64 " %3" PRId64 " %3" PRId64 " %4" PRId64 "  %-9s %11s %5s %8.4g %9.4g %6.3f %9.4g %10.0f\n",
           s->dp, s->pp, s->tp, s->zero, mt_plan_again(s->recompute), micro, s->dtype == MT_F32 ? "f32" : "bf16",
           (double)e->peak / 1e9, e->step, e->mfu, e->days, e->dollars);
}

/* A device, and how often its products must use a byte of its memory. */
static void print_device(const mt_plan_device *d)
{
    printf("%s: %.4g TFLOP/s in 16 bits, %.4g GB of %.4g TB/s: %.3g FLOP a byte; %s\n", d->name, d->half / 1e12,
           (double)d->memory / 1e9, d->bandwidth / 1e12, d->half / d->bandwidth, d->source);
}

static mt_status print_devices(void)
{
    for (const mt_plan_device *d = mt_plan_devices; d->name; d++)
        print_device(d);
    return MT_OK;
}

/* What devices use at most; hosts, network and cooling come on top. */
static void print_energy(const mt_plan_problem *p, const mt_plan_answer *a)
{
    const mt_plan_strategy *s = &a->strategy;
    double devices = (double)(s->dp * s->pp * s->tp);
    if (p->device.watts > 0)
        printf("Energy of the first: at most %.4g kWh, %.0f devices of %.4g W, without hosts, network and cooling\n",
               a->estimate.days * 24 * devices * p->device.watts / 1000, devices, p->device.watts);
}

/* What train_gpt2 has for replicas on several machines: the plan itself is of rings. */
static void print_hierarchy(const mt_plan_problem *p, const mt_plan_strategy *s)
{
    const mt_plan_device *d = &p->device;
    const mt_nodes nodes = { (int)d->machine, { d->latency, 1 / d->link } };
    const mt_network network = { d->latency, 1 / d->network };
    int64_t bytes = 4 * mt_plan_params(&p->model, s, 0);
    if (s->pp * s->tp > 1 || s->zero > 0 || d->machine == 1 || s->dp <= d->machine || s->dp % d->machine)
        return;
    printf("Its gradients, if nothing hides them: %.3g s by a ring, %.3g s with --all-reduce hierarchical:%d\n",
           mt_hierarchical_seconds(MT_RING, (int)s->dp, bytes, &nodes, &network),
           mt_hierarchical_seconds(MT_HIERARCHICAL, (int)s->dp, bytes, &nodes, &network), nodes.size);
}

/* Why the listed ones that are not the best lose. */
static void print_listed(void)
{
    const mt_plan_estimate *best = &limits.listed[0].estimate;
    for (int64_t i = 1; i < limits.count; i++) {
        const mt_plan_estimate *e = &limits.listed[i].estimate;
        const mt_plan_strategy *s = &limits.listed[i].strategy;
        printf("  dp %" PRId64 ", pp %" PRId64 ", tp %" PRId64 ": a step takes %+.3g s: work and its messages %+.3g, "
               "bubble %+.3g, gradients %+.3g\n",
               s->dp, s->pp, s->tp, e->step - best->step, e->busy - best->busy, e->bubble - best->bubble,
               e->data - best->data);
    }
}

static void print_families(const mt_plan_problem *p)
{
    const mt_plan_answer *best = &limits.listed[0];
    for (enum family family = ALL + 1; family < FAMILIES; family++) {
        mt_plan_answer a;
        limits.within = family;
        if (belongs(&best->strategy, family))
            continue;
        mt_status status = mt_plan_best(&a, p);
        const mt_plan_estimate *e = &a.estimate;
        printf("  %s: ", family_names[family]);
        if (e->peak == INT64_MAX || (status != MT_OK && a.why == MT_PLAN_FOUND))
            puts("there is no such division");
        else if (status == MT_OK)
            printf("%.4g days instead of %.4g (%+.1f %%), $%.0f instead of $%.0f\n", e->days, best->estimate.days,
                   100 * (e->days / best->estimate.days - 1), e->dollars, best->estimate.dollars);
        else if (a.why == MT_PLAN_NO_MEMORY)
            printf("at least %.2f GB, %.2f GB more than a device has\n", (double)e->peak / 1e9,
                   (double)(e->peak - p->device.memory) / 1e9);
        else if (a.why == MT_PLAN_NO_DAYS)
            printf("at least %.4g days, %.4g too many\n", e->days, e->days - p->days);
        else
            printf("at least $%.0f, $%.0f too many\n", e->dollars, e->dollars - p->dollars);
    }
    limits.within = ALL;
}

/* The nearest, and what would fit. why: that of the search. */
static void print_nearest(const mt_plan_problem *p, const mt_plan_answer *nearest)
{
    puts("No plan is within the limits. The nearest:");
    print_head();
    print_row(nearest);
    const mt_plan_estimate *e = &nearest->estimate;
    if (nearest->why == MT_PLAN_NO_MEMORY)
        printf("It needs %.2f GB more than a %s has.\n", (double)(e->peak - p->device.memory) / 1e9, p->device.name);
    else if (nearest->why == MT_PLAN_NO_DAYS)
        printf("It takes %.4g days more than --days %.4g.\n", e->days - p->days, p->days);
    else
        printf("It costs $%.0f more than --dollars %.4g.\n", e->dollars - p->dollars, p->dollars);
    mt_plan_problem more = *p;
    for (int factor = 2; factor <= 16 && nearest->why != MT_PLAN_NO_DOLLARS && p->devices * factor <= 4096;
         factor *= 2) {
        mt_plan_answer a;
        more.devices = p->devices * factor;
        if (mt_plan_best(&a, &more) != MT_OK)
            continue;
        printf("With %" PRId64 " devices there is a plan:\n", more.devices);
        print_row(&a);
        return;
    }
}

/* ---- the program --------------------------------------------------------------------------------------------- */

static mt_status fill(options *o)
{
    mt_plan_problem *p = &o->problem;
    MT_TRY(mt_plan_cluster(p, o->cluster));
    if (p->dtype == MT_F16)
        return mt_fail(MT_ERR_ARGUMENT, "--dtype f16: its loss scale needs the whole gradients: use bf16");
    if (!(mt_plan_nominal(p) > 0))
        return mt_fail(MT_ERR_ARGUMENT,
                       "no speed of a %s in f32 is published: use --dtype bf16, or single_tflops in a "
                       "cluster file",
                       p->device.name);
    const mt_plan_strategy one = { 1, 1, 1, 1, 1, 1, 0, MT_RECOMPUTE_NONE, MT_F32, false };
    p->time = p->time ? p->time : p->model.block;
    p->tokens = p->tokens > 0 ? p->tokens : TOKENS * (double)mt_plan_params(&p->model, &one, 0);
    double tokens = (double)p->batch * (double)p->time, C = (double)p->model.width, L = (double)p->model.layers;
    double flops = 8 * tokens * (12 * L * C * C + (double)p->model.vocabulary * C + L * ((double)p->time + 1) * C);
    if (flops > 0x1p62) /* the plan counts in 64 bits */
        return mt_fail(MT_ERR_ARGUMENT,
                       "a step of this model takes %.2g FLOPs, and a plan counts to %.2g: make the model, "
                       "--batch or --time smaller",
                       flops, 0x1p62);
    p->goal = o->cheapest ? MT_PLAN_CHEAPEST : MT_PLAN_FASTEST;
    p->estimate = estimate;
    return MT_OK;
}

static mt_status run(options *o)
{
    mt_plan_problem *p = &o->problem;
    mt_plan_answer a = { 0 };
    limits.wanted = &o->wanted;
    MT_TRY(fill(o));
    mt_status status = mt_plan_best(&a, p);
    if (status != MT_OK) {
        char why[512];
        if (a.why != MT_PLAN_FOUND && a.estimate.peak == INT64_MAX)
            return mt_fail(MT_ERR_ARGUMENT, "this model, batch and cluster have no plan with these --dp, --pp, --tp, "
                                            "--zero and --recompute: leave one of them out");
        snprintf(why, sizeof why, "%s", mt_last_error());
        if (a.why != MT_PLAN_FOUND)
            print_nearest(p, &a);
        return mt_fail(status, "%s", why);
    }
    printf("%" PRId64 " layers of %" PRId64 " on at most %" PRId64 " %s, %.4g tokens in %" PRId64 " steps of %" PRId64
           " x %" PRId64 ", %.0f %% of the nominal speed in products\n",
           p->model.layers, p->model.width, p->devices, p->device.name, p->tokens, mt_plan_steps(p), p->batch, p->time,
           100 * p->efficiency);
    print_head();
    do {
        print_row(&a);
        limits.listed[limits.count++] = a;
    } while (limits.count < BEST && mt_plan_best(&a, p) == MT_OK);
    mt_plan_cost worst = mt_plan_worst(p, &limits.listed[0].strategy);
    printf("A rank of the first: peak %" PRId64 " bytes; sends in a step %" PRId64 " of gradients, %" PRId64
           " to other stages, %" PRId64 " of tensors\n",
           worst.peak, worst.data, worst.pipe, worst.tensor);
    print_hierarchy(p, &limits.listed[0].strategy);
    print_device(&p->device);
    if (p->device.dollars == 0)
        puts("Dollars are 0, because the table has no price of this device: write dollars_hour in a cluster file");
    print_energy(p, &limits.listed[0]);
    puts("Why others lose:");
    print_listed();
    print_families(p);
    status = mt_plan_save(o->out, p, limits.listed, limits.count);
    if (status == MT_OK)
        printf("plan.svg, train.sh, job.slurm and job.yaml are in %s\n", o->out);
    return status;
}

int main(int argc, char **argv)
{
    const mt_gpt2_config *c = mt_gpt2_size("gpt2");
    options o = { .cluster = "8xA100",
                  .out = "build/run/plan",
                  .wanted = { .zero = -1, .recompute = -1 },
                  .problem = { .model = { c->vocabulary, c->rows, c->block, c->layers, c->heads, c->width },
                               .batch = 512,
                               .dtype = MT_BF16,
                               .efficiency = 0.5,
                               .overhead = 20e-6,
                               .days = INFINITY,
                               .dollars = INFINITY,
                               .zero = 3,
                               .zero_divided = 1 } };
    mt_cli_parse(argc, argv, "The best ways to train a GPT on a cluster.", flags, &o);
    return mt_cli_exit(o.devices ? print_devices() : run(&o));
}
