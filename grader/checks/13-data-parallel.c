/* 13-data-parallel.c -- the rows of lab 13. How they run: 13-collectives.c, 13-messages.c, 13-choice.c, 13-buckets.c,
 * 13-ddp.c, 13-zero.c, 13-compress.c, 13-topk.c, 13-local.c. */
#include "checks/13-data-parallel.h"
#include "checks/13-training.h"

// clang-format off

/* ---- 13.1 the first half of the ring */
static const ranks_case scatter_cases[] = {
    { { 3, "sums", "in the last step a rank reduces its own part; in each it sends what it reduced in the one before" },
      "mt_ring_reduce_scatter", RANKS_VALUES, RANKS_SUM },
    { { 1, "maximum", "mt_reduce_into gets the operation of the call" },
      "mt_ring_reduce_scatter", RANKS_VALUES, RANKS_MAX },
    { { 2, "uneven parts", "the part that arrives has its own size, which may be 0" },
      "mt_ring_reduce_scatter", RANKS_UNEVEN, RANKS_SUM },
    { { 1, "other types", "mt_reduce_into and messages get the type of the call" },
      "mt_ring_reduce_scatter", RANKS_TYPES, RANKS_SUM },
    { { 2, "messages and bytes", "size - 1 messages to rank + 1, each one part, also when it is empty" },
      "mt_ring_reduce_scatter", RANKS_MESSAGES, RANKS_SUM },
    { { 2, "time", "all ranks send at the same time: a send without a handle waits for the next rank to receive" },
      "mt_ring_reduce_scatter", RANKS_TIME, RANKS_SUM },
    { { 2, "a message fails", "return its status at once: no message and no wait after it" },
      "mt_ring_reduce_scatter", RANKS_FAILS, RANKS_SUM },
    { { 1, "what arrives counts", "ranks know of each other only what messages bring" },
      "mt_ring_reduce_scatter", RANKS_CHANGED, RANKS_SUM },
};

/* ---- 13.2 the second half, and both */
static const ranks_case gather_cases[] = {
    { { 2, "values", "a rank begins with its own part; then it sends what arrived in the step before" },
      "mt_ring_all_gather", RANKS_VALUES, RANKS_SUM },
    { { 1, "uneven parts", "each part has its own size, which may be 0" },
      "mt_ring_all_gather", RANKS_UNEVEN, RANKS_SUM },
    { { 1, "other types", "messages get the type of the call" }, "mt_ring_all_gather", RANKS_TYPES, RANKS_SUM },
    { { 2, "messages and bytes", "size - 1 messages to rank + 1, each one part, also when it is empty" },
      "mt_ring_all_gather", RANKS_MESSAGES, RANKS_SUM },
    { { 1, "above 2^32 elements", "counts and places are int64_t" }, "mt_ring_all_gather", RANKS_FAR, RANKS_SUM },
    { { 1, "time", "all ranks send at the same time" }, "mt_ring_all_gather", RANKS_TIME, RANKS_SUM },
    { { 1, "a message fails", "return its status at once: no message and no wait after it" },
      "mt_ring_all_gather", RANKS_FAILS, RANKS_SUM },
    { { 1, "what arrives counts", "ranks know of each other only what messages bring" },
      "mt_ring_all_gather", RANKS_CHANGED, RANKS_SUM },
};
static const ranks_case ring_cases[] = {
    { { 2, "sums", "what step 13.1 leaves is what step 13.2 begins with: part `rank`" },
      "mt_ring_all_reduce", RANKS_VALUES, RANKS_SUM },
    { { 1, "the same bits on all ranks", "each part is reduced by one chain of ranks, and then copied" },
      "mt_ring_all_reduce", RANKS_BITS, RANKS_SUM },
    { { 1, "messages and bytes", "2 (P - 1) messages and 2 N (P - 1) / P bytes: no part goes to a rank that has it" },
      "mt_ring_all_reduce", RANKS_MESSAGES, RANKS_SUM },
    { { 1, "time", "2 (P - 1) steps of latency + N / P * byte_time" }, "mt_ring_all_reduce", RANKS_TIME, RANKS_SUM },
};

/* ---- 13.3 trees */
static const ranks_case broadcast_cases[] = {
    { { 1, "values", "a rank that has the data sends it, one that has not receives it" },
      "mt_tree_broadcast", RANKS_VALUES, RANKS_SUM },
    { { 2, "every root", "places are numbered from the root: rank = (place + root) % size" },
      "mt_tree_broadcast", RANKS_ROOTS, RANKS_SUM },
    { { 1, "other types", "messages get the type of the call" }, "mt_tree_broadcast", RANKS_TYPES, RANKS_SUM },
    { { 1, "messages and bytes", "every rank but the root receives once" },
      "mt_tree_broadcast", RANKS_MESSAGES, RANKS_SUM },
    { { 1, "above 2^32 elements", "counts are int64_t" }, "mt_tree_broadcast", RANKS_FAR, RANKS_SUM },
    { { 2, "time", "ceil(log2(P)) steps: every rank that has the data sends in each" },
      "mt_tree_broadcast", RANKS_TIME, RANKS_SUM },
    { { 1, "a message fails", "return its status at once: no message and no wait after it" },
      "mt_tree_broadcast", RANKS_FAILS, RANKS_SUM },
    { { 1, "what arrives counts", "ranks know of each other only what messages bring" },
      "mt_tree_broadcast", RANKS_CHANGED, RANKS_SUM },
};
static const ranks_case tree_cases[] = {
    { { 2, "sums", "a rank that has sent its data down is done; those below reduce what arrives" },
      "mt_tree_all_reduce", RANKS_VALUES, RANKS_SUM },
    { { 1, "maximum", "mt_reduce_into gets the operation of the call" },
      "mt_tree_all_reduce", RANKS_VALUES, RANKS_MAX },
    { { 1, "other types", "mt_reduce_into and messages get the type of the call" },
      "mt_tree_all_reduce", RANKS_TYPES, RANKS_SUM },
    { { 1, "no and one element", "a message of 0 bytes is sent too" }, "mt_tree_all_reduce", RANKS_UNEVEN, RANKS_SUM },
    { { 1, "messages and bytes", "every rank but 0 sends once, and receives once" },
      "mt_tree_all_reduce", RANKS_MESSAGES, RANKS_SUM },
    { { 2, "time", "2 ceil(log2(P)) steps: pairs of ranks reduce at the same time" },
      "mt_tree_all_reduce", RANKS_TIME, RANKS_SUM },
    { { 1, "a message fails", "return its status at once: no message and no wait after it" },
      "mt_tree_all_reduce", RANKS_FAILS, RANKS_SUM },
    { { 1, "what arrives counts", "ranks know of each other only what messages bring" },
      "mt_tree_all_reduce", RANKS_CHANGED, RANKS_SUM },
};

/* ---- 13.4 doubling */
static const ranks_case doubling_cases[] = {
    { { 3, "sums", "after step s a rank has the sum of 2^(s + 1) ranks; the peer is rank ^ bit" },
      "mt_doubling_all_reduce", RANKS_VALUES, RANKS_SUM },
    { { 1, "maximum", "mt_reduce_into gets the operation of the call" },
      "mt_doubling_all_reduce", RANKS_VALUES, RANKS_MAX },
    { { 1, "other types", "mt_reduce_into and messages get the type of the call" },
      "mt_doubling_all_reduce", RANKS_TYPES, RANKS_SUM },
    { { 1, "no and one element", "a message of 0 bytes is sent too" },
      "mt_doubling_all_reduce", RANKS_UNEVEN, RANKS_SUM },
    { { 2, "the same bits on all ranks", "both of a pair add the same two numbers" },
      "mt_doubling_all_reduce", RANKS_BITS, RANKS_SUM },
    { { 1, "messages and bytes", "log2 of the power of two, and one more for the ranks that are above it" },
      "mt_doubling_all_reduce", RANKS_MESSAGES, RANKS_SUM },
    { { 2, "time", "both of a pair send at the same time" }, "mt_doubling_all_reduce", RANKS_TIME, RANKS_SUM },
    { { 1, "a message fails", "return its status at once: no message and no wait after it" },
      "mt_doubling_all_reduce", RANKS_FAILS, RANKS_SUM },
    { { 1, "what arrives counts", "ranks know of each other only what messages bring" },
      "mt_doubling_all_reduce", RANKS_CHANGED, RANKS_SUM },
};

/* ---- 13.5 the choice */
static const choice_case seconds_cases[] = {
    { { 1, "a ring", "2 (P - 1) messages of bytes / P: divide after the conversion to double" }, CHOICE_RING },
    { { 1, "a tree", "2 ceil(log2(P)) messages of all bytes" }, CHOICE_TREE },
    { { 1, "doubling", "log2 of the largest power of two up to P; two more when it is below P" }, CHOICE_DOUBLING },
};
static const choice_case pick_cases[] = {
    { { 2, "the least time", "compare all three" }, CHOICE_PICK },
    { { 1, "equal times", "of equal ones the first in mt_algorithm" }, CHOICE_EQUAL },
};
static const mg_case chosen_cases[] = {
    { 2, "in the communication thread", "the choice of mt_collective_pick, and its law" },
};

/* ---- 13.6 to 13.9 gradients in buckets */
static const buckets_case buckets_cases[] = {
    { { 2, "parameters and elements", "from the last parameter to the first; the array's end closes a bucket too" },
      BUCKETS_ANY },
    { { 1, "a limit that is met exactly", "a bucket with as many elements as the limit is closed" }, BUCKETS_EXACT },
    { { 1, "each parameter alone", "a limit of one parameter, or 0" }, BUCKETS_EACH },
    { { 1, "all together", "the first parameter ends the last bucket, whatever the limit" }, BUCKETS_ONE },
};
static const ddp_case start_cases[] = {
    { { 2, "the parameters of rank 0", "every rank begins with its own: broadcast those of rank 0" }, DDP_START },
};
static const ddp_case begin_cases[] = {
    { { 2, "the mean over all ranks", "each rank multiplies by its share before the sum, once" }, DDP_BATCH },
    { { 2, "several micro-batches", "a gradient is complete when the last micro-batch has added to it" }, DDP_MICRO },
    { { 2, "other numbers of samples", "a rank's share is its samples over those of all, not 1 / size" }, DDP_UNEVEN },
    { { 2, "one all-reduce a bucket and step", "only the last micro-batch sends; a bucket goes once, gaps included" },
      DDP_SENDS },
    { { 2, "completed in another order", "bucket b is sent after bucket b - 1, whichever is complete first" },
      DDP_ORDER },
    { { 2, "sent when complete", "a bucket is sent in the callback of its last gradient, not later" }, DDP_EARLY },
    { { 2, "exposed communication", "all-reduce with a handle: backward goes on while it runs" }, DDP_EXPOSED },
};
static const ddp_case finish_cases[] = {
    { { 2, "parameters that are not used", "a rank that has no gradient adds zeros; afterwards it has one" },
      DDP_UNUSED },
    { { 2, "in the next step", "an unused gradient's memory still has the values of the step before" }, DDP_AGAIN },
    { { 1, "a collective fails", "return the first failure" }, DDP_FAILS },
};

/* ---- 13.10 to 13.13 the optimizer's state and the gradients in parts */
static const mg_case part_cases[] = {
    { 2, "of every rank", "equal parts, rounded up; those at the end are shorter, or empty" },
};
static const zero_case zero_cases[] = {
    { { 2, "stage 1", "a gradient times the share goes to its place in s->parts; what comes back, to s->grads" },
      ZERO_STEPS, 1 },
    { { 2, "stage 2", "the same; gradients are freed when they are in s->parts" }, ZERO_STEPS, 2 },
    { { 1, "parameters that are not used", "without a gradient a rank adds zeros" }, ZERO_UNUSED, 0 },
    { { 1, "bytes", "a reduce-scatter and an all-gather of each bucket, of s->length a rank" }, ZERO_BYTES, 0 },
    { { 1, "a collective fails", "return its status" }, ZERO_FAILS, 0 },
};
static const zero_case gather_params_cases[] = {
    { { 2, "stage 3", "this rank's part and those of the others, each at its place" }, ZERO_STEPS, 3 },
    { { 1, "parameters that are not used", "on no rank: its gradient is zeros" }, ZERO_UNUSED, 3 },
    { { 1, "a collective fails", "keep its status" }, ZERO_FAILS, 3 },
};
static const zero_case open_cases[] = {
    { { 2, "bytes", "a bucket that is open is not gathered; one of the two read last is open" }, ZERO_BYTES, 3 },
    { { 2, "memory of a rank", "8 + 8 / N, 4 + 12 / N and 16 / N bytes a parameter in stages 1, 2, 3" },
      ZERO_MEMORY, 0 },
};
static const zero_case clip_cases[] = {
    { { 3, "the norm of all ranks", "the root of the sum of all ranks' squares; scale by max_norm / norm" },
      ZERO_CLIP, 0 },
    { { 1, "not finite", "a norm that is not finite changes nothing, on no rank" }, ZERO_NOT_FINITE, 0 },
};
static const mg_case overlap_cases[] = {
    { 2, "what both have", "from the larger beginning to the smaller end; each array has its own first element" },
};

/* ---- 13.14 to 13.16 compression */
static const compress_case onebit_cases[] = {
    { { 2, "scale and signs", "the mean of |v| in double; bit i % 8 of byte 4 + i / 8" }, COMPRESS_FIRST },
    { { 2, "error feedback", "v = x + error, also for the scale; then error = v - sent" }, COMPRESS_AGAIN },
    { { 1, "zeros", "v >= 0 is sent as scale, 0 too" }, COMPRESS_TIES },
    { { 1, "any number of elements", "the last byte may have fewer than eight elements: its other bits are 0" },
      COMPRESS_SIZES },
};
static const mg_case unpack_cases[] = {
    { 1, "values", "scale where the bit is 1, else -scale" },
};
static const compress_case phases_cases[] = {
    { { 2, "values and errors", "unpack, average in order of rank, pack again with part_error; the own part too" },
      COMPRESS_AGAIN },
    { { 1, "parts of other sizes", "part r goes to rank r; it may have no elements" }, COMPRESS_SIZES },
    { { 1, "messages and bytes", "2 (P - 1) messages, each of one part" }, COMPRESS_BYTES },
};
static const compress_case topk_cases[] = {
    { { 2, "the largest", "by |v|, in order of their places" }, COMPRESS_FIRST },
    { { 2, "error feedback", "v = x + error; what is sent leaves 0, what is not stays" }, COMPRESS_AGAIN },
    { { 1, "equal sizes", "of equal ones the first, and no more than k" }, COMPRESS_TIES },
    { { 1, "one, and all", "k may be n, or 0: then all stays in error" }, COMPRESS_SIZES },
};
static const compress_case topk_mean_cases[] = {
    { { 2, "the mean over all ranks", "two ranks may send the same place: add; where nobody does it is 0" },
      COMPRESS_AGAIN },
    { { 1, "bytes", "an index and a value for each element that is sent" }, COMPRESS_BYTES },
};

/* ---- 13.17 and 13.18 local training */
static const outer_case outer_cases[] = {
    { { 1, "the mean of the parameters", "d is global - local; with lr 1 the step subtracts its mean" }, OUTER_MEAN },
    { { 2, "momentum", "the new velocity first; the step is mean d + momentum velocity" }, OUTER_MOMENTUM },
};
static const outer_case late_cases[] = {
    { { 3, "what is late", "d goes to the round in which it is due; what was applied is cleared" }, OUTER_LATE },
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
};

// clang-format on

const mg_lab mg_lab_13 = { "13-data-parallel", groups, MT_COUNT(groups) };
