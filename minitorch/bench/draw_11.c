/* draw_11.c -- a picture of lab 11: which values the kernels of attention read, found by values that are NaN. */
#include <stdlib.h>

#include "bench/draw.h"
#include "fused/kernels_fused.h"
#include "models/kernels_gpt2.h"

enum { T = 256, D = 16, EDGE = 64 };

/* The last value that each query reads: NaN reaches it through a hidden value, too, since 0 NaN is NaN. */
static void last_read(int *last, mt_attention_fwd_fn *forward, mt_attention_saved_fn *saved)
{
    float *qkv = mt_calloc(T * 3 * D, sizeof *qkv), *out = mt_calloc(T * D, sizeof *out);
    float *keep = mt_calloc(saved(1, T, 1), sizeof *keep);
    for (int key = 0; key < T; key++) {
        qkv[key * 3 * D + 2 * D] = NAN;
        forward(out, keep, qkv, 1, T, D, 1);
        qkv[key * 3 * D + 2 * D] = 0;
        for (int query = 0; query < T; query++)
            if (isnan(out[query * D]))
                last[query] = key;
    }
    free(qkv);
    free(out);
    free(keep);
}

static void reads(double left, const char *title, mt_attention_fwd_fn *forward, mt_attention_saved_fn *saved)
{
    enum { TOP = 56 };
    int last[T], count = 0;
    double x[2 * T + 2], y[2 * T + 2];
    last_read(last, forward, saved);
    int64_t all = 0;
    for (int query = 0; query < T; query++) {
        all += last[query] + 1;
        for (int corner = 0; corner < 2; corner++)
            x[count] = left + last[query] + 1, y[count++] = TOP + query + corner;
    }
    draw_text('t', left, 26, "%s", title);
    draw_text('s', left, 44, "%.0f %% of T x T, half is visible", 100.0 * (double)all / (T * T));
    for (int query = 0; query < T; query += EDGE)
        for (int from = query, to; from < mt_min(query + EDGE, T); from = to) { /* rows that read equally many */
            for (to = from + 1; to < query + EDGE && last[to] == last[from];)
                to++;
            if (to - from > 1)
                draw_box('a', 0.35, left, TOP + from, last[from] + 1, to - from, "%s", "");
        }
    draw_curve('a', x, y, count);
    draw_line('x', left, TOP, left + T, TOP + T);
    draw_line('l', left, TOP, left, TOP + T);
    draw_line('l', left, TOP, left + T, TOP);
}

static void tiles(void)
{
    reads(80, "lab 08: whole rows", mt_attention_plain_fwd_cpu, mt_attention_plain_saved_cpu);
    reads(480, "tiles (11.1)", mt_attention_tiled_fwd_cpu, mt_attention_tiled_saved_cpu);
    draw_text('s', 80, 336, "Down: the queries 0 to %d; to the right: keys and values. Thick: the mask.", T - 1);
}

int main(int argc, char **argv)
{
    static const draw_picture pictures[] = {
        { "reads.svg", 352, "The values that each query reads, in lab 08's attention and in tiles; and the mask",
          tiles },
        { 0 },
    };
    return draw_all(argc, argv, pictures);
}
