/* strided.cu -- gradients of broadcast arithmetic, copies and sums through views.
 *
 * The gradient of a broadcast operand is a sum over its repeats, so the dimensions are split in two: those of the
 * gradient's elements, and those of each element's repeats. One thread adds up one element's repeats, or one block if
 * the repeats are contiguous in memory. So no other thread writes the element, and the order of additions is fixed. */
#include "cuda/kernels.h"
#include "cuda/launch.cuh"
#include "cuda/reduce.cuh"
#include "kernels/nd.h"

/* ---- the walk of kernels/nd.h inside a kernel: any thread finds any element by division ---------------- */

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

/* ---- sums over repeats -------------------------------------------------------------------------------- */

/* The gradient d, the output's gradient g, and the operands a, b that the slope (local derivative) reads. */
struct slopes {
    float *d;
    const float *g, *a, *b;
    mt_nd kept, repeats; /* the elements of d; one element's repeats */
};

/* d += the sum over its repeats of g * slope: a block for each element of d, or a thread. */
template <bool by_block, class Slope> static __global__ void add_slopes(slopes s, int64_t n, int64_t count, Slope slope)
{
    int64_t i = by_block ? blockIdx.x : mt_thread();
    float sum = 0;
    if (i >= n)
        return;
    mt_offsets p = mt_nd_find(s.kept, i);
    for (int64_t r = by_block ? threadIdx.x : 0; r < count; r += by_block ? blockDim.x : 1) {
        mt_offsets q = mt_nd_find(s.repeats, r);
        sum += s.g[p.at[1] + q.at[1]] * slope(s.a[p.at[2] + q.at[2]], s.b[p.at[3] + q.at[3]]);
    }
    if (by_block)
        sum = mt_block_sum(sum);
    if (!by_block || threadIdx.x == 0)
        s.d[p.at[0]] += sum;
}

template <class Slope>
static void backward(const char *name, const mt_strided *d, const mt_strided *g, const mt_strided *a,
                     const mt_strided *b, Slope slope)
{
    const mt_view *views[] = { &d->view, &g->view, &a->view, &b->view };
    slopes s = { d->data, g->data, a->data, b->data, {}, {} };
    mt_nd_split(&s.kept, &s.repeats, views);
    int64_t n = mt_nd_count(s.kept), count = mt_nd_count(s.repeats);
    if (n == 0)
        return;
    if (count > 1 && (n == 1 || s.repeats.step[1] < s.kept.step[1]))
        MT_LAUNCH(name, add_slopes<true>, mt_blocks(n, 1), MT_THREADS, s, n, count, slope);
    else
        MT_LAUNCH(name, add_slopes<false>, mt_blocks(n, MT_THREADS), MT_THREADS, s, n, count, slope);
}

/* ---- add, subtract, multiply, divide -------------------------------------------------------------------- */

/* An operand that is NULL is not read: any array of the right shape can replace it. */
template <class Slope>
static void operand(const char *name, const mt_strided *d, const float *dout, const mt_strided *a, const mt_strided *b,
                    Slope slope)
{
    if (!d || !d->data)
        return;
    mt_strided g = { const_cast<float *>(dout), mt_view_contiguous(mt_view_shape(&d->view)) };
    backward(name, d, &g, a ? a : &g, b ? b : &g, slope);
}

#define SLOPE(name, slope)                                                  \
    struct name {                                                           \
        __device__ __forceinline__ float operator()(float x, float y) const \
        {                                                                   \
            (void)x, (void)y;                                               \
            return slope;                                                   \
        }                                                                   \
    };

#define BINARY(name, slope_a, slope_b)                                                                  \
    SLOPE(name##_da, slope_a)                                                                           \
    SLOPE(name##_db, slope_b)                                                                           \
    extern "C" void mt_##name##_bwd_cuda(const mt_strided *da, const mt_strided *db, const float *dout, \
                                         const mt_strided *a, const mt_strided *b)                      \
    {                                                                                                   \
        operand(#name "_bwd da", da, dout, a, b, name##_da());                                          \
        operand(#name "_bwd db", db, dout, a, b, name##_db());                                          \
    }

BINARY(add, 1, 1)
BINARY(sub, 1, -1)
BINARY(mul, y, x)
BINARY(div, 1 / y, -(x / y) / y)

/* ---- through views ---------------------------------------------------------------------------------------- */

extern "C" void mt_add_strided_cuda(const mt_strided *dst, const mt_strided *src)
{
    backward("add_strided", dst, src, src, src, add_da());
}

template <class T> static __global__ void move(T *to, const T *from, mt_nd all, int64_t n)
{
    int64_t i = mt_thread();
    if (i >= n)
        return;
    mt_offsets p = mt_nd_find(all, i);
    to[p.at[0]] = from[p.at[1]];
}

template <class T> static void copy(void *to, const mt_view *to_view, const void *from, const mt_view *from_view)
{
    const mt_view *views[] = { to_view, from_view };
    mt_nd all = mt_nd_begin(views, 2);
    int64_t n = mt_nd_count(all);
    MT_LAUNCH_EACH("copy", move, n, MT_THREADS, (T *)to, (const T *)from, all, n);
}

extern "C" void mt_copy_to_strided_cuda(const mt_strided *dst, const mt_strided *src)
{
    copy<float>(dst->data, &dst->view, src->data, &src->view);
}

extern "C" void mt_cuda_pack(void *out, const void *storage, const mt_view *view, int64_t size)
{
    mt_view dense = mt_view_contiguous(mt_view_shape(view));
    void (*const by_size[])(void *, const mt_view *, const void *,
                            const mt_view *) = { copy<uint8_t>, copy<uint16_t>, copy<uint32_t>, copy<uint64_t> };
    by_size[size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : 3](out, &dense, storage, view);
}
