/* saxpy.cu -- the first kernels: fill an array, and y += a x, element by element and in groups of four.
 *
 * Threads and data: thread t of the grid takes element t, or elements 4t .. 4t+3. So the 32 lanes of a warp touch 128
 * (or 512) neighbouring bytes in one request: 4 (or 16) sectors of 32 bytes, all of them used.
 * Bytes and FLOPs: fill writes 4n B; saxpy reads 8n B, writes 4n B and does 2n FLOPs, 1/6 FLOP per byte. A GPU that
 * does 60 TFLOP/s from 4 TB/s needs 15 FLOPs per byte to be busy: memory limits these kernels. */
#include "cuda/launch.cuh"
#include "cuda/vector.cuh"
#include "cuda/kernels_cuda.h"

/* ---- fill ------------------------------------------------------------------------------------ */

static __global__ void fill(float *out, int64_t n, float value)
{
    /* TODO 06.1: Write one element.
     * Hint: mt_thread() is this thread's number in the grid. Whole blocks are launched: the last one has too many
     * threads. */
    MT_TODO("06.1"); /* delete this line when yours stands here */
}

extern "C" void mt_fill_cuda(float *out, int64_t n, float value)
{
    if (n == 0)
        return;
    fill<<<mt_blocks(n, MT_THREADS), MT_THREADS, 0, mt_cuda_stream()>>>(out, n, value);
    MT_LAUNCHED("fill");
}

/* ---- saxpy: a thread for each element ---------------------------------------------------------- */

static __global__ void saxpy_scalar(float *y, const float *x, int64_t n, float a)
{
    /* TODO 06.1: y += a x, one element.
     * Hint: the kernel has no loop over n: the grid replaces it. */
    MT_TODO("06.1"); /* delete this line when yours stands here */
}

extern "C" void mt_saxpy_scalar_cuda(float *y, const float *x, int64_t n, float a)
{
    /* TODO 06.1: Launch saxpy_scalar with a thread for each element.
     * Hint: as mt_fill_cuda does. An empty grid is an error in CUDA, so n = 0 launches nothing. */
    MT_TODO("06.1"); /* delete this line when yours stands here */
}

/* ---- saxpy: a thread for four ------------------------------------------------------------------- */

/* x and y at multiples of 16 bytes. */
static __global__ void saxpy_vector(float *y, const float *x, int64_t n, float a)
{
    /* TODO 06.2: y += a x, four elements as one float4; fewer at the end of the array.
     * Hint: *reinterpret_cast<const float4 *>(x + i) reads x[i] .. x[i+3] in one access; its parts are .x .y .z .w. The
     * last thread may have 1, 2 or 3 elements left, and reads these one by one. */
    MT_TODO("06.2"); /* delete this line when yours stands here */
}

extern "C" void mt_saxpy_vector_cuda(float *y, const float *x, int64_t n, float a)
{
    /* TODO 06.2: Launch saxpy_vector, or saxpy_scalar where float4 is not allowed.
     * Hint: an access of 16 bytes must start at a multiple of 16: test both pointers with mt_aligned4. */
    MT_TODO("06.2"); /* delete this line when yours stands here */
}

extern "C" const mt_saxpy_rung mt_saxpy_ladder_cuda[] = {
    { "scalar", "06.1", mt_saxpy_scalar_cuda },
    { "vector", "06.2", mt_saxpy_vector_cuda },
    { NULL, NULL, NULL },
};
