/* matmul_ladder.h -- the matrix products as tables, from slowest to fastest, for tests and benchmarks that run each of
 * them. */
#pragma once

#include "kernels/matmul.h"

MT_C_BEGIN

typedef struct mt_matmul_rung {
    const char *name; /* "naive", "reordered", ... */
    const char *step; /* "01.1", ... */
    mt_matmul_fn *run;
} mt_matmul_rung;

/* Each is ended by a rung whose name is NULL; the device's last one is cuBLAS (matmul_ladder_cuda.c). */
extern const mt_matmul_rung mt_matmul_ladder_cpu[];
extern const mt_matmul_rung mt_matmul_ladder_cuda[];

MT_C_END
