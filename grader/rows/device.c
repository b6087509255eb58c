/* device.c -- see device.h. The emulator runs in the worker; its report is not trusted, only described and checked for
 * plausibility. */
#include "rows/device.h"
#include "rows/run.h"

#include <stdio.h>
#include <string.h>

static const char report_name[] = ""; /* no name: not shown among the arguments */

const mg_device_report *mg_device_counts(mg_run *run)
{
    return mg_result(run, report_name);
}

/* Text from the worker's memory ends where its array ends. */
#define TEXT(array) (int)sizeof(array), array

/* Takes the lines out of what was printed that the emulator printed: the verdict has them. */
static void drop_findings(char *printed)
{
    char *to = printed, *rest = printed;
    for (char *line; (line = strsep(&rest, "\n"));) {
        size_t length = strlen(line);
        if (strncmp(line, "    ", 4) == 0 || strstr(line, ": error: ") || strstr(line, ": warning: "))
            continue;
        if (to > printed)
            *to++ = '\n';
        memmove(to, line, length);
        to += length;
    }
    *to = 0;
}

static bool find_line(const mg_run *run, uint64_t pc, char *line, size_t size)
{
    return pc && mg_build_line(&run->bench->build, run->bench->worker_path, &pc, 1, line, size);
}

/* The emulator's finding with its lines. One with a hint of its own is the cause of the failure: the row's hint would
 * lead elsewhere. */
static void describe_finding(mg_run *run, const mg_device_report *r, char *words, size_t size)
{
    static const char label[] = "\nhint: ";
    char line[128] = "", other[128] = "", text[sizeof r->text + 1];
    snprintf(text, sizeof text, "%.*s", TEXT(r->text));
    char *hint = strstr(text, label), *rest = hint ? strchr(hint + 1, '\n') : NULL;
    if (hint) {
        snprintf(run->row->hint, sizeof run->row->hint, "%.*s", (int)strcspn(hint + sizeof label - 1, "\n"),
                 hint + sizeof label - 1);
        memmove(hint, rest ? rest : "", strlen(rest ? rest : "") + 1);
    }
    bool known = find_line(run, r->pc, line, sizeof line);
    bool second = find_line(run, r->other, other, sizeof other); /* the text of a race ends with its other access */
    if (!known && r->file[0])
        snprintf(line, sizeof line, "%.*s:%d", TEXT(r->file), r->line);
    snprintf(words, size, "%s%s%s%s%s%s%.*s", line, line[0] ? ": " : "", text, second ? " at " : "", other,
             r->where[0] ? "\n" : "", TEXT(r->where));
    mg_keep_printed(run);
    drop_findings(run->row->printed);
}

#define MISALIGNED "misaligned access" /* how the emulator's text begins */

static void judge_finding(mg_run *run)
{
    const mg_device_report *r = mg_device_counts(run);
    char words[2048];
    run->row->verdict = MG_FAIL; /* what it printed is kept */
    describe_finding(run, r, words, sizeof words);
    if (run->off && strncmp(r->text, MISALIGNED, strlen(MISALIGNED)) == 0)
        snprintf(run->row->hint, sizeof run->row->hint,
                 "an array may begin at any multiple of its type's size: test the pointer before accesses to several "
                 "elements at once, as mt_aligned4 does for float4");
    mg_judge(run, MG_FAIL, "%s", words);
    mg_session_end(run->session); /* after an error the device cannot be used again */
    run->session = NULL;
}

bool mg_on_the_device(const mg_run *run)
{
    return strstr(run->function, "_cuda") || strstr(run->function, "_cublas");
}

/* A warning of a race in which all threads write the same value: it is not why values are wrong. */
static bool is_harmless(const mg_device_report *r)
{
    return strncmp(r->text, "race", 4) == 0;
}

void mg_device_lead(mg_run *run)
{
    const mg_argument *last = run->arguments ? &run->argument[run->arguments - 1] : NULL;
    const mg_device_report *r = last && !last->name[0] ? last->result : NULL;
    char words[2048], detail[sizeof run->row->detail];
    if (run->row->verdict != MG_FAIL || !r || r->errors || r->failed || !r->text[0] || is_harmless(r))
        return;
    describe_finding(run, r, words, sizeof words);
    memcpy(detail, run->row->detail, sizeof detail);
    snprintf(run->row->detail, sizeof run->row->detail, "%.600s\n%.400s", words, detail);
}

void mg_unaligned(mg_run *run, bool off)
{
    run->off = off ? MG_OFF_ALL : MG_OFF_NONE;
}

void mg_unaligned_one(mg_run *run, int number)
{
    run->off = MG_OFF_ONE + (uint32_t)number;
}

void mg_place_arrays(mg_run *run, mg_where where)
{
    run->where = where;
}

void mg_device_ask(mg_run *run)
{
    mg_out(run, report_name, MT_U8, MT_SHAPE(sizeof(mg_device_report)));
}

/* Whether an output has other values than it was sent with, and not only zeros, which cudaMemset can write. */
static bool has_values(const mg_run *run)
{
    for (int i = 0; i < run->arguments; i++) {
        const mg_argument *a = &run->argument[i];
        const char *result = a->result;
        bool own = !a->name[0] || strcmp(a->name, "aborted") == 0; /* the worker's */
        if (!result || own || memcmp(result, a->data, (size_t)a->bytes) == 0)
            continue;
        for (int64_t b = 0; b < a->bytes; b++)
            if (result[b])
                return true;
    }
    return false;
}

/* What makes no value wrong, and costs no points. */
static void advise(mg_run *run, const mg_device_report *r)
{
    char line[128] = "";
    if (run->row->note[0])
        return;
    if (r->unchecked[0])
        mg_note(run, "%.*s: no MT_LAUNCHED behind this launch: nobody learns that CUDA refused it", TEXT(r->unchecked));
    else if (find_line(run, r->waited, line, sizeof line))
        mg_note(run, "%s: waits for the device: until then the host can launch nothing more", line);
    else if (r->text[0] && find_line(run, r->pc, line, sizeof line))
        mg_note(run, "%s: warning: %.*s", line, (int)strcspn(r->text, "\n"), r->text);
}

bool mg_device_failed(mg_run *run)
{
    const mg_device_report *r = mg_on_the_device(run) ? mg_device_counts(run) : NULL;
    return r && (r->errors || r->failed);
}

bool mg_device_judge(mg_run *run)
{
    const mg_device_report *r = mg_device_counts(run);
    if (mg_device_failed(run)) {
        judge_finding(run);
        return false;
    }
    if (r->changed >= 0 && r->changed < run->arguments) {
        mg_judge(run, MG_FAIL, "%s was written, but it is an input", run->argument[r->changed].name);
        return false;
    }
    if (r->launches == 0 && r->library == 0 && has_values(run)) {
        mg_judge(run, MG_FAIL, "the outputs were written, but no kernel was launched");
        return false;
    }
    advise(run, r);
    return true;
}

/* The sum of a field over loads, stores and atomics. */
#define SUM(traffic, field) ((double)((traffic)[0].field + (traffic)[1].field + (traffic)[2].field))

static double value_of(const mg_device_report *r, mg_count count, double of)
{
    switch (count) {
    case MG_TRAFFIC:
        return 32 * SUM(r->global, passes) / of;
    case MG_REQUESTS:
        return 128 * SUM(r->global, requests) / of;
    case MG_CONFLICTS:
        return 1 + (SUM(r->shared, passes) - SUM(r->shared, ideal)) / of;
    case MG_WAVEFRONTS:
        return SUM(r->shared, passes) / of;
    default:
        return (double)r->global[2].lanes / of;
    }
}

/* `least`: the minimum for any kernel, less a hundredth for bytes that only some inputs need. */
static const struct {
    double least;
    const char *unit;
} counts[] = {
    [MG_TRAFFIC] = { 0.99, "times the minimum of bytes" },
    [MG_REQUESTS] = { 0.24, "times the requests of single floats" },
    [MG_CONFLICTS] = { 1, "times the wavefronts without conflicts" },
    [MG_WAVEFRONTS] = { 0, "wavefronts of shared memory in a block" },
    [MG_ATOMICS] = { 0, "atomics on memory for an element" },
};

double mg_device_share(mg_run *run, double bytes)
{
    return bytes / (double)mt_max(mg_device_counts(run)->busiest, 1);
}

bool mg_device_moves(mg_run *run, const char *bar, double bytes)
{
    double times = 32 * SUM(mg_device_counts(run)->global, passes) / bytes;
    if (times > mg_bar(run, bar, "low"))
        mg_fail(run, "moves %.3g times the minimum of bytes: shared memory counts once the row of the traffic passes",
                times);
    return !run->judged;
}

enum { BAR = sizeof((mg_row *)0)->step + sizeof((mg_row *)0)->name };

static void bar_of(const mg_run *run, char bar[BAR])
{
    snprintf(bar, BAR, "%s %s", run->row->step, run->row->name);
}

void mg_device_credit_shared(mg_run *run, mg_count count, const char *traffic, double bytes)
{
    char bar[BAR];
    bar_of(run, bar);
    if (mg_device_moves(run, traffic, bytes))
        mg_device_credit(run, count, mg_bar(run, bar, count == MG_CONFLICTS ? "ideal" : "blocks"));
}

void mg_device_credit(mg_run *run, mg_count count, double of)
{
    const mg_device_report *r = mg_device_counts(run);
    double value = value_of(r, count, of);
    char bar[BAR];
    bar_of(run, bar);
    if (count == MG_CONFLICTS && SUM(r->shared, ideal) == 0) {
        mg_judge(run, MG_FAIL, "the kernel did not use shared memory");
        return;
    }
    if (!(value >= counts[count].least)) /* NaN too */
        mg_review(run, "counted %.3g %s, and less than %.3g is not possible", value, counts[count].unit,
                  counts[count].least);
    mg_note(run, "%.2f %s (bar %.2f .. %.2f)  counted, no GPU", value, counts[count].unit, mg_bar(run, bar, "low"),
            mg_bar(run, bar, "full"));
    mg_credit(run, bar, value);
}
