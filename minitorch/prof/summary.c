/* summary.c -- a profile as a table for people. */
#include "core/io.h"
#include "prof/mfu.h"
#include "prof/profile.h"
#include "prof/put.h"
#include "core/span.h"

#include <inttypes.h>
#include <string.h>

static const double MIB = 1 << 20;

static void put_work(FILE *out, const mt_profile *p, const mt_profile_roof *roof)
{
    static const mt_profile_roof unknown;
    roof = roof ? roof : &unknown;
    const struct {
        const char *name;
        double flops;
    } peak[] = { { "measured", roof->measured_flops }, { "given", roof->given_flops } };
    if (p->flops > 0 && p->seconds > 0)
        fprintf(out, "work: %.3f GFLOP counted, %.2f GFLOP/s\n", 1e-9 * (double)p->flops,
                1e-9 * (double)p->flops / p->seconds);
    for (int i = 0; i < (int)MT_COUNT(peak); i++) {
        if (peak[i].flops <= 0)
            continue;
        fprintf(out, "of the %s peak of %.1f GFLOP/s:", peak[i].name, 1e-9 * peak[i].flops);
        fprintf(out, " %.2f %% by FLOPs counted", 100 * mt_mfu((double)p->flops, p->seconds, peak[i].flops));
        if (roof->model_flops > 0)
            fprintf(out, ", %.2f %% by the model's (MFU)", 100 * mt_mfu(roof->model_flops, p->seconds, peak[i].flops));
        fputc('\n', out);
    }
}

static double seconds_of(const mt_profile *p, const char *name)
{
    for (int64_t i = 0; i < p->line_count; i++)
        if (strcmp(p->line[i].name, name) == 0)
            return p->line[i].total;
    return 0;
}

/* For several ranks: communication that computing has not hidden. */
static void put_exposed(FILE *out, const mt_profile *p)
{
    double steps = seconds_of(p, MT_SPAN_STEP), waits = seconds_of(p, MT_SPAN_WAIT);
    if (steps > 0)
        fprintf(out, "exposed communication: ranks waited %.3f s in %.3f s of training steps, %.1f %%\n", waits, steps,
                100 * waits / steps);
}

static void put_head(FILE *out, const mt_profile *p, const mt_profile_roof *roof)
{
    fprintf(out, "profile: %.3f s, %" PRId64 " threads, %" PRId64 " spans", p->seconds, p->thread_count, p->spans);
    if (p->dropped > 0)
        fprintf(out, "; the oldest %" PRId64 " are dropped from trace and timeline, not from here", p->dropped);
    fputs("\nmemory:", out);
    for (int d = 0; d < MT_DEVICE_COUNT; d++)
        if (d == 0 || p->peak[d] > 0)
            fprintf(out, "%s at most %.1f MiB on %s", d == 0 ? "" : ",", (double)p->peak[d] / MIB,
                    mt_device_name((mt_device)d));
    fputc('\n', out);
    put_work(out, p, roof);
    put_exposed(out, p);
}

/* Work that was not counted is a dash: unknown, not none. */
static void put_rate(FILE *out, int64_t work, double seconds)
{
    if (work > 0 && seconds > 0)
        fprintf(out, " %9.2f", 1e-9 * (double)work / seconds);
    else
        fprintf(out, " %9s", "-");
}

static void put_line(FILE *out, const mt_profile *p, const mt_profile_line *l, int64_t width)
{
    mt_put_column(out, l->name, width);
    fprintf(out, " %9" PRId64 " %10.3f %7.2f %9.1f %9.1f", l->calls, 1e3 * l->total,
            p->seconds > 0 ? 100 * l->self / p->seconds : 0, 1e6 * l->shortest, 1e6 * l->longest);
    put_rate(out, l->flops, l->self);
    put_rate(out, l->bytes, l->self);
    for (int d = 0; d < MT_DEVICE_COUNT; d++)
        if (d == 0 || p->peak[d] > 0)
            fprintf(out, " %9.1f", (double)l->peak[d] / MIB);
    fputc('\n', out);
}

void mt_profile_summary(FILE *out, const mt_profile *p, const mt_profile_roof *roof)
{
    int64_t width = 4;
    put_head(out, p, roof);
    for (int64_t i = 0; i < p->line_count; i++)
        width = mt_max(width, mt_text_width(p->line[i].name));
    fputc('\n', out);
    mt_put_column(out, "span", width);
    fprintf(out, " %9s %10s %7s %9s %9s %9s %9s", "calls", "total ms", "self %", "least us", "most us", "GFLOP/s",
            "GB/s");
    for (int d = 0; d < MT_DEVICE_COUNT; d++)
        if (d == 0 || p->peak[d] > 0)
            fprintf(out, " %9s", d == 0 ? "peak MiB" : mt_device_name((mt_device)d));
    fputc('\n', out);
    for (int64_t i = 0; i < p->line_count; i++)
        put_line(out, p, &p->line[i], width);
    fputs("\nself %: of the seconds above, without spans inside; several threads may add up to more than 100.\n", out);
}

static mt_status save_summary(const mt_profile *p, const char *path, const mt_profile_roof *roof)
{
    mt_file_writer file;
    MT_TRY(mt_file_writer_open(&file, path));
    mt_profile_summary(file.out, p, roof);
    return mt_file_writer_close(&file);
}

mt_status mt_profile_save(const mt_profile *p, const char *folder, const mt_profile_roof *roof)
{
    char path[4096];
    if (snprintf(path, sizeof path, "%s/timeline.svg", folder) >= (int)sizeof path)
        return mt_fail(MT_ERR_ARGUMENT, "%.200s...: the path is too long", folder);
    MT_TRY(mt_profile_timeline(p, path));
    snprintf(path, sizeof path, "%s/trace.json", folder);
    MT_TRY(mt_profile_trace(p, path));
    snprintf(path, sizeof path, "%s/summary.txt", folder);
    return save_summary(p, path, roof);
}
