/* nd.cuh -- the iteration of kernels/nd.h inside a kernel: any thread finds any element by division. */
#pragma once

#include "cuda/cuda.h"
#include "kernels/nd.h"

/* The offset of an element in each view's storage. */
struct mt_offsets {
    int64_t at[MT_ND_VIEWS];
};

/* mt_nd_find -- element i of the iteration that mt_nd_begin began. */
static __device__ __forceinline__ mt_offsets mt_nd_find(const mt_nd &it, int64_t i)
{
    mt_offsets p;
    int64_t run = it.rank > 0 ? i / it.run : 0, along = i - run * it.run; /* a division takes as long as a cache miss */
    for (int v = 0; v < MT_ND_VIEWS; v++)
        p.at[v] = it.at[v] + along * it.step[v];
    for (int d = it.rank - 1; d >= 0; d--) {
        int64_t rest = run / it.shape[d], index = run - rest * it.shape[d];
        for (int v = 0; v < MT_ND_VIEWS; v++)
            p.at[v] += index * it.stride[v][d];
        run = rest;
    }
    return p;
}

static inline int64_t mt_nd_count(const mt_nd &it)
{
    return it.runs * it.run;
}
