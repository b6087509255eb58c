/* report_svg.c -- CUEMU_SVG=file: a drawing of one request of a warp: a row of lanes above the memory they access.
 *
 * Global memory is drawn in lines of 128 bytes, four sectors each; the arrows of a coalesced access are vertical. Moved
 * bytes are grey, used bytes have the lane's colour. Shared memory is drawn as its 32 banks, a row per wavefront, so
 * that a bank conflict appears as a column. For each site the costliest request is kept.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "emulator/count/report.h"
#include "emulator/run/findings.h"
#include "emulator/run/setting.h"

#define CELL      28
#define LEFT      96
#define LANES_Y   64
#define MEMORY_Y  190
#define MOST_ROWS 32
#define WIDTH     (LEFT + 32 * CELL + 24)

typedef struct kept {
    emu_counter site;
    uint64_t address[32]; /* of the active lanes, in order */
    int lane[32];
    int count, passes;
} kept;

bool emu_keep_requests;
static kept *requests;
static int request_count;
static int pitch = CELL + 2; /* from row to row */

void emu_keep_request(const emu_counter *site, const uint64_t *addresses, int count, uint32_t lanes, int passes)
{
    kept *k = requests;
    while (k < requests + request_count && (k->site.pc != site->pc || k->site.kind != site->kind))
        k++;
    if (k == requests + request_count) {
        requests = realloc(requests, (size_t)(request_count + 1) * sizeof *requests);
        k = &requests[request_count++];
        *k = (kept){ .site = *site };
    }
    if (passes <= k->passes)
        return;
    k->passes = passes;
    k->count = count;
    memcpy(k->address, addresses, (size_t)count * sizeof *addresses);
    for (int lane = 0, i = 0; lane < 32; lane++)
        if (lanes >> lane & 1)
            k->lane[i++] = lane;
}

/* The request to draw: of line `wanted`, or, if that is 0, of the access with the largest excess over its ideal. */
static const kept *choose(long wanted)
{
    const kept *best = NULL;
    int best_excess = -1;
    for (int i = 0; i < request_count; i++) {
        const kept *k = &requests[i];
        const char *file;
        int line = 0, excess = k->passes * 128 / (k->count * k->site.size);
        if (wanted && !(emu_source(k->site.pc, &file, &line) && line == wanted))
            continue;
        if (excess > best_excess) {
            best = k;
            best_excess = excess;
        }
    }
    return best;
}

int emu_kept_shared(emu_counter *site, uint64_t *address, int *lane)
{
    const kept *best = NULL;
    for (const kept *k = requests; k < requests + request_count; k++)
        if (k->site.space == 1 &&
            (!best || k->passes * best->count * best->site.size > best->passes * k->count * k->site.size))
            best = k;
    if (!best)
        return 0;
    *site = best->site;
    site->requests = 1;
    site->lanes = (uint64_t)best->count;
    site->passes = (uint64_t)best->passes;
    site->ideal = (uint64_t)(best->count * best->site.size + 127) / 128;
    memcpy(address, best->address, sizeof best->address);
    memcpy(lane, best->lane, sizeof best->lane);
    return best->count;
}

void emu_forget_requests(void)
{
    request_count = 0;
}

static int lane_x(int lane)
{
    return LEFT + lane * CELL;
}

static void box(FILE *out, int x, int y, int width, const char *fill, const char *text)
{
    int height = y == LANES_Y ? CELL - 6 : pitch - pitch / 4;
    fprintf(
        out,
        "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"%s\" stroke=\"#8a94a6\" stroke-width=\"0.6\"/>\n", x,
        y, width, height, fill);
    if (text[0])
        fprintf(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">%s</text>\n", x + width / 2, y + 15, text);
}

static const char *colour(int lane)
{
    static char text[2][32];
    static int turn;
    turn ^= 1;
    snprintf(text[turn], sizeof text[turn], "hsl(%d,70%%,72%%)", lane * 11);
    return text[turn];
}

static void lane_row(FILE *out, const kept *k)
{
    fprintf(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">lane</text>\n", LEFT - 10, LANES_Y + 15);
    for (int lane = 0, i = 0; lane < 32; lane++) {
        bool active = i < k->count && k->lane[i] == lane;
        char number[8];
        snprintf(number, sizeof number, "%d", lane);
        box(out, lane_x(lane), LANES_Y, CELL, active ? colour(lane) : "#ffffff", number);
        i += active;
    }
}

static void arrow(FILE *out, int lane, int x, int y)
{
    fprintf(out,
            "<path d=\"M%d %d C%d %d %d %d %d %d\" fill=\"none\" stroke=\"hsl(%d,55%%,45%%)\" stroke-width=\"0.9\" "
            "opacity=\"0.75\"/>\n",
            lane_x(lane) + CELL / 2, LANES_Y + CELL - 6, lane_x(lane) + CELL / 2, LANES_Y + 70, x, y - 50, x, y,
            lane * 11);
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* The different values of address >> shift, sorted. Returns how many. */
static int blocks_of(const kept *k, int shift, uint64_t *blocks)
{
    uint64_t all[32];
    int count = 0;
    for (int i = 0; i < k->count; i++)
        all[i] = k->address[i] >> shift;
    qsort(all, (size_t)k->count, sizeof all[0], compare);
    for (int i = 0; i < k->count; i++)
        if (!count || blocks[count - 1] != all[i])
            blocks[count++] = all[i];
    return count;
}

static int row_y(int row)
{
    return MEMORY_Y + row * pitch;
}

static void draw_global(FILE *out, const kept *k)
{
    uint64_t lines[32], sectors[32];
    int line_count = blocks_of(k, 7, lines), sector_count = blocks_of(k, 5, sectors);
    int rows = line_count < MOST_ROWS ? line_count : MOST_ROWS;
    for (int row = 0; row < rows; row++) {
        fprintf(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">+%lu B</text>\n", LEFT - 10,
                row_y(row) + pitch / 2 + 1, (unsigned long)(128 * (lines[row] - lines[0])));
        for (int i = 0; i < sector_count; i++)
            if (sectors[i] >> 2 == lines[row])
                box(out, LEFT + (int)(sectors[i] & 3) * 8 * CELL, row_y(row), 8 * CELL, "#dde2ea", "");
    }
    for (int i = 0; i < k->count; i++) {
        int row = 0, word = (int)(k->address[i] & 127) / 4, words = (k->site.size + 3) / 4;
        while (row < rows && lines[row] != k->address[i] >> 7)
            row++;
        if (row == rows)
            continue;
        box(out, lane_x(word), row_y(row), words * CELL, colour(k->lane[i]), "");
        arrow(out, k->lane[i], lane_x(word) + words * CELL / 2, row_y(row));
    }
    if (line_count > rows)
        fprintf(out, "<text x=\"%d\" y=\"%d\">... and %d lines of 128 bytes more</text>\n", LEFT, row_y(rows) + 15,
                line_count - rows);
}

static void draw_shared(FILE *out, const kept *k)
{
    uint64_t seen[32][32];
    int height[32] = { 0 };
    fprintf(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">bank</text>\n", LEFT - 10, MEMORY_Y - 12);
    for (int bank = 0; bank < 32; bank++)
        fprintf(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\" fill=\"#5a6474\">%d</text>\n",
                lane_x(bank) + CELL / 2, MEMORY_Y - 12, bank);
    for (int i = 0; i < k->count; i++)
        for (int w = 0; w < (k->site.size + 3) / 4; w++) {
            uint64_t word = (k->address[i] >> 2) + (uint64_t)w;
            int bank = (int)(word & 31), row = 0;
            while (row < height[bank] && seen[bank][row] != word)
                row++;
            if (row >= MOST_ROWS)
                continue;
            if (row == height[bank])
                seen[bank][height[bank]++] = word;
            box(out, lane_x(bank), row_y(row), CELL, colour(k->lane[i]), "");
            if (w == 0)
                arrow(out, k->lane[i], lane_x(bank) + CELL / 2, row_y(row));
        }
    for (int row = 0; row < k->passes && row < MOST_ROWS && k->site.size <= 4; row++)
        fprintf(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">pass %d</text>\n", LEFT - 10,
                row_y(row) + pitch / 2 + 1, row + 1);
    if (k->passes > MOST_ROWS)
        fprintf(out, "<text x=\"%d\" y=\"%d\">... and %d wavefronts more</text>\n", LEFT, row_y(MOST_ROWS) + 15,
                k->passes - MOST_ROWS);
}

static int rows_of(const kept *k)
{
    uint64_t lines[32];
    int rows = k->site.space == 0 ? blocks_of(k, 7, lines) : k->passes;
    return (rows < MOST_ROWS ? rows : MOST_ROWS) + 1;
}

void emu_report_svg(const char *path)
{
    const kept *k = choose(emu_setting("CUEMU_SVG_LINE", 0));
    FILE *out = k ? fopen(path, "w") : NULL;
    if (!out) {
        fprintf(stderr, "cuemu: %s is not drawn: %s\n", path, k ? "it cannot be written" : "no such access was traced");
        return;
    }
    const char *file = "?";
    int line = 0;
    if (rows_of(k) > 12)
        pitch = 16;
    int height = row_y(rows_of(k)) + 24;
    emu_source(k->site.pc, &file, &line);
    const char *base = strrchr(file, '/') ? strrchr(file, '/') + 1 : file;
    fprintf(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" font-size=\"11\" "
        "fill=\"#1d2430\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n",
        WIDTH, height);
    fprintf(
        out,
        "<text x=\"%d\" y=\"30\" font-size=\"16\" font-weight=\"bold\">%s:%d  %s %s, %d bytes per lane: %d %s</text>\n",
        LEFT, base, line, emu_space_name(k->site.space), emu_access_name(k->site.kind), k->site.size, k->passes,
        k->site.space == 0 ? "sectors of 32 bytes" : "wavefronts");
    lane_row(out, k);
    if (k->site.space == 0)
        draw_global(out, k);
    else
        draw_shared(out, k);
    fprintf(out, "</svg>\n");
    fclose(out);
}
