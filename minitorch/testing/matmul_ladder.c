/* matmul_ladder.c -- the products of the CPU, from three loops to all cores. */
#include "testing/matmul_ladder.h"

const mt_matmul_rung mt_matmul_ladder_cpu[] = {
    { "naive", "01.1", mt_matmul_naive_cpu },       { "reordered", "01.2", mt_matmul_reordered_cpu },
    { "tiled", "01.3", mt_matmul_tiled_cpu },       { "packed", "01.5", mt_matmul_packed_cpu },
    { "parallel", "01.6", mt_matmul_parallel_cpu }, { NULL, NULL, NULL },
};
