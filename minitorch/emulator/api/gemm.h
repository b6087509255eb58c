/* gemm.h -- the CPU matrix product behind the cuBLAS functions. */
#ifndef EMU_GEMM_H
#define EMU_GEMM_H

#include <stdbool.h>
#include <stdint.h>
#include "emulator/include/library_types.h"

/* A stored column-major matrix; op() of it is the transpose if `transposed`. */
typedef struct emu_matrix {
    void *data;
    cudaDataType type;
    bool transposed;
    int64_t ld;
    int drop; /* low bits of an f32 operand that are rounded away: 13 for TF32, 16 for bf16; 0: none */
} emu_matrix;

/* C = alpha op(A) op(B) + beta C with sums in f32; C is not transposed and overlaps neither A nor B. */
void emu_gemm(int64_t m, int64_t n, int64_t k, float alpha, emu_matrix a, emu_matrix b, float beta, emu_matrix c);

#endif
