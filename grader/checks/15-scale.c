/* 15-scale.c -- the rows of lab 15. How they run: 15-cost.c, 15-planner.c. Steps 15.1 to 15.9 are cost.c and planner.c,
 * from 15.10 on goodput.c, scheduler.c, cluster.c and train.c. */
#include "checks/15-scale.h"
#include "plan/scheduler.h"

// clang-format off

/* ---- 15.1 parameters, and what a layer keeps */
static const mg_case published_cases[] = {
    { 1, "published models",
        "count GPT-2's four sizes to the last parameter, GPT-3 and Megatron's models as rounded: the token table is "
        "the head, too, and counts once" },
};
static const cost_case params_cases[] = {
    { { 1, "stages",
        "the positions are on the first stage, the last layernorm is on the last one, and the token table on both" },
      COST_PARAMS, VARY_PIPE | VARY_ROWS },
    { { 1, "tensor ranks", "matrices are divided, and so are the biases whose columns are divided; nothing else is" },
      COST_PARAMS, VARY_PIPE | VARY_TENSOR },
};
static const cost_case kept_cases[] = {
    { { 1, "everything", "a layer keeps 16 C numbers a token, and the statistics" }, COST_KEPT, 0 },
    { { 1, "recomputation",
        "selective recomputation keeps 6 C numbers fewer, that of blocks the input only, without statistics; what "
        "layernorms read is f32 in every type" }, COST_KEPT, VARY_RECOMPUTE | VARY_DTYPE },
    { { 1, "tensor ranks", "inputs and results of layernorms are kept whole on each rank" },
      COST_KEPT, VARY_RECOMPUTE | VARY_TENSOR },
};

/* ---- 15.2 what there is all the time */
static const mg_case zero_cases[] = {
    { 2, "bytes a parameter",
        "16, 8 + 8 / N, 4 + 12 / N and 16 / N: stage 1 divides the moments, stage 2 the gradients, too, stage 3 the "
        "parameters, too" },
};
static const cost_case state_cases[] = {
    { { 1, "ZeRO",
        "a rank's part is rounded up; on their way are one bucket of gradients, and in stage 3 two more of "
        "parameters" }, COST_STATE, VARY_DATA | VARY_ZERO },
    { { 1, "micro-batches",
        "with several micro-batches gradients are whole until the last one, in stages 2 and 3, too" },
      COST_STATE, VARY_DATA | VARY_ZERO | VARY_MICRO },
    { { 1, "pipeline buffers",
        "a stage has one result for each live micro-batch: how many are live on this stage, and how many are there "
        "at all?" }, COST_STATE, VARY_PIPE | VARY_MICRO },
    { { 1, "everything",
        "the replicas divide what this stage and this tensor rank have; each kind of buffer is counted" },
      COST_STATE, VARY_DATA | VARY_PIPE | VARY_TENSOR | VARY_MICRO | VARY_ZERO | VARY_DTYPE },
};

/* ---- 15.3 the peak */
static const cost_case peak_cases[] = {
    { { 1, "one device", "the peak is in the head's backward, in a layer's backward or in a layer's forward" },
      COST_MEMORY, VARY_MICRO },
    { { 1, "recomputation", "what is not kept is there again while the layer's backward runs" },
      COST_MEMORY, VARY_MICRO | VARY_RECOMPUTE },
    { { 1, "16 bits", "the f32 results of ops live until the end of the layer, beside the copies that are kept" },
      COST_MEMORY, VARY_MICRO | VARY_RECOMPUTE | VARY_DTYPE },
    { { 1, "a head in chunks", "a head in chunks has two gradients in place of the probabilities" },
      COST_MEMORY, VARY_LONG | VARY_MICRO },
    { { 1, "live micro-batches", "all live micro-batches keep their activations, and one of them is in backward" },
      COST_MEMORY, VARY_PIPE | VARY_MICRO | VARY_RECOMPUTE },
    { { 1, "tensor ranks", "there are also the copies and sums for the ranks, beside the result with the bias" },
      COST_MEMORY, VARY_TENSOR | VARY_MICRO | VARY_RECOMPUTE },
    { { 1, "everything", "with tensor ranks the head has a part of the table only, and chunks are for whole tables" },
      COST_MEMORY, VARY_DATA | VARY_PIPE | VARY_TENSOR | VARY_MICRO | VARY_ZERO | VARY_RECOMPUTE | VARY_DTYPE },
};
static const measured_case step_cases[] = {
    { { 2, "as measured", "state and kept bytes are those of a real step, exactly, and the peak is to 2.5 %" },
      MEASURED_STEP },
    { { 1, "as measured in bf16", "the same with autocast: products read copies, which are kept" }, MEASURED_HALF },
};

/* ---- 15.4 arithmetic */
static const cost_case flops_cases[] = {
    { { 1, "one device",
        "forward takes 2 FLOPs a weight and token, attention has T (T + 1) / 2 pairs, backward takes twice as many "
        "as forward; all are int64_t, for all micro-batches" }, COST_FLOPS, VARY_MICRO },
    { { 1, "recomputation", "what is computed again is a number of its own: no part of forward, and none of backward" },
      COST_FLOPS, VARY_MICRO | VARY_RECOMPUTE },
    { { 1, "stages and tensor ranks", "the head is on the last stage; a tensor rank has its part of each product" },
      COST_FLOPS, VARY_PIPE | VARY_TENSOR | VARY_MICRO | VARY_RECOMPUTE | VARY_ROWS },
};
static const mg_case work_cases[] = {
    { 1, "published runs",
        "published are whole trainings, forward and backward: llm.c's GPT-2, GPT-3's 3.14e23 and 355 V100-years, "
        "Megatron's formula, all within 2 %" },
};

/* ---- 15.5 messages */
static const cost_case wire_cases[] = {
    { { 1, "data", "an all-reduce of all parameters sends 2 (N - 1) parts" }, COST_WIRE, VARY_DATA | VARY_MICRO },
    { { 1, "ZeRO",
        "a reduce-scatter and an all-gather send as much as an all-reduce; stage 3 opens all buckets twice for each "
        "micro-batch" }, COST_WIRE, VARY_DATA | VARY_MICRO | VARY_ZERO },
    { { 1, "pipeline",
        "each micro-batch sends an activation to the next stage and a gradient back; the two ends exchange the "
        "table's gradient" }, COST_WIRE, VARY_PIPE | VARY_MICRO },
    { { 1, "tensor ranks",
        "a layer has 2 all-reduces in forward and 2 in backward; a block that is computed again has 2 more" },
      COST_WIRE, VARY_PIPE | VARY_TENSOR | VARY_MICRO | VARY_RECOMPUTE },
};
static const measured_case wire_measured_cases[] = {
    { { 2, "ddp and ZeRO as counted", "these are the bytes that the units of lab 13 send" }, MEASURED_DATA },
    { { 1, "pipelines as counted",
        "these are the bytes that the unit of lab 14 sends, those of the tied table included" }, MEASURED_PIPE },
    { { 1, "tensor ranks as counted", "these are the bytes that tensor-parallel layers and the loss send" },
      MEASURED_TENSOR },
    { { 1, "all three as counted", "on a mesh of 2 x 2 x 2 each rank exchanges only the parameters that it has" },
      MEASURED_ALL },
};

/* ---- 15.6 and 15.7 time */
static const seconds_case seconds_cases[] = {
    { { 1, "arithmetic",
        "the FLOPs of one micro-batch, those that are computed again included, at efficiency times nominal speed" },
      SECONDS_WORK },
    { { 1, "messages",
        "neighbours in rank are first tensor ranks, then data, then pipeline ranks: a group within a machine uses "
        "the link" }, SECONDS_LINKS },
    { { 1, "gradients",
        "with one stage the exchange hides behind two thirds of the last micro-batch; with several nothing hides it" },
      SECONDS_DATA },
};
static const mg_case utilisation_cases[] = {
    { 1, "MFU and HFU", "both divide by the same time; HFU also counts what is computed again as work" },
};
static const mg_case estimate_cases[] = {
    { 2, "estimates",
        "a step takes micro + pp - 1 times the slowest stage, then the exchange of gradients; steps are whole; all "
        "devices are paid for" },
};

/* ---- 15.8 and 15.9 the search */
static const best_case best_cases[] = {
    { { 2, "fastest", "no strategy within the memory is faster: leave out only those that cannot be better" },
      BEST_FASTEST },
    { { 2, "cheapest", "dollars are devices times hours: fewer devices may be cheaper; a price of 0 is a price" },
      BEST_CHEAPEST },
    { { 3, "limits", "all three limits hold for the estimate of what is found; a bound within them is not a promise" },
      BEST_LIMITS },
    { { 2, "175 B parameters on 1,024 devices",
        "the best of 283,170 strategies: a bound must not be above the estimate that it stands for" }, BEST_LARGE },
    { { 3, "a thousandth of the estimates", "make no estimate where a bound says that the strategy cannot be better" },
      BEST_COUNT },
    { { 1, "an invalid problem", "MT_ERR_ARGUMENT with a message, before any estimate; *out is as before", MG_EASY },
      BEST_REFUSED },
};
static const best_case nearest_cases[] = {
    { { 1, "memory", "if nothing fits, the nearest strategy is the one that needs the fewest bytes" }, BEST_NO_MEMORY },
    { { 1, "days", "if all that fits takes too long, the nearest strategy is the fastest of it" }, BEST_NO_DAYS },
    { { 1, "dollars", "if all that fits in time costs too much, the nearest strategy is the cheapest of it" },
      BEST_NO_DOLLARS },
};

/* ---- 15.10 and 15.11 goodput */
static const interval_case interval_cases[] = {
    { { 1, "rare failures",
        "the best t makes (exp((t + C) / M) - 1) / t least; Young's sqrt(2 C M) is a little too long" },
      INTERVAL_RARE },
    { { 1, "failures as frequent as saves", "the best interval stays below M, however long a save is" },
      INTERVAL_OFTEN },
    { { 1, "many devices", "the whole job stops when any device fails: M is the mtbf over the devices" },
      INTERVAL_DEVICES },
    { { 1, "no failures", "the mean time is a double; where nothing fails it is INFINITY" }, INTERVAL_NEVER },
};
static const interval_case stretch_cases[] = {
    { { 1, "closed form", "1 + slowdown (1 - (1 - p)^devices) as it stands loses the digits of a small p" },
      STRETCH_EXACT },
    { { 1, "simulated",
        "one slow device makes the step slow, and a second one makes it no slower (40,000 simulated steps)" },
      STRETCH_SIMULATED },
};
static const goodput_case goodput_cases[] = {
    { { 1, "pieces",
        "pieces are equal, and the last has what remains; a short run has one piece; each piece has its save" },
      GOODPUT_PIECES },
    { { 2, "where the time goes", "waiting is part of the time that failures take; the parts add up to seconds" },
      GOODPUT_PARTS },
    { { 1, "no failures", "without failures nothing is lost, and there are no restarts" }, GOODPUT_SAFE },
    { { 2, "simulated failures",
        "a piece and its save may fail again and again, and an attempt that fails ends early (means of 20,000 runs, "
        "to 5 standard errors)" }, GOODPUT_SIMULATED },
    { { 1, "an invalid run", "MT_ERR_ARGUMENT with a message; *out is as before" }, GOODPUT_REFUSED },
};

/* ---- 15.12 to 15.14 the scheduler */
static const sched_case fifo_cases[] = {
    { { 2, "in order",
        "nothing overtakes the head of the queue; at one second jobs end before others start; seconds are int64_t" },
      SCHED_MIXED, MT_SCHED_FIFO },
    { { 1, "gangs", "a job gets all its devices at once, or none" }, SCHED_GANGS, MT_SCHED_FIFO },
    { { 1, "priorities",
        "the queue is ordered by arrival - priority * aging: a job of priority 1 overtakes what came aging seconds "
        "before" }, SCHED_PRIORITY, MT_SCHED_FIFO },
    { { 1, "invalid jobs", "MT_ERR_ARGUMENT with a message; nothing starts, and *runs is as before" },
      SCHED_REFUSED, MT_SCHED_FIFO },
};
static const sched_case backfill_cases[] = {
    { { 2, "holes",
        "start a job if it ends before the reservation or leaves enough devices for the first job in the queue" },
      SCHED_MIXED, MT_SCHED_BACKFILL },
    { { 1, "early ends",
        "make the reservation anew each time, from the estimates: lengths are not known. A spare device is taken "
        "once" }, SCHED_EARLY, MT_SCHED_BACKFILL },
    { { 1, "priorities", "the reservation is that of the first job in the queue, which may be another one later" },
      SCHED_PRIORITY, MT_SCHED_BACKFILL },
};
static const sched_case elastic_cases[] = {
    { { 2, "shares",
        "each job has its least, then devices go one by one to the job with the fewest; they are dealt again "
        "whenever a job ends or arrives" }, SCHED_MIXED, MT_SCHED_ELASTIC },
    { { 1, "full clusters", "running jobs keep their least; the first job whose least is not free stops the queue" },
      SCHED_GANGS, MT_SCHED_ELASTIC },
    { { 1, "priorities", "of jobs with equal shares the first in the queue gets the device" },
      SCHED_PRIORITY, MT_SCHED_ELASTIC },
};
static const mg_case fairness_cases[] = {
    { 1, "Jain's index",
        "(sum x)^2 / (n sum x^2), and 1 if there is nothing; x is the time from arrival to end over the job's own "
        "seconds" },
};

/* ---- 15.15 to 15.17 the cluster */
static const cluster_case events_cases[] = {
    { { 2, "computations",
        "a device computes one task at a time, in the order in which they became ready: is the heap's first event "
        "always the earliest?" }, CLUSTER_TASKS },
    { { 2, "ties", "of events at exactly the same second the one with the smaller index is first" }, CLUSTER_TIES },
};
static const cluster_case many_cases[] = {
    { { 1, "many tasks", "8,000 tasks need at most 2,000 accesses each with a heap, over 4,000 with a list" },
      CLUSTER_MANY },
};
static const cluster_case links_cases[] = {
    { { 1, "messages",
        "a transfer is in two queues, its sender's and its receiver's; its latency comes first, then its bytes" },
      CLUSTER_MESSAGES },
    { { 2, "shared links",
        "each time that a transfer joins or leaves a link, all others on it have another rate from then on" },
      CLUSTER_SHARED },
};
static const mg_case laws_cases[] = {
    { 1, "laws",
        "these are known: 4 MiB on 8 ranks 65.7 ms, 3 GB on 4 nodes 360 ms, bubbles of 33 to 34.6 units, exposed "
        "buckets" },
};
static const cluster_case slow_cases[] = {
    { { 2, "slow devices", "a computation goes on at another speed when its device becomes slow" }, CLUSTER_SLOW },
    { { 1, "devices in step", "devices in step have the pace of the slowest; on a link each of them counts" },
      CLUSTER_WIDE },
};
static const cluster_case fails_cases[] = {
    { { 1, "failures",
        "only failures of devices that have tasks count, from the begin on; what ends at that second has ended" },
      CLUSTER_FAILS },
    { { 1, "an invalid cluster",
        "MT_ERR_ARGUMENT with a message that says what is wrong: links, times, devices, tasks that wait for each "
        "other" }, CLUSTER_REFUSED },
};
static const mg_case ranks_cases[] = {
    { 3, "as labs 13 and 14 run",
        "these are real ranks on a simulated clock: 60 all-reduces, pipelines, buckets, to 1 %" },
};

/* ---- 15.18 training on it */
static const cluster_case train_cases[] = {
    { { 1, "saves", "a save comes after every `interval` steps, and at the end" }, CLUSTER_SHARED },
    { { 2, "slow times", "steps run at the speeds of their time; what that adds is waiting" }, CLUSTER_SLOW },
    { { 2, "failures",
        "training goes on from the last save that was complete, after a restart in which nothing fails" },
      CLUSTER_FAILS },
    { { 1, "an invalid run", "MT_ERR_ARGUMENT with a message; *out is as before" }, CLUSTER_REFUSED },
};
static const cluster_case steps_cases[] = {
    { { 2, "ten thousand steps",
        "while no speed changes all steps take the same time: simulate only those that may differ (at most 10,000 "
        "accesses for each task)" }, CLUSTER_STEPS },
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
