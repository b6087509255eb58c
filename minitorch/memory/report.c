/* report.c -- the account of a recording as a table, CSV and picture; see report.h. */
#include "memory/report.h"
#include "core/io.h"
#include "prof/curve.h"
#include "prof/put.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_OPS = 10 /* of the table */ };

static const double MB = 1e6;

/* ---- the account -------------------------------------------------------------------------------------------- */

static int op_of(const mt_profile *p, const char *name)
{
    int op = 0;
    for (int64_t i = 0; name && i < p->line_count; i++)
        if (p->line[i].name == name)
            op = (int)i + 1;
    return op;
}

static const char *op_name(const mt_profile *p, int op)
{
    return op > 0 ? p->line[op - 1].name : "no op";
}

mt_account mt_memory_account(mt_profile *p)
{
    mt_account account = mt_account_new((int)p->line_count + 1);
    free(p->sample);
    p->sample = mt_calloc(p->block_count + 1, sizeof *p->sample);
    p->sample_count = p->block_count;
    for (int64_t i = 0; i < p->block_count; i++) {
        const mt_profile_block *b = &p->block[i];
        const mt_block block = { b->address, b->bytes, b->device, b->use, op_of(p, b->op), NULL };
        mt_account_note(&account, &block);
        p->sample[i] = (mt_profile_sample){ .at = b->at, .device = b->device };
        memcpy(p->sample[i].live, account.device[b->device].live.use, sizeof p->sample[i].live);
    }
    return account;
}

/* ---- the table ---------------------------------------------------------------------------------------------- */

static void put_row(FILE *out, const char *name, int64_t width, int64_t bytes, int64_t all)
{
    fputs("  ", out);
    mt_put_column(out, name, width);
    fprintf(out, " %12.3f %7.1f %%", (double)bytes / MB, all > 0 ? 100 * (double)bytes / (double)all : 0);
}

/* The op with most bytes at the peak, of those with less than before, or as many and a larger number. -1: none. */
static int next_op(const mt_account *a, const mt_account_device *d, int before)
{
    int best = -1;
    for (int op = 0; op < a->ops; op++) {
        int64_t bytes = d->peak.op[op], last = before < 0 ? INT64_MAX : d->peak.op[before];
        if (bytes > 0 && (bytes < last || (bytes == last && op > before)) && (best < 0 || bytes > d->peak.op[best]))
            best = op;
    }
    return best;
}

static void put_ops(FILE *out, const mt_profile *p, const mt_account *a, const mt_account_device *d, int64_t width)
{
    int op = -1, rows = 0;
    fputs("\n  ", out);
    mt_put_column(out, "op that allocated it", width);
    fprintf(out, " %12s %9s %12s\n", "MB then", "share", "its peak MB");
    while ((op = next_op(a, d, op)) >= 0 && rows++ < MOST_OPS) {
        put_row(out, op_name(p, op), width, d->peak.op[op], d->peak.all);
        fprintf(out, " %12.3f\n", (double)d->op_most[op] / MB);
    }
}

void mt_memory_print(FILE *out, const mt_profile *p, const mt_account *a)
{
    int64_t width = mt_text_width("op that allocated it");
    for (int64_t i = 0; i < p->line_count; i++)
        width = mt_max(width, mt_text_width(p->line[i].name));
    for (int i = 0; i < MT_DEVICE_COUNT; i++) {
        const mt_account_device *d = &a->device[i];
        if (d->peak.all == 0)
            continue;
        fprintf(out, "memory on %s: at most %.3f MB, in ", mt_device_name((mt_device)i), (double)d->peak.all / MB);
        mt_put_column(out, op_name(p, d->peak_op), 0);
        fputs("\n  ", out);
        mt_put_column(out, "what it was for", width);
        fprintf(out, " %12s %9s\n", "MB then", "share");
        for (int use = 0; use < MT_USES; use++) {
            put_row(out, mt_use_name[use], width, d->peak.use[use], d->peak.all);
            fputc('\n', out);
        }
        put_ops(out, p, a, d, width);
    }
}

/* ---- over time ---------------------------------------------------------------------------------------------- */

/* When the first batch was asked for: training begins. */
static double begin_of(const mt_profile *p)
{
    double begin = p->seconds;
    for (int64_t t = 0; t < p->thread_count; t++)
        for (int64_t i = 0; i < p->thread[t].count; i++) {
            const mt_profile_event *e = &p->thread[t].event[i];
            if (e->begin < begin && strcmp(p->line[e->line].name, "next batch") == 0)
                begin = e->begin;
        }
    return begin < p->seconds ? begin : 0;
}

/* The last device that had any memory in the recording: where the model was. */
static mt_device device_of(const mt_profile *p)
{
    mt_device device = MT_CPU;
    for (int64_t i = 0; i < p->block_count; i++)
        device = p->block[i].device > device ? p->block[i].device : device;
    return device;
}

static void put_live(FILE *out, double seconds, const int64_t live[MT_USES])
{
    mt_put_fixed(out, 1e3 * seconds, 6);
    for (int use = 0; use < MT_USES; use++) {
        fputc(',', out);
        mt_put_fixed(out, (double)live[use] / MB, 6);
    }
    fputc('\n', out);
}

/* Two rows for each change, before and after it: lines through them are steps. */
static mt_status save_csv(const char *path, const mt_profile *p)
{
    mt_file_writer file;
    int64_t live[MT_USES] = { 0 };
    double begin = begin_of(p);
    bool begun = false;
    MT_TRY(mt_file_writer_open(&file, path));
    fputs("milliseconds", file.out);
    for (int use = 0; use < MT_USES; use++)
        fprintf(file.out, ",%s", mt_use_name[use]);
    fputc('\n', file.out);
    for (int64_t i = 0; i < p->sample_count; i++) {
        const mt_profile_sample *s = &p->sample[i];
        if (s->device != device_of(p))
            continue;
        if (s->at >= begin) {
            put_live(file.out, begun ? s->at - begin : 0, live);
            put_live(file.out, s->at - begin, s->live);
            begun = true;
        }
        memcpy(live, s->live, sizeof live);
    }
    put_live(file.out, p->seconds - begin, live);
    return mt_file_writer_close(&file);
}

static mt_status draw(const char *svg, const char *csv, const mt_profile *p, const mt_account *a)
{
    mt_device device = device_of(p);
    const mt_account_device *d = &a->device[device];
    char title[512];
    snprintf(title, sizeof title, "Memory on %s: at most %.1f MB, in %s", mt_device_name(device),
             (double)d->peak.all / MB, op_name(p, d->peak_op));
    mt_curve curve = { .title = title, .x = "milliseconds", .left = "MB", .stacked = true };
    for (int use = 0; use < MT_USES; use++)
        curve.line[use].column = curve.line[use].label = mt_use_name[use];
    return mt_curve_svg(svg, csv, &curve);
}

mt_status mt_memory_save(const char *folder, const mt_profile *p, const mt_account *a)
{
    char csv[4096], other[4096];
    if (snprintf(csv, sizeof csv, "%s/memory.csv", folder) >= (int)sizeof csv - 3)
        return mt_fail(MT_ERR_ARGUMENT, "%.200s...: the path is too long", folder);
    MT_TRY(save_csv(csv, p));
    snprintf(other, sizeof other, "%s/memory.json", folder);
    MT_TRY(mt_profile_trace(p, other));
    snprintf(other, sizeof other, "%s/memory.pickle", folder);
    MT_TRY(mt_memory_snapshot(other, p));
    snprintf(other, sizeof other, "%s/memory.svg", folder);
    return draw(other, csv, p, a);
}
