/* systolic.c -- a product on a systolic array, cycle by cycle: how much of the array is busy, and why sizes should be
 * large and multiples of its side.
 *
 *     build/release/bin/systolic 512 512 512                x [M,K] times w [K,N] on an array of 128 x 128
 *     build/release/bin/systolic 512 129 512 --array 128
 *
 * The array keeps weights, as a TPU's matrix unit does. Its cell (r,c) holds w[k0 + r][n0 + c] of one tile of w. A row
 * of x enters from the left, a cycle later for each row of cells, moves on by a cell a cycle, and each cell adds its
 * product to the sum that comes from above; a sum that leaves at the bottom is one of out [M,N]. The next tile's
 * weights move down while this tile computes, behind its first row; a mark that enters with a tile's first row of x
 * makes each cell take its new weight. So tiles follow each other every max(M, side) cycles.
 *
 * All cells are simulated, with real numbers: the result is compared with the product. The last line is for programs:
 * `systolic: PASS cycles=... tiles=... utilisation=0.7529`. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "core/base.h"

enum { MOST = 1 << 17, MOST_SIDE = 512 };

typedef struct options {
    int64_t side;
} options;

static const mt_option flags[] = {
    { "array", 0, "SIDE", MT_I64(options, side, 1, MOST_SIDE), "Cells of a row and of a column of the array" },
    { 0 },
};

/* Whole numbers, so that f32 sums are exact for K up to MOST. */
static float x_at(int64_t m, int64_t k)
{
    return (float)((m * 7 + k * 3) % 11 - 5);
}

static float w_at(int64_t k, int64_t n)
{
    return (float)((k * 5 + n * 2) % 13 - 6);
}

/* What a cell passes on at the end of a cycle: x to the right, sum and the weight that moves down to the cell below. */
typedef struct cell {
    float weight, next; /* that it multiplies by; of the next tile */
    float x, sum, moving;
    bool first; /* x is of the first row of a tile */
} cell;

typedef struct array {
    int64_t M, N, K, side, tiles, period; /* period: cycles from one tile to the next */
    cell *cell;                           /* [side, side], column by column */
    float *out;                           /* [M,N] */
    int64_t products;                     /* of numbers that are in x and w */
} array;

static int64_t tiles_of(int64_t n, int64_t side)
{
    return mt_ceil_div(n, side);
}

/* Tile t has rows k0 .. of w and columns n0 ..: all of K for some columns, then for the next ones. */
static void place_of(const array *a, int64_t t, int64_t *k0, int64_t *n0)
{
    int64_t down = tiles_of(a->K, a->side);
    *k0 = t % down * a->side, *n0 = t / down * a->side;
}

static float weight_of(const array *a, int64_t t, int64_t r, int64_t c)
{
    int64_t k0, n0;
    place_of(a, t, &k0, &n0);
    return t < a->tiles && k0 + r < a->K && n0 + c < a->N ? w_at(k0 + r, n0 + c) : 0;
}

/* The x that enters row r at a cycle, counted from when the first tile begins. */
static cell entering(const array *a, int64_t cycle, int64_t r)
{
    int64_t since = cycle - r, t = since < 0 ? a->tiles : since / a->period, m = since - t * a->period, k0, n0;
    if (since < 0 || t >= a->tiles || m >= a->M)
        return (cell){ 0 };
    place_of(a, t, &k0, &n0);
    return (cell){ .x = k0 + r < a->K ? x_at(m, k0 + r) : 0, .first = m == 0 };
}

/* The weight that enters column c from above; *last: now each weight of its tile is in its row. A tile's last row comes
 * first, from the moment on in which the tile before it enters that column. */
static float loading(const array *a, int64_t cycle, int64_t c, bool *last)
{
    int64_t since = cycle - c + a->side; /* that of the first tile begins at -side */
    int64_t t = since < a->side ? 0 : 1 + (since - a->side) / a->period;
    int64_t at = t == 0 ? since : (since - a->side) % a->period;
    *last = at == a->side - 1;
    return since >= 0 && at < a->side ? weight_of(a, t, a->side - 1 - at, c) : 0;
}

/* One cycle, from the last cell to the first, so that each reads what its neighbours passed on a cycle before. */
static void step(array *a, int64_t cycle)
{
    int64_t S = a->side;
    for (int64_t c = S - 1; c >= 0; c--) {
        bool last;
        float load = loading(a, cycle, c, &last);
        for (int64_t r = S - 1; r >= 0; r--) {
            cell *here = &a->cell[c * S + r], *above = here - 1, left = c > 0 ? here[-S] : entering(a, cycle, r);
            if (left.first)
                here->weight = here->next;
            here->x = left.x, here->first = left.first;
            here->sum = (r > 0 ? above->sum : 0) + here->x * here->weight;
            here->moving = r > 0 ? above->moving : load;
            if (last)
                here->next = here->moving;
        }
    }
}

/* Sums that leave column c at the bottom. */
static void collect(array *a, int64_t cycle)
{
    int64_t S = a->side;
    for (int64_t c = 0; c < S; c++) {
        int64_t since = cycle - (S - 1) - c, t = since < 0 ? a->tiles : since / a->period, m = since - t * a->period;
        int64_t k0, n0;
        place_of(a, t, &k0, &n0);
        if (since < 0 || t >= a->tiles || m >= a->M || n0 + c >= a->N)
            continue;
        a->out[m * a->N + n0 + c] += a->cell[c * S + S - 1].sum;
        a->products += mt_min(S, a->K - k0);
    }
}

static bool is_product(const array *a)
{
    for (int64_t m = 0; m < a->M; m++)
        for (int64_t n = 0; n < a->N; n++) {
            float sum = 0;
            for (int64_t k = 0; k < a->K; k++)
                sum += x_at(m, k) * w_at(k, n);
            if (sum != a->out[m * a->N + n])
                return false;
        }
    return true;
}

static mt_status parse(array *a, mt_words words)
{
    int64_t *size[] = { &a->M, &a->N, &a->K };
    if (words.count != 3)
        return mt_fail(MT_ERR_ARGUMENT, "write the three sizes of the product, as in systolic 512 512 512");
    for (int i = 0; i < 3; i++)
        MT_TRY(mt_cli_i64(size[i], words.item[i], 1, MOST));
    return MT_OK;
}

int main(int argc, char **argv)
{
    options o = { .side = 128 };
    array a = { 0 };
    mt_words words =
        mt_cli_parse_words(argc, argv, "A product on a systolic array, cycle by cycle.", flags, &o, "M N K", 3);
    if (parse(&a, words) != MT_OK)
        return mt_cli_exit(MT_ERR_ARGUMENT);
    a.side = o.side;
    a.tiles = tiles_of(a.K, a.side) * tiles_of(a.N, a.side), a.period = mt_max(a.M, a.side);
    a.cell = mt_calloc(a.side * a.side, sizeof *a.cell);
    a.out = mt_calloc(a.M * a.N, sizeof *a.out);
    int64_t begin = -a.side, end = (a.tiles - 1) * a.period + a.M + 2 * (a.side - 1);
    for (int64_t cycle = begin; cycle < end; cycle++) {
        step(&a, cycle);
        collect(&a, cycle);
    }
    int64_t cells = a.side * a.side, cycles = end - begin, edges = a.tiles * cells - a.N * a.K;
    double busy = (double)a.products / ((double)cells * (double)cycles);
    printf("%" PRId64 " x %" PRId64 " x %" PRId64 " on %" PRId64 " x %" PRId64 " cells: %" PRId64
           " tiles, one every %" PRId64 " cycles\n",
           a.M, a.N, a.K, a.side, a.side, a.tiles, a.period);
    printf("cells of the tiles without a weight: %.1f %%; first weights and last sums: %.1f %% of the cycles\n",
           100 * (double)edges / (double)(a.tiles * cells), 100 * (double)(3 * a.side - 2) / (double)cycles);
    bool right = is_product(&a) && a.products == a.M * a.N * a.K;
    printf("systolic: %s cycles=%" PRId64 " tiles=%" PRId64 " utilisation=%.4f\n", right ? "PASS" : "FAIL", cycles,
           a.tiles, busy);
    free(a.cell);
    free(a.out);
    return right ? 0 : 1;
}
