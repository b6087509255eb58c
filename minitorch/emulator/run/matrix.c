/* matrix.c -- the PTX instructions ldmatrix and mma, whose layouts are documented: "Warp-level matrix instructions" in
 * NVIDIA's PTX ISA. With g = lane / 4 and t = lane % 4:
 *
 *   ldmatrix    register i of a lane: row g, columns 2t and 2t + 1 of matrix i; .trans: of the transposed matrix.
 *               Lanes 8i to 8i + 7 give the addresses of the rows of matrix i, 16 bytes each.
 *   A, m16 x k  register r: row g + 8 (r % 2), columns 2t + 8 (r / 2) and the next one
 *   B, k x n8   register r: rows 2t + 8 r and the next one, column g
 *   C, D        elements 0, 1: row g, columns 2t and 2t + 1; elements 2, 3: row g + 8
 */
#include <string.h>
#include "emulator/run/hooks.h"
#include "emulator/run/sched.h"
#include "emulator/run/shared.h"

#define HERE ((uintptr_t)__builtin_return_address(0))

typedef struct load {
    uint32_t *to;
    const char *row;
    int count;
    bool transposed;
} load;

static void load_all(void *lanes[EMU_WARP_SIZE])
{
    const load *const *l = (const load *const *)lanes;
    for (int lane = 0; lane < EMU_WARP_SIZE; lane++)
        for (int i = 0; i < l[0]->count; i++)
            for (int j = 0; j < 2; j++) {
                int row = lane / 4, column = lane % 4 * 2 + j;
                if (l[0]->transposed)
                    row = column, column = lane / 4;
                memcpy((char *)(l[lane]->to + i) + 2 * j, l[8 * i + row]->row + 2 * column, 2);
            }
}

void cuemu_load_matrix(uint32_t *to, size_t shared, int count, int transposed)
{
    emu_thread *self = emu_device_only("ldmatrix", HERE);
    load mine = { to, self->warp->worker->shared + shared, count, transposed };
    if (self->lane < 8 * count) {
        if (shared >= EMU_SHARED_SPAN) {
            emu_error(
                EMU_BAD_POINTER, EMU_HERE,
                "ldmatrix: the address of a row is not one of shared memory\nhint: the instruction takes a 32-bit "
                "shared address: (unsigned)__cvta_generic_to_shared(pointer)");
            emu_kill(cudaErrorIllegalAddress);
        }
        if (shared % 16) {
            emu_shared_place place;
            bool known = emu_shared_find(self->warp->worker, shared, &place);
            emu_error(EMU_MISALIGNED, EMU_HERE,
                      "ldmatrix: the row of lane %d begins at byte %zu of %s: a row is 16 bytes at a multiple of 16\n"
                      "hint: pad the rows by 8 elements of 16 bits, and declare the array with __align__(16)",
                      self->lane, known ? shared - place.begin : shared,
                      known && place.array ? place.array->name : "shared memory");
            emu_kill(cudaErrorMisalignedAddress);
        }
        EMU_CALL(access, (void *)(uintptr_t)mine.row, 16, false, HERE);
    }
    emu_together(load_all, &mine, HERE);
}

typedef struct product {
    const uint32_t *a, *b;
    const float *c;
    float *d;
    int k;
    bool bf16;
} product;

/* The value of an f16 or bf16 number. */
static float value_of(uint32_t bits, bool bf16)
{
    float value;
    uint32_t sign = (bits & 0x8000) << 16, exponent = bits >> 10 & 31, fraction = bits & 1023;
    uint32_t word = sign | (exponent == 31 ? 255 : exponent + 112) << 23 | fraction << 13;
    if (bf16)
        word = bits << 16;
    else if (exponent == 0) /* subnormal: fraction * 2^-24 */
        return (sign ? -1.0f : 1.0f) * (float)fraction * 0x1p-24f;
    memcpy(&value, &word, 4);
    return value;
}

static float half_of(uint32_t pair, int which, bool bf16)
{
    return value_of(pair >> 16 * which & 0xffff, bf16);
}

/* Products are exact; their sums are rounded to f32 in the order of k. A GPU's order is not documented. */
static void multiply_all(void *lanes[EMU_WARP_SIZE])
{
    const product *const *l = (const product *const *)lanes;
    float a[16][16], b[16][8];
    int k = l[0]->k;
    for (int lane = 0; lane < EMU_WARP_SIZE; lane++)
        for (int j = 0; j < 2; j++) {
            int g = lane / 4, t = lane % 4 * 2 + j;
            for (int r = 0; r < k / 4; r++)
                a[g + r % 2 * 8][t + r / 2 * 8] = half_of(l[lane]->a[r], j, l[0]->bf16);
            for (int r = 0; r < k / 8; r++)
                b[t + r * 8][g] = half_of(l[lane]->b[r], j, l[0]->bf16);
        }
    for (int lane = 0; lane < EMU_WARP_SIZE; lane++)
        for (int e = 0; e < 4; e++) {
            float sum = l[lane]->c[e];
            for (int i = 0; i < k; i++)
                sum += a[lane / 4 + e / 2 * 8][i] * b[i][lane % 4 * 2 + e % 2];
            l[lane]->d[e] = sum;
        }
}

void cuemu_mma(float *d, const uint32_t *a, const uint32_t *b, const float *c, int k, int bf16)
{
    emu_device_only("mma", HERE);
    emu_together(multiply_all, &(product){ a, b, c, d, k, bf16 }, HERE);
}

void cuemu_matrix_access(const void *matrix, size_t step)
{
    emu_device_only("load_matrix_sync", HERE);
    if ((uintptr_t)matrix % 32 || step % 16) {
        emu_error(
            EMU_MISALIGNED, EMU_HERE,
            "misaligned matrix of wmma: it begins %d bytes behind a multiple of 32, its rows are %zu bytes apart\n"
            "hint: a matrix begins at a multiple of 32 bytes, and its rows are a multiple of 16 bytes apart: 4 floats, "
            "or 8 elements of 16 bits; where they are not, go through shared memory",
            (int)((uintptr_t)matrix % 32), step);
        emu_kill(cudaErrorMisalignedAddress);
    }
    emu_together(NULL, NULL, HERE);
}
