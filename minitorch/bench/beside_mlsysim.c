/* beside_mlsysim.c -- the units of lab 15 beside the formulas of mlsysim, the simulator of the book (harvard-edge/
 * cs249r_book, folder mlsysim): the same inputs, both results. docs/results/2026-11-23-mlsysim.md says who is right.
 *
 *     build/release/bin/beside_mlsysim
 *
 * mlsysim itself is not run, and nothing of it is copied: each function theirs_... is the formula of one of its
 * functions, which the comment names. Nothing is measured: the same figures on every machine. The last line is for
 * programs: `beside_mlsysim: differences=N`, of more than 1 %. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "core/base.h"
#include "plan/goodput.h"
#include "plan/planner.h"
#include "cli/cli.h"

static const mt_option flags[] = { { 0 } };

static const mt_plan_model xl = { 50257, 0, 1024, 48, 25, 1600 }, gpt3 = { 50257, 0, 2048, 96, 96, 12288 };
static const double XL = 1.5e9, GPT3 = 175e9; /* parameters in models/data/language.yaml */

static int64_t differences;

/* A row; 1 % is not a difference. */
static void row(const char *what, double ours, double theirs, const char *unit)
{
    double ratio = theirs / ours;
    differences += fabs(ratio - 1) > 0.01;
    printf("  %-56s %10.4g %10.4g %-6s %7.3f\n", what, ours, theirs, unit, ratio);
}

static void head(const char *title)
{
    printf("%s\n  %-56s %10s %10s %-6s %7s\n", title, "", "ours", "theirs", "", "ratio");
}

/* ---- arithmetic and memory ----------------------------------------------------------------------------------- */

/* physics/transformer.py, calc_transformer_training_flops. */
static double theirs_flops(double params, double tokens)
{
    return 6 * params * tokens;
}

/* physics/memory.py, calc_activation_memory, 16 bits: 34 bytes a number of the residual stream, and 5 for each pair of
 * positions and head unless attention is computed again. */
static double theirs_activations(const mt_plan_model *m, double samples, double time, double layers, int again)
{
    double stream = time * samples * (double)m->width;
    double scores = again == MT_RECOMPUTE_NONE ? 5 * (double)m->heads * time * time * samples : 0;
    return layers * ((again == MT_RECOMPUTE_BLOCK ? 2 : 34) * stream + scores);
}

static void arithmetic(void)
{
    const mt_plan_strategy one = { 1, 1, 1, 1, 1024, 1, 0, MT_RECOMPUTE_NONE, MT_BF16, false };
    mt_plan_strategy longer = one, again = one;
    longer.time = 2048, again.recompute = MT_RECOMPUTE_SELECTIVE;
    mt_plan_cost c = mt_plan_cost_of(&xl, &one, 0), g = mt_plan_cost_of(&gpt3, &longer, 0);
    mt_plan_cost s = mt_plan_cost_of(&xl, &again, 0);
    head("Arithmetic of a step with one sample");
    row("parameters of GPT-2 XL", (double)(c.params - (50304 - 50257) * xl.width) / 1e9, XL / 1e9, "G");
    row("GPT-2 XL, 1024 tokens", (double)(c.forward + c.backward) / 1e12, theirs_flops(XL, 1024) / 1e12, "TFLOP");
    row("GPT-3, 2048 tokens", (double)(g.forward + g.backward) / 1e12, theirs_flops(GPT3, 2048) / 1e12, "TFLOP");
    row("selective recomputation, share of forward and backward", (double)s.again / (double)(s.forward + s.backward),
        1.0 / 3, "");
}

/* engine/engine.py, Engine.solve: the arithmetic of one token for each sample; or a read of the weights and of a tenth
 * of them for each sample; and 0.03 ms for each layer. */
static double theirs_step(double params, double samples, double layers, double rate)
{
    double compute = 3 * 2 * params * samples / rate, bytes = 2 * params * (1 + 0.1 * samples);
    return fmax(compute, bytes / 2039e9) + 0.015e-3 + layers * 0.03e-3;
}

static void step(void)
{
    const mt_plan_problem p = { .model = xl,
                                .device = *mt_plan_device_named("A100"),
                                .devices = 1,
                                .batch = 8,
                                .time = 1024,
                                .tokens = 8192,
                                .dtype = MT_BF16,
                                .efficiency = 0.5,
                                .overhead = 20e-6 };
    const mt_plan_strategy s = { 1, 1, 1, 8, 1024, 1, 0, MT_RECOMPUTE_NONE, MT_BF16, false };
    mt_plan_estimate e = mt_plan_estimate_of(&p, &s);
    double theirs = theirs_step(XL, 8, 48, 0.5 * p.device.half);
    head("A step: GPT-2 XL, 8 x 1024 tokens in 16 bits on one A100, half of its nominal speed in products");
    row("time", 1e3 * e.step, 1e3 * theirs, "ms");
    row("MFU", e.mfu, 3 * 2 * XL * 8 / theirs / p.device.half, "");
}

static void memory(void)
{
    static const char *const how[] = { "none", "selective (not the same)", "block, \"full\"" };
    char what[80];
    head("Memory of a rank: GPT-2 XL, 8 x 1024 tokens in 16 bits, 8 ranks");
    for (int64_t zero = 0; zero <= 3; zero++) {
        const mt_plan_strategy s = { 8, 1, 1, 8, 1024, 1, zero, MT_RECOMPUTE_NONE, MT_BF16, false };
        mt_plan_cost c = mt_plan_cost_of(&xl, &s, 0);
        double theirs = XL * (2 / (zero >= 3 ? 8.0 : 1) + 2 / (zero >= 2 ? 8.0 : 1) + 12 / (zero >= 1 ? 8.0 : 1));
        snprintf(what, sizeof what, "weights, gradients, Adam; ZeRO %" PRId64, zero);
        row(what, (double)(c.parameters + c.copies + c.gradients + c.optimizer) / 1e9, theirs / 1e9, "GB");
    }
    for (int again = 0; again < MT_RECOMPUTES; again++) {
        const mt_plan_strategy s = { 8, 1, 1, 8, 1024, 1, 0, (mt_recompute)again, MT_BF16, false };
        double layers = (double)(mt_plan_kept(&xl, &s) * 8 * 1024 * xl.layers);
        snprintf(what, sizeof what, "activations of all layers; again: %s", how[again]);
        row(what, layers / 1e9, theirs_activations(&xl, 8, 1024, 48, again) / 1e9, "GB");
    }
    const mt_plan_strategy pipe = { 16, 8, 8, 1, 2048, 96, 0, MT_RECOMPUTE_NONE, MT_BF16, false };
    mt_plan_cost c = mt_plan_cost_of(&gpt3, &pipe, 0);
    double layers = (double)mt_plan_layers(&gpt3, 8, 0);
    row("GPT-3, tp 8, pp 8: activations of stage 0", (double)c.activations / 1e9,
        theirs_activations(&gpt3, 1, 2048, layers, MT_RECOMPUTE_SELECTIVE) / 1e9, "GB");
}

/* ---- messages and bubbles ------------------------------------------------------------------------------------ */

/* physics/communication.py, calc_ring_allreduce_time. */
static double theirs_ring(double bytes, double ranks, double speed, double latency)
{
    return 2 * (ranks - 1) / ranks * bytes / speed + 2 * (ranks - 1) * latency;
}

/* engine/solvers/distributed.py, DistributedModel.solve: up to a machine's number of replicas they are taken to be in
 * one machine, above that to fill machines (calc_hierarchical_allreduce_time), whatever tp and pp are. */
static double theirs_gradients(const mt_plan_device *d, double bytes, double replicas)
{
    double g = (double)d->machine;
    if (replicas <= g)
        return theirs_ring(bytes, replicas, d->link, d->latency);
    return 2 * ((g - 1) / g * bytes / d->link + (g - 1) * d->latency) +
           theirs_ring(bytes / g, ceil(replicas / g), d->network, d->latency);
}

static void gradients(const char *what, mt_plan_strategy s)
{
    const mt_plan_device *a100 = mt_plan_device_named("A100");
    const mt_plan_problem p = { .model = xl, .device = *a100 };
    mt_plan_cost c = mt_plan_cost_of(&xl, &s, 0);
    row(what, 1e3 * mt_plan_data_seconds(&p, &s, &c, 0),
        1e3 * theirs_gradients(a100, 2 * XL / (double)s.tp, (double)s.dp), "ms");
}

static void messages(void)
{
    head("All-reduce of GPT-2 XL's gradients on A100s (300 and 25 GB/s, 10 us), nothing hidden");
    gradients("dp 8: one machine", (mt_plan_strategy){ 8, 1, 1, 1, 1024, 1, 0, MT_RECOMPUTE_NONE, MT_BF16, false });
    gradients("dp 64: eight machines",
              (mt_plan_strategy){ 64, 1, 1, 1, 1024, 1, 0, MT_RECOMPUTE_NONE, MT_BF16, false });
    gradients("dp 8, tp 5: replicas in five machines",
              (mt_plan_strategy){ 8, 1, 5, 1, 1024, 1, 0, MT_RECOMPUTE_NONE, MT_BF16, false });
    head("Pipeline: a step over its work alone");
    for (int64_t micro = 4; micro <= 64; micro *= 4) {
        char what[64];
        double stages = 8, share = (stages - 1) / ((double)micro + stages - 1);
        snprintf(what, sizeof what, "8 stages, %" PRId64 " micro-batches", micro);
        /* physics/performance.py, calc_pipeline_bubble, is the share of the step; DistributedModel.solve adds that
         * share of the work. */
        row(what, ((double)micro + stages - 1) / (double)micro, 1 + share, "");
    }
}

/* ---- failures and money -------------------------------------------------------------------------------------- */

static void failures(void)
{
    head("Goodput: a save takes 60 s, a restart 300 s, a device fails once in 5e6 s, a week's work");
    for (int64_t devices = 64; devices <= 16384; devices *= 16) {
        const mt_goodput_job job = { .devices = devices, .mtbf = 5e6, .save = 60, .restart = 300 };
        mt_goodput run;
        char what[64];
        double mtbf = mt_goodput_mtbf(&job), young = sqrt(2 * job.save * mtbf);
        mt_status status = mt_goodput_of(&run, &job, 7 * 86400, young);
        MT_CHECK(status == MT_OK, "%s", mt_last_error());
        snprintf(what, sizeof what, "%" PRId64 " devices, saved each %.0f s (Young)", devices, young);
        /* engine/solvers/reliability.py, ReliabilityModel.solve. */
        row(what, run.share, fmax(0, 1 - job.save / young - job.restart / mtbf), "");
    }
}

static void money(void)
{
    const mt_plan_device *d = mt_plan_device_named("A100");
    double days = 7, devices = 8, year = 365, bought = 15000 * devices; /* hardware/data/cloud/A100.yaml */
    /* engine/solvers/economics.py, EconomicsModel.solve: three years, 5 % maintenance, 400 W at $0.12, no overhead. */
    double theirs = bought / 3 * days / year + 0.05 * bought * days / year + 0.4 * devices * days * 24 * 0.12;
    head("Money");
    row("8 A100 for a week: rented; bought", days * 24 * devices * d->dollars, theirs, "$");
    row("memory of an A100", (double)d->memory / 1e9, 80 * 1.073741824, "GB");
}

int main(int argc, char **argv)
{
    char none;
    mt_cli_parse(argc, argv, "The cost functions of lab 15 beside the formulas of the book's simulator.", flags, &none);
    arithmetic();
    step();
    memory();
    messages();
    failures();
    money();
    printf("beside_mlsysim: differences=%" PRId64 "\n", differences);
    return 0;
}
