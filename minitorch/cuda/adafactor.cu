/* adafactor.cu -- Adam's second moment from its row and column means; the arithmetic is mt_adafactor_update_cpu's.
 *
 * Five launches: row means, column means, the mean of the row means, sums over all elements (PARTS blocks with a slot
 * each), the step. Intermediate results are in `between`. Sums are in double, as on the CPU, in an order that depends
 * on the sizes only. Moves 28 B an element in four passes. */
#include "cuda/kernels.h"
#include "cuda/reduce.cuh"

#include <cmath>

enum { PARTS = 128 };

struct sums {
    double mean_r;                             /* of the row averages */
    double u_squares[PARTS], p_squares[PARTS]; /* sums of squares of the step's direction and of the parameter */
};

static __device__ sums between;

/* A parameter [R,C], its gradient, its moving averages, and their decay `beta`. */
struct problem {
    float *p, *r, *c;
    const float *g;
    int64_t R, C;
    double eps, beta;
};

static __device__ __forceinline__ double square(float x)
{
    return (double)x * x;
}

/* A block for each row. */
static __global__ void average_rows(problem a)
{
    const float *g = a.g + blockIdx.x * a.C;
    double sum = 0;
    for (int64_t j = threadIdx.x; j < a.C; j += blockDim.x)
        sum += square(g[j]) + a.eps;
    sum = mt_block_sum(sum);
    if (threadIdx.x == 0)
        a.r[blockIdx.x] = (float)(a.beta * a.r[blockIdx.x] + (1 - a.beta) * sum / (double)a.C);
}

/* A thread for each column. */
static __global__ void average_columns(problem a)
{
    int64_t j = mt_thread();
    double sum = 0;
    if (j >= a.C)
        return;
    for (int64_t i = 0; i < a.R; i++)
        sum += square(a.g[i * a.C + j]) + a.eps;
    a.c[j] = (float)(a.beta * a.c[j] + (1 - a.beta) * sum / (double)a.R);
}

/* One block. */
static __global__ void average_averages(problem a)
{
    double sum = 0;
    for (int64_t i = threadIdx.x; i < a.R; i += blockDim.x)
        sum += a.r[i];
    sum = mt_block_sum(sum);
    if (threadIdx.x == 0)
        between.mean_r = sum / (double)a.R;
}

/* The gradient of element i divided by the root of its estimated second moment. Two roots, because the product of r and
 * c, which may both be as small as eps, would underflow in f32. */
static __device__ __forceinline__ float divided(problem a, int64_t i)
{
    return a.g[i] / ((float)sqrt(a.r[i / a.C] / between.mean_r) * sqrtf(a.c[i % a.C]));
}

static __global__ void sum_squares(problem a)
{
    double u = 0, p = 0;
    for (int64_t i = mt_thread(); i < a.R * a.C; i += mt_grid_threads()) {
        u += square(divided(a, i));
        p += square(a.p[i]);
    }
    u = mt_block_sum(u);
    p = mt_block_sum(p);
    if (threadIdx.x == 0) {
        between.u_squares[blockIdx.x] = u;
        between.p_squares[blockIdx.x] = p;
    }
}

/* Every block adds up the slots itself: they are few, and it saves a launch. */
static __global__ void move(problem a, double lr, float shrink)
{
    const double least_rms = 1e-3; /* lower bound of the scale: a parameter of 0 must move too */
    int64_t i = mt_thread(), n = a.R * a.C;
    double u = mt_block_sum(threadIdx.x < PARTS ? between.u_squares[threadIdx.x] : 0.0);
    double p = mt_block_sum(threadIdx.x < PARTS ? between.p_squares[threadIdx.x] : 0.0);
    float rate = (float)(lr * fmax(least_rms, sqrt(p / (double)n)) / fmax(1.0, sqrt(u / (double)n)));
    if (i < n)
        a.p[i] -= rate * divided(a, i) + shrink * a.p[i];
}

extern "C" void mt_adafactor_update_cuda(const mt_update *u)
{
    const double decay_power = 0.8;
    const mt_hyper *h = u->hyper;
    problem a = { u->param, u->state[0], u->state[1], u->grad, u->rows, u->cols, h->eps, 0 };
    MT_CHECK(u->step >= 1, "adafactor: step %lld, but the first is 1", (long long)u->step);
    if (a.R * a.C == 0)
        return;
    a.beta = 1 - pow((double)u->step, -decay_power);
    average_rows<<<mt_blocks(a.R, 1), MT_THREADS, 0, mt_cuda_stream()>>>(a);
    average_columns<<<mt_blocks(a.C, MT_THREADS), MT_THREADS, 0, mt_cuda_stream()>>>(a);
    average_averages<<<1, MT_THREADS, 0, mt_cuda_stream()>>>(a);
    sum_squares<<<PARTS, MT_THREADS, 0, mt_cuda_stream()>>>(a);
    MT_LAUNCH("adafactor_update", move, mt_blocks(a.R * a.C, MT_THREADS), MT_THREADS, a, h->lr,
              (float)(h->lr * h->weight_decay));
}
