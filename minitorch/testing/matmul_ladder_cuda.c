/* matmul_ladder_cuda.c -- the products of the device. */
#include "cuda/matmul_cuda.h"
#include "testing/matmul_ladder.h"

const mt_matmul_rung mt_matmul_ladder_cuda[] = {
    { "naive", "07.1", mt_matmul_naive_cuda },
    { "coalesced", "07.2", mt_matmul_coalesced_cuda },
    { "shared", "07.3", mt_matmul_shared_cuda },
    { "register", "07.5", mt_matmul_register_cuda },
    { "pipelined", "07.6", mt_matmul_pipelined_cuda },
    { "tensor-f16", "07.7", mt_matmul_tensor_f16_cuda },
    { "tensor-bf16", "07.7", mt_matmul_tensor_bf16_cuda },
    { "cublas", "07.8", mt_matmul_cublas },
    { 0 },
};
