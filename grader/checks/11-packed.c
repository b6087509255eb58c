/* 11-packed.c -- the rows of lab 11's attention in whole vectors: packed (11.11, 11.12) and in bf16 (11.14),
 * and on tensor cores (11.13). How they run: 08-attention.c, 11-attention.c, 11-device.c. */
#include "checks/11-fusion.h"

// clang-format off

#define PACKED(count, size) .tiled = true, .packed = true, .tokens = MG_TOKENS_##count, .scores = MG_SCORES_##size
#define JUDGE(what)         .judged = MG_JUDGE_##what

/* ---- 11.11, 11.12 packed attention */
const attention_case mg_11_packed[10] = {
    { { 3, "random texts",
        "row k of the panel is two vectors, b0 and b1; element (i,k) of a is at a[i * row + k * col]" },
      PACKED(SHORT, ANY), JUDGE(OUT) },
    { { 2, "first queries", "in a tile only the first `visible` keys count: the others have the score -INFINITY" },
      PACKED(FEW, ANY), JUDGE(OUT) },
    { { 1, "one token", "the softmax of one score is 1: out is the value, and lse the score" },
      PACKED(ONE, ANY), JUDGE(BOTH) },
    { { 3, "tiles of keys", "the first tile overwrites out, the others add to what is there and has shrunk" },
      PACKED(LONG, ANY), JUDGE(OUT) },
    { { 1, "equal scores", "with equal scores every visible key has the same weight, in whichever tile it is" },
      PACKED(LONG, EQUAL), JUDGE(BOTH) },
    { { 2, "large scores", "e^100 overflows float and e^-100 is nearly 0: subtract the largest score first" },
      PACKED(SHORT, LARGE), JUDGE(OUT) },
    { { 2, "growing scores", "when the maximum grows, all that was summed before shrinks by e^(before - max)" },
      PACKED(LONG, SLOWLY), JUDGE(OUT) },
    { { 1, "shrinking scores", "the maximum is that of all keys so far, not that of the last tile" },
      PACKED(LONG, SHRINKING), JUDGE(OUT) },
    { { 1, "log-sum-exp",
        "lse is the maximum plus the logarithm of the sum, and the sum shrinks when the maximum grows" },
      PACKED(LONG, SLOWLY), JUDGE(LSE) },
    { { 1, "no tokens", "with T = 0 or B = 0 nothing may be written", MG_EASY }, PACKED(NONE, ANY), JUDGE(BOTH) },
};
const attention_case mg_11_packed_threads[1] = {
    { { 1, "any number of threads",
        "a thread computes whole rows of out, with arrays of its own: no sum is divided among threads" },
      PACKED(LONG, ANY) },
};
const attention_case mg_11_packed_huge[1] = {
    { { 1, "huge scores",
        "begin with a maximum of -infinity, and give hidden keys a score of -infinity: any finite number may be too "
        "large" }, PACKED(SHORT, ANY) },
};
const attention_case mg_11_packed_nan[1] = {
    { { 1, "a NaN", "hidden keys get the score -INFINITY, whatever theirs was: e^NaN is NaN" }, PACKED(SHORT, ANY) },
};
const fusion_traffic mg_11_packed_traffic[1] = {
    { { 2, "keys and values", "a tile of keys and values is packed once for all queries of a task" },
      .cache = MG_L1, .bar = "11.11 keys and values", .packed = true },
};
const attention_race mg_11_packed_race[1] = {
    { { 4, "speed",
        "the sums of a tile stay in registers: `objdump -d` shows vfmadd without stores", MG_TIMED },
      .T = 512, .bar = "11.11 speed", .tiled = true, .packed = true },
};
const attention_case mg_11_packed_backward[7] = {
    { { 3, "dq", "the gradient of the scores, p * (dp - delta), times the keys, which are scaled; p is needed first" },
      PACKED(SHORT, ANY), JUDGE(DQ) },
    { { 3, "dk", "in the tile on the diagonal key c is seen by row c and the rows after it; what no query sees is 0" },
      PACKED(SHORT, ANY), JUDGE(DK) },
    { { 3, "dv", "p = e^(score - lse), 0 where a key is not visible" }, PACKED(SHORT, ANY), JUDGE(DV) },
    { { 2, "tiles of keys", "below the diagonal all queries of a tile see all its keys" },
      PACKED(LONG, ANY), JUDGE(ALL) },
    { { 2, "large scores", "subtract lse before the exponential: e^score alone overflows float" },
      PACKED(SHORT, LARGE), JUDGE(ALL) },
    { { 1, "adds to what is there", "gradients accumulate: add to what dqkv holds" },
      PACKED(LONG, SLOWLY), JUDGE(ALL), .heads = true, .held = true },
    { { 1, "no tokens", "with T = 0 or B = 0 nothing may be written", MG_EASY }, PACKED(NONE, ANY), JUDGE(ALL) },
};
const attention_case mg_11_packed_backward_threads[1] = {
    { { 1, "any number of threads",
        "a thread computes whole heads, with arrays of its own: no sum is divided among threads" },
      PACKED(LONG, ANY), .backward = true },
};
const attention_race mg_11_packed_backward_race[1] = {
    { { 4, "speed",
        "one loop over the keys of a row, in whole vectors, without calls and branches", MG_TIMED },
      .backward = true, .T = 384, .bar = "11.12 speed", .tiled = true, .packed = true },
};
/* ---- 11.14 attention in bf16 */
#define SIXTEEN(count, size) PACKED(count, size), .bf16 = true
const attention_case mg_11_bf16[10] = {
    { { 3, "random texts",
        "pair p of row i of a is a[i * PAIRS + p]; an odd K has K / 2 pairs, rounded up, whose last number is "
        "paired with 0" }, SIXTEEN(SHORT, ANY), JUDGE(OUT) },
    { { 2, "first queries", "in a tile only the first `visible` keys count: the others have the score -INFINITY" },
      SIXTEEN(FEW, ANY), JUDGE(OUT) },
    { { 1, "one token", "the softmax of one score is 1: out is the value, and lse the score" },
      SIXTEEN(ONE, ANY), JUDGE(BOTH) },
    { { 3, "tiles of keys", "the first tile overwrites out, the others add to what is there and has shrunk" },
      SIXTEEN(LONG, ANY), JUDGE(OUT) },
    { { 1, "equal scores", "with equal scores every visible key has the same weight, in whichever tile it is" },
      SIXTEEN(LONG, EQUAL), JUDGE(BOTH) },
    { { 2, "large scores", "scores are f32 and scaled in f32: subtract the largest before the exponential" },
      SIXTEEN(SHORT, LARGE), JUDGE(OUT) },
    { { 2, "growing scores", "when the maximum grows, all that was summed before shrinks by e^(before - max)" },
      SIXTEEN(LONG, SLOWLY), JUDGE(OUT) },
    { { 1, "shrinking scores", "the maximum is that of all keys so far, not that of the last tile" },
      SIXTEEN(LONG, SHRINKING), JUDGE(OUT) },
    { { 3, "log-sum-exp",
        "only the weights that the second product reads are rounded: scores, weights in the sum and the sum are f32" },
      SIXTEEN(LONG, SLOWLY), JUDGE(LSE) },
    { { 1, "no tokens", "with T = 0 or B = 0 nothing may be written", MG_EASY }, SIXTEEN(NONE, ANY), JUDGE(BOTH) },
};
const attention_case mg_11_bf16_threads[1] = {
    { { 1, "any number of threads",
        "a thread computes whole rows of out, with arrays of its own: no sum is divided among threads" },
      SIXTEEN(LONG, ANY) },
};
const attention_case mg_11_bf16_huge[1] = {
    { { 2, "huge scores",
        "weights are 1 and 0 here, exact in bf16: a sum or a result that is not f32 makes the error" },
      SIXTEEN(SHORT, ANY) },
};
const attention_case mg_11_bf16_nan[1] = {
    { { 1, "a NaN", "hidden keys get the score -INFINITY, whatever theirs was: e^NaN is NaN" }, SIXTEEN(SHORT, ANY) },
};
const fusion_traffic mg_11_bf16_traffic[1] = {
    { { 2, "keys and values", "a tile of keys and values is packed once for all queries of a task" },
      .cache = MG_L1, .bar = "11.14 keys and values", .packed = true, .bf16 = true },
};
const attention_race mg_11_bf16_race[1] = {
    { { 4, "speed",
        "the sums of a tile stay in registers: `objdump -d` shows vdpbf16ps without stores", MG_TIMED },
      .T = 512, .bar = "11.14 speed", .tiled = true, .packed = true, .bf16 = true },
};

/* ---- 11.13 attention on tensor cores */
#define TENSOR(count, size) \
    .tiled = true, .bf16 = true, .cuda = true, .tokens = MG_TOKENS_##count, .scores = MG_SCORES_##size
const attention_case mg_11_tensor[9] = {
    { { 3, "random texts",
        "a score is the sum over all columns of the head, 16 at a time; the keys are the transposed operand, "
        "col_major" }, TENSOR(SHORT, ANY), JUDGE(OUT) },
    { { 2, "first queries",
        "query + r sees keys 0 .. query + r - first of a tile: the others have the score -INFINITY" },
      TENSOR(FEW, ANY), JUDGE(OUT) },
    { { 1, "one token", "the softmax of one score is 1: out is the value, and lse the score" },
      TENSOR(ONE, ANY), JUDGE(BOTH) },
    { { 3, "tiles of keys", "the next tile adds to the sums of the tiles before, which are in shared memory" },
      TENSOR(LONG, ANY), JUDGE(OUT) },
    { { 2, "large scores", "scores are f32 and scaled in f32: subtract the largest before the exponential" },
      TENSOR(SHORT, LARGE), JUDGE(OUT) },
    { { 2, "growing scores",
        "when the maximum grows, the row of s.sum shrinks by e^(before - max), in all its columns" },
      TENSOR(LONG, SLOWLY), JUDGE(OUT) },
    { { 1, "shrinking scores", "the maximum is that of all keys so far, not that of the last tile" },
      TENSOR(LONG, SHRINKING), JUDGE(OUT) },
    { { 2, "log-sum-exp",
        "only the weights that are stored for the product are rounded: scores, weights in the sum and the sum are "
        "f32" }, TENSOR(LONG, SLOWLY), JUDGE(LSE) },
    { { 1, "no tokens", "with T = 0 or B = 0 nothing may be launched", MG_EASY }, TENSOR(NONE, ANY), JUDGE(BOTH) },
};
const attention_case mg_11_tensor_huge[1] = {
    { { 1, "huge scores", "weights are 1 and 0 here, exact in bf16: a sum or a maximum that is wrong makes the error" },
      TENSOR(SHORT, ANY) },
};
const attention_case mg_11_tensor_nan[1] = {
    { { 1, "a NaN", "hidden keys get the score -INFINITY, whatever theirs was: e^NaN is NaN" }, TENSOR(SHORT, ANY) },
};
const fusion_count mg_11_tensor_counts[3] = {
    { { 3, "traffic", "a tile of keys and values serves 64 queries; load none after the block's last query" },
      MG_TRAFFIC, 1, .bf16 = true },
    { { 1, "bank conflicts",
        "lanes read neighbours; rows in shared memory are PAD elements longer than what is used of them" },
      MG_CONFLICTS, 1, .bf16 = true },
    { { 2, "wavefronts", "a fragment of queries serves four fragments of keys, and four of weights serve all columns" },
      MG_WAVEFRONTS, 1, .bf16 = true },
};
const fusion_fact mg_11_tensor_facts[2] = {
    { { 2, "tensor cores", "fragments are multiplied by nvcuda::wmma::mma_sync" },
      "flash_tensor.cu", MG_TENSOR_CORES, .bf16 = true },
    { { 1, "registers", "put `#pragma unroll` before loops over r and n: an array with a variable index is in memory" },
      "flash_tensor.cu", MG_LOCAL_MEMORY, .bf16 = true },
};
