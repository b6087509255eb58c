/* naive.cu -- a thread for each result: two kernels for the same sum, with the lanes of a warp along a column or along
 * a row.
 *
 * Threads and data: blocks of 32 x 32 results. naive: lane = row, so the 32 lanes read 32 rows of A, K apart: a request
 * of 32 sectors for 128 useful bytes, while all read one element of B. coalesced: lane = column, so they read one
 * element of A and 32 neighbours of B: 1 and 4 sectors.
 * Bytes and FLOPs: each thread reads 8K bytes for 2K FLOPs, from caches at best. */
#include "cuda/matmul.cuh"

enum { SIDE = 32 };

/* The sum of one result. */
static __device__ float dot(const mt_product &p, int64_t i, int64_t j)
{
    float sum = 0;
    /* TODO 07.1: Row i of A times column j of B.
     * Hint: mt_element(p.a, i, k) is an element of A. The sum has K terms. */
    MT_TODO("07.1"); /* delete this line when yours stands here */
    return sum;
}

static __global__ void naive(mt_product p)
{
    int64_t i, j;
    mt_tile_begin(p, SIDE, SIDE, &i, &j);
    i += threadIdx.x;
    j += threadIdx.y;
    if (i < p.M && j < p.N)
        mt_result_at(p, i, j, dot(p, i, j));
}

static __global__ void coalesced(mt_product p)
{
    int64_t i, j;
    mt_tile_begin(p, SIDE, SIDE, &i, &j);
    /* TODO 07.2: Choose the result of this thread so that neighbouring lanes read neighbours.
     * Hint: threadIdx.x counts the lanes of a warp. Elements of a row of B, and of C, are neighbours. */
    MT_TODO("07.2"); /* delete this line when yours stands here */
    if (i < p.M && j < p.N)
        mt_result_at(p, i, j, dot(p, i, j));
}

extern "C" void mt_matmul_naive_cuda(float *c, const float *a, const float *b, const mt_matmul_dims *d)
{
    mt_matmul_dims_check("naive matmul", d);
    if (d->M * d->N == 0)
        return;
    mt_product p = mt_product_of(c, a, b, d);
    naive<<<mt_tiles(p, SIDE, SIDE), dim3(SIDE, SIDE), 0, mt_cuda_stream()>>>(p);
    MT_LAUNCHED("matmul naive");
}

extern "C" void mt_matmul_coalesced_cuda(float *c, const float *a, const float *b, const mt_matmul_dims *d)
{
    mt_matmul_dims_check("coalesced matmul", d);
    if (d->M * d->N == 0)
        return;
    mt_product p = mt_product_of(c, a, b, d);
    coalesced<<<mt_tiles(p, SIDE, SIDE), dim3(SIDE, SIDE), 0, mt_cuda_stream()>>>(p);
    MT_LAUNCHED("matmul coalesced");
}
