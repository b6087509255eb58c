/* product.h -- one call of a matrix product (an mt_matmul_fn): described, and compared with the oracle. */
#ifndef MG_CHECKS_PRODUCT_H
#define MG_CHECKS_PRODUCT_H

#include "check.h"
#include "ops/matmul.h"

/* What one call was given, to compute what it should answer. */
typedef struct mg_product {
    mt_matmul_dims dims;
    const float *c0, *a, *b; /* as sent; the run's, until the next call is described */
} mg_product;

/* mg_product_tight -- dimensions of a product without gaps, to be overwritten. */
mt_matmul_dims mg_product_tight(int64_t M, int64_t N, int64_t K, mt_trans trans_a, mt_trans trans_b);

/* mg_product_span -- floats from the first of C to its last; it does not end with a gap. */
int64_t mg_product_span(const mt_matmul_dims *d);

/* mg_product_inputs -- the arguments behind c: a, b, then the nine fields of dims. NaN fills the gaps of a and b: a kernel
 * that takes a number from there spoils its result. */
void mg_product_inputs(mg_run *run, mg_product *p);

/* mg_product_describe -- the whole call. C starts as NaN where it is to be overwritten, in its gaps as numbers to be kept. */
void mg_product_describe(mg_run *run, const char *function, mg_product *p);

/* mg_product_expect -- after mg_call. */
bool mg_product_expect(mg_run *run, const mg_product *p);

#endif
