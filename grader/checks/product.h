/* product.h -- one call of a matrix product (an mt_matmul_fn): described, and compared with the oracle. */
#pragma once

#include "check.h"
#include "kernels/matmul.h"

/* The inputs of one call, from which the expected result is computed. */
typedef struct mg_product {
    mt_matmul_dims dims;
    mt_dtype dtype; /* of a and b: f32, f16 or bf16 */
    /* as sent; owned by the run, valid until the next call is described */
    const float *c0, *a, *b; /* a, b: f32 */
    uint16_t *a16, *b16;     /* f16 or bf16; may be changed before the call */
} mg_product;

/* mg_product_tight -- dimensions of a product without gaps, to be overwritten. */
mt_matmul_dims mg_product_tight(int64_t M, int64_t N, int64_t K, mt_trans trans_a, mt_trans trans_b);

/* mg_product_span -- floats from the first of C to its last, without the gap after the last row. */
int64_t mg_product_span(const mt_matmul_dims *d);

/* mg_product_inputs -- the arguments after c: a, b, then the nine fields of dims, and the type unless it is f32. The
 * gaps of a and b contain NaN, so that a kernel which uses them gets a wrong result. */
void mg_product_inputs(mg_run *run, mg_product *p);

/* mg_product_describe -- the whole call. C starts as NaN where it must be overwritten; its gaps have numbers that must
 * not change. mg_product_arrays, mg_product_form -- c, a and b of it; what follows M, N and K. */
void mg_product_describe(mg_run *run, const char *function, mg_product *p);
void mg_product_arrays(mg_run *run, mg_product *p);
void mg_product_form(mg_run *run, const mg_product *p);

/* mg_product_expect -- after mg_call. The hint, if not NULL, is shown when these sizes are the first to fail; a known
 * pattern of wrong elements (a gap of C, NaN from a gap of A or B, some rows or columns only) has its own. */
bool mg_product_expect(mg_run *run, const mg_product *p, const char *hint);

/* The two halves of it: what C must hold and how far off it may be, [mg_product_span]; and the hint, before C is
 * compared with them. */
void mg_product_oracle(const mg_product *p, double *want, double *tolerance);
void mg_product_recognise(mg_run *run, const mt_matmul_dims *d, const double *want, const double *tolerance,
                          const char *hint);

/* mg_product_race -- a race by products of these sizes and this type; the fields of `race` from `bar` to `threads` are
 * set. Each of A B, A^T B and A B^T takes part, and the worst counts: a framework needs all three (the gradients of a
 * linear layer), and a kernel may be fast for one only. */
void mg_product_race(mg_run *run, mg_race race, int64_t M, int64_t N, int64_t K, mt_dtype dtype);
