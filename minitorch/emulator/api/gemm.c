/* gemm.c -- a blocked matrix product for f32, f16 and bf16 matrices.
 *
 * C is computed tile by tile. For each tile, stripes of op(A) and op(B) are packed as f32 in the order in which the
 * inner loop reads them, so that only the packing depends on transposes and element types.
 */
#include <string.h>
#include "emulator/api/gemm.h"

enum { TILE = 128, DEPTH = 256, ROWS = 16, COLS = 4 }; /* tile of C; depth of a stripe; part of C in registers */

typedef float vec __attribute__((vector_size(32), aligned(32)));

/* To nearest, ties to even; NaN and infinity stay. */
static float without_low_bits(float value, int drop)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    if (drop == 0 || (bits & 0x7f800000) == 0x7f800000)
        return value;
    bits += (1u << (drop - 1)) - 1 + (bits >> drop & 1);
    bits &= ~0u << drop;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static float widen(const emu_matrix *x, int64_t at)
{
    if (x->type == CUDA_R_32F)
        return without_low_bits(((const float *)x->data)[at], x->drop);
    if (x->type == CUDA_R_16F)
        return (float)((const _Float16 *)x->data)[at];
    uint32_t bits = (uint32_t)((const uint16_t *)x->data)[at] << 16;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void narrow(const emu_matrix *x, int64_t at, float value)
{
    if (x->type == CUDA_R_32F) {
        ((float *)x->data)[at] = value;
    } else if (x->type == CUDA_R_16F) {
        ((_Float16 *)x->data)[at] = (_Float16)value;
    } else {
        uint32_t bits;
        memcpy(&bits, &value, sizeof bits);
        bool nan = (bits & 0x7fffffff) > 0x7f800000;
        bits = nan ? bits | 0x400000 : bits + 0x7fff + (bits >> 16 & 1); /* to nearest, ties to even */
        ((uint16_t *)x->data)[at] = (uint16_t)(bits >> 16);
    }
}

/* Packs `along` x `depth` elements, from (i0, p0) on, in panels of `width`: panel[p][0..width), zeros beyond the edge.
 * Element (i, p) is op(A)(i, p), or op(B)(p, i). */
static void pack(float *to, const emu_matrix *x, bool i_is_column, int64_t i0, int64_t along, int64_t p0, int64_t depth,
                 int width)
{
    bool i_strided = i_is_column != x->transposed;
    int64_t step_i = i_strided ? x->ld : 1, step_p = i_strided ? 1 : x->ld;
    for (int64_t panel = 0; panel < along; panel += width)
        for (int64_t p = 0; p < depth; p++)
            for (int w = 0; w < width; w++)
                *to++ = panel + w < along ? widen(x, (i0 + panel + w) * step_i + (p0 + p) * step_p) : 0;
}

/* sum[col][row] += a panel times b panel, for ROWS x COLS elements of a tile whose columns are TILE apart. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
__attribute__((target_clones("arch=x86-64-v3", "default")))
#endif
static void
multiply(float *sum, const float *a, const float *b, int64_t depth)
{
    enum { VECS = ROWS / 8 };
    vec s[COLS][VECS];
    for (int c = 0; c < COLS; c++)
        for (int v = 0; v < VECS; v++)
            s[c][v] = *(const vec *)(sum + c * TILE + 8 * v);
    for (int64_t p = 0; p < depth; p++, a += ROWS, b += COLS)
        for (int c = 0; c < COLS; c++)
            for (int v = 0; v < VECS; v++)
                s[c][v] += *(const vec *)(a + 8 * v) * b[c];
    for (int c = 0; c < COLS; c++)
        for (int v = 0; v < VECS; v++)
            *(vec *)(sum + c * TILE + 8 * v) = s[c][v];
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

void emu_gemm(int64_t m, int64_t n, int64_t k, float alpha, emu_matrix a, emu_matrix b, float beta, emu_matrix c)
{
    static _Thread_local float sum[TILE * TILE] __attribute__((aligned(32)));
    static _Thread_local float as[TILE * DEPTH] __attribute__((aligned(32)));
    static _Thread_local float bs[TILE * DEPTH] __attribute__((aligned(32)));
    for (int64_t j0 = 0; j0 < n; j0 += TILE) {
        for (int64_t i0 = 0; i0 < m; i0 += TILE) {
            int64_t rows = least(TILE, m - i0), cols = least(TILE, n - j0);
            memset(sum, 0, sizeof sum);
            for (int64_t p0 = 0; p0 < k; p0 += DEPTH) {
                int64_t depth = least(DEPTH, k - p0);
                pack(as, &a, false, i0, rows, p0, depth, ROWS);
                pack(bs, &b, true, j0, cols, p0, depth, COLS);
                for (int64_t j = 0; j < cols; j += COLS)
                    for (int64_t i = 0; i < rows; i += ROWS)
                        multiply(sum + j * TILE + i, as + i * depth, bs + j * depth, depth);
            }
            for (int64_t j = 0; j < cols; j++) {
                for (int64_t i = 0; i < rows; i++) {
                    int64_t at = i0 + i + (j0 + j) * c.ld;
                    float old = beta != 0 ? beta * widen(&c, at) : 0;
                    narrow(&c, at, alpha * sum[j * TILE + i] + old);
                }
            }
        }
    }
}
