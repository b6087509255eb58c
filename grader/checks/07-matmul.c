/* 07-matmul.c -- lab 07, matrix products on the device: every row of the grade, its points and its hint.
 * Values are compared with a product in double precision; counts are the emulator's, bars are in lab.json. */
#include "checks/07-matmul.h"

// clang-format off

#define NAIVE     "mt_matmul_naive_cuda"
#define COALESCED "mt_matmul_coalesced_cuda"
#define SHARED    "mt_matmul_shared_cuda"
#define REGISTER  "mt_matmul_register_cuda"
#define PIPELINED "mt_matmul_pipelined_cuda"
#define BF16      "mt_matmul_tensor_bf16_cuda"
#define CUBLAS    "mt_matmul_cublas"

static const ladder_case naive_cases[] = {
    { { 4, "every size", "C[i,j] is the sum of A[i,k] * B[k,j] over all K values of k" }, NAIVE, LD_SIZES, 0 },
    { { 2, "transposed", "read A at (i,k) and B at (k,j) with mt_element, which handles transposes and edges" },
      NAIVE, LD_TRANS, 0 },
    { { 2, "strides and writing", "the sum starts at 0; mt_result_at adds to C if the call accumulates" }, NAIVE,
      LD_STRIDES, 0 },
};
static const ladder_case coalesced_cases[] = {
    { { 2, "every size",
        "exactly one thread must compute each result: take i and j from different parts of threadIdx" },
      COALESCED, LD_SIZES, 0 },
    { { 1, "transposed", "the element of C that a thread computes does not depend on the transposes" },
      COALESCED, LD_TRANS, 0 },
    { { 1, "strides and writing", "the sum starts at 0; mt_result_at adds to C if the call accumulates" }, COALESCED,
      LD_STRIDES, 0 },
};
static const ladder_bar coalesced_bars[] = {
    { { 6, "traffic", "neighbouring lanes must read neighbouring elements of B: let the lane choose the column" },
      COALESCED, LD_TRAFFIC, false, 0 },
};
static const ladder_case shared_cases[] = {
    { { 5, "every size",
        "fill a tile with zeros beyond the edges, round the number of tiles along K up, and use two barriers per "
        "tile" },
      SHARED, LD_SIZES, 0 },
    { { 3, "transposed",
        "a transposed operand fills its tile by columns: the tile holds the same elements at the same positions" },
      SHARED, LD_TRANS, 0 },
    { { 2, "strides and writing",
        "the rows of a tile begin lda or ldb elements apart in memory" }, SHARED, LD_STRIDES, 0 },
};
static const ladder_bar shared_bars[] = {
    { { 5, "traffic", "each element of a tile must be read from memory once, by one thread" }, SHARED,
      LD_TRAFFIC, false, 0 },
    { { 3, "transposed traffic",
        "if m.along is not 1, a column is contiguous in memory: let neighbouring lanes read along a column" },
      SHARED, LD_TRAFFIC, true, 0 },
    { { 3, "bank conflicts",
        "a column of tile[32][33] lies in 32 banks, a column of tile[32][32] in a single one" }, SHARED,
      LD_CONFLICTS, true, 0 },
};
static const ladder_bar four_bars[] = {
    { { 4, "requests", "one access of 16 bytes can load four neighbours: load through a pointer to float4" }, REGISTER,
      LD_REQUESTS, false, 0 },
};
static const ladder_case register_cases[] = {
    { { 5, "every size",
        "elements beyond an edge count as 0, and an edge may lie inside a group of four floats" }, REGISTER,
      LD_SIZES, 0 },
    { { 3, "transposed", "the four neighbours lie along k or along the result: bring() handles both cases" }, REGISTER,
      LD_TRANS, 0 },
    { { 2, "strides and writing",
        "a float4 needs rows that are a multiple of 16 bytes apart, in an array that begins at a multiple of 16 "
        "bytes" },
      REGISTER, LD_STRIDES, 0 },
};
static const ladder_bar register_bars[] = {
    { { 4, "wavefronts", "use 16 loaded numbers for 64 products: keep x, y and sum in registers" },
      REGISTER, LD_WAVEFRONTS, false, 0 },
    { { 2, "bank conflicts", "neighbouring threads must read neighbouring float4" }, REGISTER, LD_CONFLICTS, false, 0 },
    { { 2, "traffic", "each block must compute 128 x 128 results from its tiles" }, REGISTER, LD_TRAFFIC, false, 0 },
};
static const ladder_fact register_facts[] = {
    { { 1, "local memory",
        "an array lies in local memory if the compiler does not know its indices: unroll the loops" },
      REGISTER, 0, "register.cu", MG_LOCAL_MEMORY },
    { { 1, "two blocks", "__launch_bounds__(THREADS, 2) limits the registers so that two blocks fit" },
      REGISTER, 0, "register.cu", MG_TWO_BLOCKS },
};
static const ladder_case pipelined_cases[] = {
    { { 5, "every size", "a barrier must follow the wait and precede all reads; the last step starts no copy" },
      PIPELINED, LD_SIZES, 0 },
    { { 3, "transposed",
        "copy 16 bytes at once of an operand that is contiguous along the result, and single floats of any other" },
      PIPELINED, LD_TRANS, 0 },
    { { 2, "strides and writing", "a copy of 16 bytes needs an address that is a multiple of 16" }, PIPELINED,
      LD_STRIDES, 0 },
};
static const ladder_bar pipelined_bars[] = {
    { { 2, "traffic", "8 neighbouring threads must copy 8 neighbours in k: these are whole sectors" },
      PIPELINED, LD_TRAFFIC, false, 0 },
    { { 3, "wavefronts", "use 16 loaded numbers for 64 products, as in 07.5" }, PIPELINED, LD_WAVEFRONTS, false, 0 },
};
static const ladder_fact pipelined_facts[] = {
    { { 1, "asynchronous copies", "__pipeline_memcpy_async of 4 or 16 bytes into shared memory becomes cp.async" },
      PIPELINED, 0, "pipelined.cu", MG_ASYNC_COPIES },
};
static const ladder_case tensor_cases[] = {
    { { 2, "every size, f16", "each warp adds up four products of 16 x 16 fragments" }, F16, LD_SIZES, U16 },
    { { 2, "every size, bf16", "each warp adds up four products of 16 x 16 fragments" }, BF16, LD_SIZES, UB16 },
    { { 1, "transposed, f16", "load the fragments from the tiles, whose layout does not depend on the transposes" },
      F16, LD_TRANS, U16 },
    { { 1, "strides and writing, bf16",
        "the last argument of load_matrix_sync is the length of the tile's row with its padding" },
      BF16, LD_STRIDES, UB16 },
    { { 2, "sums in f32", "only the operands have 16 bits: the accumulators must be float" }, F16, LD_EXACT, 0 },
};
static const ladder_bar tensor_bars[] = {
    { { 2, "traffic", "each block must compute 64 x 64 results from its tiles" }, F16, LD_TRAFFIC, false, U16 },
    { { 2, "wavefronts", "use each loaded fragment in two products" }, F16, LD_WAVEFRONTS, false, U16 },
};
static const ladder_fact tensor_facts[] = {
    { { 1, "tensor cores", "multiply fragments by nvcuda::wmma::mma_sync" }, F16, U16, "tensor.cu", MG_TENSOR_CORES },
};
static const ladder_case cublas_cases[] = {
    { { 3, "every size",
        "cuBLAS is column-major: it computes C^T = B^T A^T, with N rows and M columns; in f32, not TF32" },
      CUBLAS, LD_SIZES, 0 },
    { { 3, "transposed", "pass each operand to cuBLAS together with its own transpose" }, CUBLAS,
      LD_TRANS, 0 },
    { { 2, "strides and writing",
        "leading dimensions stay as they are; beta = 1 accumulates; sizes have 64 bits: call cublasSgemm_64" },
      CUBLAS, LD_STRIDES, 0 },
};
static const mg_case forward_cases[] = {
    { 3, "every size", "set every row of out to the bias, then add the product" },
};
static const mg_case backward_cases[] = {
    { 4, "dx and dw", "add dout w^T to dx and x^T dout to dw; either may be NULL" },
};
static const mg_case bias_cases[] = {
    { 3, "every size", "add the column sums of dout to db; all threads must reach the barrier" },
};

static const mg_group groups[] = {
    MG_GROUP("07.1", "naive", mg_07_values, naive_cases),
    MG_GROUP("07.2", "coalesced", mg_07_values, coalesced_cases),
    MG_GROUP("07.2", "coalesced", mg_07_counts, coalesced_bars),
    MG_GROUP("07.3", "shared", mg_07_values, shared_cases),
    MG_GROUP("07.3", "shared", mg_07_counts, shared_bars),
    MG_GROUP("07.4", "by fours", mg_07_counts, four_bars),
    MG_GROUP("07.5", "register", mg_07_values, register_cases),
    MG_GROUP("07.5", "register", mg_07_counts, register_bars),
    MG_GROUP("07.5", "register", mg_07_compiled, register_facts),
    MG_GROUP("07.6", "pipelined", mg_07_values, pipelined_cases),
    MG_GROUP("07.6", "pipelined", mg_07_counts, pipelined_bars),
    MG_GROUP("07.6", "pipelined", mg_07_compiled, pipelined_facts),
    MG_GROUP("07.7", "tensor", mg_07_values, tensor_cases),
    MG_GROUP("07.7", "tensor", mg_07_counts, tensor_bars),
    MG_GROUP("07.7", "tensor", mg_07_compiled, tensor_facts),
    MG_GROUP("07.8", "cublas", mg_07_values, cublas_cases),
    MG_GROUP("07.9", "linear forward", mg_07_linear_fwd, forward_cases),
    MG_GROUP("07.9", "linear backward", mg_07_linear_dx_dw, backward_cases),
    MG_GROUP("07.10", "bias gradient", mg_07_linear_db, bias_cases),
};

// clang-format on

const mg_lab mg_lab_07 = { "07-cuda-matmul", groups, MT_COUNT(groups) };
