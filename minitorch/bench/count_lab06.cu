/* count_lab06.cu -- every kernel of lab 06 once, at the sizes of its bars, and what the emulator counted:
 *
 *     minitorch/bench/count_lab06.sh [FOLDER] [KERNEL]     with the units of FOLDER (labs/06-cuda-kernels)
 *
 * traffic    bytes moved, 32 for each sector, divided by the bytes that the formula has to move: 1 is ideal
 * requests   of warps to memory, divided by their number if every lane moves 4 bytes
 * conflicts  wavefronts of shared memory divided by their number without bank conflicts; "wavefronts" are per block
 * atomics    on memory, lanes per element
 * With --raw only name,requests,sectors,wavefronts, for gpu_counts.sh.
 * Built by nvcc it only launches: count with
 *     ncu --metrics l1tex__t_sectors.sum,l1tex__t_requests.sum,smsp__l1tex_data_pipe_lsu_wavefronts_mem_shared.sum */
#include "cuda/kernels_cuda.h"
#include "optim/updates_cuda.h"

#include "cuda/cuda.h"

#ifdef __CUEMU__
#include "emulator/count/counters.h"
#endif

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { n = 65536, N = 64, C = 768, V = 100, BYTES = 262144 };

static float *x, *y, *z, *w, *small, *rows;
static int32_t *id;
static uint8_t *bytes;
static int64_t *bins;

static void fill(void)
{
    mt_fill_cuda(y, n, 1);
}

static void saxpy_scalar(void)
{
    mt_saxpy_scalar_cuda(y, x, n, 2);
}

static void saxpy_vector(void)
{
    mt_saxpy_vector_cuda(y, x, n, 2);
}

static void relu(void)
{
    mt_relu_fwd_cuda(y, x, n);
}

static void add_row(void)
{
    mt_strided a = { x, { 2, { 256, 256 }, { 256, 1 }, 0 } }, b = { w, { 2, { 256, 256 }, { 0, 1 }, 0 } };
    mt_add_fwd_cuda(y, &a, &b);
}

static void transpose_naive(void)
{
    mt_transpose_naive_cuda(y, x, 256, 192);
}

static void transpose_tiled(void)
{
    mt_transpose_tiled_cuda(y, x, 256, 192);
}

static void sum_interleaved(void)
{
    mt_sum_interleaved_cuda(small, rows, x, n);
}

static void sum_sequential(void)
{
    mt_sum_sequential_cuda(small, rows, x, n);
}

static void sum_shuffle(void)
{
    mt_sum_shuffle_cuda(small, rows, x, n);
}

static void row_sum(void)
{
    mt_row_sum_cuda(small, x, N, C);
}

static void softmax(void)
{
    mt_softmax_fwd_cuda(y, x, N, C);
}

static void softmax_back(void)
{
    mt_softmax_bwd_cuda(y, x, z, N, C);
}

static void layernorm(void)
{
    mt_layernorm_fwd_cuda(y, small, small + N, x, w, w, N, C, 1e-5f);
}

static void layernorm_back(void)
{
    mt_layernorm_bwd_cuda(y, rows, rows + C, z, x, w, small, small + 256, 256, C);
}

static void gather(void)
{
    mt_gather_rows_fwd_cuda(y, x, id, N, V, C);
}

static void scatter_add(void)
{
    mt_gather_rows_bwd_cuda(y, x, id, N, V, C);
}

static void histogram_global(void)
{
    mt_histogram_global_cuda(bins, bytes, BYTES);
}

static void histogram_private(void)
{
    mt_histogram_private_cuda(bins, bytes, BYTES);
}

static void adamw(void)
{
    mt_hyper hyper = {};
    mt_update u = {};
    hyper.lr = 1e-3, hyper.beta1 = 0.9, hyper.beta2 = 0.999, hyper.eps = 1e-8;
    u.param = x, u.grad = w, u.state[0] = y, u.state[1] = z;
    u.rows = 1, u.cols = n, u.step = 1, u.hyper = &hyper;
    mt_adamw_update_cuda(&u);
}

/* must: the bytes that the formula reads and writes once each. */
static const struct {
    const char *name;
    void (*run)(void);
    int64_t must, elements;
} kernels[] = {
    { "fill", fill, 4 * n, n },
    { "saxpy", saxpy_scalar, 12 * n, n },
    { "saxpy by fours", saxpy_vector, 12 * n, n },
    { "relu", relu, 8 * n, n },
    { "add a row", add_row, 8 * n, n },
    { "transpose", transpose_naive, 8 * 256 * 192, 256 * 192 },
    { "tiled transpose", transpose_tiled, 8 * 256 * 192, 256 * 192 },
    { "tree sum", sum_interleaved, 4 * n, n },
    { "tree sum without conflicts", sum_sequential, 4 * n, n },
    { "shuffled sum", sum_shuffle, 4 * n, n },
    { "row sum", row_sum, 4 * N *C, N *C },
    { "softmax", softmax, 8 * N *C, N *C },
    { "softmax backward", softmax_back, 16 * N *C, N *C },
    { "layernorm", layernorm, 8 * N *C, N *C },
    { "layernorm backward", layernorm_back, 16 * 256 * C, 256 * C },
    { "gather rows", gather, 8 * N *C, N *C },
    { "scatter-add", scatter_add, 8 * N *C, N *C },
    { "histogram", histogram_global, BYTES, BYTES },
    { "private histogram", histogram_private, BYTES, BYTES },
    { "adamw", adamw, 28 * n, n },
};

static void make_inputs(void)
{
    const int64_t floats = 256 * C;
    float **of[] = { &x, &y, &z, &w, &small, &rows };
    for (int i = 0; i < MT_COUNT(of); i++) {
        MT_CUDA(cudaMalloc((void **)of[i], (size_t)floats * sizeof(float)));
        mt_fill_cuda(*of[i], floats, 0.5f);
    }
    static int32_t host_id[N];
    static uint8_t host_bytes[BYTES];
    for (int i = 0; i < N; i++)
        host_id[i] = i * 37 % V;
    for (int i = 0; i < BYTES; i++)
        host_bytes[i] = (uint8_t)((unsigned)i * 2654435761u >> 24);
    MT_CUDA(cudaMalloc((void **)&id, sizeof host_id));
    MT_CUDA(cudaMalloc((void **)&bytes, sizeof host_bytes));
    MT_CUDA(cudaMalloc((void **)&bins, MT_HISTOGRAM_BINS * sizeof *bins));
    MT_CUDA(cudaMemcpy(id, host_id, sizeof host_id, cudaMemcpyHostToDevice));
    MT_CUDA(cudaMemcpy(bytes, host_bytes, sizeof host_bytes, cudaMemcpyHostToDevice));
    MT_CUDA(cudaMemset(bins, 0, MT_HISTOGRAM_BINS * sizeof *bins));
}

#ifdef __CUEMU__
static void print_ratio(uint64_t a, double b)
{
    if (a == 0 || b == 0)
        printf(" %10s", "-");
    else
        printf(" %10.2f", (double)a / b);
}

static void print_counts(const char *name, int64_t must, int64_t elements, bool raw)
{
    emu_traffic memory = {}, shared = {};
    uint64_t atomics = 0, blocks = 0;
    const emu_counts *all;
    size_t count = emu_counts_all(&all);
    for (size_t k = 0; k < count; k++) {
        for (int kind = 0; kind < 3; kind++) {
            memory.requests += all[k].traffic[0][kind].requests;
            memory.passes += all[k].traffic[0][kind].passes;
            shared.passes += all[k].traffic[1][kind].passes;
            shared.ideal += all[k].traffic[1][kind].ideal;
        }
        atomics += all[k].traffic[0][2].lanes;
        blocks += all[k].blocks;
    }
    if (raw) {
        printf("%s,%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n", name, memory.requests, memory.passes, shared.passes);
        return;
    }
    printf("%-28s", name);
    print_ratio(32 * memory.passes, (double)must);
    print_ratio(128 * memory.requests, (double)must);
    print_ratio(shared.passes, (double)shared.ideal);
    print_ratio(shared.passes, (double)blocks);
    print_ratio(atomics, (double)elements);
    putchar('\n');
}
#endif

int main(int argc, char **argv)
{
    const bool raw = argc > 1 && strcmp(argv[1], "--raw") == 0;
    make_inputs();
#ifdef __CUEMU__
    if (!raw)
        printf("%-28s %10s %10s %10s %10s %10s\n", "", "traffic", "requests", "conflicts", "wavefronts", "atomics");
#endif
    for (int k = 0; k < MT_COUNT(kernels); k++) {
        if (argc > 1 && !raw && strcmp(argv[1], kernels[k].name) != 0)
            continue;
#ifdef __CUEMU__
        emu_counts_reset();
        kernels[k].run();
        mt_cuda_sync();
        print_counts(kernels[k].name, kernels[k].must, kernels[k].elements, raw);
#else
        kernels[k].run();
        mt_cuda_sync();
#endif
    }
    void *all[] = { x, y, z, w, small, rows, id, bytes, bins };
    for (int i = 0; i < MT_COUNT(all); i++)
        MT_CUDA(cudaFree(all[i]));
    return 0;
}
