/* 14-model-parallel.c -- the rows of lab 14. How they run: 14-mesh.c, 14-schedule.c, 14-partition.c, 14-pipe.c. */
#include "checks/14-model-parallel.h"

// clang-format off

/* ---- 14.1 the mesh */
static const mesh_case mesh_cases[] = {
    { { 2, "all axes", "rank = (pipe * dp + data) * tp + tensor; equal colors along its axis only" },
      MESH_AXES },
    { { 1, "extents of 1", "an axis of 1 has a communicator of one rank, and takes part in the split too" }, MESH_ONE },
    { { 1, "another number of ranks", "MT_ERR_ARGUMENT before the first split; no extent is below 1" }, MESH_REFUSED },
    { { 1, "a split fails", "return its status; the ones before are freed by mt_mesh_free" }, MESH_FAILS },
};

/* ---- 14.6 and 14.7 schedules */
static const schedule_case schedule_cases[] = {
    { { 1, "GPipe", "all forwards, then all backwards, both from micro-batch 0 on" }, MT_GPIPE, SCHEDULE_TIME },
    { { 1, "1F1B in time", "min(stages - stage - 1, micro) forwards first; then a forward and a backward in turn" },
      MT_1F1B, SCHEDULE_TIME },
    { { 1, "1F1B live micro-batches", "a forward too many before the first backward takes memory, and no time" },
      MT_1F1B, SCHEDULE_LIVE },
    { { 1, "few", "one stage has no forwards to make first; with micro < stages there are only micro" }, MT_1F1B,
      SCHEDULE_FEW },
    { { 1, "4 stages and 8 micro-batches", "33 units, of which 9 are idle; 4, 3, 2 and 1 micro-batches are live" },
      MT_1F1B, SCHEDULE_BOOK },
};
static const schedule_case interleaved_cases[] = {
    { { 2, "in time", "groups of `stages` micro-batches, each in all chunks; backwards from the last chunk" },
      MT_INTERLEAVED, SCHEDULE_TIME },
    { { 1, "live micro-batches", "2 (stages - stage - 1) + (chunks - 1) stages forwards first, then one and one" },
      MT_INTERLEAVED, SCHEDULE_LIVE },
    { { 1, "few", "one stage, one chunk, one group; micro-batches that are no multiple are refused in words" },
      MT_INTERLEAVED, SCHEDULE_FEW },
    { { 1, "4 stages and 8 micro-batches", "2 chunks: 57 half units, 9 idle; 4 chunks: 105 quarters, 9 idle" },
      MT_INTERLEAVED, SCHEDULE_BOOK },
};

/* ---- 14.8 the division of layers */
static const partition_case partition_cases[] = {
    { { 2, "random costs", "the largest stage counts, not the sum; every place of each cut has to be tried" },
      PARTITION_BRUTE },
    { { 1, "ties and zeros", "each stage has a layer, also when all layers cost nothing" }, PARTITION_TIES },
    { { 1, "large", "sums of costs are int64_t: neither int nor double holds them" }, PARTITION_LARGE },
    { { 1, "edges", "one stage has all layers; as many stages as layers have one each; more are refused" },
      PARTITION_EDGES },
};

/* ---- 14.9 to 14.11 the run of a pipeline */
static const pipe_case run_cases[] = {
    { { 2, "losses", "x is what the part before has sent; the last rank adds 1 / micro of each loss" }, PIPE_LOSS },
    { { 2, "order and messages", "all actions of the schedule; an activation or a gradient a part and micro-batch" },
      PIPE_MESSAGES },
    { { 2, "time", "the receive of the next action begins before this one computes; sends get a handle" }, PIPE_TIME },
    { { 2, "4 stages and 8 micro-batches", "33 units; with messages of 0.1 33.6 and 34.6; 8, 8, 8, 8 and 4, 3, 2, 1" },
      PIPE_BOOK },
    { { 1, "a message fails", "return its status at once; the next step fails, too" }, PIPE_FAILS },
    { { 1, "no such pipeline", "mt_pipe_new refuses what mt_pipe_schedule refuses, and chunks on one rank" },
      PIPE_REFUSED },
};
static const pipe_case backward_cases[] = {
    { { 3, "gradients", "backward from y of the same micro-batch and chunk, with what the next part has sent" },
      PIPE_GRADIENTS },
    { { 1, "two steps", "gradients are added to those of the step before, and no slot keeps anything" }, PIPE_AGAIN },
    { { 2, "live micro-batches", "a slot is emptied by its backward, and not before or later" }, PIPE_LIVE },
};
static const pipe_case tied_cases[] = {
    { { 2, "gradients", "both ends add what the other has; with one rank there is nothing to add" }, PIPE_GRADIENTS },
    { { 1, "messages", "one more message at both ends, and none in between" }, PIPE_MESSAGES },
    { { 1, "a message fails", "return its status at once; the next step fails, too" }, PIPE_FAILS },
};

static const mg_group groups[] = {
    MG_GROUP("14.1", "mesh", mg_14_mesh, mesh_cases),
    MG_GROUP("14.6", "schedule", mg_14_schedule, schedule_cases),
    MG_GROUP("14.7", "interleaved", mg_14_schedule, interleaved_cases),
    MG_GROUP("14.8", "partition", mg_14_partition, partition_cases),
    MG_GROUP("14.9", "pipeline", mg_14_pipe, run_cases),
    MG_GROUP("14.10", "backward", mg_14_pipe, backward_cases),
    MG_GROUP("14.11", "tied", mg_14_tied, tied_cases),
};

// clang-format on

const mg_lab mg_lab_14 = { "14-model-parallel", groups, MT_COUNT(groups) };
