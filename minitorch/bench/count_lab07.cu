/* count_lab07.cu -- every rung of lab 07's ladder once, and what the emulator counted:
 *
 *     minitorch/bench/count_lab07.sh [FOLDER [RUNG]]     with the units of FOLDER (labs/07-cuda-matmul)
 *
 * traffic     bytes moved, 32 for each sector, divided by the bytes of A, B and C
 * requests    of warps to memory, divided by their number if A, B and C are accessed once, 4 bytes a lane
 * conflicts   wavefronts of shared memory divided by their number without bank conflicts
 * wavefronts  of shared memory, per 32 multiply-adds
 * transposed  traffic and conflicts with both operands read transposed
 * intensity   FLOPs for each byte moved: times the bandwidth, the roof over this kernel (sectors answered by a cache
 * count) With --raw only name,requests,sectors,wavefronts of the untransposed product, for gpu_counts.sh.
 * Built by nvcc it only launches: count with
 *     ncu --metrics l1tex__t_sectors.sum,l1tex__t_requests.sum,smsp__l1tex_data_pipe_lsu_wavefronts_mem_shared.sum */
#include "cuda/matmul_cuda.h"
#include "testing/matmul_ladder.h"

#include "cuda/cuda.h"

#ifdef __CUEMU__
#include "emulator/count/counters.h"
#endif

#include <stdio.h>
#include <string.h>
#include <vector>

enum { M = 256, N = 256, K = 128 };

#ifdef __CUEMU__
typedef struct sums {
    double sectors, requests, passes, ideal;
} sums;

/* Sums over what ran since the last reset. The counts stay: CUEMU_REPORT prints them at the end. */
static sums count(void)
{
    sums s = {};
    const emu_counts *all;
    size_t launches = emu_counts_all(&all);
    for (size_t k = 0; k < launches; k++)
        for (int kind = 0; kind < 3; kind++) {
            s.sectors += (double)all[k].traffic[0][kind].passes;
            s.requests += (double)all[k].traffic[0][kind].requests;
            s.passes += (double)all[k].traffic[1][kind].passes;
            s.ideal += (double)all[k].traffic[1][kind].ideal;
        }
    return s;
}

/* For programs: name,requests,sectors,wavefronts. */
static void print_raw(const char *name, const sums *s)
{
    printf("%s,%.0f,%.0f,%.0f\n", name, s->requests, s->sectors, s->passes);
}

static void print_counts(const char *name, const sums *plain, const sums *turned)
{
    const double must = 4.0 * (M * K + K * N + M * N);
    printf("%-14s %8.2f %8.2f", name, 32 * plain->sectors / must, 128 * plain->requests / must);
    if (plain->ideal == 0)
        printf(" %9s %10s %10.2f %9s", "-", "-", 32 * turned->sectors / must, "-");
    else
        printf(" %9.2f %10.3f %10.2f %9.2f", plain->passes / plain->ideal, 32 * plain->passes / ((double)M * N * K),
               32 * turned->sectors / must, turned->passes / turned->ideal);
    printf(" %9.2f\n", 2.0 * M * N * K / (32 * plain->sectors));
}
#endif

/* The product with tight rows: the buffers are large enough for either transpose. */
static void multiply(const mt_matmul_rung *rung, float *const *x, mt_trans trans)
{
    const mt_matmul_dims d = { M, N, K, trans ? M : K, trans ? K : N, N, trans, trans, MT_OVERWRITE };
    rung->run(x[0], x[1], x[2], &d);
    mt_cuda_sync();
}

int main(int argc, char **argv)
{
    const size_t bytes = M * N * sizeof(float);
    std::vector<float> ones(M * N, 1);
    float *x[3];
    for (int i = 0; i < 3; i++) {
        MT_CUDA(cudaMalloc((void **)&x[i], bytes));
        MT_CUDA(cudaMemcpy(x[i], ones.data(), bytes, cudaMemcpyHostToDevice));
    }
    const bool raw = argc > 1 && strcmp(argv[1], "--raw") == 0;
#ifdef __CUEMU__
    if (!raw)
        printf("%-14s %8s %8s %9s %10s %10s %9s %9s\n%-14s %8s %8s %9s %10s %10s %9s %9s\n", "", "", "", "", "",
               "transposed", "", "FLOPs", "", "traffic", "requests", "conflicts", "wavefronts", "traffic", "conflicts",
               "a byte");
#endif
    for (const mt_matmul_rung *rung = mt_matmul_ladder_cuda; rung->run != mt_matmul_cublas; rung++) {
        if (argc > 1 && !raw && strcmp(argv[1], rung->name) != 0)
            continue;
#ifdef __CUEMU__
        sums turned = {};
        if (!raw) {
            emu_counts_reset();
            multiply(rung, x, MT_TRANS);
            turned = count();
        }
        emu_counts_reset();
        multiply(rung, x, MT_NO_TRANS);
        sums plain = count();
        if (raw)
            print_raw(rung->name, &plain);
        else
            print_counts(rung->name, &plain, &turned);
#else
        multiply(rung, x, MT_NO_TRANS);
#endif
    }
    for (int i = 0; i < 3; i++)
        MT_CUDA(cudaFree(x[i]));
    return 0;
}
