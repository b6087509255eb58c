// ladder.cu -- the matrix products of lab 07, and whether the emulator counts of them what their threads do by design.
//
// Every expected figure is worked out beside its kernel, for sides that tiles divide: W warps of a thread for each
// result, or T tiles; K steps. The traffic of wmma in shared memory is the emulator's own and is left out.
// run_ladder.sh builds the units at -O1, -O2 and -O3.
#include <cstdio>
#include <vector>
#include "cuda/cuda.h"
#include "emulator/count/counters.h"
#include "cuda/matmul_cuda.h"

enum { GLOBAL, SHARED };
enum { LOAD, STORE, ATOMIC };

static int passed, failed;
static int64_t M, N, K;
static const char *rung;

static void expect(const char *what, int space, int kind, int64_t requests, int64_t passes)
{
    const emu_traffic *t = &emu_counts_last()->traffic[space][kind];
    bool right = t->requests == (uint64_t)requests && t->passes == (uint64_t)passes;
    right ? passed++ : failed++;
    if (!right)
        printf("FAIL %s, %s: %lu requests %lu passes, expected %ld %ld\n", rung, what, (unsigned long)t->requests,
               (unsigned long)t->passes, (long)requests, (long)passes);
}

static void expect_barriers(int64_t count)
{
    bool right = emu_counts_last()->barriers == (uint64_t)count;
    right ? passed++ : failed++;
    if (!right)
        printf("FAIL %s: %lu barriers, expected %ld\n", rung, (unsigned long)emu_counts_last()->barriers, (long)count);
}

// Lanes down a column: 32 rows of A, one element of B, 32 rows of C.
static void naive()
{
    int64_t W = M * N / 32;
    expect("A and B", GLOBAL, LOAD, 2 * K * W, (32 + 1) * K * W);
    expect("C", GLOBAL, STORE, W, 32 * W);
}

// Lanes along a row: one element of A, 128 bytes of B and of C.
static void coalesced()
{
    int64_t W = M * N / 32;
    expect("A and B", GLOBAL, LOAD, 2 * K * W, (1 + 4) * K * W);
    expect("C", GLOBAL, STORE, W, 4 * W);
}

// A thread brings one element of each tile for 32 steps of K, a row of which is 128 bytes; then two reads a step.
static void shared()
{
    int64_t W = M * N / 32;
    expect("A and B", GLOBAL, LOAD, 2 * W * (K / 32), 4 * 2 * W * (K / 32));
    expect("C", GLOBAL, STORE, W, 4 * W);
    expect("tiles filled", SHARED, STORE, 2 * W * (K / 32), 2 * W * (K / 32));
    expect("tiles read", SHARED, LOAD, 2 * K * W, 2 * K * W);
    expect_barriers(2 * (K / 32) * (M / 32) * (N / 32));
}

// What register and pipelined have in common, for T tiles of 128 x 128, 8 warps each: for each k four float4 a thread,
// each by quarter warps; 16 float4 of C a thread, those of a warp in two rows of 256 bytes.
static void eight_by_eight(int64_t T)
{
    expect("tiles read", SHARED, LOAD, 4 * 8 * K * T, 4 * 4 * 8 * K * T);
    expect("C", GLOBAL, STORE, 16 * 8 * T, 16 * 16 * 8 * T);
}

// For 8 steps of K a thread brings a float4 of each operand: of A, 8 floats of 16 rows a warp, which it writes one by
// one; of B, 128 neighbours, which it writes as it read them, by quarter warps.
static void registers()
{
    int64_t T = M / 128 * (N / 128), steps = 8 * (K / 8) * T;
    expect("A and B", GLOBAL, LOAD, 2 * steps, (16 + 16) * steps);
    expect("tiles filled", SHARED, STORE, (4 + 1) * steps, (4 + 4) * steps);
    eight_by_eight(T);
    expect_barriers(2 * (K / 8) * T);
}

// The same, but A comes by four single floats, 8 lanes to a row.
static void pipelined()
{
    int64_t T = M / 128 * (N / 128), steps = 8 * (K / 8) * T;
    expect("A and B", GLOBAL, LOAD, (4 + 1) * steps, (4 * 4 + 16) * steps);
    expect("tiles filled", SHARED, STORE, (4 + 1) * steps, (4 + 4) * steps);
    eight_by_eight(T);
    expect_barriers(K / 8 * T);
}

// Tiles of 64 x 64, 4 warps: for 16 steps of K a thread brings 8 elements of each; A by two rows of 64 bytes a warp.
static void tensor()
{
    int64_t T = M / 64 * (N / 64), steps = 8 * 4 * (K / 16) * T;
    expect("A and B", GLOBAL, LOAD, 2 * steps, (4 + 4) * steps);
    expect("C", GLOBAL, STORE, 32 * 4 * T, 4 * 32 * 4 * T);
    expect_barriers((2 * (K / 16) + 1) * T);
}

static void check(int64_t m, int64_t n, int64_t k)
{
    static const struct {
        const char *name;
        mt_matmul_fn *run;
        void (*expected)();
    } rungs[] = {
        { "naive", mt_matmul_naive_cuda, naive },
        { "coalesced", mt_matmul_coalesced_cuda, coalesced },
        { "shared", mt_matmul_shared_cuda, shared },
        { "register", mt_matmul_register_cuda, registers },
        { "pipelined", mt_matmul_pipelined_cuda, pipelined },
        { "tensor f16", mt_matmul_tensor_f16_cuda, tensor },
        { "tensor bf16", mt_matmul_tensor_bf16_cuda, tensor },
    };
    M = m, N = n, K = k;
    std::vector<float> ones(M * K + K * N, 1);
    float *c, *ab;
    MT_CUDA(cudaMalloc((void **)&c, M * N * sizeof *c));
    MT_CUDA(cudaMalloc((void **)&ab, ones.size() * sizeof *ab));
    MT_CUDA(cudaMemcpy(ab, ones.data(), ones.size() * sizeof *ab, cudaMemcpyHostToDevice));
    const mt_matmul_dims d = { M, N, K, K, N, N, MT_NO_TRANS, MT_NO_TRANS, MT_OVERWRITE };
    for (const auto &r : rungs) {
        rung = r.name;
        r.run(c, ab, ab + M * K, &d);
        mt_cuda_sync();
        r.expected();
    }
    MT_CUDA(cudaFree(c));
    MT_CUDA(cudaFree(ab));
}

int main()
{
    check(128, 256, 64);
    check(256, 128, 32);
    printf("%d figures, %d wrong\n", passed + failed, failed);
    return failed != 0;
}
