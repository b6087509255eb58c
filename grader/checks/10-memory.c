/* 10-memory.c -- the rows of lab 10. How they run: 10-accumulate.c, 10-recompute.c, 10-tower.c, 10-choose.c,
 * 10-account.c, 10-offload.c; the pool: 10-pool.c, 10-scripts.c, 10-trace.c. */
#include "checks/10-memory.h"
#include "checks/10-pool.h"

// clang-format off

/* ---- 10.1 accumulation */
static const accumulate_case accumulate_cases[] = {
    { { 2, "as one batch",
        "the gradients of all micro-batches add up, each times its share, which is 1 / micro for equal batches; "
        "nothing is cleared between them" }, ACCUMULATE_EQUAL },
    { { 3, "a smaller last one",
        "a micro-batch counts by its targets: its share is their number over the number of targets of the whole "
        "step" }, ACCUMULATE_LAST },
    { { 3, "batches of any size",
        "add up the targets of this step's batches, no more and no fewer, before the first backward; each batch "
        "that is loaded moves the source on" }, ACCUMULATE_ANY },
    { { 2, "the bits of equal shares",
        "equal batches, even if the source knows no targets: the share is 1 / micro, rounded once" }, ACCUMULATE_BITS },
    { { 1, "with a scale of the loss",
        "mt_train_batch already multiplies by the training's factor of the loss: the share does not contain it" },
      ACCUMULATE_SCALED },
    { { 1, "the source ends",
        "mt_train_batch returns false when there is no batch: return that, and ask for no more", MG_EASY },
      ACCUMULATE_ENDS },
    { { 2, "one batch in memory", "load a batch only when the one before it is released: mt_train_batch does both" },
      ACCUMULATE_MEMORY },
};

/* ---- 10.2 segments, forward */
static const recompute_case forward_cases[] = {
    { { 1, "the result", "the result is what `compute` returns, and belongs to the scope of the caller" },
      "segments, forward", RC_VALUES, false },
    { { 2, "one node",
        "a segment has one node: recording is off while the module computes, and on again before the node is made" },
      "segments, forward", RC_NODE, false },
    { { 2, "only the input is kept", "while recording is off nothing is saved: the node needs x alone (mt_save)" },
      "segments, forward", RC_KEPT, false },
    { { 1, "the input is kept as it is",
        "autocast would keep a product's result as a copy in 16 bits, and what is computed from a copy differs from "
        "forward: save_exactly prevents it" }, "segments, forward", RC_KEPT_16, false },
    { { 1, "without a gradient",
        "where nothing wants a gradient there is no node: what was allocated for it must be freed" },
      "segments, forward", RC_QUIET, false },
    { { 1, "random numbers", "forward computes once, and so draws once" }, "segments, forward", RC_DRAWN, false },
};

/* ---- 10.3 segments, backward */
static const recompute_case backward_cases[] = {
    { { 3, "gradients",
        "compute again with recording on, from an x without history that wants a gradient, and walk back from this "
        "result with the gradient that has arrived" }, "segments", RC_VALUES, true },
    { { 3, "gradients from several places",
        "x has other users, too: their gradients and the segment's must add up in one buffer, in the same order. "
        "Whose buffer does mt_grad_of_input give?" }, "segments", RC_SHARED, true },
    { { 3, "dropout",
        "backward needs forward's random numbers again: restore `then`, the conditions before forward, before "
        "computing again" }, "segments", RC_DROPOUT, true },
    { { 1, "random numbers afterwards",
        "restore `now` when the result is there: whatever runs later goes on with these streams" },
      "segments", RC_DRAWN_AFTER, true },
    { { 3, "the types of forward",
        "backward may run under another cast policy, or none, with other keepers: restore those of `then`" },
      "segments", RC_TYPES, true },
    { { 1, "policy afterwards",
        "restore `now`: the policy, its user pointer and the keepers, even if there were none" },
      "segments", RC_POLICY_AFTER, true },
    { { 2, "segments in segments",
        "the walk inside a segment may come to other segments: nothing about a segment may be in a variable that "
        "they share" }, "segments", RC_NESTED, true },
    { { 2, "ready once",
        "a parameter's gradient is complete when the outermost walk has come to all its segments: its edges wait "
        "for them, and mt_backward_from counts on from there" }, "segments", RC_READY, true },
    { { 2, "arithmetic", "each block's forward runs once more, not twice, and nothing else does" },
      "segments", RC_FLOPS, true },
    { { 4, "the peak of twelve blocks",
        "forward keeps the inputs of the blocks; backward has the inner results of one block at a time" },
      "segments", RC_PEAK, true },
    { { 1, "nothing is left", "what the recomputation makes is freed with its scope" }, "segments", RC_LEFT, true },
};

/* ---- 10.4 selective recomputation */
static const recompute_case selective_cases[] = {
    { { 2, "gradients",
        "a dropped tensor is computed again by the node that produced it (`again`); where a node cannot do so, "
        "nothing may be dropped" }, "selective", RC_SHARED, true },
    { { 2, "gradients with dropout",
        "a node of dropout cannot compute its result again, as it has no `again`: the result is kept" },
      "selective", RC_DROPOUT, true },
    { { 2, "gradients in 16 bits",
        "if a copy in 16 bits was dropped, what `again` gives must be converted to the copy's type" },
      "selective", RC_TYPES, true },
    { { 3, "what is kept",
        "in a block the results of both layernorms and of GELU are dropped, and nothing else: an empty tensor stays" },
      "selective", RC_KEPT, true },
    { { 2, "what is kept in 16 bits",
        "the copies that products read are dropped, too: saved->producer says who computed them" },
      "selective", RC_KEPT_16, true },
    { { 1, "arithmetic", "no matrix product is computed again" }, "selective", RC_FLOPS, true },
    { { 1, "other modules",
        "the keeper ends after the module's forward (mt_keeper_end): what others save is not for it" },
      "selective", RC_NODE, true },
    { { 1, "nothing is left", "saved->tensor holds one reference, which is the node's" }, "selective", RC_LEFT, true },
};

/* ---- 10.5 the choice */
static const choose_case choose_cases[] = {
    { { 4, "few blocks, every budget",
        "of all choices within the budget, the one with the fewest FLOPs: a state may be dropped only if another "
        "one keeps no more and has no more FLOPs" }, CHOOSE_SMALL },
    { { 3, "to the byte", "a choice whose peak is exactly the budget is within it" }, CHOOSE_EXACT },
    { { 2, "the work of a block",
        "while backward is at a block, the block's work is there beside what is kept of it and of the blocks before "
        "it" }, CHOOSE_WORK },
    { { 2, "early and late blocks",
        "when backward comes to a block, what the blocks behind it kept is freed: the block's work is beside what "
        "is kept up to it only" }, CHOOSE_PLACE },
    { { 3, "below the least budget",
        "the least budget is that of the choice with the smallest peak; below it the status is MT_ERR_ARGUMENT" },
      CHOOSE_BEYOND },
    { { 2, "many different blocks",
        "after each block remove the states that another one beats in both numbers; how many remain has no fixed "
        "limit" }, CHOOSE_MANY },
    { { 2, "96 equal blocks", "many states have the same kept bytes and FLOPs: keep one of them, or there are 3^96" },
      CHOOSE_EQUAL },
    { { 1, "above 2^53",
        "bytes and FLOPs are int64_t below 2^63: a double has only 53 bits, and a number such as 1e18 is not the "
        "largest" }, CHOOSE_LARGE },
    { { 1, "nothing to choose", "with no blocks, or one option each, the answer is the only choice there is" },
      CHOOSE_NOTHING },
};

/* ---- 10.6 sizes */
static const sizes_case sizes_cases[] = {
    { { 2, "blocks", "the smallest multiple of 512 that holds the request: 512 stays 512, 513 becomes 1024" },
      SIZES_BLOCK },
    { { 1, "small and large", "the rounded size decides, and exactly 1 MiB is small" }, SIZES_KIND },
    { { 2, "segments",
        "a segment has 2 MiB for small blocks, 20 MiB for large ones below 10 MiB, else the block rounded up to 2 "
        "MiB" }, SIZES_SEGMENT },
};

/* ---- 10.7 allocation */
static const pool_case alloc_cases[] = {
    { { 3, "the rest of a block", "what a request leaves of a block serves the next one" },
      POOL_REST },
    { { 3, "best fit",
        "the first block that is large enough may be far too large: look at all of a list, and at the next list "
        "only if no block of this one suits" }, POOL_BEST_FIT },
    { { 2, "rests of large blocks",
        "a block of a large segment is split if more than 1 MiB is left: exactly 1 MiB stays with it. segment->kind "
        "says which segment is large: mt_pool_reserve(pool, 1) makes a large one of 2 MiB" }, POOL_LARGE },
    { { 2, "small and large blocks",
        "each kind has its own lists: a small request takes no block of a large segment, which may have 2 MiB, too "
        "(mt_pool_reserve)" }, POOL_KINDS },
};

/* ---- 10.8 frees */
static const pool_case free_cases[] = {
    { { 2, "right neighbour", "a free right neighbour is taken out of its list, then joined to the block" },
      POOL_RIGHT },
    { { 2, "left neighbour",
        "a free left neighbour is taken out of its list; the block is joined to it, and the whole is put into a "
        "list" }, POOL_LEFT },
    { { 2, "both neighbours", "join the right one first: then the block's size is right when the left one takes it" },
      POOL_BOTH },
    { { 1, "segments stay apart",
        "neighbours are ->left and ->right, which are NULL at the ends of a segment, whatever the addresses are" },
      POOL_APART },
    { { 2, "a segment is whole again", "when all blocks of a segment are free, they must have become one" },
      POOL_WHOLE },
    { { 2, "any order", "each block is either used or in exactly one list" }, POOL_ANY },
};
static const trace_case trace_cases[] = {
    { { 2, "training steps ask no more",
        "a step allocates the sizes of the step before: all must be found without asking the system" }, NULL },
    { { 4, "training steps of varying length",
        "splitting, best fit and merging together keep the reserved memory near what is used" }, "10.8" },
};

/* ---- 10.9 trim */
static const pool_case trim_cases[] = {
    { { 2, "free segments", "go through all segments of both kinds; read ->next before a segment is given back" },
      POOL_TRIM },
    { { 2, "segments with a used block",
        "a segment is given back only if its first block is free and has no right neighbour" }, POOL_TRIM_USED },
    { { 2, "memory is out", "when the system refuses, first trim, then ask again" }, POOL_OUT },
    { { 2, "the other kind",
        "free small segments can make room for a large one, and the other way round: trim both kinds" },
      POOL_OUT_KINDS },
    { { 1, "refused twice", "return what mt_pool_grow returns: NULL if the system refuses again" }, POOL_REFUSED },
    { { 1, "little memory", "after a trim or a refusal the pool goes on as before" }, POOL_SHORT },
};

/* ---- 10.10 accounts */
static const live_case live_cases[] = {
    { { 2, "allocated and freed",
        "an allocation adds its bytes to all, to its use and to its op; a free subtracts those of the block that is "
        "freed. What mt_blocks_find gives is valid until the next mt_blocks_put or mt_blocks_remove" }, LIVE_SUMS },
    { { 2, "a free says nothing of the use",
        "the use and the op of a block are those of its allocation: mt_blocks_find has them" }, LIVE_USES },
    { { 2, "addresses used again",
        "remove a block from the table when it is freed, and put the new one: its size, use and op may be others" },
      LIVE_AGAIN },
    { { 1, "frees of unknown addresses", "mt_blocks_find gives NULL for such an address: the free changes nothing" },
      LIVE_UNKNOWN },
    { { 2, "frees that were not seen",
        "if an allocation has an address that is live, subtract the old block first, from its own use and op" },
      LIVE_UNSEEN },
    { { 2, "two devices", "each device has its own sums; the same address may be live on both" }, LIVE_DEVICES },
    { { 1, "more than 4 GiB", "sizes and sums are int64_t" }, LIVE_LARGE },
};

/* ---- 10.11 peaks */
static const peak_case peak_cases[] = {
    { { 3, "one moment",
        "the peak is one moment: copy the sums by use and by op of that moment, not their own maxima" }, PEAK_MOMENT },
    { { 2, "the first of equals", "a later sum that is only equal is no new peak" }, PEAK_FIRST },
    { { 1, "less comes after it", "only a sum that is larger than the peak changes the peak, peak_op included" },
      PEAK_LOWER },
    { { 2, "the most of each op", "op_most[op] is the largest live.all that there was after an allocation of that op" },
      PEAK_OPS },
    { { 2, "allocations and frees", "this row calls mt_account_note: 10.10 and 10.11 together, on two devices" },
      PEAK_STEP },
};

/* ---- 10.12 which segments to offload */
static const stall_case stall_cases[] = {
    { { 3, "beside the neighbour",
        "each of the two copies takes bytes * rate, and the computing of segment s + 1 hides it: what is left over of "
        "one is max(0, copy - forward), of the other max(0, copy - backward)" }, STALL_ANY },
    { { 1, "the last segment", "nothing is behind the last segment, so it stays: 0" }, STALL_LAST },
    { { 1, "more than 2^32", "sizes and times are int64_t" }, STALL_LARGE },
};
static const offload_case offload_cases[] = {
    { { 3, "any budget",
        "what is decided about segment s counts from segment s + 2 on: until then the device has it in any case" },
      OFFLOAD_ANY },
    { { 2, "copies that cost nothing", "of choices with the same stall, the one that keeps the fewest bytes" },
      OFFLOAD_FREE },
    { { 2, "below the least budget",
        "the least budget is what two neighbours need; below it the status is MT_ERR_ARGUMENT, as mt_memory_choose "
        "says it, and outputs are unchanged" }, OFFLOAD_LEAST },
    { { 1, "few segments", "no segment, one, and two: of one and two the last stays" }, OFFLOAD_FEW },
};

/* ---- 10.13 when they move */
static const recompute_case move_cases[] = {
    { { 3, "gradients",
        "what comes back is not there before mt_bus_wait, and what goes out is not read before: memory of a chosen "
        "segment is given away after the wait only; on the host each storage has a place of its own",
        MG_EASY },
      "offload", RC_VALUES, true },
    { { 2, "gradients, with the last segment",
        "the last segment is not away when backward comes to it: wait for its copies out, since backward frees its "
        "memory; there is nothing to fetch", MG_EASY }, "offload", RC_LAST, true },
    { { 2, "bytes over the bus",
        "each storage of a chosen segment goes out once; if it is away, it comes back once; others do not move" },
      "offload", RC_MOVED, true },
    { { 2, "what stays after forward",
        "at the end of segment s the memory of segment s - 1 is given away, if that was chosen" },
      "offload", RC_KEPT, true },
    { { 3, "the peak",
        "beside what stays the device has two neighbouring segments: fetch s - 1 when backward comes to s, neither "
        "earlier nor later" }, "offload", RC_PEAK, true },
    { { 3, "copies beside computing",
        "a copy is hidden only if something is computed between its begin and the wait for it: out from the end of s "
        "to the end of s + 1, back from the begin of s + 1 to the begin of s" }, "offload", RC_CLOCK, true },
    { { 1, "nothing is chosen", "segments that are not chosen stay", MG_EASY }, "offload", RC_STAY, true },
    { { 1, "nothing is left", "mt_offload_take and mt_offload_give come in pairs", MG_EASY },
      "offload", RC_LEFT, true },
};

static const mg_group groups[] = {
    MG_GROUP("10.1", "accumulation", mg_10_accumulate, accumulate_cases),
    MG_GROUP("10.2", "segments", mg_10_recompute, forward_cases),
    MG_GROUP("10.3", "recomputation", mg_10_recompute, backward_cases),
    MG_GROUP("10.4", "selective", mg_10_recompute, selective_cases),
    MG_GROUP("10.5", "choice", mg_10_choose, choose_cases),
    MG_GROUP("10.6", "sizes", mg_10_sizes, sizes_cases),
    MG_GROUP("10.7", "allocation", mg_10_pool, alloc_cases),
    MG_GROUP("10.8", "frees", mg_10_pool, free_cases),
    MG_GROUP("10.8", "frees", mg_10_trace, trace_cases),
    MG_GROUP("10.9", "trim", mg_10_pool, trim_cases),
    MG_GROUP("10.10", "live bytes", mg_10_live, live_cases),
    MG_GROUP("10.11", "peaks", mg_10_peak, peak_cases),
    MG_GROUP("10.12", "stalls", mg_10_stall, stall_cases),
    MG_GROUP("10.12", "offloaded", mg_10_offload, offload_cases),
    MG_GROUP("10.13", "offload", mg_10_recompute, move_cases),
};

// clang-format on

const mg_lab mg_lab_10 = { "10-memory", groups, MT_COUNT(groups) };
