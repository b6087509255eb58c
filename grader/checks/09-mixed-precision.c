/* 09-mixed-precision.c -- the rows of lab 09. How they run: 09-conversions.c, 09-products.c, 09-autocast.c,
 * 09-keep.c, 09-scaler.c, 09-unscale.c, 09-master.c. */
#include "checks/09-mixed-precision.h"
#include "checks/09-training.h"

// clang-format off

#define SIZES_HINT "each element by itself, at any address; a loop in steps of a vector has a rest"

/* ---- 09.1 bf16 */
static const convert_case bf16_cases[] = {
    { { 2, "every bf16 to f32", "a bf16 is the upper half of an f32: shift it there, sign included" },
      MT_BF16, CONVERT_ALL },
    { { 2, "to nearest", "add half of the last kept bit before the lower 16 are dropped: dropping alone truncates" },
      MT_BF16, CONVERT_NEAREST },
    { { 2, "ties to even",
        "halfway, round to the number whose last bit is 0: add 0x7fff and the last kept bit, not always 0x8000" },
      MT_BF16, CONVERT_TIES },
    { { 1, "subnormals", "the exponent 0 needs nothing special: bf16 has all exponents of f32; -0 stays -0" },
      MT_BF16, CONVERT_SUBNORMALS },
    { { 1, "overflow", "halfway above the largest bf16 the carry runs into the exponent: infinity, as it should be" },
      MT_BF16, CONVERT_OVERFLOW },
    { { 2, "NaN",
        "a NaN whose upper mantissa bits are 0 becomes infinity when the rest is dropped, and the carry can turn one "
        "into -0: test for NaN, and set bit 6" },
      MT_BF16, CONVERT_NAN },
    { { 1, "every size", SIZES_HINT }, MT_BF16, CONVERT_SIZES },
};
static const convert_race bf16_race[] = {
    { { 4, "speed", "no branches and no calls for an element, so that the compiler uses vector instructions" },
      MT_BF16, "09.1" },
};

/* ---- 09.2 f16 */
static const convert_case f16_cases[] = {
    { { 2, "every f16 to f32",
        "multiply by 2^112, which normalises subnormals too; infinity and NaN get the exponent 255" },
      MT_F16, CONVERT_ALL },
    { { 2, "to nearest", "13 bits are dropped: add 0xfff and the last kept bit before, and subtract 112 << 23" },
      MT_F16, CONVERT_NEAREST },
    { { 1, "ties to even", "halfway, round to the number whose last bit is 0" }, MT_F16, CONVERT_TIES },
    { { 2, "subnormals", "below 2^-14 the spacing stays 2^-24: add 0.5f, whose last bit that is; -0 stays -0" },
      MT_F16, CONVERT_SUBNORMALS },
    { { 2, "overflow", "65504 is the largest f16; from 65520 on, halfway to 65536, the result is infinity" },
      MT_F16, CONVERT_OVERFLOW },
    { { 1, "NaN", "infinity has mantissa 0: a NaN needs a bit there, 0x7e00 has one" }, MT_F16, CONVERT_NAN },
    { { 1, "every size", SIZES_HINT }, MT_F16, CONVERT_SIZES },
};
static const convert_case between_cases[] = {
    { { 2, "every pattern", "by way of f32, which has every number of both; the way to the other type rounds once" },
      MT_F16, CONVERT_BETWEEN },
};
static const convert_race f16_race[] = {
    { { 4, "speed", "compute all forms and choose with ?:, so that the compiler uses vector instructions" },
      MT_F16, "09.2" },
};

/* ---- 09.3 products */
static const product_case product_cases[] = {
    { { 4, "every size",
        "the last block of each dimension is shorter, and it begins at (i,k) of A and (k,j) of B; the first block of K "
        "must not add to C, which holds NaN" },
      PRODUCT_SIZES, false },
    { { 2, "sums of 1,000 terms",
        "the sum of each element of C must be f32: in bf16 a sum of terms of 0.01 stops at 4, where they are below "
        "half of its last bit" },
      PRODUCT_SUMS, false },
    { { 3, "transposed",
        "transposed, the lines in memory are columns of op(x): line j + l begins at (j + l) * ld + i" },
      PRODUCT_TRANS, false },
    { { 2, "accumulate", "the first block of K writes as d->write says, the others add" },
      PRODUCT_ACCUMULATE, false },
    { { 2, "leading dimensions",
        "in memory lines lie ld apart, in the block they have no gaps; C keeps its ldc, and its gaps" },
      PRODUCT_STRIDES, false },
    { { 2, "same bits for any thread count", "threads share lines of a block or parts of C, never the sum over K" },
      PRODUCT_THREADS, false },
};
static const product_race product_races[] = {
    { { 5, "speed", "widen whole blocks and let lab 01's product multiply them: no conversion in the inner loop" },
      256, 512, 512, "09.3", false },
};

/* ---- 09.4 the cast policy */
static const policy_case policy_cases[] = {
    { { 2, "products", "a product computes in the type of mt_autocast_begin, whatever its inputs and its name are" },
      MT_OP_MATMUL },
    { { 2, "elementwise ops", "an elementwise op is as precise as its inputs: it computes in their type" },
      MT_OP_ELEMENTWISE },
    { { 2, "reductions", "a sum needs f32, also when its inputs have 16 bits and the products another type" },
      MT_OP_REDUCTION },
};

/* ---- 09.5 kept copies */
static const copies_case copies_cases[] = {
    { { 1, "values", "convert() makes a copy of the wanted type; return it" }, COPIES_VALUES },
    { { 3, "once for several micro-batches",
        "a parameter keeps its copy with mt_tensor_keep_cast, and a current one is returned without a conversion" },
      COPIES_ONCE },
    { { 2, "again after an update", "a copy is current only when t->cast_version is t->storage->version" },
      COPIES_WRITTEN },
    { { 2, "another type", "a kept copy of the other 16-bit type is not the wanted one: compare t->cast->dtype" },
      COPIES_OTHER_TYPE },
    { { 2, "data and activations",
        "what wants a gradient (mt_wants_grad), a parameter or computed from one, keeps its copy; data does not" },
      COPIES_ACTIVATIONS },
    { { 1, "several parameters", "each parameter has a copy of its own, in t->cast" }, COPIES_SEVERAL },
    { { 2, "any order", "no copy may be used after its parameter changed, and none may stay when all are released" },
      COPIES_RANDOM },
};
static const network_case network_cases[] = {
    { { 2, "types in a network", "a product saves the 16-bit copies of its operands: the policy decides which type" },
      false },
};

/* ---- 09.6 the rule of the scale */
static const scaler_case scaler_cases[] = {
    { { 2, "finite steps", "after `interval` finite steps the exponent grows by one, and the count starts again" },
      SCALER_GOOD },
    { { 2, "an overflow", "a step that is not finite also sets the count of good ones to 0" }, SCALER_OVERFLOW },
    { { 1, "overflows in a row", "each halves the scale, and counts in `skipped` and in `in_a_row`" },
      SCALER_IN_A_ROW },
    { { 2, "any order", "a finite step ends the row of skipped ones; with interval 1 each doubles, up to the limit" },
      SCALER_RANDOM },
    { { 1, "at the limits", "counts go on where the exponent cannot" }, SCALER_LIMITS },
};

/* ---- 09.7 unscaling, with clipping */
static const unscale_case unscale_cases[] = {
    { { 2, "divided exactly", "not clipped: one factor 1 / scale, a power of two, for every element of every array" },
      UNSCALE_EXACT },
    { { 2, "clipped",
        "compare the norm without the scale with max_norm; the factor is max_norm / norm / scale, for all arrays" },
      UNSCALE_CLIPPED },
    { { 1, "tiny and huge",
        "squares and norm of large elements may be beyond f32: mt_grad_norm_cpu computes in double, where they are "
        "finite" },
      UNSCALE_RANGE },
    { { 2, "inf and NaN", "one such element, in any array, and no array may change: return the norm, which is not "
                          "finite" },
      UNSCALE_INFINITE },
    { { 1, "nothing left", "max_norm may be 0, and so may the norm: 0 / 0 is NaN" }, UNSCALE_NOTHING },
    { { 1, "any number of threads", "the norm is mt_grad_norm_cpu's, which has the same bits for any number" },
      UNSCALE_THREADS },
    { { 2, "two passes over memory", "one pass reads for the norm, one multiplies by both factors at once" },
      UNSCALE_TRAFFIC },
    { { 2, "one pass at scale 1", "where the factor is 1 nothing is written" }, UNSCALE_UNTOUCHED },
};

/* ---- 09.8 the master's update */
static const master_case master_cases[] = {
    { { 2, "some steps", "each piece: mt_adamw_update_cpu, then mt_convert_cpu of its new values" }, MASTER_STEPS },
    { { 3, "every size",
        "param, grad, both states and the copy advance by the piece's first element; the last piece is shorter" },
      MASTER_SIZES },
    { { 1, "every magnitude", "the copy is rounded as mt_convert_cpu does: to nearest, ties to even" },
      MASTER_ROUNDING },
    { { 1, "any number of threads", "each piece needs an mt_update of its own, declared inside the loop" },
      MASTER_THREADS },
    { { 4, "one pass over memory", "convert each piece while it is in the cache, not all of it afterwards" },
      MASTER_TRAFFIC },
};

/* ---- 09.9 what is saved */
static const keep_case keep_cases[] = {
    { { 2, "activations come back rounded",
        "saved->tensor is the copy in the wanted type; back it goes to f32 from the type that was kept, not from the "
        "one that the policy wants by then" },
      KEEP_VALUES },
    { { 3, "everything else stays as it is",
        "no history, fewer than two dimensions, one number a row, not dense: return false and leave saved alone" },
      KEEP_OTHERS },
    { { 2, "one copy for two", "take the copy from mt_autocast_operand, which products ask, too" }, KEEP_SHARED },
    { { 2, "written in place", "mt_autocast_operand converts again what was written; a copy that is kept stays" },
      KEEP_WRITTEN },
    { { 1, "f32, and one autocast in another", "the copy has the type that mt_autocast_save is told" }, KEEP_POLICY },
    { { 1, "any order", "every reference that the node gets is given back once: mt_retain, nothing else" },
      KEEP_RANDOM },
};
static const network_case kept_network_cases[] = {
    { { 2, "types in a network", "inputs and results of ops are kept in 16 bits; gamma, mean, rstd, probabilities are "
                                 "not" },
      true },
};
static const mg_case kept_bytes_cases[] = {
    { 3, "bytes that a GPT-2 keeps", "what is kept in f32 beside its 16-bit copy costs 6 bytes instead of 2" },
};

/* ---- 09.10 products of bf16 in pairs */
static const product_case pairs_cases[] = {
    { { 3, "every size",
        "row k of B makes pairs with row k + 1, and of A pairs are neighbours in memory; with an odd K the last number "
        "is paired with 0, whatever comes after it in memory" },
      PRODUCT_SIZES, true },
    { { 3, "transposed",
        "transposed, A's pairs come from two rows and B's are neighbours: both operands need both ways of packing" },
      PRODUCT_TRANS, true },
    { { 2, "leading dimensions", "the next row is x.down numbers further, the next column x.along" },
      PRODUCT_STRIDES, true },
};
static const product_race pairs_races[] = {
    { { 5, "speed", "the sums stay in registers, and an instruction of mt_dot_pairs makes 2 VL products" },
      512, 512, 1024, "09.10", true },
};

static const mg_group groups[] = {
    MG_GROUP("09.1", "bf16", mg_09_convert, bf16_cases),
    MG_GROUP("09.1", "bf16", mg_09_convert_race, bf16_race),
    MG_GROUP("09.2", "f16", mg_09_convert, f16_cases),
    MG_GROUP("09.2", "f16 and bf16", mg_09_convert, between_cases),
    MG_GROUP("09.2", "f16", mg_09_convert_race, f16_race),
    MG_GROUP("09.3", "products", mg_09_product, product_cases),
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
    MG_GROUP("09.10", "pairs", mg_09_product, pairs_cases),
    MG_GROUP("09.10", "pairs", mg_09_product_race, pairs_races),
};

// clang-format on

const mg_lab mg_lab_09 = { "09-mixed-precision", groups, MT_COUNT(groups) };
