/* broadcast.cu -- out = a + b, a - b, a * b, a / b, where a and b are views of one shape: with any strides; a stride of
 * 0 repeats elements.
 *
 * Threads and data: thread t writes element t of the dense out. To find its operands it converts t to an index, last
 * dimension first, and multiplies by the strides. mt_nd (kernels/nd.h) has merged dimensions where possible, so that
 * dense operands have a single one.
 * Bytes and FLOPs: 12n B for n FLOPs when nothing repeats. Neighbouring lanes differ in the last index, so they share
 * sectors when the last stride is 1 (4 a request) or 0 (1 a request). */
#include "cuda/launch.cuh"
#include "cuda/kernels_cuda.h"
#include "kernels/nd.h"

typedef float pair_fn(float a, float b);

static __device__ float sum(float a, float b)
{
    return a + b;
}

static __device__ float difference(float a, float b)
{
    return a - b;
}

static __device__ float product(float a, float b)
{
    return a * b;
}

static __device__ float quotient(float a, float b)
{
    return a / b;
}

typedef struct split {
    int64_t quotient, remainder;
} split;

/* i / d and i % d. A GPU divides in software: 32 bits in some 20 instructions, 64 bits in some 70. */
static __device__ split divide(int64_t i, int64_t d)
{
    if ((i | d) >> 32 == 0) {
        uint32_t q = (uint32_t)i / (uint32_t)d;
        return { q, (uint32_t)i - q * (uint32_t)d };
    }
    return { i / d, i % d };
}

template <pair_fn *VALUE>
static __global__ void binary(float *out, const float *a, const float *b, const mt_nd nd, int64_t n)
{
    /* LAB 06.4 BEGIN  Find element i of both operands, and write VALUE of them.
     * Hint: i is (index of the run) * nd.run + (place in the run). Operand v begins at nd.at[v] and steps nd.step[v]
     * along the run; divide the index of the run into nd.rank outer dimensions nd.shape[d], last first, with strides
     * nd.stride[v][d]. */
    int64_t i = mt_thread();
    if (i >= n)
        return;
    split s = divide(i, nd.run);
    int64_t at_a = nd.at[0] + s.remainder * nd.step[0];
    int64_t at_b = nd.at[1] + s.remainder * nd.step[1];
    for (int d = nd.rank - 1; d >= 0; d--) {
        s = divide(s.quotient, nd.shape[d]);
        at_a += s.remainder * nd.stride[0][d];
        at_b += s.remainder * nd.stride[1][d];
    }
    out[i] = VALUE(a[at_a], b[at_b]);
    /* LAB 06.4 END */
}

template <pair_fn *VALUE> static void launch(float *out, const mt_strided *a, const mt_strided *b, const char *name)
{
    const mt_view *views[] = { &a->view, &b->view };
    mt_nd nd = mt_nd_begin(views, 2);
    int64_t n = nd.runs * nd.run;
    if (n == 0)
        return;
    binary<VALUE><<<mt_blocks(n, MT_THREADS), MT_THREADS, 0, mt_cuda_stream()>>>(out, a->data, b->data, nd, n);
    MT_LAUNCHED(name);
}

extern "C" void mt_add_fwd_cuda(float *out, const mt_strided *a, const mt_strided *b)
{
    launch<sum>(out, a, b, "add_fwd");
}

extern "C" void mt_sub_fwd_cuda(float *out, const mt_strided *a, const mt_strided *b)
{
    launch<difference>(out, a, b, "sub_fwd");
}

extern "C" void mt_mul_fwd_cuda(float *out, const mt_strided *a, const mt_strided *b)
{
    launch<product>(out, a, b, "mul_fwd");
}

extern "C" void mt_div_fwd_cuda(float *out, const mt_strided *a, const mt_strided *b)
{
    launch<quotient>(out, a, b, "div_fwd");
}
