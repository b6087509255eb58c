/* 14-model-parallel.c -- the rows of lab 14. How they run: 14-mesh.c, 14-tensor.c, 14-layer.c, 14-norm.c,
 * 14-sequence.c, 14-vocabulary.c, 14-schedule.c, 14-partition.c, 14-pipe.c. */
#include "checks/14-model-parallel.h"

// clang-format off

/* ---- 14.1 the mesh */
static const mesh_case mesh_cases[] = {
    { { 2, "all axes",
        "rank = (pipe * dp + data) * tp + tensor; the ranks of one communicator differ in its axis only, and are "
        "ordered along it" }, MESH_AXES },
    { { 1, "extents of 1", "an axis of extent 1 has a communicator of one rank, and takes part in the split, too" },
      MESH_ONE },
    { { 1, "another number of ranks",
        "a mesh that has not exactly these ranks, or an extent below 1, is MT_ERR_ARGUMENT before the first split" },
      MESH_REFUSED },
    { { 1, "a split fails", "return the status of the split; mt_mesh_free frees the communicators made before it" },
      MESH_FAILS },
};

/* ---- 14.2 to 14.4 tensor parallel layers */
static const tensor_case pair_cases[] = {
    { { 1, "copy", "backward sums dout over the ranks in a copy: dout itself is only lent" }, TENSOR_COPY },
    { { 1, "reduce", "forward sums x over the ranks; backward passes dout on, without a sum" }, TENSOR_REDUCE },
    { { 1, "x is used twice", "gradients accumulate: add the sum of dout to what is there" }, TENSOR_TWICE },
    { { 1, "collectives", "copy has no collective in forward and one in backward, reduce the other way round" },
      TENSOR_CALLS },
    { { 1, "a collective fails", "use mt_tp_all_reduce: it calls nothing after a failure" }, TENSOR_FAILS },
};
static const tensor_case products_cases[] = {
    { { 2, "equal one device",
        "a column product multiplies a copy of x; a row product sums over the ranks, then adds the bias once" },
      TENSOR_VALUES },
    { { 1, "without bias", "b may be NULL" }, TENSOR_NO_BIAS },
    { { 1, "one all-reduce each way",
        "the all-reduces are those of the row product's result in forward, and of the gradient of x in backward" },
      TENSOR_CALLS },
};
static const tensor_case shard_cases[] = {
    { { 1, "columns", "each row of the whole tensor has one part for each rank" }, TENSOR_COLUMNS },
    { { 1, "rows", "with one row a rank has a contiguous range of its elements" }, TENSOR_ROWS },
    { { 1, "queries, keys and values",
        "each of the three groups is divided among the ranks, not all columns as one group" }, TENSOR_HEADS },
    { { 1, "heads that do not divide",
        "a width that is not a multiple of unit * size is MT_ERR_ARGUMENT, and out stays as it is" }, TENSOR_REFUSED },
};
static const tensor_case layer_cases[] = {
    { { 2, "equals one device",
        "a layer on 1 to 4 ranks has the values, the gradient of x and the gradients of all weights that it has on "
        "one" }, TENSOR_VALUES },
    { { 1, "2 + 2 all-reduces", "a layer has two all-reduces of [B,T,C] in forward and two in backward" },
      TENSOR_CALLS },
    { { 1, "a collective fails", "nothing is called after the first failure" }, TENSOR_FAILS },
};

/* ---- 14.5, 14.12 and 14.13 vocabularies, the norm */
static const mg_case range_cases[] = {
    { 1, "rows of each rank", "each rank has n / size rows, and the first n % size ranks have one more" },
};
static const vocabulary_case embedding_cases[] = {
    { { 2, "equal tables",
        "forward copies own rows, leaves zeros for other tokens, and sums over the ranks; backward adds to own rows "
        "the gradients of the tokens that read them. ids may have any shape" }, VOCABULARY_EVEN },
    { { 1, "uneven tables", "a rank may have no rows; rows on a rank are counted from range.begin" },
      VOCABULARY_UNEVEN },
    { { 1, "one all-reduce",
        "forward sums over the ranks once; backward needs no collective, as each rank has the gradients of its own "
        "rows" }, VOCABULARY_CALLS },
    { { 1, "the collective fails", "mt_tp_all_reduce keeps the failure" }, VOCABULARY_FAILS },
};
static const vocabulary_case entropy_cases[] = {
    { { 2, "equal parts",
        "the gradient of own columns is share * (softmax - 1 for the target, - 0 for others), added; the target is "
        "on one rank" }, VOCABULARY_EVEN },
    { { 1, "uneven parts", "a rank may have no column: its maximum is then -INFINITY, and its sum 0" },
      VOCABULARY_UNEVEN },
    { { 2, "ranks far apart", "all ranks subtract the same maximum before exp: exp(89) overflows f32" },
      VOCABULARY_FAR },
    { { 1, "3 numbers a row", "ranks exchange the maximum, the sum and the target's logit of each row, and no logits" },
      VOCABULARY_CALLS },
    { { 1, "a collective fails", "nothing is called after the first failure" }, VOCABULARY_FAILS },
};
static const vocabulary_case classifier_cases[] = {
    { { 2, "equal parts",
        "logits are x times the transpose of w: x is a copy, whose backward sums its gradient over the ranks" },
      VOCABULARY_EVEN },
    { { 1, "uneven parts",
        "the rows of the range are the first rows of w on this rank, and each rank has its own columns of the "
        "logits" }, VOCABULARY_UNEVEN },
    { { 1, "padding", "only rows of w up to range.end are classes; the others get no gradient" }, VOCABULARY_PADDED },
    { { 1, "collectives", "the collectives are those of cross-entropy, and one all-reduce of the gradient of x" },
      VOCABULARY_CALLS },
};
static const norm_case norm_cases[] = {
    { { 1, "parts", "squares of norms add up over parts and ranks, norms do not" }, NORM_PARTS },
    { { 1, "replicated once", "a parameter that is on all ranks counts once" }, NORM_REPLICATED },
    { { 1, "large",
        "squares need double: gather doubles as bytes (MT_U8), and add them in the same order on all ranks" },
      NORM_LARGE },
    { { 1, "the collective fails", "keep its status in tp->status" }, NORM_FAILS },
};

/* ---- 14.14 and 14.15 tokens that are divided */
static const sequence_case tokens_cases[] = {
    { { 1, "gather",
        "forward puts the rows of all ranks one after the other; backward sums the gradients of own rows" },
      SEQUENCE_GATHER },
    { { 1, "scatter", "forward sums the ranks' rows, and keeps own ones; backward gathers the gradients of all rows" },
      SEQUENCE_SCATTER },
    { { 1, "used twice", "gradients accumulate: add to what is there" }, SEQUENCE_TWICE },
    { { 1, "collectives",
        "gather is an all-gather, and a reduce-scatter in backward; scatter the other way round: no rank needs an "
        "all-reduce" }, SEQUENCE_CALLS },
    { { 1, "a collective fails", "use mt_tp_all_gather and mt_tp_reduce_scatter: they call nothing after a failure" },
      SEQUENCE_FAILS },
};
static const sequence_case sequence_cases[] = {
    { { 2, "equal one device",
        "a column product multiplies the tokens of all ranks; a row product leaves own tokens of the sum, then adds "
        "the bias; gradients of gains and of that bias are summed over the ranks, once" }, SEQUENCE_VALUES },
    { { 1, "without bias", "b may be NULL" }, SEQUENCE_NO_BIAS },
    { { 1, "bytes of two all-reduces",
        "an all-gather and a reduce-scatter in forward, two more in backward, and one all-reduce for all gradients of "
        "what every rank has" }, SEQUENCE_CALLS },
    { { 1, "a collective fails", "nothing is called after the first failure, nor by mt_sp_sum_gradients" },
      SEQUENCE_FAILS },
};

/* ---- 14.6 and 14.7 schedules */
static const schedule_case schedule_cases[] = {
    { { 1, "GPipe", "all forwards come first, then all backwards, both from micro-batch 0 on" },
      MT_GPIPE, SCHEDULE_TIME },
    { { 1, "1F1B in time",
        "first come as many forwards as there are stages behind this one, at most `micro`; then a forward and a "
        "backward take turns" }, MT_1F1B, SCHEDULE_TIME },
    { { 1, "1F1B live micro-batches", "a forward too many before the first backward costs memory, and gains no time" },
      MT_1F1B, SCHEDULE_LIVE },
    { { 1, "few",
        "the last stage makes no forwards first, and no stage makes more than `micro`; a stage that does not exist "
        "is refused in words" }, MT_1F1B, SCHEDULE_FEW },
    { { 1, "4 stages and 8 micro-batches",
        "a step has 33 units, of which 9 are idle; 4, 3, 2 and 1 micro-batches are live" }, MT_1F1B, SCHEDULE_BOOK },
};
static const schedule_case interleaved_cases[] = {
    { { 2, "in time",
        "groups of `stages` micro-batches pass through all chunks, one group after the other; backwards begin with "
        "the last chunk" }, MT_INTERLEAVED, SCHEDULE_TIME },
    { { 1, "live micro-batches", "2 (stages - stage - 1) + (chunks - 1) stages forwards first, then one and one" },
      MT_INTERLEAVED, SCHEDULE_LIVE },
    { { 1, "few",
        "no stage makes more forwards first than there are; an incomplete group of micro-batches is refused in "
        "words" }, MT_INTERLEAVED, SCHEDULE_FEW },
    { { 1, "4 stages and 8 micro-batches", "2 chunks take 57 half units, 4 chunks 105 quarters; 9 of them are idle" },
      MT_INTERLEAVED, SCHEDULE_BOOK },
};

/* ---- 14.8 the division of layers */
static const partition_case partition_cases[] = {
    { { 2, "random costs",
        "the largest stage counts, not the sum: it must be as small as in the best of all divisions" },
      PARTITION_BRUTE },
    { { 1, "ties and zeros", "each stage has a layer, even if all layers cost nothing" }, PARTITION_TIES },
    { { 1, "large", "sums of costs are int64_t: neither int nor double holds them" }, PARTITION_LARGE },
    { { 1, "edges",
        "a single stage has all layers; as many stages as layers have one each; more stages than layers are refused" },
      PARTITION_EDGES },
};

/* ---- 14.9 to 14.11 the run of a pipeline */
static const pipe_case run_cases[] = {
    { { 2, "losses",
        "x is what the part before has sent, and is read after the wait; the last rank adds 1 / micro of each loss" },
      PIPE_LOSS },
    { { 2, "order and messages",
        "a rank makes all actions of its schedule in order, with one activation or gradient sent for each part and "
        "micro-batch" }, PIPE_MESSAGES },
    { { 2, "time",
        "the receive of the next action begins before this one computes; a send has a handle, and is waited for "
        "later" }, PIPE_TIME },
    { { 2, "4 stages and 8 micro-batches",
        "a step takes 33 units, with messages of 0.1 unit 33.6 and 34.6; 8, 8, 8, 8 or 4, 3, 2, 1 micro-batches are "
        "live" }, PIPE_BOOK },
    { { 1, "a message fails", "return the status of the message at once; the next step fails, too" }, PIPE_FAILS },
    { { 1, "no such pipeline",
        "refuse what mt_pipe_schedule refuses, and chunks on one rank; fewer micro-batches than stages are allowed" },
      PIPE_REFUSED },
};
static const pipe_case backward_cases[] = {
    { { 3, "gradients",
        "backward begins at y of the same micro-batch and chunk, with the gradient that the next part has sent; "
        "losses are a mean over micro-batches" }, PIPE_GRADIENTS },
    { { 1, "two steps", "a step adds its gradients to those of the step before, and leaves nothing in the slots" },
      PIPE_AGAIN },
    { { 2, "live micro-batches", "a slot is emptied by its backward, neither before nor later" }, PIPE_LIVE },
};
static const pipe_case tied_cases[] = {
    { { 2, "gradients",
        "each end adds the gradient that the other end had before the exchange, once; on one rank there is nothing "
        "to add" }, PIPE_GRADIENTS },
    { { 1, "messages", "the two ends exchange one more message each, and no rank between them does" }, PIPE_MESSAGES },
    { { 1, "a message fails", "return the status of the message at once; the next step fails, too" }, PIPE_FAILS },
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
    MG_GROUP("14.14", "tokens", mg_14_tokens, tokens_cases),
    MG_GROUP("14.15", "sequence", mg_14_sequence, sequence_cases),
};

// clang-format on

const mg_lab mg_lab_14 = { "14-model-parallel", groups, MT_COUNT(groups) };
