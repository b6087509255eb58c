/* picture.c -- plan.svg: memory bars of the best plans, and a step of the best one; see files.h.
 * 360 units wide, letters of 12, so that a telephone shows it as it is. */
#include <inttypes.h>
#include <math.h>

#include "plan/files.h"
#include "prof/put.h"

enum { WIDE = 360, LEFT = 10, PLOT = 340, LANE = 16, MOST_LANES = 8 };

static const char STYLE[] =
    "<style>text{font:12px sans-serif;fill:#222}.a{fill:#3b78b8}.b{fill:#7fb3d9}.c{fill:#e0902f}.d{fill:#8a6bbf}"
    ".e{fill:#4f9d4f}.f{fill:#c95d58}.g{fill:#bbb}.l{stroke:#222;stroke-width:1.5}.p{fill:#fff}"
    "@media(prefers-color-scheme:dark){text{fill:#eee}.l{stroke:#eee}.p{fill:#161616}.g{fill:#555}}</style>\n";

static void put_bar(FILE *out, char kind, double x, double y, double width, double height)
{
    const double at[] = { x, y, fmax(0, width), height };
    static const char *const keys[] = { "x", "y", "width", "height" };
    fprintf(out, "<rect class=\"%c\"", kind);
    for (int i = 0; i < 4; i++) {
        fprintf(out, " %s=\"", keys[i]);
        mt_put_fixed(out, at[i], 2);
        fputc('"', out);
    }
    fputs("/>\n", out);
}

static void put_line(FILE *out, int64_t x, int64_t y, const char *text)
{
    fprintf(out, "<text x=\"%" PRId64 "\" y=\"%" PRId64 "\">", x, y);
    mt_put_xml(out, text);
    fputs("</text>\n", out);
}

static void put_legend(FILE *out, int64_t y, const char *const *names, const char *kinds)
{
    for (int i = 0; kinds[i]; i++) {
        int64_t x = LEFT + i % 3 * 114, row = y + i / 3 * 18;
        put_bar(out, kinds[i], (double)x, (double)row, 11, 11);
        put_line(out, x + 16, row + 10, names[i]);
    }
}

static int64_t put_memory(FILE *out, const mt_plan_problem *p, const mt_plan_answer *answers, int64_t count, int64_t y)
{
    static const char *const names[] = { "parameters", "16-bit copies", "gradients",
                                         "optimizer",  "messages",      "activations" };
    double most = (double)p->device.memory;
    char text[120];
    snprintf(text, sizeof text, "Memory of a device at the peak; line: the %.4g GB", (double)p->device.memory / 1e9);
    put_line(out, LEFT, y + 14, text);
    y += 22;
    put_legend(out, y, names, "abcdef");
    y += 42;
    for (int64_t i = 0; i < count; i++)
        most = fmax(most, (double)answers[i].estimate.peak);
    for (int64_t i = 0; i < count; i++, y += 38) {
        const mt_plan_strategy *s = &answers[i].strategy;
        mt_plan_cost c = mt_plan_worst(p, s);
        const int64_t part[] = { c.parameters, c.copies, c.gradients, c.optimizer, c.buffers };
        double scale = (PLOT - 10) / most, x = LEFT, end = LEFT + (double)c.peak * scale;
        snprintf(text, sizeof text, "dp %" PRId64 ", pp %" PRId64 ", tp %" PRId64 ", ZeRO %" PRId64 ", %s: %.1f GB",
                 s->dp, s->pp, s->tp, s->zero, mt_plan_again(s->recompute), (double)c.peak / 1e9);
        put_line(out, LEFT, y + 12, text);
        for (int k = 0; k < 5; k++) {
            double width = fmin((double)part[k] * scale, end - x);
            put_bar(out, (char)('a' + k), x, (double)y + 16, width, 14);
            x += fmax(0, width);
        }
        put_bar(out, 'f', x, (double)y + 16, end - x, 14);
        fprintf(out, "<path class=\"l\" d=\"M%d %" PRId64 "v18\"/>\n", LEFT + (int)((double)p->device.memory * scale),
                y + 14);
    }
    return y;
}

/* Seconds of a step of one stage: arithmetic, and messages that nothing hides. */
static void busy_of(double *work, double *messages, const mt_plan_problem *p, const mt_plan_strategy *s, int64_t stage)
{
    mt_plan_problem silent = *p;
    silent.device.link = silent.device.network = INFINITY;
    silent.device.latency = 0;
    mt_plan_cost cost = mt_plan_cost_of(&p->model, s, stage);
    int64_t layers = mt_plan_layers(&p->model, s->pp, stage);
    *work = (double)s->micro * mt_plan_stage_seconds(&silent, s, &cost, layers);
    *messages = (double)s->micro * mt_plan_stage_seconds(p, s, &cost, layers) - *work;
}

static int64_t put_step(FILE *out, const mt_plan_problem *p, const mt_plan_answer *best, int64_t y)
{
    static const char *const names[] = { "computation", "communication", "idle" };
    const mt_plan_strategy *s = &best->strategy;
    const mt_plan_estimate *e = &best->estimate;
    char text[120];
    int64_t lanes = mt_min(s->pp, MOST_LANES);
    double scale = PLOT / e->step, begins = e->bubble / 3; /* forward is a third */
    snprintf(text, sizeof text, "One step of the first plan: %.4g s, MFU %.3f", e->step, e->mfu);
    put_line(out, LEFT, y + 14, text);
    put_legend(out, y + 22, names, "acg");
    y += 44;
    for (int64_t lane = 0; lane < lanes; lane++, y += LANE + 22) {
        int64_t stage = lanes > 1 ? lane * (s->pp - 1) / (lanes - 1) : 0;
        double work, messages, start = s->pp > 1 ? begins * (double)stage / (double)(s->pp - 1) : 0;
        busy_of(&work, &messages, p, s, stage);
        snprintf(text, sizeof text, "stage %" PRId64 ": %.3g s, %.3g s, %.3g s", stage + 1, work, messages + e->data,
                 e->step - work - messages - e->data);
        put_line(out, LEFT, y + 12, text);
        put_bar(out, 'g', LEFT, (double)y + 16, PLOT, LANE);
        put_bar(out, 'a', LEFT + start * scale, (double)y + 16, work * scale, LANE);
        put_bar(out, 'c', LEFT + (start + work) * scale, (double)y + 16, messages * scale, LANE);
        put_bar(out, 'c', LEFT + (e->step - e->data) * scale, (double)y + 16, e->data * scale, LANE);
    }
    put_line(out, LEFT, y + 12, "Micro-batches are drawn as one; the last");
    put_line(out, LEFT, y + 27, "messages are those of the gradients.");
    return y + 38;
}

void mt_plan_svg(FILE *out, const mt_plan_problem *p, const mt_plan_answer *answers, int64_t count)
{
    int64_t lanes = mt_min(answers->strategy.pp, MOST_LANES);
    int64_t high = 6 + 64 + 38 * count + 10 + 44 + (LANE + 22) * lanes + 38;
    fprintf(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %" PRId64 "\">\n%s", WIDE, high, STYLE);
    put_bar(out, 'p', 0, 0, WIDE, (double)high);
    int64_t y = put_memory(out, p, answers, count, 6);
    put_step(out, p, answers, y + 10);
    fputs("</svg>\n", out);
}
