/* 06-cuda.c -- lab 06, CUDA kernels on the emulator: every row, its points and its hint. A bar has the name of its row.
 * Sums in f32 are compared exactly where the numbers allow it, other results within bounds derived in oracle.h. */
#include "checks/02-backprop.h"
#include "checks/06-cuda.h"

// clang-format off

#define PLUS_EQUALS "gradients accumulate: use +=, not ="

/* ---- 06.1 to 06.3 */
static const cuda_case fill_cases[] = {
    { { 2, "every size", "the last block has threads without an element: test whether i < n" },
      NULL, .about = CU_SIZES },
};
static const cuda_case saxpy_cases[] = {
    { { 2, "every size",
        "y[i] += a x[i] for every i < n: the last block has threads without an element; no launch for n = 0" },
      "mt_saxpy_scalar_cuda", .about = CU_SIZES },
    { { 2, "traffic",
        "neighbouring threads must access neighbouring elements: then the 32 floats of a warp are 4 sectors" },
      "mt_saxpy_scalar_cuda", CU_COUNT, MG_TRAFFIC },
};
static const cuda_case fours_cases[] = {
    { { 2, "every size", "the last thread may have 1, 2 or 3 elements left: process them one by one" },
      "mt_saxpy_vector_cuda", .about = CU_SIZES },
    { { 2, "unaligned", "a float4 must start at a multiple of 16 bytes: test both pointers with mt_aligned4" },
      "mt_saxpy_vector_cuda", .about = CU_UNALIGNED },
    { { 2, "requests", "read and write whole float4 if the pointers are aligned" }, "mt_saxpy_vector_cuda", CU_COUNT,
      MG_REQUESTS },
    { { 1, "16-byte loads", "load through a pointer to float4: *reinterpret_cast<const float4 *>(x + 4 * i)" },
      "mt_saxpy_vector_cuda", .about = CU_COMPILED },
};
static const mg_kernel_row unary_cases[] = {
    { { 3, "every size",
        "ReLU is x < 0 ? 0 : x, its gradient out <= 0 ? 0 : dout: so NaN stays, and nothing is 0 times infinity; "
        "GELU is x Phi(x), Phi(x) = (1 + erf(x / sqrt 2)) / 2, its slope Phi(x) + x phi(x); backward is +=" },
      .asks = MG_ANY_SIZE | MG_LARGE | MG_NAN, .held = true, .special = mg_02_far_cubed },
    { { 1, "in place", "out may be x itself: read x[i] before writing out[i]" }, .in_place = true },
};
static const mg_case relu_count_cases[] = {
    { 2, "traffic", "neighbouring threads must access neighbouring elements" },
};

/* ---- 06.4 to 06.6 */
static const cuda_case broadcast_cases[] = {
    { { 2, "same shape",
        "divide the number of an element by the sizes, last dimension first: the remainders are its index" },
      NULL, .about = CU_SAME },
    { { 3, "repeated operands",
        "divide the index of the run by the outer sizes, last first, and multiply each remainder by the operand's "
        "stride; 0 repeats elements" },
      NULL, .about = CU_REPEATED },
    { { 2, "views", "each operand has its own offset and strides; out is dense" },
      NULL, .about = CU_VIEWS },
    { { 2, "traffic", "neighbouring threads must access neighbours of the last dimension" },
      NULL, CU_COUNT, MG_TRAFFIC },
};
static const cuda_case naive_cases[] = {
    { { 3, "every shape", "out[c,n] = x[n,c]: a row of out has N elements" },
      "mt_transpose_naive_cuda", .about = CU_SIZES },
};
static const cuda_case tiled_cases[] = {
    { { 3, "every shape",
        "write the tile, __syncthreads(), read it transposed; test the bounds of both matrices; no barrier inside an "
        "if" },
      "mt_transpose_tiled_cuda", .about = CU_SIZES },
    { { 4, "traffic", "neighbouring lanes must be along a row of x when reading, and along a row of out when writing" },
      "mt_transpose_tiled_cuda", CU_COUNT, MG_TRAFFIC },
    { { 3, "bank conflicts", "a column of a tile with 32 columns is in one bank: use 33 columns" },
      "mt_transpose_tiled_cuda", CU_COUNT, MG_CONFLICTS },
};

/* ---- 06.7 to 06.10 */
static const cuda_case tree_cases[] = {
    { { 3, "every size",
        "a barrier after every level of the tree, reached by all threads (not inside an if); threads without elements "
        "add 0; a second launch adds one partial sum for each block of the first, and writes 0 if there were none" },
      "mt_sum_interleaved_cuda", .about = CU_SIZES },
    { { 2, "many blocks", "advance by the number of threads of the grid; a second launch adds the sums of the blocks" },
      "mt_sum_interleaved_cuda", .about = CU_MANY },
};
static const cuda_case sequential_cases[] = {
    { { 2, "every size", "for s = 128, 64 ... 1, each thread t < s adds element t + s to element t" },
      "mt_sum_sequential_cuda", .about = CU_SIZES },
    { { 3, "bank conflicts", "the active lanes must be neighbours and access neighbouring banks" },
      "mt_sum_sequential_cuda", CU_COUNT, MG_CONFLICTS },
    { { 1, "wavefronts", "the active threads must be the first s, so that all other warps have nothing to do" },
      "mt_sum_sequential_cuda", CU_COUNT, MG_WAVEFRONTS },
};
static const cuda_case shuffle_cases[] = {
    { { 3, "every size",
        "shuffle with 16, 8, 4, 2, 1 in all 32 lanes (lanes outside the call give no value: nan); then add one result "
        "per warp, after a barrier" },
      "mt_sum_shuffle_cuda", .about = CU_SIZES },
    { { 4, "wavefronts", "inside a warp use shuffles; use shared memory for one number per warp only" },
      "mt_sum_shuffle_cuda", CU_COUNT, MG_WAVEFRONTS },
    { { 2, "traffic", "neighbouring threads must access neighbouring elements" }, "mt_sum_shuffle_cuda", CU_COUNT,
      MG_TRAFFIC },
};
static const cuda_case row_cases[] = {
    { { 3, "every shape", "each lane takes every 32nd element of the row; the sum starts at 0, the maximum at -inf" },
      NULL, .about = CU_SIZES },
};
static const cuda_case row_max_cases[] = {
    { { 1, "NaN and infinities",
        "a comparison with NaN is false: test for NaN explicitly; the maximum of a row of -inf is -inf" },
      NULL, .about = CU_SPECIAL },
};
static const cuda_case row_sum_cases[] = {
    { { 4, "traffic", "use a warp for each row, with its lanes along the row" }, NULL, CU_COUNT, MG_TRAFFIC },
};

/* ---- 06.11 to 06.13 */
static const cuda_case softmax_cases[] = {
    { { 3, "random rows", "divide the exponentials of a row by their sum over all threads of the block" },
      NULL, .about = CU_SIZES },
    { { 2, "large logits",
        "exp(90) overflows float: subtract the row's maximum first; -inf - (-inf) is nan: where a thread, or a warp, "
        "has only -inf, its sum is 0" },
      NULL, .about = CU_LARGE },
    { { 1, "in place", "out may be x itself: all threads must have read an element before one of them overwrites it" },
      NULL, .about = CU_IN_PLACE },
    { { 4, "traffic", "use three passes with neighbouring lanes along the row" }, NULL, CU_COUNT, MG_TRAFFIC },
};
static const cuda_case softmax_backward_cases[] = {
    { { 3, "random rows", "dx += out * (dout - sum of dout * out over the row); " PLUS_EQUALS },
      NULL, .about = CU_SIZES },
    { { 3, "traffic", "use two passes with neighbouring lanes along the row" }, NULL, CU_COUNT, MG_TRAFFIC },
};
static const cuda_case layernorm_cases[] = {
    { { 3, "random rows",
        "variance: the mean of (x - mean)^2 in a pass of its own, divided by C; save mean and "
        "1 / sqrt(variance + eps); out may be x itself" },
      NULL, .about = CU_SIZES },
    { { 2, "large mean", "E[x^2] - mean^2 cancels: sum the squares of x - mean in a separate pass" }, NULL,
      .about = CU_LARGE },
    { { 3, "traffic", "neighbouring lanes along the row, in every pass" }, NULL, CU_COUNT, MG_TRAFFIC },
};
static const cuda_case layernorm_backward_cases[] = {
    { { 3, "dx", "rstd (g - mean of g - xhat * mean of g * xhat), g = dout * gamma; " PLUS_EQUALS },
      NULL, .about = CU_DX },
    { { 3, "dgamma and dbeta", "column sums of dout * xhat and of dout; each may be NULL; " PLUS_EQUALS }, NULL,
      .about = CU_AFFINE },
    { { 4, "traffic", "read whole sectors for the column sums too: 8 neighbouring columns" }, NULL, CU_COUNT,
      MG_TRAFFIC },
};

/* ---- 06.14 to 06.16 */
static const cuda_case gather_cases[] = {
    { { 2, "every shape", "out[n,:] = table[id[n],:]" }, NULL, .about = CU_SIZES },
    { { 2, "traffic", "use a warp for each row, with its lanes along the row" }, NULL, CU_COUNT, MG_TRAFFIC },
};
static const cuda_case scatter_cases[] = {
    { { 2, "every shape", "dtable[id[n],:] += dout[n,:]" }, NULL, .about = CU_SIZES },
    { { 3, "repeated ids", "two warps with the same id add to the same row: use atomicAdd" }, NULL,
      .about = CU_ONE_VALUE },
    { { 2, "traffic", "use a warp for each row, with its lanes along the row" }, NULL, CU_COUNT, MG_TRAFFIC },
};
static const cuda_case histogram_cases[] = {
    { { 2, "every size", "count[x[i]]++ loses counts: use atomicAdd" }, "mt_histogram_global_cuda", .about = CU_SIZES },
    { { 1, "one value", "the counts are added to what is there; many threads add to the same count" },
      "mt_histogram_global_cuda", .about = CU_ONE_VALUE },
};
static const cuda_case private_cases[] = {
    { { 3, "every size",
        "clear the block's counters, count with atomics, add them to memory, with a __syncthreads() between these" },
      "mt_histogram_private_cuda", .about = CU_SIZES },
    { { 1, "one value", "the counts are added to what is there; many threads add to the same count" },
      "mt_histogram_private_cuda", .about = CU_ONE_VALUE },
    { { 4, "global atomics",
        "each block adds 256 counters at the end: it should process many more elements than that" },
      "mt_histogram_private_cuda", CU_COUNT, MG_ATOMICS },
};

/* ---- 06.17 */
static const cuda_case sgd_cases[] = {
    { { 2, "every size", "p -= lr (g + weight_decay p)" }, "mt_sgd_update_cuda", .about = CU_SIZES },
};
static const cuda_case adam_cases[] = {
    { { 2, "every size",
        "m and v are averages of g + wd p and of its square, stored without correction; only the step divides them "
        "by 1 - beta^t" },
      "mt_adam_update_cuda", .about = CU_SIZES },
    { { 2, "first steps", "the averages start at 0: divide them by 1 - beta^t, t from 1, computed in double" },
      "mt_adam_update_cuda", .about = CU_FIRST },
};
static const cuda_case adamw_cases[] = {
    { { 2, "decoupled decay", "p -= lr (m_hat / (sqrt(v_hat) + eps) + wd p): m and v do not contain wd" },
      "mt_adamw_update_cuda", .about = CU_DECAY },
    { { 2, "traffic", "read p, g, m, v once and write p, m, v once: keep intermediate values in registers" },
      "mt_adamw_update_cuda", CU_COUNT, MG_TRAFFIC },
};

#define GROUP(step, title, run, cases) MG_GROUP(step, title, mg_06_##run, cases##_cases)

static const mg_group groups[] = {
    GROUP("06.1", "fill", fill, fill),
    GROUP("06.1", "saxpy", saxpy, saxpy),
    GROUP("06.2", "saxpy by fours", saxpy, fours),
    GROUP("06.3", "relu and gelu", unary, unary),
    GROUP("06.3", "relu", relu_count, relu_count),
    GROUP("06.4", "broadcasting", broadcast, broadcast),
    GROUP("06.5", "transpose", transpose, naive),
    GROUP("06.6", "tiled transpose", transpose, tiled),
    GROUP("06.7", "tree sum", sum, tree),
    GROUP("06.8", "tree sum without conflicts", sum, sequential),
    GROUP("06.9", "shuffled sum", sum, shuffle),
    GROUP("06.10", "row sum and max", row_sum_and_max, row),
    GROUP("06.10", "row max", row_max, row_max),
    GROUP("06.10", "row sum", row_sum, row_sum),
    GROUP("06.11", "softmax", softmax, softmax),
    GROUP("06.11", "softmax backward", softmax_backward, softmax_backward),
    GROUP("06.12", "layernorm", layernorm, layernorm),
    GROUP("06.13", "layernorm backward", layernorm_backward, layernorm_backward),
    GROUP("06.14", "gather rows", gather, gather),
    GROUP("06.14", "scatter-add", scatter, scatter),
    GROUP("06.15", "histogram", histogram, histogram),
    GROUP("06.16", "private histogram", histogram, private),
    GROUP("06.17", "sgd", update, sgd),
    GROUP("06.17", "adam", update, adam),
    GROUP("06.17", "adamw", update, adamw),
};

const mg_lab mg_lab_06 = { "06-cuda-kernels", groups, MT_COUNT(groups) };
