/* multi_adamw.cu -- AdamW on the device, for all tensors of a model in one launch. Lab 11.
 *
 * Threads and data: elements are cut into chunks of CHUNK, none with elements of two tensors, and a block has a chunk,
 * which it finds in the list: so a large tensor has many blocks, and a tensor of 33 elements one. The threads of a
 * block have neighbouring elements; intermediate values stay in registers. The arithmetic is that of lab 06.17.
 * Bytes and FLOPs: 28 B and some 15 FLOPs an element, as lab 06.17; the entries of the list come from the cache. */
#include "cuda/launch.cuh"
#include "optim/updates_cuda.h"

#include <inttypes.h>
#include <math.h>

enum { CHUNK = 4096 };

/* ---- the list ------------------------------------------------------------------------------------- */

extern "C" int64_t mt_adamw_multi_list_cuda(mt_update_segment *segment, mt_update_factors *factors, const mt_update *u,
                                            int64_t count)
{
    int64_t chunks = 0;
    for (int64_t k = 0; k < count; k++) {
        const mt_hyper *h = u[k].hyper;
        segment[k] = { u[k].param, u[k].grad, { u[k].state[0], u[k].state[1] }, mt_update_count(&u[k]), chunks };
        factors[k] = {};
        if (!u[k].grad)
            continue;
        MT_CHECK(u[k].step >= 1, "adamw: step %" PRId64 ", but the first is 1", u[k].step);
        /* TODO 11.9: The chunks of tensor k, and its factors: rate, decay, 1 / (1 - beta^t) for m and for v.
         * Hint: the last chunk may have fewer elements, and no elements make no chunk. Rate, decay and t are those of
         * u[k]; powers need double. */
        MT_TODO("11.9"); /* delete this line when yours stands here */
    }
    return chunks;
}

/* ---- the update ----------------------------------------------------------------------------------- */

/* What is the same for all tensors. */
struct constants {
    float beta1, rest1, beta2, rest2, eps;
};

static __global__ void adamw(const mt_update_segment *segment, const mt_update_factors *factors, int64_t count,
                             constants h)
{
    const int64_t chunk = blockIdx.x;
    int64_t k = 0;
    /* TODO 11.9: The tensor k to which this block's chunk belongs: the last one with `before` at most chunk.
     * Hint: a binary search, since `before` never decreases. All threads of a warp read the same address, which is one
     * sector. A tensor without chunks has the `before` of the next. */
    MT_TODO("11.9"); /* delete this line when yours stands here */
    const mt_update_segment s = segment[k];
    const mt_update_factors f = factors[k];
    /* TODO 11.9: AdamW for the elements of the chunk: neighbouring threads, neighbouring elements.
     * Hint: as in 06.17, read p, g, m, v once and write p, m, v once. The tensor may end in the chunk. */
    MT_TODO("11.9"); /* delete this line when yours stands here */
}

extern "C" void mt_adamw_multi_update_cuda(const mt_update_segment *segment, const mt_update_factors *factors,
                                           int64_t count, int64_t chunks, const mt_hyper *h)
{
    if (chunks == 0)
        return;
    constants same = { (float)h->beta1, (float)(1 - h->beta1), (float)h->beta2, (float)(1 - h->beta2), (float)h->eps };
    adamw<<<mt_blocks(chunks, 1), MT_THREADS, 0, mt_cuda_stream()>>>(segment, factors, count, same);
    MT_LAUNCHED("adamw_multi_update");
}
