/* 14-model-parallel.c -- the rows of lab 14. How they run: 14-mesh.c, 14-tensor.c, 14-layer.c, 14-vocabulary.c,
 * 14-schedule.c, 14-partition.c, 14-pipe.c. */
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

/* ---- 14.2 to 14.4 tensor parallel layers */
static const tensor_case pair_cases[] = {
    { { 1, "copy", "sum a copy of dout over the ranks: dout itself is only lent" }, TENSOR_COPY },
    { { 1, "reduce", "forward sums x over the ranks; backward passes dout on, without a sum" }, TENSOR_REDUCE },
    { { 1, "x is used twice", "gradients accumulate: add to what is there" }, TENSOR_TWICE },
    { { 1, "collectives", "copy: none in forward, one in backward; reduce: the other way round" }, TENSOR_CALLS },
    { { 1, "a collective fails", "use mt_tp_all_reduce: it calls nothing after a failure" }, TENSOR_FAILS },
};
static const tensor_case products_cases[] = {
    { { 2, "equal one device", "column: a copy of x, then the product; row: the sum of products, then the bias once" },
      TENSOR_VALUES },
    { { 1, "without bias", "b may be NULL" }, TENSOR_NO_BIAS },
    { { 1, "one all-reduce each way", "of the result of the row product, and of the gradient of x" }, TENSOR_CALLS },
};
static const tensor_case shard_cases[] = {
    { { 1, "columns", "each row of the whole has one part for each rank" }, TENSOR_COLUMNS },
    { { 1, "rows", "one row: a rank has a contiguous range of its elements" }, TENSOR_ROWS },
    { { 1, "queries, keys and values", "each of the three groups is divided, not all columns as one" }, TENSOR_HEADS },
    { { 1, "heads that do not divide", "MT_ERR_ARGUMENT, out unchanged, unless unit * size divides width" },
      TENSOR_REFUSED },
};
static const tensor_case layer_cases[] = {
    { { 2, "equals one device", "values, gradients of x and of every weight, for 1 to 4 ranks" }, TENSOR_VALUES },
    { { 1, "2 + 2 all-reduces", "two in forward and two in backward, of [B,T,C] each" }, TENSOR_CALLS },
    { { 1, "a collective fails", "nothing is called after the first failure" }, TENSOR_FAILS },
};

/* ---- 14.5, 14.12 and 14.13 vocabularies, the norm */
static const mg_case range_cases[] = {
    { 1, "rows of each rank", "n / size rows, and one more on the first n % size ranks" },
};
static const vocabulary_case embedding_cases[] = {
    { { 2, "equal tables", "ids of any shape: own rows, zeros for other tokens; then the sum over the ranks" },
      VOCABULARY_EVEN },
    { { 1, "uneven tables", "a rank may have no row; local rows count from range.begin" }, VOCABULARY_UNEVEN },
    { { 1, "one all-reduce", "backward needs none: each rank adds up the gradients of its own rows" },
      VOCABULARY_CALLS },
    { { 1, "the collective fails", "mt_tp_all_reduce keeps the failure" }, VOCABULARY_FAILS },
};
static const vocabulary_case entropy_cases[] = {
    { { 2, "equal parts", "(softmax - 1 for the target) * share, of own columns; the target is on one rank" },
      VOCABULARY_EVEN },
    { { 1, "uneven parts", "a rank may have no column: its maximum is -INFINITY, its sum 0" }, VOCABULARY_UNEVEN },
    { { 2, "ranks far apart", "one maximum for all ranks, before exp; exp(89) overflows f32" }, VOCABULARY_FAR },
    { { 1, "3 numbers a row", "maximum, sum, logit of the target: no logits are gathered" }, VOCABULARY_CALLS },
    { { 1, "a collective fails", "nothing is called after the first failure" }, VOCABULARY_FAILS },
};
static const vocabulary_case classifier_cases[] = {
    { { 2, "equal parts", "logits = copy(x) w^T: the copy sums the gradient of x over the ranks" }, VOCABULARY_EVEN },
    { { 1, "uneven parts", "the range's rows are the first of w" }, VOCABULARY_UNEVEN },
    { { 1, "padding", "only rows below range.end are classes; the others get no gradient" }, VOCABULARY_PADDED },
    { { 1, "collectives", "as cross-entropy, and one all-reduce of the gradient of x" }, VOCABULARY_CALLS },
};
static const norm_case norm_cases[] = {
    { { 1, "parts", "squares of norms may be added" }, NORM_PARTS },
    { { 1, "replicated once", "what is on all ranks is one parameter of the model" }, NORM_REPLICATED },
    { { 1, "large", "gather doubles as bytes (MT_U8); add them in one order on all ranks" }, NORM_LARGE },
    { { 1, "the collective fails", "keep its status in tp->status" }, NORM_FAILS },
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
    { { 1, "few", "the forwards made first are at most all; a part of a group of micro-batches is refused in words" },
      MT_INTERLEAVED, SCHEDULE_FEW },
    { { 1, "4 stages and 8 micro-batches", "2 chunks: 57 half units, 9 idle; 4 chunks: 105 quarters, 9 idle" },
      MT_INTERLEAVED, SCHEDULE_BOOK },
};

/* ---- 14.8 the division of layers */
static const partition_case partition_cases[] = {
    { { 2, "random costs", "the largest stage counts, not the sum: it is as small as in the best of all divisions" },
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
    { { 1, "no such pipeline", "refuse what mt_pipe_schedule refuses, and chunks on one rank, but not micro < stages" },
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
    MG_GROUP("14.2", "copy and reduce", mg_14_pair, pair_cases),
    MG_GROUP("14.3", "products", mg_14_products, products_cases),
    MG_GROUP("14.4", "parts", mg_14_shard, shard_cases),
    MG_GROUP("14.4", "layer", mg_14_layer, layer_cases),
    MG_GROUP("14.5", "range", mg_14_range, range_cases),
    MG_GROUP("14.5", "embedding", mg_14_embedding, embedding_cases),
    MG_GROUP("14.6", "schedule", mg_14_schedule, schedule_cases),
    MG_GROUP("14.7", "interleaved", mg_14_schedule, interleaved_cases),
    MG_GROUP("14.8", "partition", mg_14_partition, partition_cases),
    MG_GROUP("14.9", "pipeline", mg_14_pipe, run_cases),
    MG_GROUP("14.10", "backward", mg_14_pipe, backward_cases),
    MG_GROUP("14.11", "tied", mg_14_tied, tied_cases),
    MG_GROUP("14.12", "cross-entropy", mg_14_cross_entropy, entropy_cases),
    MG_GROUP("14.12", "classifier", mg_14_classifier, classifier_cases),
    MG_GROUP("14.13", "norm", mg_14_norm, norm_cases),
};

// clang-format on

const mg_lab mg_lab_14 = { "14-model-parallel", groups, MT_COUNT(groups) };
