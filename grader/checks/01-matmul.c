/* 01-matmul.c -- lab 01, the versions of the matrix product: every row of the grade, its points and its hint.
 * Values are compared with a product in double precision, within gamma(K) sum |a||b| (oracle.h). Bars and what was
 * measured for them are in lab.json. */
#include "checks/01-matmul.h"

// clang-format off

#define NAIVE     "mt_matmul_naive_cpu"
#define REORDERED "mt_matmul_reordered_cpu"
#define TILED     "mt_matmul_tiled_cpu"
#define PACKED    "mt_matmul_packed_cpu"
#define PARALLEL  "mt_matmul_parallel_cpu"

static const matmul_case naive_cases[] = {
    { { 5, "every size", "C[i,j] is the sum over k of A[i,k] * B[k,j]; for K = 0 it is zero" }, NAIVE, MM_SIZES },
    { { 3, "transposed", "if A is transposed, its element (i,k) is a[k * lda + i]; B likewise" }, NAIVE, MM_TRANS },
    { { 4, "strides and writing",
        "rows begin lda, ldb and ldc elements apart; MT_OVERWRITE must not read C, MT_ACCUMULATE must add to it" },
      NAIVE, MM_STRIDES },
};
static const matmul_case reordered_cases[] = {
    { { 4, "every size",
        "with the loop over k in the middle, each step adds A[i,k] times a row of B to a row of C" }, REORDERED,
      MM_SIZES },
    { { 3, "transposed", "the strides of A and B depend on trans_a and trans_b" }, REORDERED, MM_TRANS },
    { { 3, "strides and writing",
        "without MT_ACCUMULATE, C must be zero before the first k is added; row k of B starts at b + k * ldb (not k * "
        "N)" },
      REORDERED, MM_STRIDES },
};
static const matmul_case tiled_cases[] = {
    { { 4, "every size", "the last block of each dimension is shorter: it ends at the edge of the matrix" },
      TILED, MM_SIZES },
    { { 3, "transposed",
        "where a block begins depends on the strides of A and B, and these depend on trans_a and trans_b" },
      TILED, MM_TRANS },
    { { 3, "strides and writing",
        "only the first block of K may overwrite C, later ones add to it; rows of C begin ldc apart, and the gap "
        "between N and ldc is not part of C" },
      TILED, MM_STRIDES },
};
static const matmul_case packed_cases[] = {
    { { 6, "every size",
        "a tile at the edge has fewer rows or columns, and the last block of K has fewer steps: access nothing beyond "
        "them" },
      PACKED, MM_SIZES },
    { { 4, "transposed", "packing removes the transpose: a transposed A is packed like a plain B" }, PACKED, MM_TRANS },
    { { 4, "strides and writing",
        "only the first block of K overwrites C, and an edge tile must not write into the gap between N and ldc" },
      PACKED, MM_STRIDES },
};
static const matmul_case parallel_cases[] = {
    { { 2, "every size",
        "there may be fewer rows, columns or tiles than threads; if results change from run to run, there is a race" },
      PARALLEL, MM_SIZES },
    { { 1, "transposed",
        "each thread begins at its own part of A and B: compute where with the strides" }, PARALLEL, MM_TRANS },
    { { 2, "strides and writing",
        "one thread computes each element of C, and overwrites it or adds to it; if threads share a buffer, there is "
        "a race" },
      PARALLEL, MM_STRIDES },
};
static const matmul_case thread_cases[] = {
    { { 3, "same bits for any thread count",
        "divide M and N among threads, never K: the order of each sum must not change; a NaN in C is a part that no "
        "thread computed" },
      .function = PARALLEL },
};

static const matmul_count reordered_count[] = {
    { { 10, "bytes moved",
        "the inner loop must run along a row of B and a row of C: then all 16 numbers of each cache line are used",
        MG_COUNTS },
      "01.2", REORDERED, MG_L1 },
};
static const matmul_count tiled_count[] = {
    { { 8, "bytes moved",
        "choose the blocks so that a block of B stays in the cache while all rows of A use it", MG_COUNTS },
      "01.3", TILED, MG_L2 },
};
/* Last: M, N, K; bar, ours, theirs and what the row calls it; threads. */
static const matmul_race packed_race[] = {
    { { 20, "speed",
        "the tile of C must stay in registers during the sum over K, and each block must be packed once: read the "
        "assembly", MG_TIMED },
      512, 512, 576, "01.5", PACKED, PACKED, "the reference", 1 },
};
static const matmul_race parallel_race[] = {
    { { 8, "speed",
        "give every thread the same amount of work, and start the threads once, not once per block", MG_TIMED },
      384, 640, 768, "01.6", PARALLEL, PARALLEL, "the reference", 2 },
};

static const mg_group groups[] = {
    MG_GROUP("01.1", "naive", mg_01_values, naive_cases),
    MG_GROUP("01.2", "reordered", mg_01_values, reordered_cases),
    MG_GROUP("01.2", "reordered", mg_01_traffic, reordered_count),
    MG_GROUP("01.3", "tiled", mg_01_blocks, tiled_cases),
    MG_GROUP("01.3", "tiled", mg_01_traffic, tiled_count),
    MG_GROUP("01.4", "packed", mg_01_blocks, packed_cases),
    MG_GROUP("01.5", "packed", mg_01_race, packed_race),
    MG_GROUP("01.6", "parallel", mg_01_threads, thread_cases), /* first: it finds races for certain */
    MG_GROUP("01.6", "parallel", mg_01_blocks, parallel_cases),
    MG_GROUP("01.6", "parallel", mg_01_race, parallel_race),
};

// clang-format on

const mg_lab mg_lab_01 = { "01-matmul", groups, MT_COUNT(groups) };
