/* 11-fusion.c -- the rows of lab 11; those of packed attention are in 11-packed.c, of residual + layernorm in
 * 11-norm.c, of bias + GELU in 11-gelu.c. How they run: 08-attention.c, 11-attention.c, 11-classifier.c, 11-adamw.c,
 * 11-device.c. */
#include "checks/11-fusion.h"

#include "checks/08-gpt2.h"

// clang-format off

/* ---- 11.1, 11.2 tiled attention: tokens, scores, what is judged */
#define TOKENS(count, size) .tiled = true, .tokens = MG_TOKENS_##count, .scores = MG_SCORES_##size
#define JUDGE(what)         .judged = MG_JUDGE_##what
static const attention_case forward_cases[] = {
    { { 1, "one token", "the softmax of one score is 1: out is the value, and lse the score" },
      TOKENS(ONE, ANY), JUDGE(BOTH) },
    { { 3, "random texts", "the scores are scaled by 1 / sqrt(D) first; a key's weight is e^(score - max)" },
      TOKENS(SHORT, ANY), JUDGE(OUT) },
    { { 2, "first queries",
        "in a tile only the first `visible` keys count: keys after the query get probability 0, not score 0" },
      TOKENS(FEW, ANY), JUDGE(OUT) },
    { { 1, "many heads", "each head has scores and running sums of its own" },
      TOKENS(SHORT, ANY), JUDGE(OUT), .heads = true },
    { { 1, "wide heads", "a head may have any number of columns, here 129 and more: h->D" },
      TOKENS(LONG, SLOWLY), JUDGE(BOTH), .wide = true },
    { { 3, "tiles of keys",
        "softmax is over the keys of all tiles: each tile adds to the sums of the tiles before it" },
      TOKENS(LONG, ANY), JUDGE(OUT) },
    { { 1, "equal scores", "with equal scores every visible key has the same weight, in whichever tile it is" },
      TOKENS(LONG, EQUAL), JUDGE(BOTH) },
    { { 2, "large scores", "e^100 overflows float and e^-100 is nearly 0: subtract the largest score first" },
      TOKENS(SHORT, LARGE), JUDGE(OUT) },
    { { 3, "growing scores", "when the maximum grows, all that was summed before shrinks by e^(before - max)" },
      TOKENS(LONG, SLOWLY), JUDGE(OUT) },
    { { 1, "fast growing scores", "sums shrink by e^(before - max), which is at most 1, and not by e^(max - before)" },
      TOKENS(LONG, GROWING), JUDGE(OUT) },
    { { 1, "shrinking scores", "the maximum is that of all keys so far, not that of the last tile" },
      TOKENS(LONG, SHRINKING), JUDGE(OUT) },
    { { 2, "log-sum-exp",
        "lse is the maximum plus the logarithm of the sum, and the sum shrinks when the maximum grows" },
      TOKENS(LONG, SLOWLY), JUDGE(LSE) },
    { { 1, "no tokens", "with T = 0 or B = 0 nothing may be written", MG_EASY }, TOKENS(NONE, ANY), JUDGE(BOTH) },
};
static const attention_case forward_threads_cases[] = {
    { { 1, "any number of threads",
        "a thread computes whole rows of out, with scores of its own: no sum is divided among threads" },
      TOKENS(LONG, ANY) },
};
static const attention_case huge_cases[] = {
    { { 2, "huge scores",
        "begin with a maximum of -infinity: scores of -2^120 are smaller than any other number you choose" },
      TOKENS(SHORT, ANY) },
};
static const attention_case nan_cases[] = {
    { { 1, "a NaN",
        "e^NaN is NaN: do not replace it, and give keys after the query probability 0, whatever their score is" },
      TOKENS(SHORT, ANY) },
};
static const fusion_traffic forward_traffic_cases[] = {
    { { 3, "traffic",
        "keep the scores of one tile only, ROWS x KEYS, which the next tile overwrites: T x T numbers are nowhere, "
        "not even on a stack" }, .cache = MG_L2, .bar = "11.1 traffic" },
    { { 2, "keys and values", "a tile of keys and values serves ROWS queries before the next tile is read" },
      .cache = MG_L1, .bar = "11.1 keys and values" },
};
static const attention_race forward_race_cases[] = {
    { { 4, "speed",
        "loops over the keys of a tile become vector code if they have no calls and no branches: mt_expf", MG_TIMED },
      .T = 512, .bar = "11.1 speed", .tiled = true },
};
static const attention_case backward_cases[] = {
    { { 3, "dq", "the gradient of a score is p * (dp - delta), times 1 / sqrt(D) as the score was; p is needed first" },
      TOKENS(SHORT, ANY), JUDGE(DQ) },
    { { 3, "dk", "the gradient of the scores is 0 where a key is not visible; delta is that of the row" },
      TOKENS(SHORT, ANY), JUDGE(DK) },
    { { 3, "dv", "p = e^(score / sqrt(D) - lse), 0 where a key is not visible" }, TOKENS(SHORT, ANY), JUDGE(DV) },
    { { 1, "first tokens", "the last query sees all keys, the first one only its own" }, TOKENS(FEW, ANY), JUDGE(ALL) },
    { { 1, "wide heads", "a head may have any number of columns, here 129 and more: h->D" },
      TOKENS(SHORT, ANY), JUDGE(ALL), .wide = true },
    { { 1, "one token", "the softmax of one score is constant: dq and dk are 0, dv is dout" },
      TOKENS(ONE, ANY), JUDGE(ALL) },
    { { 2, "tiles of keys", "a query's gradient has parts from all tiles of keys, a key's from all tiles of queries" },
      TOKENS(LONG, ANY), JUDGE(ALL) },
    { { 1, "equal scores",
        "with equal scores p is 1 over the number of visible keys: lse has the logarithm of that number" },
      TOKENS(LONG, EQUAL), JUDGE(ALL) },
    { { 2, "large scores", "subtract lse before the exponential: e^score alone overflows float" },
      TOKENS(SHORT, LARGE), JUDGE(ALL) },
    { { 2, "adds to what is there", "gradients accumulate: add to what dqkv holds" },
      TOKENS(LONG, SLOWLY), JUDGE(ALL), .heads = true, .held = true },
    { { 1, "no tokens", "with T = 0 or B = 0 nothing may be written", MG_EASY }, TOKENS(NONE, ANY), JUDGE(ALL) },
};
static const attention_case backward_threads_cases[] = {
    { { 1, "any number of threads",
        "a thread computes whole heads, with arrays of its own: no sum is divided among threads" },
      TOKENS(LONG, ANY), .backward = true },
};
static const fusion_traffic backward_traffic_cases[] = {
    { { 3, "traffic",
        "keep one tile of scores and one of their gradients, ROWS x KEYS each: T x T numbers are nowhere" },
      .cache = MG_L2, .bar = "11.2 traffic", .backward = true },
    { { 2, "keys and values", "a tile of keys and values, and their gradients, serve ROWS queries each time" },
      .cache = MG_L1, .bar = "11.2 keys and values", .backward = true },
};
static const attention_race backward_race_cases[] = {
    { { 4, "speed",
        "one loop over the keys of a row, with mt_expf, becomes vector code", MG_TIMED },
      .backward = true, .T = 384, .bar = "11.2 speed", .tiled = true },
};

/* ---- 11.6 on the device */
#define DEVICE(count, size) TOKENS(count, size), .cuda = true
static const attention_case device_forward_cases[] = {
    { { 1, "one token",
        "the softmax of one score is 1: out is the value, and lse the score; only one lane has a weight" },
      DEVICE(ONE, ANY), JUDGE(BOTH) },
    { { 3, "random texts",
        "the scores are scaled by 1 / sqrt(D); a weight is e^(score - max); out is divided by the sum over all "
        "lanes" }, DEVICE(SHORT, ANY), JUDGE(OUT) },
    { { 2, "first queries",
        "lane l has key first + l; the queries before that key do not see it: its score is -INFINITY for them" },
      DEVICE(FEW, ANY), JUDGE(OUT) },
    { { 3, "tiles of keys",
        "a block goes through all tiles up to its last query; what earlier tiles gave shrinks by e^(before - max)" },
      DEVICE(LONG, ANY), JUDGE(OUT) },
    { { 2, "large scores", "e^100 overflows float and e^-100 is nearly 0: subtract the largest score first" },
      DEVICE(SHORT, LARGE), JUDGE(OUT) },
    { { 2, "growing scores",
        "when the maximum grows, the sum and the out of earlier tiles shrink by e^(before - max)" },
      DEVICE(LONG, SLOWLY), JUDGE(OUT) },
    { { 1, "shrinking scores", "the maximum is that of all keys so far, not that of the last tile" },
      DEVICE(LONG, SHRINKING), JUDGE(OUT) },
    { { 2, "log-sum-exp", "lse is the maximum plus the logarithm of the sum over all lanes" },
      DEVICE(LONG, SLOWLY), JUDGE(LSE) },
    { { 1, "no tokens", "with T = 0 or B = 0 nothing may be launched", MG_EASY }, DEVICE(NONE, ANY), JUDGE(BOTH) },
};
static const attention_case device_huge_cases[] = {
    { { 1, "huge scores",
        "begin with a maximum of -infinity, and give hidden keys a score of -infinity: any finite number may be too "
        "large" }, DEVICE(SHORT, ANY) },
};
static const attention_case device_nan_cases[] = {
    { { 1, "a NaN",
        "keys after the query get the score -INFINITY before the maximum is computed, whatever they are: a NaN "
        "spreads" }, DEVICE(SHORT, ANY) },
};
static const fusion_count device_forward_counts[] = {
    { { 4, "traffic",
        "a tile of keys and values serves all queries of a block, and no query needs tiles after its own" },
      MG_TRAFFIC, 1, .backward = false },
    { { 2, "bank conflicts",
        "lanes read along a row of values, and along the row of weights; one address for all lanes is not a "
        "conflict" }, MG_CONFLICTS, 1, .backward = false },
    { { 2, "wavefronts", "load no tile after the block's last query, and multiply none after a warp's last query" },
      MG_WAVEFRONTS, 1, .backward = false },
};
static const fusion_fact device_forward_facts[] = {
    { { 1, "registers",
        "put `#pragma unroll` before loops over r and part: an array with a variable index is in memory" },
      "flash_forward.cu", MG_LOCAL_MEMORY, .backward = false },
};
static const attention_case device_backward_cases[] = {
    { { 3, "dq",
        "the gradient of a score is p * (dp - delta), times scale as the score was; a query adds what all tiles of "
        "keys give" }, DEVICE(SHORT, ANY), JUDGE(DQ) },
    { { 3, "dk",
        "a key's gradient is the sum over the queries of the score's gradient times the query, each with its own "
        "delta" }, DEVICE(SHORT, ANY), JUDGE(DK) },
    { { 3, "dv", "a value's gradient is the sum over the queries of the probability, e^(score - lse), times dout" },
      DEVICE(SHORT, ANY), JUDGE(DV) },
    { { 1, "first tokens", "the last query sees all keys, the first one only its own" }, DEVICE(FEW, ANY), JUDGE(ALL) },
    { { 1, "one token", "the softmax of one score is constant: dq and dk are 0, dv is dout" },
      DEVICE(ONE, ANY), JUDGE(ALL) },
    { { 2, "tiles of keys", "a query's gradient has parts from all tiles of keys, a key's from all tiles of queries" },
      DEVICE(LONG, ANY), JUDGE(ALL) },
    { { 2, "large scores", "subtract lse before the exponential: e^score alone overflows float" },
      DEVICE(SHORT, LARGE), JUDGE(ALL) },
    { { 1, "adds to what is there", "gradients accumulate: add to what dqkv holds" },
      DEVICE(LONG, SLOWLY), JUDGE(ALL), .heads = true, .held = true },
    { { 1, "no tokens", "with T = 0 or B = 0 nothing may be launched", MG_EASY }, DEVICE(NONE, ANY), JUDGE(ALL) },
};
static const fusion_count device_backward_counts[] = {
    { { 4, "traffic", "one tile of keys and values, or of queries and dout, serves all rows of a block" },
      MG_TRAFFIC, 2, .backward = true },
    { { 2, "bank conflicts", "lanes read along a row of a tile, and along a row of p and ds" },
      MG_CONFLICTS, 2, .backward = true },
    { { 2, "wavefronts",
        "load no tile of keys after the block's last query, and no tile of queries before its first key" },
      MG_WAVEFRONTS, 2, .backward = true },
};
static const fusion_fact device_backward_facts[] = {
    { { 1, "registers",
        "put `#pragma unroll` before loops over r and part: an array with a variable index is in memory" },
      "flash_backward.cu", MG_LOCAL_MEMORY, .backward = true },
};
#undef DEVICE
#undef TOKENS
#undef JUDGE

/* ---- 11.9 AdamW of all tensors in one launch */
static const adamw_case adamw_cases[] = {
    { { 3, "lengths", "n elements have n / CHUNK chunks, rounded up, and a tensor's last chunk ends with the tensor" },
      MG_LENGTHS },
    { { 2, "148 tensors", "a block's tensor is the last one whose `before` is at most the number of the block" },
      MG_MANY },
    { { 2, "rates and decay", "each tensor has a rate and a decay of its own, in u[k].hyper" }, MG_RATES },
    { { 2, "step counts", "each tensor has a step count t of its own; 1 - beta^t needs double" }, MG_STEPS },
    { { 1, "without a gradient",
        "a tensor without gradient has no chunks, so that the tensor after it has the same `before`" }, MG_MISSING },
    { { 1, "nothing to update", "no chunks, no launch: an empty grid is an error", MG_EASY }, MG_NOTHING },
    { { 3, "traffic", "read p, g, m, v once and write p, m, v once; neighbouring threads have neighbouring elements" },
      MG_BLOCK },
    { { 2, "elements of a block", "a large tensor is cut into chunks, so that many blocks work on it" }, MG_ONE_LARGE },
};

/* ---- 11.4 classifier in chunks: -1 is a random size */
#define HEAD(n, c, v, spread_of) .N = n, .C = c, .V = v, .spread = spread_of
static const chunked_case chunked_cases[] = {
    { { 2, "loss",
        "the rows of a chunk have logits and losses as in lab 08.7, with the same w; dx and dw may be NULL" },
      HEAD(-1, -1, -1, 0.5) },
    { { 3, "dx", "rows begin .. begin+n-1 of dx are dlogits [n,V] times w [V,C]: they are overwritten" },
      HEAD(-1, -1, -1, 0.5), .wanted = MG_DX },
    { { 3, "dw", "dw is the sum over all chunks of dlogits^T times x: the first chunk overwrites it, the others add" },
      HEAD(-1, -1, -1, 0.5), .wanted = MG_DW },
    { { 1, "share", "`share` multiplies both gradients, but not the loss" },
      HEAD(-1, -1, -1, 0.5), .wanted = MG_DX | MG_DW, .share = -1536 },
    { { 1, "large logits", "exp(90) overflows float, and log(0) is infinite: use lab 02's cross-entropy" },
      HEAD(-1, 31, -1, 5), .wanted = MG_DX | MG_DW },
    { { 1, "one class", "with one class the answer is certain: the loss and the gradients are 0" },
      HEAD(-1, -1, 1, 1), .wanted = MG_DX | MG_DW },
    { { 1, "no rows", "with N = 0 no loss is written, and dw is 0", MG_EASY },
      HEAD(0, -1, -1, 1), .wanted = MG_DX | MG_DW },
};
static const chunked_case chunked_traffic_cases[] = {
    { { 3, "traffic", "keep one array of rows x V, which the next chunk overwrites: N x V numbers are nowhere" },
      HEAD(0, 0, 0, 0.5), .wanted = MG_DX | MG_DW, .bar = "11.4 traffic", .cache = MG_L2 },
    { { 2, "weights", "w and dw are read once for all rows of a chunk: a chunk has `rows` rows, not one" },
      HEAD(0, 0, 0, 0.5), .wanted = MG_DX | MG_DW, .bar = "11.4 weights", .cache = MG_L1 },
};
#undef HEAD

static const mg_group groups[] = {
    MG_GROUP("11.1", "attention", mg_08_attention, forward_cases),
    MG_GROUP("11.1", "attention", mg_11_threads, forward_threads_cases),
    MG_GROUP("11.1", "attention", mg_11_huge, huge_cases),
    MG_GROUP("11.1", "attention", mg_attention_nan, nan_cases),
    MG_GROUP("11.1", "attention", mg_11_attention_traffic, forward_traffic_cases),
    MG_GROUP("11.1", "attention", mg_08_attention_race, forward_race_cases),
    MG_GROUP("11.2", "attention backward", mg_08_attention_backward, backward_cases),
    MG_GROUP("11.2", "attention backward", mg_11_threads, backward_threads_cases),
    MG_GROUP("11.2", "attention backward", mg_11_attention_traffic, backward_traffic_cases),
    MG_GROUP("11.2", "attention backward", mg_08_attention_race, backward_race_cases),
    MG_GROUP("11.3", "residual norm", mg_kernel_run, mg_11_residual_cases),
    MG_GROUP("11.3", "residual norm", mg_kernel_run, mg_11_residual_traffic),
    MG_GROUP("11.3", "residual norm backward", mg_kernel_run, mg_11_residual_backward_cases),
    MG_GROUP("11.3", "residual norm backward", mg_kernel_run, mg_11_residual_backward_traffic),
    MG_GROUP("11.4", "classifier in chunks", mg_11_chunked, chunked_cases),
    MG_GROUP("11.4", "classifier in chunks", mg_11_chunked_traffic, chunked_traffic_cases),
    MG_GROUP("11.5", "bias and gelu", mg_kernel_run, mg_11_gelu_cases),
    MG_GROUP("11.5", "bias and gelu backward", mg_kernel_run, mg_11_gelu_backward_cases),
    MG_GROUP("11.6", "attention on the device", mg_08_attention, device_forward_cases),
    MG_GROUP("11.6", "attention on the device", mg_11_huge, device_huge_cases),
    MG_GROUP("11.6", "attention on the device", mg_attention_nan, device_nan_cases),
    MG_GROUP("11.6", "attention on the device", mg_11_attention_count, device_forward_counts),
    MG_GROUP("11.6", "attention on the device", mg_11_attention_compiled, device_forward_facts),
    MG_GROUP("11.7", "attention backward on the device", mg_08_attention_backward, device_backward_cases),
    MG_GROUP("11.7", "attention backward on the device", mg_11_attention_count, device_backward_counts),
    MG_GROUP("11.7", "attention backward on the device", mg_11_attention_compiled, device_backward_facts),
    MG_GROUP("11.8", "residual norm on the device", mg_kernel_run, mg_11_device_residual_cases),
    MG_GROUP("11.8", "residual norm on the device", mg_kernel_run, mg_11_device_residual_counts),
    MG_GROUP("11.8", "residual norm backward on the device", mg_kernel_run, mg_11_device_residual_backward_cases),
    MG_GROUP("11.8", "residual norm backward on the device", mg_kernel_run,
             mg_11_device_residual_backward_counts),
    MG_GROUP("11.9", "adamw of all tensors", mg_11_adamw, adamw_cases),
    MG_GROUP("11.10", "bias and gelu on the device", mg_kernel_run, mg_11_gelu_device_cases),
    MG_GROUP("11.10", "bias and gelu on the device", mg_kernel_run, mg_11_gelu_device_counts),
    MG_GROUP("11.10", "bias and gelu backward on the device", mg_kernel_run, mg_11_gelu_device_backward_cases),
    MG_GROUP("11.10", "bias and gelu backward on the device", mg_kernel_run, mg_11_gelu_device_backward_counts),
    MG_GROUP("11.11", "packed attention", mg_08_attention, mg_11_packed),
    MG_GROUP("11.11", "packed attention", mg_11_threads, mg_11_packed_threads),
    MG_GROUP("11.11", "packed attention", mg_11_huge, mg_11_packed_huge),
    MG_GROUP("11.11", "packed attention", mg_attention_nan, mg_11_packed_nan),
    MG_GROUP("11.11", "packed attention", mg_11_attention_traffic, mg_11_packed_traffic),
    MG_GROUP("11.11", "packed attention", mg_08_attention_race, mg_11_packed_race),
    MG_GROUP("11.12", "packed attention backward", mg_08_attention_backward, mg_11_packed_backward),
    MG_GROUP("11.12", "packed attention backward", mg_11_threads, mg_11_packed_backward_threads),
    MG_GROUP("11.12", "packed attention backward", mg_08_attention_race, mg_11_packed_backward_race),
    MG_GROUP("11.13", "attention on tensor cores", mg_08_attention, mg_11_tensor),
    MG_GROUP("11.13", "attention on tensor cores", mg_11_huge, mg_11_tensor_huge),
    MG_GROUP("11.13", "attention on tensor cores", mg_attention_nan, mg_11_tensor_nan),
    MG_GROUP("11.13", "attention on tensor cores", mg_11_attention_count, mg_11_tensor_counts),
    MG_GROUP("11.13", "attention on tensor cores", mg_11_attention_compiled, mg_11_tensor_facts),
    MG_GROUP("11.14", "attention in bf16", mg_08_attention, mg_11_bf16),
    MG_GROUP("11.14", "attention in bf16", mg_11_threads, mg_11_bf16_threads),
    MG_GROUP("11.14", "attention in bf16", mg_11_huge, mg_11_bf16_huge),
    MG_GROUP("11.14", "attention in bf16", mg_attention_nan, mg_11_bf16_nan),
    MG_GROUP("11.14", "attention in bf16", mg_11_attention_traffic, mg_11_bf16_traffic),
    MG_GROUP("11.14", "attention in bf16", mg_08_attention_race, mg_11_bf16_race),
};

// clang-format on

const mg_lab mg_lab_11 = { "11-fusion", groups, MT_COUNT(groups) };
