/* 06-cuda.h -- the checks of lab 06: the struct of its rows, and the functions that run them. */
#pragma once

#include "check.h"
#include "rows/device.h"

/* What a row tests. */
typedef enum cuda_about {
    CU_SIZES,     /* every awkward size, or shape */
    CU_COMPILED,  /* the same call, and what nvcc makes of the unit */
    CU_COUNT,     /* one call of the size that the bars were measured at, and what the emulator counted */
    CU_UNALIGNED, /* arrays that are not aligned for float4 */
    CU_IN_PLACE,  /* out is x */
    CU_SAME,      /* operands of one shape, dense */
    CU_REPEATED,  /* operands with dimensions of stride 0 */
    CU_VIEWS,     /* operands with permuted dimensions, gaps and an offset */
    CU_MANY,      /* more elements than the grid has threads */
    CU_SPECIAL,   /* NaN and infinities */
    CU_LARGE,     /* numbers, or means, far from 0 */
    CU_DX,        /* the gradient of x */
    CU_AFFINE,    /* the gradients of gamma and beta */
    CU_ONE_VALUE, /* all of x the same, or few rows of a table */
    CU_FIRST,     /* the first steps, from averages of 0, with the paper's hyper-parameters */
    CU_DECAY,     /* strong weight decay */
} cuda_about;

typedef struct cuda_case {
    mg_case head;
    const char *function; /* of kernels_cuda.h or updates_cuda.h; NULL: the run function has its own */
    cuda_about about;
    mg_count count; /* for CU_COUNT */
} cuda_case;

/* 06-elements.c: independent threads */
void mg_06_fill(mg_run *run, const void *one_case);
void mg_06_saxpy(mg_run *run, const void *one_case);
void mg_06_unary(mg_run *run, const void *one_case);      /* an mg_kernel_row without a kernel */
void mg_06_relu_count(mg_run *run, const void *one_case); /* an mg_case */

/* 06-moves.c: moving elements */
void mg_06_broadcast(mg_run *run, const void *one_case);
void mg_06_transpose(mg_run *run, const void *one_case);
void mg_06_gather(mg_run *run, const void *one_case);
void mg_06_scatter(mg_run *run, const void *one_case);

/* 06-reductions.c: sums and counts */
void mg_06_sum(mg_run *run, const void *one_case);
void mg_06_row_sum_and_max(mg_run *run, const void *one_case);
void mg_06_row_max(mg_run *run, const void *one_case);
void mg_06_row_sum(mg_run *run, const void *one_case);
void mg_06_histogram(mg_run *run, const void *one_case);

/* 06-rows.c: softmax and layernorm */
void mg_06_softmax(mg_run *run, const void *one_case);
void mg_06_softmax_backward(mg_run *run, const void *one_case);
void mg_06_layernorm(mg_run *run, const void *one_case);
void mg_06_layernorm_backward(mg_run *run, const void *one_case);

/* 06-updates.c */
void mg_06_update(mg_run *run, const void *one_case);

/* mg_06_sizes, mg_06_shapes -- the call for every awkward size, or shape, while it returns true. One size is `most`;
 * where a row is about sizes, more than 1,024 blocks take. One shape has `most` rows, and one has rows that neither the
 * registers of a block hold nor its shared memory; 0: leave these out. In the last, all arrays or one of them are not
 * aligned for float4, and rows or columns are whole groups of four. */
typedef bool mg_06_size_fn(mg_run *run, const cuda_case *c, int64_t n);
typedef bool mg_06_shape_fn(mg_run *run, const cuda_case *c, int64_t N, int64_t C);
bool mg_06_sizes(mg_run *run, const cuda_case *c, mg_06_size_fn *call, int64_t most);
bool mg_06_shapes(mg_run *run, const cuda_case *c, mg_06_shape_fn *call, int64_t most);

/* mg_06_many_rows -- a call with more rows than a grid has blocks in y; its kernels do not run. `names`: all
 * arguments but N and C.
 * mg_06_refuse -- three rows of no columns must abort. */
bool mg_06_many_rows(mg_run *run, const char *launcher, const char *names);
void mg_06_refuse(mg_run *run, const char *launcher, const char *names);

/* mg_06_again -- the call twice, with threads and blocks in both orders: the same bits. */
bool mg_06_again(mg_run *run, const cuda_case *c, mg_06_shape_fn *call, int64_t N, int64_t C);

/* mg_06_sixteenths -- an input of whole sixteenths, |x| <= 3: in f32 the sums of 300,000 of them are exact in any
 * order, so that a lost or repeated element changes the result. */
float *mg_06_sixteenths(mg_run *run, const char *name, mt_shape shape);
void mg_06_fill_sixteenths(mt_rng *rng, float *x, int64_t n);

enum { MG_06_GROUPS = 8 };                                         /* rows where one array is not aligned */
enum { MG_06_COUNTED = 65536, MG_06_ROWS = 64, MG_06_COLS = 768 }; /* sizes of the bars */
/* More than 1,024 blocks take these: of 256 threads, of a row, of 8 warps with a row each. */
enum { MG_06_MANY = 262147, MG_06_BLOCKS = 1031, MG_06_WARPS = 8209 };
