/* 13-data-parallel.c -- the rows of lab 13. How they run: 13-collectives.c, 13-messages.c, 13-choice.c, 13-buckets.c,
 * 13-ddp.c, 13-zero.c, 13-compress.c, 13-topk.c, 13-local.c, 13-server.c, 13-order.c. */
#include "checks/13-data-parallel.h"
#include "checks/13-training.h"

// clang-format off

/* ---- 13.1 the first half of the ring */
static const ranks_case scatter_cases[] = {
    { { 3, "sums",
        "in its last step a rank reduces its own part; in each step it sends the part that it reduced in the step "
        "before" }, "mt_ring_reduce_scatter", RANKS_VALUES, RANKS_SUM },
    { { 1, "maximum", "mt_reduce_into needs the operation of the call" },
      "mt_ring_reduce_scatter", RANKS_VALUES, RANKS_MAX },
    { { 2, "uneven parts", "the part that arrives has its own size, which may be 0" },
      "mt_ring_reduce_scatter", RANKS_UNEVEN, RANKS_SUM },
    { { 1, "other types", "mt_reduce_into and the messages need the type of the call" },
      "mt_ring_reduce_scatter", RANKS_TYPES, RANKS_SUM },
    { { 2, "messages and bytes",
        "each rank sends size - 1 messages to rank + 1, each of one part, even if the part is empty" },
      "mt_ring_reduce_scatter", RANKS_MESSAGES, RANKS_SUM },
    { { 2, "time", "all ranks send at the same time: a send without a handle waits until the next rank receives" },
      "mt_ring_reduce_scatter", RANKS_TIME, RANKS_SUM },
    { { 2, "a message fails", "return the status of the message at once: no message and no wait follows it" },
      "mt_ring_reduce_scatter", RANKS_FAILS, RANKS_SUM },
    { { 1, "what arrives counts", "a rank knows of the others only what messages bring" },
      "mt_ring_reduce_scatter", RANKS_CHANGED, RANKS_SUM },
};

/* ---- 13.2 the second half, and both */
static const ranks_case gather_cases[] = {
    { { 2, "values", "a rank sends its own part first; then, in each step, the part that arrived in the step before" },
      "mt_ring_all_gather", RANKS_VALUES, RANKS_SUM },
    { { 1, "uneven parts", "each part has its own size, which may be 0" },
      "mt_ring_all_gather", RANKS_UNEVEN, RANKS_SUM },
    { { 1, "other types", "the messages need the type of the call" }, "mt_ring_all_gather", RANKS_TYPES, RANKS_SUM },
    { { 2, "messages and bytes",
        "each rank sends size - 1 messages to rank + 1, each of one part, even if the part is empty" },
      "mt_ring_all_gather", RANKS_MESSAGES, RANKS_SUM },
    { { 1, "above 2^32 elements", "counts and places are int64_t" }, "mt_ring_all_gather", RANKS_FAR, RANKS_SUM },
    { { 1, "time", "all ranks send at the same time" }, "mt_ring_all_gather", RANKS_TIME, RANKS_SUM },
    { { 1, "a message fails", "return the status of the message at once: no message and no wait follows it" },
      "mt_ring_all_gather", RANKS_FAILS, RANKS_SUM },
    { { 1, "what arrives counts", "a rank knows of the others only what messages bring" },
      "mt_ring_all_gather", RANKS_CHANGED, RANKS_SUM },
};
static const ranks_case ring_cases[] = {
    { { 2, "sums", "step 13.2 begins with the part that step 13.1 leaves reduced: part `rank`" },
      "mt_ring_all_reduce", RANKS_VALUES, RANKS_SUM },
    { { 1, "the same bits on all ranks", "each part is reduced by one chain of ranks, and then copied to all" },
      "mt_ring_all_reduce", RANKS_BITS, RANKS_SUM },
    { { 1, "messages and bytes", "2 (P - 1) messages and 2 N (P - 1) / P bytes: no part goes to a rank that has it" },
      "mt_ring_all_reduce", RANKS_MESSAGES, RANKS_SUM },
    { { 1, "time", "an all-reduce takes 2 (P - 1) steps, each of latency + N / P * byte_time" },
      "mt_ring_all_reduce", RANKS_TIME, RANKS_SUM },
};

/* ---- 13.3 trees */
static const ranks_case broadcast_cases[] = {
    { { 1, "values",
        "in each step a rank that has the data sends it, and one that lacks it receives it, if the other one exists" },
      "mt_tree_broadcast", RANKS_VALUES, RANKS_SUM },
    { { 2, "every root", "count ranks from the root on, and around: rank = (place + root) % size" },
      "mt_tree_broadcast", RANKS_ROOTS, RANKS_SUM },
    { { 1, "other types", "the messages need the type of the call" }, "mt_tree_broadcast", RANKS_TYPES, RANKS_SUM },
    { { 1, "messages and bytes", "every rank but the root receives once" },
      "mt_tree_broadcast", RANKS_MESSAGES, RANKS_SUM },
    { { 1, "above 2^32 elements", "counts are int64_t" }, "mt_tree_broadcast", RANKS_FAR, RANKS_SUM },
    { { 2, "time", "there are ceil(log2(P)) steps, and in each of them every rank that has the data sends" },
      "mt_tree_broadcast", RANKS_TIME, RANKS_SUM },
    { { 1, "a message fails", "return the status of the message at once: no message and no wait follows it" },
      "mt_tree_broadcast", RANKS_FAILS, RANKS_SUM },
    { { 1, "what arrives counts", "a rank knows of the others only what messages bring" },
      "mt_tree_broadcast", RANKS_CHANGED, RANKS_SUM },
};
static const ranks_case tree_cases[] = {
    { { 2, "sums",
        "a rank that has sent its sum down the tree is done; a rank below reduces what arrives, if there is a rank "
        "above" }, "mt_tree_all_reduce", RANKS_VALUES, RANKS_SUM },
    { { 1, "maximum", "mt_reduce_into needs the operation of the call" },
      "mt_tree_all_reduce", RANKS_VALUES, RANKS_MAX },
    { { 1, "other types", "mt_reduce_into and the messages need the type of the call" },
      "mt_tree_all_reduce", RANKS_TYPES, RANKS_SUM },
    { { 1, "no and one element", "a message of 0 bytes is sent too" }, "mt_tree_all_reduce", RANKS_UNEVEN, RANKS_SUM },
    { { 1, "messages and bytes", "every rank but 0 sends once, and receives once" },
      "mt_tree_all_reduce", RANKS_MESSAGES, RANKS_SUM },
    { { 2, "time", "there are 2 ceil(log2(P)) steps: pairs of ranks reduce at the same time" },
      "mt_tree_all_reduce", RANKS_TIME, RANKS_SUM },
    { { 1, "a message fails", "return the status of the message at once: no message and no wait follows it" },
      "mt_tree_all_reduce", RANKS_FAILS, RANKS_SUM },
    { { 1, "what arrives counts", "a rank knows of the others only what messages bring" },
      "mt_tree_all_reduce", RANKS_CHANGED, RANKS_SUM },
};

/* ---- 13.4 doubling */
static const ranks_case doubling_cases[] = {
    { { 3, "sums",
        "after step s a rank has the sum of 2^(s + 1) ranks: in each step two ranks whose numbers differ in one bit "
        "exchange their sums" }, "mt_doubling_all_reduce", RANKS_VALUES, RANKS_SUM },
    { { 1, "maximum", "mt_reduce_into needs the operation of the call" },
      "mt_doubling_all_reduce", RANKS_VALUES, RANKS_MAX },
    { { 1, "other types", "mt_reduce_into and the messages need the type of the call" },
      "mt_doubling_all_reduce", RANKS_TYPES, RANKS_SUM },
    { { 1, "no and one element", "a message of 0 bytes is sent too" },
      "mt_doubling_all_reduce", RANKS_UNEVEN, RANKS_SUM },
    { { 2, "the same bits on all ranks",
        "both ranks of a pair must add the same two numbers, in an order that gives equal bits" },
      "mt_doubling_all_reduce", RANKS_BITS, RANKS_SUM },
    { { 1, "messages and bytes",
        "below the largest power of two a rank sends log2 of it messages, and one more if a rank above needs the sum; "
        "a rank above sends one" }, "mt_doubling_all_reduce", RANKS_MESSAGES, RANKS_SUM },
    { { 2, "time", "both ranks of a pair send at the same time" }, "mt_doubling_all_reduce", RANKS_TIME, RANKS_SUM },
    { { 1, "a message fails", "return the status of the message at once: no message and no wait follows it" },
      "mt_doubling_all_reduce", RANKS_FAILS, RANKS_SUM },
    { { 1, "what arrives counts", "a rank knows of the others only what messages bring" },
      "mt_doubling_all_reduce", RANKS_CHANGED, RANKS_SUM },
};

/* ---- 13.5 the choice */
static const choice_case seconds_cases[] = {
    { { 1, "a ring", "a ring sends 2 (P - 1) messages of bytes / P, which need not be a whole number" }, CHOICE_RING },
    { { 1, "a tree", "a tree sends 2 ceil(log2(P)) messages of all bytes" }, CHOICE_TREE },
    { { 1, "doubling",
        "doubling sends as many messages as the log2 of the largest power of two up to P, and two more if that is "
        "below P" }, CHOICE_DOUBLING },
};
static const choice_case pick_cases[] = {
    { { 2, "the least time", "compute the times of all three, for these bytes, ranks and network, and take the least" },
      CHOICE_PICK },
    { { 1, "equal times", "of equal times take that of the first algorithm in mt_algorithm" }, CHOICE_EQUAL },
};
static const mg_case chosen_cases[] = {
    { 2, "in the communication thread",
        "the thread calls the algorithm that mt_collective_pick chooses, and takes the time of its law" },
};

/* ---- 13.6 to 13.9 gradients in buckets */
static const buckets_case buckets_cases[] = {
    { { 2, "parameters and elements",
        "buckets go from the last parameter to the first, and count elements; the last bucket ends with the array" },
      BUCKETS_ANY },
    { { 1, "a limit that is met exactly", "a bucket is closed as soon as it has as many elements as the limit" },
      BUCKETS_EXACT },
    { { 1, "each parameter alone", "with a limit of 0, or of the smallest parameter, each parameter is a bucket" },
      BUCKETS_EACH },
    { { 1, "all together", "the first parameter ends the last bucket, even if the limit is not reached" },
      BUCKETS_ONE },
};
static const ddp_case start_cases[] = {
    { { 2, "the parameters of rank 0",
        "every rank begins with parameters of its own: afterwards all elements of each must be those of rank 0" },
      DDP_START },
};
static const ddp_case begin_cases[] = {
    { { 2, "the mean over all ranks",
        "each rank multiplies its gradient by its share once, before the sum; finish waits for all buckets" },
      DDP_BATCH },
    { { 2, "several micro-batches",
        "a gradient is complete when the last micro-batch has added to it, and not before" }, DDP_MICRO },
    { { 2, "other numbers of samples", "a rank's share is its number of samples over that of all ranks, not 1 / size" },
      DDP_UNEVEN },
    { { 2, "one all-reduce a bucket and step",
        "only the last micro-batch sends; each bucket is sent once, as one array with its gaps" }, DDP_SENDS },
    { { 2, "completed in another order",
        "all ranks must send bucket b after bucket b - 1, whichever is complete first" }, DDP_ORDER },
    { { 2, "sent when complete", "a bucket is sent in the callback of its last gradient, not later" }, DDP_EARLY },
    { { 2, "exposed communication",
        "with a handle the all-reduce returns at once, and backward goes on while it runs" }, DDP_EXPOSED },
};
static const ddp_case finish_cases[] = {
    { { 2, "parameters that are not used",
        "a rank without this gradient sends zeros for it, and has the mean afterwards" }, DDP_UNUSED },
    { { 2, "in the next step",
        "the memory of an unused gradient still has the values of the step before, and counts go on from there: "
        "clear both" }, DDP_AGAIN },
    { { 1, "a collective fails", "return the first failure, also of a wait" }, DDP_FAILS },
};

/* ---- 13.10 to 13.13 the optimizer's state and the gradients in parts */
static const mg_case part_cases[] = {
    { 2, "every rank", "parts are equal, rounded up; those at the end are shorter, or empty" },
};
static const zero_case zero_cases[] = {
    { { 2, "stage 1",
        "each gradient times the share goes to its place in s->parts, and the reduced part into s->grads when its "
        "message has ended" }, ZERO_STEPS, 1 },
    { { 2, "stage 2", "as stage 1; in addition a gradient is freed when its values are in s->parts" }, ZERO_STEPS, 2 },
    { { 1, "parameters that are not used", "a rank without this gradient adds zeros" }, ZERO_UNUSED, 0 },
    { { 1, "bytes", "each bucket has a reduce-scatter and an all-gather, of s->length elements a rank" },
      ZERO_BYTES, 0 },
    { { 1, "a collective fails", "return the status of the collective that failed, or of its wait" }, ZERO_FAILS, 0 },
};
static const zero_case gather_params_cases[] = {
    { { 2, "stage 3",
        "this rank's part and those of the others go to their places in the bucket, and are there when the wait has "
        "ended" }, ZERO_STEPS, 3 },
    { { 1, "parameters that are not used",
        "no rank uses this parameter: its gradient is zeros, and its values are gathered all the same" },
      ZERO_UNUSED, 3 },
    { { 1, "a collective fails", "keep the status of the collective that failed" }, ZERO_FAILS, 3 },
};
static const zero_case open_cases[] = {
    { { 2, "bytes",
        "a bucket that is open is not gathered again; the two buckets that were read last are open, and no others" },
      ZERO_BYTES, 3 },
    { { 2, "memory of a rank", "stages 1, 2 and 3 need 8 + 8 / N, 4 + 12 / N and 16 / N bytes a parameter" },
      ZERO_MEMORY, 0 },
};
static const zero_case clip_cases[] = {
    { { 3, "the norm of all ranks",
        "the norm is the root of the sum of all ranks' squares; gradients are scaled only if it is above max_norm" },
      ZERO_CLIP, 0 },
    { { 1, "not finite", "a norm that is not finite changes nothing, on no rank" }, ZERO_NOT_FINITE, 0 },
};
static const mg_case overlap_cases[] = {
    { 2, "what both have",
        "what two ranges share begins at the larger beginning and ends at the smaller end; each array has its own "
        "first element" },
};

/* ---- 13.14 to 13.16 compression */
static const compress_case onebit_cases[] = {
    { { 2, "scale and signs",
        "the scale is the mean of |v|, added up in double; element i is bit i % 8 of byte 4 + i / 8; the error is "
        "what was not sent" }, COMPRESS_FIRST },
    { { 2, "error feedback",
        "v = x + error is what is sent, and what its scale is computed from; the new error is v minus what was sent" },
      COMPRESS_AGAIN },
    { { 1, "zeros", "v >= 0 is sent as +scale: 0 and -0, too" }, COMPRESS_TIES },
    { { 1, "any number of elements",
        "the last byte may have fewer than eight elements: its other bits are 0; without elements the scale is 0" },
      COMPRESS_SIZES },
};
static const mg_case unpack_cases[] = {
    { 1, "values", "a bit that is 1 stands for scale, any other for -scale" },
};
static const compress_case phases_cases[] = {
    { { 2, "values and errors",
        "each rank unpacks all messages of its part, its own, too, averages them in order of rank, and packs the "
        "mean with part_error" }, COMPRESS_AGAIN },
    { { 1, "parts of other sizes", "part r goes to rank r, and may have no elements" }, COMPRESS_SIZES },
    { { 1, "messages and bytes", "each rank sends 2 (P - 1) messages, each of one part" }, COMPRESS_BYTES },
};
static const compress_case topk_cases[] = {
    { { 2, "the largest", "the k elements with the largest |v| are sent, in order of their places" }, COMPRESS_FIRST },
    { { 2, "error feedback", "v = x + error; an element that is sent leaves the error 0, any other leaves v" },
      COMPRESS_AGAIN },
    { { 1, "equal sizes", "of elements of equal size the first are sent, and k in all, zeros included" },
      COMPRESS_TIES },
    { { 1, "one, and all", "k may be n, or 0: then everything stays in the error" }, COMPRESS_SIZES },
};
static const compress_case topk_mean_cases[] = {
    { { 2, "the mean over all ranks",
        "several ranks may send the same place: add them; a place that nobody sends is 0" }, COMPRESS_AGAIN },
    { { 1, "bytes", "each element that is sent takes an index and a value" }, COMPRESS_BYTES },
};

/* ---- 13.17 and 13.18 local training */
static const outer_case outer_cases[] = {
    { { 1, "the mean of the parameters",
        "d is global - local: with a rate of 1 the step subtracts its mean over the ranks" }, OUTER_MEAN },
    { { 2, "momentum",
        "the velocity is updated first; the step is the mean of d plus momentum times the new velocity" },
      OUTER_MOMENTUM },
};
static const outer_case late_cases[] = {
    { { 3, "what is late", "a rank's d belongs to the round in which it is due; what was applied is cleared" },
      OUTER_LATE },
};

/* ---- 13.21 and 13.22 ranks in nodes */
static const ranks_case hierarchy_cases[] = {
    { { 3, "sums",
        "inside of a node each rank has part `place` of the array after the reduce-scatter; that part alone is summed "
        "with the ranks with the same place in other nodes" }, "mt_hierarchical_all_reduce", RANKS_VALUES, RANKS_SUM },
    { { 1, "maximum", "all three phases need the operation of the call" },
      "mt_hierarchical_all_reduce", RANKS_VALUES, RANKS_MAX },
    { { 1, "uneven parts", "the part between nodes has its own size, which may be 0" },
      "mt_hierarchical_all_reduce", RANKS_UNEVEN, RANKS_SUM },
    { { 1, "other types", "where a part begins in bytes depends on the type" },
      "mt_hierarchical_all_reduce", RANKS_TYPES, RANKS_SUM },
    { { 1, "the same bits on all ranks", "each part is reduced by one chain of ranks, and then copied to all" },
      "mt_hierarchical_all_reduce", RANKS_BITS, RANKS_SUM },
    { { 3, "messages and bytes",
        "with D nodes of k ranks, a rank sends 2 (k - 1) messages inside of its node, and 2 (D - 1) to other nodes, "
        "where its part goes round" }, "mt_hierarchical_all_reduce", RANKS_MESSAGES, RANKS_SUM },
    { { 1, "time", "all nodes do each phase at the same time" },
      "mt_hierarchical_all_reduce", RANKS_TIME, RANKS_SUM },
    { { 1, "a message fails", "return the status of the phase that failed: no other phase follows it" },
      "mt_hierarchical_all_reduce", RANKS_FAILS, RANKS_SUM },
    { { 1, "what arrives counts", "a rank knows of the others only what messages bring" },
      "mt_hierarchical_all_reduce", RANKS_CHANGED, RANKS_SUM },
};
static const choice_case hierarchical_seconds_cases[] = {
    { { 1, "a ring",
        "a ring's step takes as long as its message between nodes; where there is one node, as one inside" },
      CHOICE_RING },
    { { 1, "tree and doubling",
        "with 2^k ranks a node, k steps are inside; else each step has a message between nodes, if there are several" },
      CHOICE_TREE },
    { { 2, "a hierarchy",
        "with D nodes of k ranks, 2 (k - 1) messages of bytes / k inside and 2 (D - 1) of bytes / (k D) between" },
      CHOICE_HIERARCHY },
};
static const choice_case hierarchical_pick_cases[] = {
    { { 1, "the least time", "compute the times of all four, and take the least" }, CHOICE_PICK },
    { { 1, "equal times", "of equal times take that of the first algorithm in mt_algorithm", MG_EASY }, CHOICE_EQUAL },
};

/* ---- 13.23 and 13.24 a parameter server */
static const server_case server_cases[] = {
    { { 3, "values",
        "weights go out as they are at that event; a gradient changes them before the next event, by -lr times it" },
      SERVER_VALUES },
    { { 2, "messages and bytes", "each pull is one message from rank 0, each push one to it, of n f32" },
      SERVER_MESSAGES },
    { { 1, "time", "a worker computes once for each of its pushes, and for none of the others'" }, SERVER_TIME },
    { { 1, "a message fails", "return the status of the message at once: no message and no gradient follows it" },
      SERVER_FAILS },
    { { 1, "what arrives counts", "a rank knows of the others only what messages bring" }, SERVER_CHANGED },
};
static const server_case order_cases[] = {
    { { 2, "speeds", "a worker pulls as soon as it has pushed; the gradient that is ready first is pushed first" },
      ORDER_SPEEDS },
    { { 3, "the bound", "a worker with c pushes waits until every worker has at least c - bound of them" },
      ORDER_BOUND },
    { { 1, "pushes at the same time", "of these the lowest worker is first; what it allows to pull follows at once" },
      ORDER_EQUAL },
};

static const mg_group groups[] = {
    MG_GROUP("13.1", "reduce-scatter", mg_13_ranks, scatter_cases),
    MG_GROUP("13.2", "all-gather", mg_13_ranks, gather_cases),
    MG_GROUP("13.2", "ring", mg_13_ranks, ring_cases),
    MG_GROUP("13.3", "broadcast", mg_13_ranks, broadcast_cases),
    MG_GROUP("13.3", "tree", mg_13_ranks, tree_cases),
    MG_GROUP("13.4", "doubling", mg_13_ranks, doubling_cases),
    MG_GROUP("13.5", "seconds", mg_13_seconds, seconds_cases),
    MG_GROUP("13.5", "pick", mg_13_pick, pick_cases),
    MG_GROUP("13.5", "all-reduce", mg_13_chosen, chosen_cases),
    MG_GROUP("13.6", "buckets", mg_13_buckets, buckets_cases),
    MG_GROUP("13.7", "start", mg_13_ddp, start_cases),
    MG_GROUP("13.8", "step", mg_13_ddp, begin_cases),
    MG_GROUP("13.9", "finish", mg_13_ddp, finish_cases),
    MG_GROUP("13.10", "part", mg_13_zero_part, part_cases),
    MG_GROUP("13.11", "step", mg_13_zero, zero_cases),
    MG_GROUP("13.12", "clip", mg_13_zero, clip_cases),
    MG_GROUP("13.13", "overlap", mg_13_zero_overlap, overlap_cases),
    MG_GROUP("13.14", "one bit", mg_13_onebit_pack, onebit_cases),
    MG_GROUP("13.14", "unpack", mg_13_onebit_unpack, unpack_cases),
    MG_GROUP("13.15", "two phases", mg_13_onebit, phases_cases),
    MG_GROUP("13.16", "top-k", mg_13_topk_pack, topk_cases),
    MG_GROUP("13.16", "top-k mean", mg_13_topk, topk_mean_cases),
    MG_GROUP("13.17", "outer step", mg_13_outer, outer_cases),
    MG_GROUP("13.18", "outer step", mg_13_outer, late_cases),
    MG_GROUP("13.19", "gather", mg_13_zero, gather_params_cases),
    MG_GROUP("13.20", "open", mg_13_zero, open_cases),
    MG_GROUP("13.21", "hierarchy", mg_13_ranks, hierarchy_cases),
    MG_GROUP("13.22", "seconds", mg_13_hierarchical_seconds, hierarchical_seconds_cases),
    MG_GROUP("13.22", "pick", mg_13_hierarchical_pick, hierarchical_pick_cases),
    MG_GROUP("13.23", "server", mg_13_server, server_cases),
    MG_GROUP("13.24", "order", mg_13_server_order, order_cases),
};

// clang-format on

const mg_lab mg_lab_13 = { "13-data-parallel", groups, MT_COUNT(groups) };
