/* 15-scale.c -- the rows of lab 15. How they run: 15-cost.c, 15-planner.c. Steps 15.1 to 15.9 are cost.c and planner.c,
 * from 15.10 on goodput.c, scheduler.c, cluster.c and train.c. */
#include "checks/15-scale.h"
#include "plan/scheduler.h"

// clang-format off

/* ---- 15.1 parameters, and what a layer keeps */
static const mg_case published_cases[] = {
    { 1, "published models", "GPT-2's four sizes to the last parameter; GPT-3 and Megatron's models as rounded" },
};
static const cost_case params_cases[] = {
    { { 1, "stages", "positions on the first stage, the last layernorm on the last one, the token table on both" },
      COST_PARAMS, VARY_PIPE | VARY_ROWS },
    { { 1, "tensor ranks", "matrices are divided, and the biases of those divided by columns; nothing else" },
      COST_PARAMS, VARY_PIPE | VARY_TENSOR },
};
static const cost_case kept_cases[] = {
    { { 1, "everything", "16 C numbers and the statistics" }, COST_KEPT, 0 },
    { { 1, "recomputation", "selective: 6 C fewer; block: the input only, in f32, without statistics" }, COST_KEPT,
      VARY_RECOMPUTE | VARY_DTYPE },
    { { 1, "tensor ranks", "inputs and results of layernorms are whole on each rank, and kept" }, COST_KEPT,
      VARY_RECOMPUTE | VARY_TENSOR },
};

/* ---- 15.2 what there is all the time */
static const mg_case zero_cases[] = {
    { 2, "bytes a parameter", "16, 8 + 8 / N, 4 + 12 / N, 16 / N: a stage divides moments, gradients, parameters" },
};
static const cost_case state_cases[] = {
    { { 1, "ZeRO", "a part is rounded up; buckets on their way: 1 of gradients, in stage 3 2 of parameters more" },
      COST_STATE, VARY_DATA | VARY_ZERO },
    { { 1, "micro-batches", "from stage 2 on gradients are whole until the last of several micro-batches, too" },
      COST_STATE, VARY_DATA | VARY_ZERO | VARY_MICRO },
    { { 1, "pipeline buffers", "as many results as micro-batches are live: min(stages behind + 1, micro)" }, COST_STATE,
      VARY_PIPE | VARY_MICRO },
    { { 1, "everything", "the parts of this stage and tensor rank are divided among the replicas" }, COST_STATE,
      VARY_DATA | VARY_PIPE | VARY_TENSOR | VARY_MICRO | VARY_ZERO | VARY_DTYPE },
};

/* ---- 15.3 the peak */
static const cost_case peak_cases[] = {
    { { 1, "one device", "in the head's backward, a layer's backward or a layer's forward" }, COST_MEMORY, VARY_MICRO },
    { { 1, "recomputation", "what is not kept is there while the layer's backward runs" }, COST_MEMORY,
      VARY_MICRO | VARY_RECOMPUTE },
    { { 1, "16 bits", "f32 results of ops live until the layer's end; copies are kept" }, COST_MEMORY,
      VARY_MICRO | VARY_RECOMPUTE | VARY_DTYPE },
    { { 1, "a head in chunks", "two gradients in place of the probabilities" }, COST_MEMORY, VARY_LONG | VARY_MICRO },
    { { 1, "live micro-batches", "all keep their activations; one is in backward" }, COST_MEMORY,
      VARY_PIPE | VARY_MICRO | VARY_RECOMPUTE },
    { { 1, "tensor ranks", "copies and sums for the ranks, beside the result with the bias" }, COST_MEMORY,
      VARY_TENSOR | VARY_MICRO | VARY_RECOMPUTE },
    { { 1, "everything", "the head has a part of the table only; chunks are for whole tables" }, COST_MEMORY,
      VARY_DATA | VARY_PIPE | VARY_TENSOR | VARY_MICRO | VARY_ZERO | VARY_RECOMPUTE | VARY_DTYPE },
};
static const measured_case step_cases[] = {
    { { 2, "as measured", "state and kept bytes of a real step, exactly; its peak to 2.5 %" }, MEASURED_STEP },
    { { 1, "as measured in bf16", "the same with autocast" }, MEASURED_HALF },
};

/* ---- 15.4 arithmetic */
static const cost_case flops_cases[] = {
    { { 1, "one device", "2 FLOPs a weight and token; attention: T (T + 1) / 2 pairs; backward twice forward" },
      COST_FLOPS, VARY_MICRO },
    { { 1, "recomputation", "again is not part of forward and backward" }, COST_FLOPS, VARY_MICRO | VARY_RECOMPUTE },
    { { 1, "stages and tensor ranks", "the head is on the last stage; a rank has its part of each product" },
      COST_FLOPS, VARY_PIPE | VARY_TENSOR | VARY_MICRO | VARY_RECOMPUTE | VARY_ROWS },
};
static const mg_case work_cases[] = {
    { 1, "published runs", "llm.c's GPT-2, GPT-3's 3.14e23 and 355 V100-years, Megatron's formula: all within 2 %" },
};

/* ---- 15.5 messages */
static const cost_case wire_cases[] = {
    { { 1, "data", "an all-reduce of all parameters: 2 (N - 1) parts" }, COST_WIRE, VARY_DATA | VARY_MICRO },
    { { 1, "ZeRO", "stage 3 opens all buckets twice for each micro-batch" }, COST_WIRE,
      VARY_DATA | VARY_MICRO | VARY_ZERO },
    { { 1, "pipeline", "an activation to the next stage, a gradient back; the ends exchange the table's gradient" },
      COST_WIRE, VARY_PIPE | VARY_MICRO },
    { { 1, "tensor ranks", "2 + 2 all-reduces a layer; a block that is computed again has 2 more" }, COST_WIRE,
      VARY_PIPE | VARY_TENSOR | VARY_MICRO | VARY_RECOMPUTE },
};
static const measured_case wire_measured_cases[] = {
    { { 2, "ddp and ZeRO as counted", "what the units of lab 13 send, to the byte" }, MEASURED_DATA },
    { { 1, "pipelines as counted", "what the unit of lab 14 sends, to the byte" }, MEASURED_PIPE },
    { { 1, "tensor ranks as counted", "what tensor-parallel layers and the loss send, to the byte" }, MEASURED_TENSOR },
    { { 1, "all three as counted", "each rank of a mesh of 2 x 2 x 2" }, MEASURED_ALL },
};

/* ---- 15.6 and 15.7 time */
static const seconds_case seconds_cases[] = {
    { { 1, "arithmetic", "of one micro-batch, at efficiency times nominal speed; what is computed again takes time" },
      SECONDS_WORK },
    { { 1, "messages", "tp neighbours, then dp, then pp: a group within a machine uses the link" }, SECONDS_LINKS },
    { { 1, "gradients", "with one stage two thirds of the last micro-batch hide them; with several nothing does" },
      SECONDS_DATA },
};
static const mg_case utilisation_cases[] = {
    { 1, "MFU and HFU", "the same time; HFU counts what is computed again as work" },
};
static const mg_case estimate_cases[] = {
    { 2, "estimates", "(micro + pp - 1) times the slowest stage, and data; whole steps; all devices are paid for" },
};

/* ---- 15.8 and 15.9 the search */
static const best_case best_cases[] = {
    { { 2, "fastest", "the best of all strategies within the memory" }, BEST_FASTEST },
    { { 2, "cheapest", "dollars are devices times hours: fewer devices may be cheaper" }, BEST_CHEAPEST },
    { { 3, "limits", "all three limits hold for what is found; a bound within them is not a promise" }, BEST_LIMITS },
    { { 2, "175 B parameters on 1,024 devices", "of 283,170 strategies the best" }, BEST_LARGE },
    { { 3, "a thousandth of the estimates", "no estimate where a bound says that it cannot be better" }, BEST_COUNT },
    { { 1, "no problem", "MT_ERR_ARGUMENT with a message, before any estimate" }, BEST_REFUSED },
};
static const best_case nearest_cases[] = {
    { { 1, "memory", "nothing fits: the strategy that needs the fewest bytes" }, BEST_NO_MEMORY },
    { { 1, "days", "what fits takes too long: the fastest of it" }, BEST_NO_DAYS },
    { { 1, "dollars", "what fits in time costs too much: the cheapest of it" }, BEST_NO_DOLLARS },
};

/* ---- 15.10 and 15.11 goodput */
static const interval_case interval_cases[] = {
    { { 1, "rare failures", "the least of (exp((t + C) / M) - 1) / t; Young's sqrt(2 C M) is a little too long" },
      INTERVAL_RARE },
    { { 1, "failures as frequent as saves", "the interval stays below M, however long a save is" }, INTERVAL_OFTEN },
    { { 1, "many devices", "the whole job stops when any device fails: M is the mtbf over the devices" },
      INTERVAL_DEVICES },
    { { 1, "no failures", "INFINITY where nothing fails" }, INTERVAL_NEVER },
};
static const interval_case stretch_cases[] = {
    { { 1, "closed form", "1 + slowdown (1 - (1 - p)^devices), without loss of digits for small p" }, STRETCH_EXACT },
    { { 1, "simulated", "one slow device is enough, and two are not worse: 40,000 simulated steps" },
      STRETCH_SIMULATED },
};
static const goodput_case goodput_cases[] = {
    { { 1, "pieces", "equal pieces and what remains; a run that is short has one; each has its save" },
      GOODPUT_PIECES },
    { { 2, "where the time goes", "waiting is part of the time that failures take; parts add up to seconds" },
      GOODPUT_PARTS },
    { { 1, "no failures", "nothing lost, no restarts" }, GOODPUT_SAFE },
    { { 2, "simulated failures", "means of 20,000 runs, to 5 standard errors; an attempt that fails ends early" },
      GOODPUT_SIMULATED },
    { { 1, "no run", "MT_ERR_ARGUMENT with a message" }, GOODPUT_REFUSED },
};

/* ---- 15.12 to 15.14 the scheduler */
static const sched_case fifo_cases[] = {
    { { 2, "in order", "nothing overtakes the head of the queue; jobs end before others start" }, SCHED_MIXED,
      MT_SCHED_FIFO },
    { { 1, "gangs", "all devices of a job at once, or none" }, SCHED_GANGS, MT_SCHED_FIFO },
    { { 1, "priorities", "arrival - priority * aging: a job of priority 1 overtakes what came aging seconds before" },
      SCHED_PRIORITY, MT_SCHED_FIFO },
    { { 1, "no jobs", "MT_ERR_ARGUMENT with a message, and nothing starts" }, SCHED_REFUSED, MT_SCHED_FIFO },
};
static const sched_case backfill_cases[] = {
    { { 2, "holes", "a job may start if it ends before the reservation, or leaves the head its devices" }, SCHED_MIXED,
      MT_SCHED_BACKFILL },
    { { 1, "early ends", "the reservation is made again from the estimates, each time; lengths are not known" },
      SCHED_EARLY, MT_SCHED_BACKFILL },
    { { 1, "priorities", "the reservation is for the first of the queue, which may be another one later" },
      SCHED_PRIORITY, MT_SCHED_BACKFILL },
};
static const sched_case elastic_cases[] = {
    { { 2, "shares", "each its least, then one by one to the poorest; dealt again whenever a job ends or arrives" },
      SCHED_MIXED, MT_SCHED_ELASTIC },
    { { 1, "full clusters", "the leasts of running jobs are theirs; the first that does not fit stops the queue" },
      SCHED_GANGS, MT_SCHED_ELASTIC },
    { { 1, "priorities", "of jobs with equal shares the one before in the queue gets the device" }, SCHED_PRIORITY,
      MT_SCHED_ELASTIC },
};
static const mg_case fairness_cases[] = {
    { 1, "Jain's index", "(sum x)^2 / (n sum x^2); 1 for nothing; the time from arrival to end, over its seconds" },
};

/* ---- 15.15 to 15.17 the cluster */
static const cluster_case events_cases[] = {
    { { 2, "computations", "a device computes one task at a time, in the order in which they became ready" },
      CLUSTER_TASKS },
    { { 2, "ties", "of events at the same second that of the smaller index is first" }, CLUSTER_TIES },
};
static const cluster_case many_cases[] = {
    { { 1, "many tasks", "8,000 tasks need at most 2,000 accesses each: with a list for a heap over 4,000" },
      CLUSTER_MANY },
};
static const cluster_case links_cases[] = {
    { { 1, "messages", "a transfer is in two queues; latencies first, then bytes" }, CLUSTER_MESSAGES },
    { { 2, "shared links", "each time that a transfer joins or leaves a link, all others on it get another rate" },
      CLUSTER_SHARED },
};
static const mg_case laws_cases[] = {
    { 1, "laws", "4 MiB on 8 ranks 65.7 ms, 3 GB on 4 nodes 360 ms, bubbles of 33 to 34.6 units, exposed buckets" },
};
static const cluster_case slow_cases[] = {
    { { 2, "slow devices", "a computation goes on at another speed when its device becomes slow" }, CLUSTER_SLOW },
    { { 1, "devices in step", "the pace of the slowest; on a link each of them counts" }, CLUSTER_WIDE },
};
static const cluster_case fails_cases[] = {
    { { 1, "failures", "of devices that have tasks, from the begin on; what ends at that second has ended" },
      CLUSTER_FAILS },
    { { 1, "no cluster", "MT_ERR_ARGUMENT, and what is wrong: links, times, devices, tasks that wait for each other" },
      CLUSTER_REFUSED },
};
static const mg_case ranks_cases[] = {
    { 3, "as labs 13 and 14 run", "real ranks on a simulated clock: 60 all-reduces, pipelines, buckets, to 1 %" },
};

/* ---- 15.18 training on it */
static const cluster_case train_cases[] = {
    { { 1, "saves", "each so many steps, and at the end" }, CLUSTER_SHARED },
    { { 2, "slow times", "steps go on at the speeds of their time; what they add is waiting" }, CLUSTER_SLOW },
    { { 2, "failures", "from the last save that was complete, after a restart in which nothing fails" },
      CLUSTER_FAILS },
    { { 1, "no run", "MT_ERR_ARGUMENT" }, CLUSTER_REFUSED },
};
static const cluster_case steps_cases[] = {
    { { 2, "ten thousand steps",
        "need at most 10,000 accesses for each task if speeds change four times: simulate only those that may differ" },
      CLUSTER_STEPS },
};

static const mg_group groups[] = {
    MG_GROUP("15.1", "parameters", mg_15_published, published_cases),
    MG_GROUP("15.1", "parameters", mg_15_cost, params_cases),
    MG_GROUP("15.1", "kept", mg_15_cost, kept_cases),
    MG_GROUP("15.2", "state", mg_15_zero, zero_cases),
    MG_GROUP("15.2", "state", mg_15_cost, state_cases),
    MG_GROUP("15.3", "peak", mg_15_cost, peak_cases),
    MG_GROUP("15.3", "peak", mg_15_measured, step_cases),
    MG_GROUP("15.4", "arithmetic", mg_15_cost, flops_cases),
    MG_GROUP("15.4", "arithmetic", mg_15_published_work, work_cases),
    MG_GROUP("15.5", "messages", mg_15_cost, wire_cases),
    MG_GROUP("15.5", "messages", mg_15_measured, wire_measured_cases),
    MG_GROUP("15.6", "seconds", mg_15_seconds, seconds_cases),
    MG_GROUP("15.7", "utilisation", mg_15_utilisation, utilisation_cases),
    MG_GROUP("15.7", "estimate", mg_15_estimate, estimate_cases),
    MG_GROUP("15.8", "best", mg_15_best, best_cases),
    MG_GROUP("15.9", "nearest", mg_15_best, nearest_cases),
    MG_GROUP("15.10", "interval", mg_15_interval, interval_cases),
    MG_GROUP("15.11", "stragglers", mg_15_stretch, stretch_cases),
    MG_GROUP("15.11", "goodput", mg_15_goodput, goodput_cases),
    MG_GROUP("15.12", "FIFO", mg_15_sched, fifo_cases),
    MG_GROUP("15.13", "backfill", mg_15_sched, backfill_cases),
    MG_GROUP("15.14", "elastic", mg_15_sched, elastic_cases),
    MG_GROUP("15.14", "fairness", mg_15_fairness, fairness_cases),
    MG_GROUP("15.15", "events", mg_15_cluster, events_cases),
    MG_GROUP("15.15", "events", mg_15_costs, many_cases),
    MG_GROUP("15.16", "links", mg_15_cluster, links_cases),
    MG_GROUP("15.16", "links", mg_15_laws, laws_cases),
    MG_GROUP("15.17", "slow", mg_15_cluster, slow_cases),
    MG_GROUP("15.17", "failures", mg_15_cluster, fails_cases),
    MG_GROUP("15.17", "real ranks", mg_15_ranks, ranks_cases),
    MG_GROUP("15.18", "training", mg_15_train, train_cases),
    MG_GROUP("15.18", "training", mg_15_costs, steps_cases),
};
// clang-format on

const mg_lab mg_lab_15 = { "15-scale", groups, MT_COUNT(groups) };
