/* draw_09.c -- the pictures of lab 09: what rounding to 16 bits loses, and how the scale of the loss is found. */
#include "amp/scaler.h"
#include "bench/draw.h"
#include "core/dtype.h"
#include "core/rng.h"

static float through(float x, bool f16)
{
    return f16 ? mt_f16_to_f32(mt_f16_from_f32(x)) : mt_bf16_to_f32(mt_bf16_from_f32(x));
}

static void legend(double x, double y)
{
    static const char *const name[] = { "f32", "f16", "bf16" };
    for (int i = 0; i < 3; i++) {
        const double at_x[] = { x + i * 70, x + i * 70 + 22 }, at_y[] = { y, y };
        draw_curve("cba"[i], at_x, at_y, 2);
        draw_text('s', x + i * 70 + 28, y + 4, "%s", name[i]);
    }
}

/* ---- the error of a conversion ---------------------------------------------------------------------------------- */

static void rounding(void)
{
    enum { LEFT = 70, TOP = 48, LOW = -32, HIGH = 20, OCTAVE = 14, EACH = 4, BITS = 14, POINTS = (HIGH - LOW) * EACH };
    draw_text('t', LEFT, 26, "largest relative error of a conversion, by the size of the number");
    for (int bits = 0; bits <= 12; bits += 4) {
        draw_text('e', LEFT - 8, TOP + bits * BITS + 4, bits ? "2^-%d" : "1: lost", bits);
        draw_line('d', LEFT, TOP + bits * BITS, LEFT + (HIGH - LOW) * OCTAVE, TOP + bits * BITS);
    }
    for (int e = LOW; e <= HIGH; e += 4)
        draw_text('m', LEFT + (e - LOW) * OCTAVE, TOP + 14 * BITS, "2^%d", e);
    for (int f16 = 0; f16 < 2; f16++) {
        double x[POINTS], y[POINTS];
        for (int i = 0; i < POINTS; i++) {
            double worst = 0, begin = LOW + (double)i / EACH;
            for (int k = 0; k < 512; k++) {
                float value = (float)exp2(begin + k / 512.0 / EACH);
                worst = fmax(worst, fabs((double)through(value, f16) - value) / value);
            }
            x[i] = LEFT + (begin + 0.5 / EACH - LOW) * OCTAVE;
            y[i] = TOP - log2(fmin(worst, 1)) * BITS; /* infinity is drawn as lost, too */
        }
        draw_curve(f16 ? 'b' : 'a', x, y, POINTS);
    }
    legend(600, 22);
}

/* ---- sums and updates ------------------------------------------------------------------------------------------- */

enum { STEPS = 1000, EVERY = 10, PLOT = 370 }; /* each tenth step is drawn */

/* A number to which `step` is added 1000 times; after each addition it is rounded. type: 0 f32, 1 f16, 2 bf16. */
static void walk(double left, double start, double step, double per_unit, int type)
{
    double x[STEPS / EVERY + 1], y[STEPS / EVERY + 1];
    float value = (float)start;
    for (int i = 0; i <= STEPS; i++) {
        if (i % EVERY == 0) {
            x[i / EVERY] = left + (double)i / STEPS * PLOT;
            y[i / EVERY] = 210 - per_unit * ((double)value - fmin(start, start + step * STEPS));
        }
        value += (i < STEPS) * (float)step;
        value = type ? through(value, type == 1) : value;
    }
    draw_curve("cba"[type], x, y, STEPS / EVERY + 1);
    draw_text('e', left + PLOT, y[STEPS / EVERY] + (type == 1 ? 20 : -8), "%.3f", (double)value);
}

static void stalls(void)
{
    draw_text('t', 24, 26, "a sum of 1000 times 0.01");
    draw_text('t', 460, 26, "a parameter of 1, and 1000 updates of -0.0001");
    for (int type = 0; type < 3; type++) {
        walk(24, 0, 0.01, 15, type);
        walk(460, 1, -0.0001, 1400, type);
    }
    draw_line('l', 24, 212, 24 + PLOT, 212);
    draw_line('l', 460, 212, 460 + PLOT, 212);
    legend(24, 236);
}

/* ---- the scale of the loss -------------------------------------------------------------------------------------- */

static void scale(void)
{
    enum { LEFT = 60, TOP = 44, COUNT = 400, WIDE = 770, BIT = 12, MOST = 18 };
    mt_scaler scaler = mt_scaler_new();
    mt_rng rng = mt_rng_new(9, MT_STREAM_TEST);
    double x[2 * COUNT], y[2 * COUNT];
    scaler.interval = 40;
    for (int e = 4; e <= MOST; e += 2) {
        draw_text('e', LEFT - 8, TOP + (MOST - e) * BIT + 4, "2^%d", e);
        draw_line('d', LEFT, TOP + (MOST - e) * BIT, LEFT + WIDE, TOP + (MOST - e) * BIT);
    }
    for (int step = 0; step < COUNT; step++) {
        double at = LEFT + (double)step / COUNT * WIDE,
               largest = exp2(6 - 8.0 * step / COUNT + 0.5 * (double)mt_rng_normal(&rng));
        x[2 * step] = at, x[2 * step + 1] = at + (double)WIDE / COUNT;
        y[2 * step] = y[2 * step + 1] = TOP + (double)(MOST - scaler.exponent) * BIT;
        bool finite = isfinite(through((float)(largest * mt_scaler_scale(&scaler)), true));
        if (!mt_scaler_update(&scaler, finite))
            draw_line('x', at, TOP + (MOST - 4) * BIT + 8, at, TOP + (MOST - 4) * BIT + 20);
    }
    draw_curve('a', x, y, 2 * COUNT);
    draw_text('t', LEFT, 24, "scale of the loss in %d steps, doubled after %d finite steps in a row", COUNT,
              (int)scaler.interval);
    draw_text('s', LEFT, TOP + (MOST - 4) * BIT + 40,
              "Red: the %d steps that were skipped because a scaled gradient was infinite in f16.",
              (int)scaler.skipped);
}

int main(int argc, char **argv)
{
    static const draw_picture pictures[] = {
        { "rounding.svg", 262, "Largest relative error of a conversion to f16 and to bf16, from 2^-32 to 2^20",
          rounding },
        { "stalls.svg", 256, "A sum and a parameter in f32, f16 and bf16: in 16 bits they stop changing", stalls },
        { "scale.svg", 266, "The scale of the loss over 400 steps, and the steps that were skipped", scale },
        { 0 },
    };
    return draw_all(argc, argv, pictures);
}
