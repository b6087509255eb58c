/* 07-matmul.c -- lab 07, matrix products on the device: every row of the grade, its points and its hint.
 * Values are compared with a product in double precision; counts are the emulator's, bars are in lab.json. */
#include "checks/07-matmul.h"

// clang-format off

#define NAIVE     "mt_matmul_naive_cuda"
#define COALESCED "mt_matmul_coalesced_cuda"
#define SHARED    "mt_matmul_shared_cuda"
#define REGISTER  "mt_matmul_register_cuda"
#define PIPELINED "mt_matmul_pipelined_cuda"
#define F16       "mt_matmul_tensor_f16_cuda"
#define BF16      "mt_matmul_tensor_bf16_cuda"
#define CUBLAS    "mt_matmul_cublas"

#define U16  0x1p-11 /* half an ulp of 1 in f16, */
#define UB16 0x1p-8  /* in bf16 */

static const ladder_case naive_cases[] = {
    { { 4, "every size", "C[i,j] is the sum over k of A[i,k] * B[k,j], for all K of them" }, NAIVE, LD_SIZES, 0 },
    { { 2, "transposed", "mt_element knows how an operand lies: ask it for (i,k) and (k,j)" }, NAIVE, LD_TRANS, 0 },
    { { 2, "strides and writing", "the sum begins at 0; mt_result_at adds to C where that is wanted" }, NAIVE,
      LD_STRIDES, 0 },
};
static const ladder_case coalesced_cases[] = {
    { { 2, "every size", "every result must be one thread's: i and j from different parts of threadIdx" }, COALESCED,
      LD_SIZES, 0 },
    { { 1, "transposed", "the thread's place in C does not depend on the transposes" }, COALESCED, LD_TRANS, 0 },
    { { 1, "strides and writing", "the sum begins at 0; mt_result_at adds to C where that is wanted" }, COALESCED,
      LD_STRIDES, 0 },
};
static const ladder_bar coalesced_bars[] = {
    { { 6, "traffic", "neighbouring lanes must read neighbours of B: the column is the lane's" }, COALESCED, LD_TRAFFIC,
      false, 0 },
};
static const ladder_case shared_cases[] = {
    { { 5, "every size", "tiles hang over the edges: zeros there, and as many tiles along K as K needs" }, SHARED,
      LD_SIZES, 0 },
    { { 3, "transposed", "a transposed operand's tile is filled by columns: the same elements at the same places" },
      SHARED, LD_TRANS, 0 },
    { { 2, "strides and writing", "a tile's row begins ld after the one above" }, SHARED, LD_STRIDES, 0 },
};
static const ladder_bar shared_bars[] = {
    { { 5, "traffic", "every element of a tile is read from memory once, by one thread, for all 32" }, SHARED,
      LD_TRAFFIC, false, 0 },
    { { 3, "transposed traffic", "when m.along is not 1, neighbours lie down a column: let the lanes go there" }, SHARED,
      LD_TRAFFIC, true, 0 },
    { { 3, "bank conflicts", "a column of tile[32][33] lies in 32 banks, one of tile[32][32] in one" }, SHARED,
      LD_CONFLICTS, true, 0 },
};
static const ladder_bar four_bars[] = {
    { { 4, "requests", "four neighbours in one access of 16 bytes" }, REGISTER, LD_REQUESTS, false, 0 },
};
static const ladder_case register_cases[] = {
    { { 5, "every size", "what lies beyond an edge is 0, and of four floats some may exist and some not" }, REGISTER,
      LD_SIZES, 0 },
    { { 3, "transposed", "four neighbours lie along k or along the result: bring() tells them apart" }, REGISTER,
      LD_TRANS, 0 },
    { { 2, "strides and writing", "rows that are no multiple of 16 bytes apart cannot be read by float4" }, REGISTER,
      LD_STRIDES, 0 },
};
static const ladder_bar register_bars[] = {
    { { 6, "wavefronts", "16 numbers read feed 64 products: keep x, y and sum in registers" }, REGISTER, LD_WAVEFRONTS,
      false, 0 },
    { { 2, "bank conflicts", "neighbouring threads must read neighbouring float4" }, REGISTER, LD_CONFLICTS, false, 0 },
    { { 2, "traffic", "a block makes 128 x 128 results of what it reads" }, REGISTER, LD_TRAFFIC, false, 0 },
};
static const ladder_case pipelined_cases[] = {
    { { 5, "every size", "a barrier behind the wait, before anyone reads; the last step has nothing to send for" },
      PIPELINED, LD_SIZES, 0 },
    { { 3, "transposed", "an operand that lies along the result comes by 16 bytes, the other by single floats" },
      PIPELINED, LD_TRANS, 0 },
    { { 2, "strides and writing", "a copy of 16 bytes needs an address that is a multiple of 16" }, PIPELINED,
      LD_STRIDES, 0 },
};
static const ladder_bar pipelined_bars[] = {
    { { 3, "traffic", "8 neighbouring threads send for 8 neighbours in k: whole sectors" }, PIPELINED, LD_TRAFFIC, false,
      0 },
    { { 3, "wavefronts", "as in 07.5" }, PIPELINED, LD_WAVEFRONTS, false, 0 },
};
static const ladder_case tensor_cases[] = {
    { { 2, "every size, f16", "four products of 16 x 16 fragments for each warp" }, F16, LD_SIZES, U16 },
    { { 2, "every size, bf16", "four products of 16 x 16 fragments for each warp" }, BF16, LD_SIZES, UB16 },
    { { 1, "transposed, f16", "fragments are loaded from the tiles, which lie alike whatever the operand" }, F16, LD_TRANS,
      U16 },
    { { 1, "strides and writing, bf16", "the last argument of load_matrix_sync is the tile's row, padding too" }, BF16,
      LD_STRIDES, UB16 },
    { { 2, "sums in f32", "only the operands have 16 bits: the accumulators are float" }, F16, LD_EXACT, 0 },
};
static const ladder_bar tensor_bars[] = {
    { { 2, "traffic", "a block makes 64 x 64 results of what it reads" }, F16, LD_TRAFFIC, false, U16 },
    { { 3, "wavefronts", "each fragment that is loaded takes part in two products" }, F16, LD_WAVEFRONTS, false, U16 },
};
static const ladder_case cublas_cases[] = {
    { { 3, "every size", "our C is cuBLAS's C transposed: B^T A^T, with N rows and M columns" }, CUBLAS, LD_SIZES, 0 },
    { { 3, "transposed", "a transpose that is asked of us is asked of cuBLAS, for the operand it belongs to" }, CUBLAS,
      LD_TRANS, 0 },
    { { 2, "strides and writing", "leading dimensions stay as they are; beta = 1 accumulates" }, CUBLAS, LD_STRIDES, 0 },
};
static const mg_case forward_cases[] = {
    { 3, "every size", "every row of out begins as the bias, to which the product is added" },
};
static const mg_case backward_cases[] = {
    { 4, "dx and dw", "dx += dout w^T, dw += x^T dout; either may be NULL" },
};
static const mg_case bias_cases[] = {
    { 3, "every size", "the column sums of dout are added to db; all threads must come to the barrier" },
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
    MG_GROUP("07.6", "pipelined", mg_07_values, pipelined_cases),
    MG_GROUP("07.6", "pipelined", mg_07_counts, pipelined_bars),
    MG_GROUP("07.7", "tensor", mg_07_values, tensor_cases),
    MG_GROUP("07.7", "tensor", mg_07_counts, tensor_bars),
    MG_GROUP("07.8", "cublas", mg_07_values, cublas_cases),
    MG_GROUP("07.9", "linear forward", mg_07_linear_fwd, forward_cases),
    MG_GROUP("07.9", "linear backward", mg_07_linear_dx_dw, backward_cases),
    MG_GROUP("07.10", "bias gradient", mg_07_linear_db, bias_cases),
};

// clang-format on

const mg_lab mg_lab_07 = { "07-cuda-matmul", groups, MT_COUNT(groups) };
