/* 06-cuda.c -- lab 06, CUDA kernels on the emulator: every row, its points and its hint. A bar has the name of its row.
 * Sums in f32 are compared exactly where the numbers allow it, other results within bounds derived in oracle.h. */
#include "checks/02-backprop.h"
#include "checks/06-cuda.h"

// clang-format off

#define PLUS_EQUALS "gradients accumulate: use +=, not ="
#define SIZES       (MG_ANY_SIZE | MG_LARGE)
#define SUMS        (SIZES | MG_BITS)
#define COUNTED     .size = { MG_06_COUNTED }
#define IN_ROWS     .size = { 64, 768 }
#define TRAFFIC     .credit = mg_credit_moves, .count = MG_TRAFFIC, .moves

/* ---- 06.1 to 06.3 */
static const mg_kernel_row fill_cases[] = {
    { { 2, "every size", "the last block has threads without an element: test in each thread whether i < n" },
      { &mg_06_fill }, .asks = SIZES, .special = mg_06_minus_zero },
};
static const mg_kernel_row saxpy_cases[] = {
    { { 2, "every size",
        "compute y[i] += a x[i] for every i < n: the last block has threads without an element; launch nothing for n = "
        "0" },
      { &mg_06_saxpy }, .asks = SIZES, .special = mg_06_saxpy_edges },
    { { 2, "traffic",
        "neighbouring threads must access neighbouring elements: then the 32 floats of a warp lie in 4 sectors" },
      { &mg_06_saxpy }, COUNTED, TRAFFIC = "x y y" },
};
static const mg_kernel_row fours_cases[] = {
    { { 2, "every size", "the last thread may have 1, 2 or 3 elements left: process them one by one" },
      { &mg_06_saxpy_by_fours }, .asks = SIZES & ~MG_PLACES, .special = mg_06_saxpy_edges },
    { { 2, "unaligned", "a float4 must start at a multiple of 16 bytes: test both pointers with mt_aligned4" },
      { &mg_06_saxpy_by_fours }, .asks = MG_PLACES },
    { { 2, "requests", "read and write whole float4 if the pointers are aligned" },
      { &mg_06_saxpy_by_fours }, COUNTED, .credit = mg_credit_moves, .count = MG_REQUESTS, .moves = "x y y" },
    { { 1, "16-byte loads", "load through a pointer to float4: *reinterpret_cast<const float4 *>(x + 4 * i)" },
      { &mg_06_saxpy_by_fours }, COUNTED, .credit = mg_06_credit_wide_loads },
};
static const mg_kernel_row unary_cases[] = {
    { { 3, "every size",
        "choose the comparison of ReLU with which a NaN stays, and multiply nothing by 0 in backward; GELU is x Phi(x) "
        "with Phi(x) = (1 + erf(x / sqrt 2)) / 2, its slope is Phi(x) + x phi(x); backward adds" },
      { &mg_02_relu_fwd, &mg_02_gelu_fwd, &mg_02_relu_bwd_of_x, &mg_02_gelu_bwd }, .on_device = true,
      .asks = SIZES | MG_NAN, .held = true, .special = mg_02_far_cubed },
    { { 1, "in place", "out may be x itself: read x[i] before writing out[i]" },
      { &mg_02_relu_fwd, &mg_02_gelu_fwd }, .on_device = true, .in_place = true },
};
static const mg_kernel_row relu_cases[] = {
    { { 2, "traffic", "neighbouring threads must access neighbouring elements" },
      { &mg_02_relu_fwd }, .on_device = true, COUNTED, TRAFFIC = "x out" },
};

/* ---- 06.4 to 06.6 */
static const cuda_case broadcast_cases[] = {
    { { 2, "same shape",
        "divide the number of an element by the sizes, beginning with the last: the remainders are its index" },
      CU_SAME },
    { { 3, "repeated operands",
        "divide the number of the run by the outer sizes, beginning with the last, and multiply each remainder by the "
        "operand's stride; a stride of 0 repeats elements" },
      CU_REPEATED },
    { { 2, "views", "each operand has an offset and strides of its own; out is dense" }, CU_VIEWS },
    { { 2, "traffic", "neighbouring threads must access neighbours of the last dimension" }, CU_COUNT, MG_TRAFFIC },
};
static const mg_kernel_row naive_cases[] = {
    { { 3, "every shape", "out[c,n] is x[n,c]: a row of out has N elements" },
      { &mg_06_naive_transpose }, .asks = SIZES | MG_NAN },
};
static const mg_kernel_row tiled_cases[] = {
    { { 3, "every shape",
        "write the tile, wait at __syncthreads(), read it transposed; test the bounds of both matrices; no barrier in "
        "an "
        "if" },
      { &mg_06_tiled_transpose }, .asks = SIZES | MG_NAN, .special = mg_06_many_tiles },
    { { 4, "traffic", "neighbouring lanes must be along a row of x when reading, and along a row of out when writing" },
      { &mg_06_tiled_transpose }, .size = { 256, 192 }, TRAFFIC = "x out" },
    { { 3, "bank conflicts", "a column of a tile with 32 columns lies in one bank: give the tile 33 columns" },
      { &mg_06_tiled_transpose }, .size = { 256, 192 }, .credit = mg_06_credit_tiles, .count = MG_CONFLICTS,
      .moves = "x out" },
};

/* ---- 06.7 to 06.10 */
static const mg_kernel_row tree_cases[] = {
    { { 3, "every size",
        "all threads must reach a barrier after every level of the tree (not inside an if); threads without elements "
        "add "
        "0; a second launch adds up one partial sum for each block of the first, and writes 0 if there were none" },
      { &mg_06_tree_sum }, .asks = SUMS | MG_NAN },
    { { 2, "many blocks",
        "each thread advances by the number of threads of the grid; a second launch adds up the sums of the blocks" },
      { &mg_06_tree_sum }, .asks = MG_SPECIAL, .special = mg_06_many },
};
static const mg_kernel_row sequential_cases[] = {
    { { 2, "every size", "at s = 128, 64 ... 1 each thread t < s adds element t + s to element t" },
      { &mg_06_sequential_sum }, .asks = SUMS | MG_NAN },
    { { 3, "bank conflicts", "the active lanes must be neighbours and access neighbouring banks" },
      { &mg_06_sequential_sum }, COUNTED, .credit = mg_06_credit_sum, .count = MG_CONFLICTS },
    { { 1, "wavefronts", "the active threads must be the first s, so that all other warps have nothing to do" },
      { &mg_06_sequential_sum }, COUNTED, .credit = mg_06_credit_sum, .count = MG_WAVEFRONTS },
};
static const mg_kernel_row shuffle_cases[] = {
    { { 3, "every size",
        "shuffle by 16, 8, 4, 2 and 1 in all 32 lanes (a lane that does not call gives no value: nan); then add up one "
        "result per warp, after a barrier" },
      { &mg_06_shuffled_sum }, .asks = SUMS | MG_NAN },
    { { 4, "wavefronts", "inside a warp use shuffles; use shared memory for one number per warp only" },
      { &mg_06_shuffled_sum }, COUNTED, .credit = mg_06_credit_sum, .count = MG_WAVEFRONTS },
    { { 2, "traffic", "neighbouring threads must access neighbouring elements" },
      { &mg_06_shuffled_sum }, COUNTED, TRAFFIC = "x" },
};
static const mg_kernel_row row_cases[] = {
    { { 3, "every shape", "each lane takes every 32nd element of the row; the sum starts at 0, the maximum at -inf" },
      { &mg_06_row_sum, &mg_06_row_max }, .asks = SUMS | MG_NAN },
};
static const mg_kernel_row row_max_cases[] = {
    { { 1, "NaN and infinities",
        "a comparison with NaN is false, so test for NaN explicitly; the maximum of a row of -inf is -inf" },
      { &mg_06_row_max }, .asks = MG_ANY_SIZE, .prepare = mg_06_spoil, .special = mg_06_no_columns },
};
static const mg_kernel_row row_sum_cases[] = {
    { { 4, "traffic", "use a warp for each row, with its lanes along the row" },
      { &mg_06_row_sum }, IN_ROWS, TRAFFIC = "x" },
};

/* ---- 06.11 to 06.13 */
static const mg_kernel_row softmax_cases[] = {
    { { 3, "random rows", "divide the exponentials of a row by their sum over all threads of the block" },
      { &mg_02_softmax_fwd }, .on_device = true, .asks = SUMS },
    { { 2, "large logits",
        "exp(90) overflows float: subtract the row's maximum first; -inf - (-inf) is nan: where a thread, or a warp, "
        "has only -inf, its sum is 0" },
      { &mg_02_softmax_fwd }, .on_device = true, .asks = MG_ANY_SIZE | MG_NAN, .dist = UNIFORM(80, 90),
      .special = mg_06_far_logits },
    { { 1, "in place", "out may be x itself: all threads must have read an element before one of them overwrites it" },
      { &mg_02_softmax_fwd }, .on_device = true, .in_place = true },
    { { 4, "traffic", "use three passes with neighbouring lanes along the row" },
      { &mg_02_softmax_fwd }, .on_device = true, IN_ROWS, TRAFFIC = "x out" },
};
static const mg_kernel_row softmax_backward_cases[] = {
    { { 3, "random rows", "dx gets out * (dout - the row's sum of dout * out); " PLUS_EQUALS },
      { &mg_02_softmax_bwd }, .on_device = true, .asks = SUMS | MG_NAN, .held = true, .special = mg_06_no_columns },
    { { 3, "traffic", "use two passes with neighbouring lanes along the row" },
      { &mg_02_softmax_bwd }, .on_device = true, IN_ROWS, TRAFFIC = "dout out dx dx" },
};
static const mg_kernel_row layernorm_cases[] = {
    { { 3, "random rows",
        "the variance is the mean of (x - mean)^2 over C columns, in a pass of its own; save the mean and "
        "1 / sqrt(variance + eps); out may be x itself" },
      { &mg_06_layernorm }, .asks = SUMS | MG_NAN | MG_IN_PLACE, .special = mg_06_constant_rows },
    { { 2, "large mean",
        "mean(x^2) - mean(x)^2 loses all digits here: add up the squares of x - mean in a separate pass" },
      { &mg_06_layernorm }, .asks = MG_ANY_SIZE, .dist = NORMAL(1000, 1), .special = mg_06_large_mean },
    { { 3, "traffic", "neighbouring lanes must be along the row in every pass" },
      { &mg_06_layernorm }, IN_ROWS, TRAFFIC = "x out" },
};
static const mg_kernel_row layernorm_backward_cases[] = {
    { { 3, "dx", "dx gets rstd (g - mean(g) - xhat mean(g xhat)) with g = dout * gamma; " PLUS_EQUALS },
      { &mg_06_layernorm_dx }, .asks = SUMS | MG_SUBSETS, .null = "dgamma dbeta", .held = true,
      .special = mg_06_no_columns },
    { { 3, "dgamma and dbeta",
        "dgamma and dbeta get the column sums of dout * xhat and of dout; each may be NULL; " PLUS_EQUALS },
      { &mg_06_layernorm_dgamma }, .asks = SUMS | MG_SUBSETS, .null = "dx", .held = true },
    { { 4, "traffic", "read whole sectors for the column sums, too: 8 neighbouring columns at once" },
      { &mg_06_layernorm_dx }, .held = true, .size = { 256, 768 }, TRAFFIC = "dout x dx dx" },
};

/* ---- 06.14 to 06.16 */
static const mg_kernel_row gather_cases[] = {
    { { 2, "every shape", "row n of out is row id[n] of table" }, { &mg_06_gather }, .asks = SIZES },
    { { 2, "traffic", "use a warp for each row, with its lanes along the row" },
      { &mg_06_gather }, .size = { 64, 100, 768 }, TRAFFIC = "out out" },
};
static const mg_kernel_row scatter_cases[] = {
    { { 2, "every shape",
        "add row n of dout to row id[n] of dtable" }, { &mg_06_scatter_once }, .asks = SIZES, .held = true },
    { { 3, "repeated ids", "two warps with the same id add to the same row: use atomicAdd" },
      { &mg_06_scatter }, .asks = SIZES, .held = true, .prepare = mg_06_few_ids },
    { { 2, "traffic", "use a warp for each row, with its lanes along the row" },
      { &mg_06_scatter_once }, .held = true, .size = { 64, 100, 768 }, TRAFFIC = "dout dout" },
};
static const mg_kernel_row histogram_cases[] = {
    { { 2, "every size", "count[x[i]]++ loses counts: use atomicAdd" }, { &mg_06_histogram }, .asks = SIZES },
    { { 1, "one value", "add the counts to what is there; here many threads add to the same count" },
      { &mg_06_histogram }, .asks = SIZES, .prepare = mg_06_one_value },
};
static const mg_kernel_row private_cases[] = {
    { { 3, "every size",
        "clear the block's counters, count with atomics, add the counters to memory, with a __syncthreads() between "
        "two" },
      { &mg_06_private_histogram }, .asks = SIZES },
    { { 1, "one value", "add the counts to what is there; here many threads add to the same count" },
      { &mg_06_private_histogram }, .asks = MG_ANY_SIZE, .prepare = mg_06_one_value, .special = mg_06_full_count },
    { { 4, "global atomics",
        "each block adds 256 counters at the end, so it should count many more elements than that" },
      { &mg_06_private_histogram }, .size = { 262144 }, .credit = mg_06_credit_atomics, .count = MG_ATOMICS },
};

/* ---- 06.17 */
static const mg_kernel_row sgd_cases[] = {
    { { 2, "every size", "the update is p -= lr (g + weight_decay p)" },
      { &mg_06_sgd }, .asks = SIZES, .null = "m v", .special = mg_06_sgd_edges },
};
static const mg_kernel_row adam_cases[] = {
    { { 2, "every size",
        "m and v are averages of g + wd p and of its square, stored without correction; only the step divides them "
        "by 1 - beta^t" },
      { &mg_06_adam }, .asks = SIZES, .special = mg_06_adam_edges },
    { { 2, "first steps",
        "the averages start at 0: divide them by 1 - beta^t, computed in double; t is 1 in the first step" },
      { &mg_06_adam }, .asks = MG_ANY_SIZE, .prepare = mg_06_first_steps, .special = mg_06_later_steps },
};
static const mg_kernel_row adamw_cases[] = {
    { { 2, "decoupled decay", "the update is p -= lr (m_hat / (sqrt(v_hat) + eps) + wd p): m and v do not contain wd" },
      { &mg_06_adamw }, .asks = MG_ANY_SIZE, .prepare = mg_06_strong_decay, .special = mg_06_adam_edges },
    { { 2, "traffic", "read p, g, m, v once and write p, m, v once: keep intermediate values in registers" },
      { &mg_06_adamw }, COUNTED, TRAFFIC = "param m v grad param m v" },
};

#define GROUP(step, title, cases) MG_GROUP(step, title, mg_kernel_run, cases##_cases)

static const mg_group groups[] = {
    GROUP("06.1", "fill", fill),
    GROUP("06.1", "saxpy", saxpy),
    GROUP("06.2", "saxpy by fours", fours),
    GROUP("06.3", "relu and gelu", unary),
    GROUP("06.3", "relu", relu),
    MG_GROUP("06.4", "broadcasting", mg_06_broadcast, broadcast_cases),
    GROUP("06.5", "transpose", naive),
    GROUP("06.6", "tiled transpose", tiled),
    GROUP("06.7", "tree sum", tree),
    GROUP("06.8", "tree sum without conflicts", sequential),
    GROUP("06.9", "shuffled sum", shuffle),
    GROUP("06.10", "row sum and max", row),
    GROUP("06.10", "row max", row_max),
    GROUP("06.10", "row sum", row_sum),
    GROUP("06.11", "softmax", softmax),
    GROUP("06.11", "softmax backward", softmax_backward),
    GROUP("06.12", "layernorm", layernorm),
    GROUP("06.13", "layernorm backward", layernorm_backward),
    GROUP("06.14", "gather rows", gather),
    GROUP("06.14", "scatter-add", scatter),
    GROUP("06.15", "histogram", histogram),
    GROUP("06.16", "private histogram", private),
    GROUP("06.17", "sgd", sgd),
    GROUP("06.17", "adam", adam),
    GROUP("06.17", "adamw", adamw),
};

const mg_lab mg_lab_06 = { "06-cuda-kernels", groups, MT_COUNT(groups) };
