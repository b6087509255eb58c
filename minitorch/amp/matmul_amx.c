/* matmul_amx.c -- the product of bf16 matrices by AMX, which some processors have: an instruction that multiplies a
 * tile of A, 16 rows of 32 numbers, by a tile of B, 16 rows of 16 pairs, and adds to a tile of C, 16 x 16 in f32.
 *
 * Eight registers hold a tile of 1 KiB each. Four are a square of C, 32 x 32; in each step of 32 numbers of K two are
 * loaded with tiles of A and two with tiles of B, so that a tile that was loaded is used twice:
 *
 *                B 6   B 7
 *         A 4    C 0   C 1         packed A: tile after tile along K, for 16 rows after 16 rows
 *         A 5    C 2   C 3         packed B: the same for 16 columns after 16 columns
 *
 * Packing makes whole tiles, with zeros where an operand ends, and reads each number once for MC rows of C. The blocks
 * are on the stack, 0.6 MiB. An element of C is summed in an order that depends on K only. */
#include "amp/kernels_16bit.h"
#include "kernels/vec16.h"

#if defined __AMX_BF16__ && defined __AVX512BF16__

#include <immintrin.h>
#include <omp.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    SIDE = 16,       /* rows of a tile, and pairs or columns in one of them */
    DEPTH = 32,      /* numbers of K in a tile */
    NR = 32,         /* a square of C */
    KC = 768,        /* a panel of B, KC x NR, takes 48 KiB */
    MC = 320,        /* a block of A, MC x KC, takes 480 KiB and stays in L2 */
    GRAIN = 8 << 20, /* waking a thread takes about as long as this many multiply-adds */
};

typedef mt_pairs tile[SIDE]; /* 1 KiB */

/* An operand: number (k,j) is at[k * down + j * along], with j a column of B, or a row of A. One of the steps is 1. */
typedef struct operand {
    const mt_bf16 *at;
    int64_t down, along;
} operand;

/* The numbers of x in a tile from (0,0) on, of which K x n exist. Line j of a tile of A has the pairs of row j; line p
 * of a tile of B (not by_j) has pair p of all columns. */
static void pack_tile(tile out, operand x, int64_t K, int64_t n, bool by_j)
{
    for (int i = 0; i < SIDE; i++) {
        uint32_t some[SIDE] = { 0 };
        const mt_bf16 *row = x.at + 2 * i * x.down;
        if (x.along == 1)
            out[i] = 2 * i < K ? mt_pair_up(row, 2 * i + 1 < K ? row + x.down : NULL, n) : (mt_pairs){ 0 };
        else if (i < n && K == DEPTH)
            out[i] = mt_load_pairs(x.at + i * x.along);
        else
            out[i] = mt_load_pairs(i < n ? memcpy(some, x.at + i * x.along, 2 * (size_t)K) : some);
    }
    if ((x.along == 1) == by_j)
        mt_vec_transpose((mt_vec *)out);
}

/* K x n numbers of x, as tiles along K, for 16 of n after 16 of n. An even number of these is written. */
static void pack(tile *out, operand x, int64_t K, int64_t n, bool by_j)
{
    for (int64_t j = 0; j < n; j += SIDE)
        for (int64_t k = 0; k < K; k += DEPTH)
            pack_tile(*out++, (operand){ x.at + k * x.down + j * x.along, x.down, x.along }, mt_min(DEPTH, K - k),
                      mt_min(SIDE, n - j), by_j);
    if (mt_ceil_div(n, SIDE) % 2)
        memset(out, 0, sizeof(tile) * (size_t)mt_ceil_div(K, DEPTH));
}

/* A square of C: c = or += a b, of `tiles` tiles along K. */
static void square(float *c, int64_t ldc, const tile *a, const tile *b, int64_t tiles, bool add)
{
    const size_t row = sizeof(float) * (size_t)ldc, line = sizeof(mt_pairs);
    const tile *a2 = a + tiles, *b2 = b + tiles;
    float *below = c + SIDE * ldc;
    if (add) {
        _tile_loadd(0, c, row);
        _tile_loadd(1, c + SIDE, row);
        _tile_loadd(2, below, row);
        _tile_loadd(3, below + SIDE, row);
    } else {
        _tile_zero(0);
        _tile_zero(1);
        _tile_zero(2);
        _tile_zero(3);
    }
    for (int64_t k = 0; k < tiles; k++) {
        _tile_loadd(6, b + k, line);
        _tile_loadd(4, a + k, line);
        _tile_loadd(7, b2 + k, line);
        _tile_dpbf16ps(0, 4, 6);
        _tile_loadd(5, a2 + k, line);
        _tile_dpbf16ps(1, 4, 7);
        _tile_dpbf16ps(2, 5, 6);
        _tile_dpbf16ps(3, 5, 7);
    }
    _tile_stored(0, c, row);
    _tile_stored(1, c + SIDE, row);
    _tile_stored(2, below, row);
    _tile_stored(3, below + SIDE, row);
}

/* The same for a square of which only m x n elements exist. */
static void square_at_edge(float *c, int64_t ldc, const tile *a, const tile *b, int64_t tiles, bool add, int64_t m,
                           int64_t n)
{
    float whole[NR][NR] = { 0 };
    for (int64_t i = 0; add && i < m; i++)
        memcpy(whole[i], c + i * ldc, sizeof(float) * (size_t)n);
    square(whole[0], NR, a, b, tiles, add);
    for (int64_t i = 0; i < m; i++)
        memcpy(c + i * ldc, whole[i], sizeof(float) * (size_t)n);
}

/* c [M,N] = or += A B, by this thread. */
static void multiply(float *c, int64_t ldc, operand a, operand b, int64_t M, int64_t N, int64_t K, bool add)
{
    _Alignas(64) tile a_block[MC / SIDE * (KC / DEPTH)], b_panel[NR / SIDE * (KC / DEPTH)];
    int64_t k_parts = mt_max(1, mt_ceil_div(K, KC)), kc = mt_max(1, mt_ceil_div(K, k_parts * DEPTH)) * DEPTH;
    for (int64_t k = 0; k == 0 || k < K; k += kc) {
        int64_t depth = mt_min(kc, K - k), tiles = mt_ceil_div(depth, DEPTH);
        for (int64_t i = 0; i < M; i += MC) {
            int64_t rows = mt_min(MC, M - i);
            pack(a_block, (operand){ a.at + k * a.down + i * a.along, a.down, a.along }, depth, rows, true);
            for (int64_t j = 0; j < N; j += NR) {
                int64_t n = mt_min(NR, N - j);
                pack(b_panel, (operand){ b.at + k * b.down + j * b.along, b.down, b.along }, depth, n, false);
                for (int64_t q = 0; q < rows; q += NR) {
                    const tile *panel = a_block + q / SIDE * tiles;
                    float *at = c + (i + q) * ldc + j;
                    if (rows - q >= NR && n == NR)
                        square(at, ldc, panel, b_panel, tiles, add || k > 0);
                    else
                        square_at_edge(at, ldc, panel, b_panel, tiles, add || k > 0, mt_min(NR, rows - q), n);
                }
            }
        }
    }
}

/* Linux gives the tile registers to a process that asks for them. */
bool mt_has_amx(void)
{
    enum { ARCH_REQ_XCOMP_PERM = 0x1023, XFEATURE_XTILEDATA = 18 };
    static atomic_int known; /* 0: not asked yet; 1: no; 2: yes */
    if (known == 0)
        known = 1 + (syscall(SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA) == 0);
    return known == 2;
}

void mt_matmul_amx(float *c, const mt_bf16 *a, const mt_bf16 *b, const mt_matmul_dims *d)
{
    static const struct {
        uint8_t palette, start, zero[14];
        uint16_t line_bytes[16];
        uint8_t lines[16];
    } shape = { .palette = 1,
                .line_bytes = { 64, 64, 64, 64, 64, 64, 64, 64 },
                .lines = { 16, 16, 16, 16, 16, 16, 16, 16 } };
    MT_CHECK(mt_has_amx(), "matmul_amx: this process has no AMX");
    mt_matmul_dims_check("matmul_amx", d);
    operand wa = d->trans_a ? (operand){ a, d->lda, 1 } : (operand){ a, 1, d->lda };
    operand wb = d->trans_b ? (operand){ b, 1, d->ldb } : (operand){ b, d->ldb, 1 };
    int64_t threads = mt_max(1, mt_min(omp_get_max_threads(), d->M * d->N * d->K / GRAIN));
    bool by_rows = d->M > d->N; /* parts of the longer side, of whole squares */
    int64_t squares = mt_ceil_div(by_rows ? d->M : d->N, NR);
#pragma omp parallel for num_threads((int)threads) schedule(static, 1) if (threads > 1)
    for (int64_t t = 0; t < threads; t++) {
        int64_t from = NR * (squares * t / threads), to = NR * (squares * (t + 1) / threads);
        int64_t i = by_rows ? from : 0, j = by_rows ? 0 : from;
        operand pa = { wa.at + i * wa.along, wa.down, wa.along }, pb = { wb.at + j * wb.along, wb.down, wb.along };
        _tile_loadconfig(&shape);
        multiply(c + i * d->ldc + j, d->ldc, pa, pb, by_rows ? mt_min(to, d->M) - from : d->M,
                 by_rows ? d->N : mt_min(to, d->N) - from, d->K, d->write == MT_ACCUMULATE);
        _tile_release();
    }
}

#else

bool mt_has_amx(void)
{
    return false;
}

void mt_matmul_amx(float *c, const mt_bf16 *a, const mt_bf16 *b, const mt_matmul_dims *dims)
{
    (void)c, (void)a, (void)b, (void)dims;
    MT_CHECK(false, "matmul_amx: this program was built for a processor without AMX");
}

#endif
