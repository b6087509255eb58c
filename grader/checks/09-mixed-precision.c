/* 09-mixed-precision.c -- the rows of lab 09. How they run: 09-conversions.c, 09-products.c, 09-autocast.c,
 * 09-keep.c, 09-scaler.c, 09-unscale.c, 09-master.c, 09-state8.c. */
#include "checks/09-mixed-precision.h"
#include "checks/09-training.h"

// clang-format off

#define SIZES_HINT "each element is converted by itself, at any address; a loop in steps of a vector leaves some over"

/* ---- 09.1 bf16 */
static const mg_kernel_row bf16_cases[] = {
    { { 2, "every bf16 to f32",
        "a bf16 is the upper half of an f32, sign and exponent included: no value needs a case of its own" },
      { &mg_09_bf16_to_f32 }, .size = { 65536 }, .prepare = mg_09_patterns },
    { { 2, "to nearest", "dropping the lower 16 bits truncates: to round, add something before they are dropped" },
      { &mg_09_f32_to_bf16 }, .size = { 409600 }, .prepare = mg_09_nearest },
    { { 2, "ties to even",
        "a value halfway between two bf16 goes to the one whose last bit is 0: what is added before the lower bits "
        "are dropped depends on the last bit that is kept" },
      { &mg_09_f32_to_bf16 }, .size = { 65536 }, .prepare = mg_09_ties },
    { { 1, "subnormals",
        "bf16 has all exponents of f32, so that subnormal numbers need no case of their own; -0 stays -0" },
      { &mg_09_f32_to_bf16 }, .size = { 13024 }, .prepare = mg_09_subnormals },
    { { 1, "overflow",
        "from halfway above the largest bf16 on, the carry of the rounding runs into the exponent: infinity, as it "
        "should be" }, { &mg_09_f32_to_bf16 }, .size = { 1024 }, .prepare = mg_09_overflow },
    { { 2, "NaN",
        "a NaN whose upper mantissa bits are 0 becomes infinity when the lower half is dropped, and the carry of "
        "the rounding can turn a NaN into -0: treat NaN apart, and keep a bit of the mantissa" },
      { &mg_09_f32_to_bf16 }, .size = { 1024 }, .prepare = mg_09_not_numbers },
    { { 1, "every size", SIZES_HINT },
      { &mg_09_f32_to_bf16, &mg_09_bf16_to_f32, &mg_09_bf16_to_bf16, &mg_09_f32_to_f32 },
      .asks = MG_EVERYTHING, .special = mg_09_other_types },
};
static const convert_race bf16_race[] = {
    { { 4, "speed",
        "an element needs no branch and no call, so that the compiler can use vector instructions", MG_TIMED },
      MT_BF16, "09.1" },
};

/* ---- 09.2 f16 */
static const mg_kernel_row f16_cases[] = {
    { { 2, "every f16 to f32",
        "moved to its place in an f32, an f16 is the number times a power of two: one product corrects that, "
        "subnormal numbers included; infinity and NaN need the largest exponent of f32" },
      { &mg_09_f16_to_f32 }, .size = { 65536 }, .prepare = mg_09_patterns },
    { { 2, "to nearest",
        "13 bits of the mantissa are dropped: round as in step 09.1, and remember that the exponents of f16 and f32 "
        "have different biases" }, { &mg_09_f32_to_f16 }, .size = { 409600 }, .prepare = mg_09_nearest },
    { { 1, "ties to even", "a value halfway between two f16 goes to the one whose last bit is 0" },
      { &mg_09_f32_to_f16 }, .size = { 65536 }, .prepare = mg_09_ties },
    { { 2, "subnormals",
        "below 2^-14 the spacing of f16 stays 2^-24: an f32 sum whose last bit is 2^-24 is rounded to it; -0 stays "
        "-0" }, { &mg_09_f32_to_f16 }, .size = { 13024 }, .prepare = mg_09_subnormals },
    { { 2, "overflow", "65504 is the largest f16; from 65520 on, halfway to 65536, the result is infinity" },
      { &mg_09_f32_to_f16 }, .size = { 1024 }, .prepare = mg_09_overflow },
    { { 1, "NaN", "infinity has the mantissa 0: a NaN needs a bit in it, whatever is dropped" },
      { &mg_09_f32_to_f16 }, .size = { 1024 }, .prepare = mg_09_not_numbers },
    { { 1, "every size", SIZES_HINT },
      { &mg_09_f32_to_f16, &mg_09_f16_to_f32, &mg_09_f16_to_f16, &mg_09_f32_to_f32 },
      .asks = MG_EVERYTHING, .special = mg_09_other_types },
};
static const mg_kernel_row between_cases[] = {
    { { 2, "every pattern",
        "convert by way of f32, which has every number of both types: only the way from f32 rounds" },
      { &mg_09_f16_to_bf16, &mg_09_bf16_to_f16 }, .size = { 65536 }, .prepare = mg_09_patterns },
};
static const convert_race f16_race[] = {
    { { 4, "speed",
        "compute the result of every case and select one with ?:, so that the compiler can use vector instructions",
        MG_TIMED },
      MT_F16, "09.2" },
};

/* ---- 09.3 products */
static const mg_kernel_row product_cases[] = {
    { { 4, "every size",
        "the last block of each dimension is shorter, and it begins at (i,k) of A and (k,j) of B; the first block of K "
        "must not add to C, which holds NaN" },
      { &mg_09_product, &mg_09_product_f16 }, .asks = MG_ANY_SIZE | MG_LARGE | MG_STATE,
      .special = mg_09_product_numbers, .more = mg_09_product_blocks },
    { { 2, "sums of 1,000 terms",
        "the sum of each element of C must be f32: in bf16 a sum of terms of 0.01 stops growing at 4, where a term "
        "is below half of its last bit" },
      { &mg_09_product, &mg_09_product_f16 }, .size = { 3, 2, 1001 }, .prepare = mg_09_positive },
    { { 3, "transposed",
        "the rows of a transposed operand in memory are the columns of op(x): where does line j + l of the block "
        "begin, and in which direction does it go?" },
      { &mg_09_product_a, &mg_09_product_b, &mg_09_product_ab }, .asks = MG_ANY_SIZE,
      .special = mg_09_product_blocks },
    { { 2, "accumulate",
        "the first block of K overwrites C or adds to it, as d->write says; the blocks after it always add" },
      { &mg_09_added, &mg_09_added_f16 }, .asks = MG_ANY_SIZE, .special = mg_09_product_blocks },
    { { 2, "leading dimensions",
        "rows in memory lie ld elements apart, rows of the widened block have no gaps; C keeps its ldc, and what is "
        "between its rows" },
      { &mg_09_gaps[0], &mg_09_gaps[1], &mg_09_gaps[2], &mg_09_gaps[3] }, .asks = MG_ANY_SIZE,
      .special = mg_09_product_blocks, .more = mg_09_product_refused },
    { { 2, "same bits for any thread count",
        "threads may share the rows of a block or the parts of C, but never the sum over K" },
      { &mg_09_product_a, &mg_09_product_b, &mg_09_product }, .asks = MG_THREADS | MG_BITS,
      .special = mg_09_product_threads, .more = mg_09_product_order },
};
static const product_race product_races[] = {
    { { 5, "speed",
        "widen whole blocks and let lab 01's product multiply them: the inner loop converts nothing", MG_TIMED },
      256, 512, 512, "09.3", false },
};

/* ---- 09.4 the cast policy */
static const policy_case policy_cases[] = {
    { { 2, "products",
        "a matrix product computes in the type of mt_autocast_begin, whatever its inputs and its name are" },
      MT_OP_MATMUL },
    { { 2, "elementwise ops", "an elementwise op is as precise as its inputs: it computes in their type" },
      MT_OP_ELEMENTWISE },
    { { 2, "reductions", "a sum needs f32, even if its inputs have 16 bits and products another type", MG_EASY },
      MT_OP_REDUCTION },
};

/* ---- 09.5 kept copies */
static const copies_case copies_cases[] = {
    { { 1, "values", "the result has the wanted type and t's values, whether t keeps it or not" }, COPIES_VALUES },
    { { 3, "once for several micro-batches",
        "a parameter keeps its copy (mt_tensor_keep_cast), and a current copy is returned without a conversion" },
      COPIES_ONCE },
    { { 2, "again after an update",
        "a kept copy is current only if nothing has been written to the tensor since it was made: compare the "
        "versions" }, COPIES_WRITTEN },
    { { 2, "another type", "a kept copy may have the other 16-bit type: then it is not the wanted one" },
      COPIES_OTHER_TYPE },
    { { 2, "data and activations",
        "a tensor that wants a gradient, a parameter or an activation, keeps its copy; data does not" },
      COPIES_ACTIVATIONS },
    { { 1, "several parameters", "each parameter has a copy of its own, in t->cast" }, COPIES_SEVERAL },
    { { 2, "any order", "no copy may be used after its parameter changed, and none may stay when all are released" },
      COPIES_RANDOM },
};
static const network_case network_cases[] = {
    { { 2, "types in a network",
        "a product saves the 16-bit copies of its operands: the cast policy decides their type" }, false },
};

/* ---- 09.6 the rule of the scale */
static const scaler_case scaler_cases[] = {
    { { 2, "finite steps",
        "after `interval` finite steps in a row the exponent grows by one, and the count starts again" }, SCALER_GOOD },
    { { 2, "an overflow", "a step that is not finite halves the scale, and sets the count of good steps to 0" },
      SCALER_OVERFLOW },
    { { 1, "overflows in a row", "each of them halves the scale and is counted twice: in `skipped` and in `in_a_row`" },
      SCALER_IN_A_ROW },
    { { 2, "any order",
        "a finite step sets `in_a_row` to 0; with interval 1 every finite step doubles the scale, up to the limit" },
      SCALER_RANDOM },
    { { 1, "at the limits", "at its limit the exponent stays, but all counts go on" }, SCALER_LIMITS },
};

/* ---- 09.7 unscaling, with clipping */
static const unscale_case unscale_cases[] = {
    { { 2, "divided exactly",
        "without clipping every element of every array is multiplied by one factor, 1 / scale, which is a power of "
        "two" }, UNSCALE_EXACT },
    { { 2, "clipped",
        "max_norm limits the norm of the gradients without their scale: one factor both clips and removes the "
        "scale, for all arrays" }, UNSCALE_CLIPPED },
    { { 1, "tiny and huge",
        "the squares of large elements and their norm may exceed f32; in double, in which mt_grad_norm_cpu "
        "computes, they are finite" }, UNSCALE_RANGE },
    { { 2, "inf and NaN",
        "with one such element in any array, no array may change, and the norm that is returned is not finite" },
      UNSCALE_INFINITE },
    { { 1, "nothing left", "max_norm may be 0, and so may the norm: 0 / 0 is NaN" }, UNSCALE_NOTHING },
    { { 1, "any number of threads",
        "the norm is that of mt_grad_norm_cpu, which has the same bits for any number of threads" }, UNSCALE_THREADS },
    { { 2, "two passes over memory",
        "one pass computes the norm, a second one multiplies by the factors of clipping and of the scale together" },
      UNSCALE_TRAFFIC },
    { { 2, "one pass at scale 1", "if the factor is 1, nothing has to be written" }, UNSCALE_UNTOUCHED },
};

/* ---- 09.8 the master's update */
static const master_case master_cases[] = {
    { { 2, "some steps", "for each piece: update the f32 values, then convert the new ones" }, MASTER_STEPS },
    { { 3, "every size",
        "the parameter, its gradient, both moments and the copy all begin at the piece's first element; the last "
        "piece is shorter" }, MASTER_SIZES },
    { { 1, "every magnitude", "the copy is rounded as mt_convert_cpu does: to nearest, ties to even" },
      MASTER_ROUNDING },
    { { 1, "any number of threads",
        "pieces are updated at the same time: what describes one piece must not be shared by threads" },
      MASTER_THREADS },
    { { 4, "one pass over memory", "convert each piece while it is still in the cache, not the whole copy afterwards" },
      MASTER_TRAFFIC },
};

/* ---- 09.9 what is saved */
static const keep_case keep_cases[] = {
    { { 2, "activations come back rounded",
        "what is kept is a copy in the wanted type; it is widened from the type that was kept, not from the one "
        "that the policy has by then" }, KEEP_VALUES },
    { { 3, "everything else stays as it is",
        "a tensor is kept as it is if it has no history, fewer than two dimensions, one number in a row, or gaps: "
        "return false and leave *saved alone", MG_EASY }, KEEP_OTHERS },
    { { 2, "one copy for two", "products ask mt_autocast_operand for their copies: ask it, too, so that there is one" },
      KEEP_SHARED },
    { { 2, "written in place",
        "mt_autocast_operand converts a tensor again if it was written; a copy that a node keeps stays as it is" },
      KEEP_WRITTEN },
    { { 1, "f32, and one autocast in another",
        "the type of the copy is an argument of mt_autocast_save: another autocast may have had another one" },
      KEEP_POLICY },
    { { 1, "any order", "the node owns one reference to what it keeps: take that one (mt_retain), and no other" },
      KEEP_RANDOM },
};
static const network_case kept_network_cases[] = {
    { { 2, "types in a network",
        "inputs and results of ops are kept in 16 bits; gamma, mean, rstd and probabilities are not" }, true },
};
static const mg_case kept_bytes_cases[] = {
    { 3, "bytes that a GPT-2 keeps",
        "a tensor that is kept in f32 beside its 16-bit copy costs 6 bytes an element instead of 2" },
};

/* ---- 09.10 products of bf16 in pairs */
static const mg_kernel_row pairs_cases[] = {
    { { 3, "every size",
        "row k of B makes pairs with row k + 1, and in a row of A pairs are neighbours in memory; with an odd K the "
        "last number is paired with 0, whatever comes after it in memory" },
      { &mg_09_pairs }, .asks = MG_EVERYTHING, .special = mg_09_product_numbers + 1,
      .more = mg_09_product_blocks },
    { { 3, "transposed",
        "in a transposed operand pairs lie the other way round: A's come from two rows, B's are neighbours; both "
        "operands need both ways of packing" },
      { &mg_09_pairs_a, &mg_09_pairs_b, &mg_09_pairs_ab }, .asks = MG_ANY_SIZE,
      .special = mg_09_product_blocks, .more = mg_09_product_order },
    { { 2, "leading dimensions", "x.down and x.along say how far away the next row and the next column are" },
      { &mg_09_pairs_gaps[0], &mg_09_pairs_gaps[1], &mg_09_pairs_gaps[2], &mg_09_pairs_gaps[3] }, .asks = MG_ANY_SIZE,
      .special = mg_09_product_blocks, .more = mg_09_product_refused + 1 },
};
static const product_race pairs_races[] = {
    { { 5, "speed", "keep the sums in registers: one instruction of mt_dot_pairs makes 2 VL products", MG_TIMED },
      512, 512, 1024, "09.10", true },
};

/* ---- 09.11 moments of 8 bits */
static const state8_case state8_cases[] = {
    { { 2, "every code",
        "a level is an f32 with 3 bits of mantissa: shift the count back to where 1.0f is the largest; 0 is 0" },
      STATE8_LEVELS },
    { { 3, "codes of every size",
        "each block of 256 has a scale of its own, the last one of what is left; number i of the array has the "
        "threshold of first + i" }, STATE8_CODES },
    { { 3, "levels and their edges",
        "a carry of the threshold into the exponent is right; below the smallest level a number with a sign is 0, and "
        "one without is the smallest level, unless x is 0; x / scale may be 0 where x is not" }, STATE8_EDGES },
    { { 4, "update",
        "decode the piece of both moments, update by the rule, encode: parameter, gradient and codes begin at the "
        "piece's first element, scales at its first block" }, STATE8_UPDATE },
    { { 1, "any number of threads",
        "pieces are updated at the same time: their moments in f32 are each thread's own" }, STATE8_THREADS },
    { { 2, "one pass over memory",
        "the moments in f32 exist for one piece at a time, in an array that stays in the cache" }, STATE8_TRAFFIC },
};

static const mg_group groups[] = {
    MG_GROUP("09.1", "bf16", mg_kernel_run, bf16_cases),
    MG_GROUP("09.1", "bf16", mg_09_convert_race, bf16_race),
    MG_GROUP("09.2", "f16", mg_kernel_run, f16_cases),
    MG_GROUP("09.2", "f16 and bf16", mg_kernel_run, between_cases),
    MG_GROUP("09.2", "f16", mg_09_convert_race, f16_race),
    MG_GROUP("09.3", "products", mg_kernel_run, product_cases),
    MG_GROUP("09.3", "products", mg_09_product_race, product_races),
    MG_GROUP("09.4", "cast policy", mg_09_policy, policy_cases),
    MG_GROUP("09.5", "kept copies", mg_09_copies, copies_cases),
    MG_GROUP("09.5", "kept copies", mg_09_network, network_cases),
    MG_GROUP("09.6", "scaler", mg_09_scaler, scaler_cases),
    MG_GROUP("09.7", "unscaling", mg_09_unscale, unscale_cases),
    MG_GROUP("09.8", "master", mg_09_master, master_cases),
    MG_GROUP("09.9", "saved tensors", mg_09_keep, keep_cases),
    MG_GROUP("09.9", "saved tensors", mg_09_network, kept_network_cases),
    MG_GROUP("09.9", "saved tensors", mg_09_kept_bytes, kept_bytes_cases),
    MG_GROUP("09.10", "pairs", mg_kernel_run, pairs_cases),
    MG_GROUP("09.10", "pairs", mg_09_product_race, pairs_races),
    MG_GROUP("09.11", "8-bit moments", mg_09_state8, state8_cases),
};

// clang-format on

const mg_lab mg_lab_09 = { "09-mixed-precision", groups, MT_COUNT(groups) };
