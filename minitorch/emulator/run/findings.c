/* findings.c -- findings: the errors and warnings of the emulator about a program.
 *
 * A mistake in a kernel usually occurs in many threads: it is reported once per kind and source line, for the first
 * block and thread, and counted. While a launch runs, findings are only collected; when it has ended they are reported
 * in the order of blocks, so that the output does not depend on the number of CPU threads.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "emulator/run/hooks.h"
#include "emulator/run/setting.h"
#include "emulator/run/workers.h"

#define MOST_FINDINGS 256 /* reported; further ones are dropped */

typedef struct pending {
    emu_finding finding;
    uint64_t order;    /* the block's position in the order of execution */
    unsigned sequence; /* among findings of a block */
} pending;

emu_hooks emu_hook;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static emu_finding reported[MOST_FINDINGS];
static size_t reported_count;
static pending waiting[MOST_FINDINGS];
static size_t waiting_count;
static bool collecting;
static uint64_t errors;

const char *emu_kind_name(emu_kind kind)
{
    static const char *const name[EMU_KINDS] = {
        [EMU_OUT_OF_BOUNDS] = "out-of-bounds",
        [EMU_USE_AFTER_FREE] = "use-after-free",
        [EMU_BAD_POINTER] = "bad-pointer",
        [EMU_MISALIGNED] = "misaligned",
        [EMU_UNINITIALISED] = "uninitialised",
        [EMU_RACE] = "race",
        [EMU_SYNC] = "sync",
        [EMU_ASSERT] = "assert",
        [EMU_LIMIT] = "limit",
        [EMU_ENDLESS] = "endless",
        [EMU_CRASH] = "crash",
        [EMU_UNSUPPORTED] = "unsupported",
        [EMU_HOST_API] = "host-api",
        [EMU_LEAK] = "leak",
    };
    return name[kind];
}

size_t emu_findings(const emu_finding **findings)
{
    *findings = reported;
    return reported_count;
}

static bool same_site(const emu_finding *a, const emu_finding *b)
{
    if (a->kind != b->kind || a->warning != b->warning)
        return false;
    if (a->site.pc || b->site.pc)
        return a->site.pc == b->site.pc;
    return a->site.line == b->site.line && a->site.file && b->site.file && !strcmp(a->site.file, b->site.file);
}

/* "unit.cu:12: error: ...", then kernel, block and thread. Lines of the text after the first are indented. */
/* In one write: other processes may have the same terminal. */
static void print(const emu_finding *f)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        abort();
    if (f->site.file)
        fprintf(out, "%s:%d: ", f->site.file, f->site.line);
    else
        fprintf(out, "cuemu: ");
    fputs(f->warning ? "warning: " : "error: ", out);
    for (const char *c = f->text; *c; c++) {
        fputc(*c, out);
        if (*c == '\n')
            fputs("    ", out);
    }
    fputc('\n', out);
    if (f->kernel)
        fprintf(out, "    kernel %s, block (%u,%u,%u), thread (%u,%u,%u)\n", f->kernel, f->block.x, f->block.y,
                f->block.z, f->thread.x, f->thread.y, f->thread.z);
    fclose(out);
    fflush(stdout);
    fwrite(text, 1, size, stderr);
    free(text);
}

/* A line that was inlined in several places has several pcs. */
static bool same_line(const emu_finding *a, const emu_finding *b)
{
    bool same = a->kind == b->kind && a->warning == b->warning && a->site.line == b->site.line;
    return same_site(a, b) || (same && a->site.file && b->site.file && !strcmp(a->site.file, b->site.file));
}

/* Takes over finding->text. */
static void tell(emu_finding *finding)
{
    if (!finding->site.file && finding->site.pc)
        emu_source(finding->site.pc, &finding->site.file, &finding->site.line);
    if (!finding->site.file) { /* in a kernel of a header: the line that launched it */
        finding->site.file = finding->launch.file;
        finding->site.line = finding->launch.line;
    }
    for (size_t i = 0; i < reported_count; i++) {
        if (same_line(&reported[i], finding)) {
            reported[i].times += finding->times;
            free((char *)(uintptr_t)finding->text);
            return;
        }
    }
    if (reported_count == MOST_FINDINGS) {
        free((char *)(uintptr_t)finding->text);
        return;
    }
    emu_finding *f = &reported[reported_count++];
    *f = *finding;
    print(f);
}

/* Stores it until the launch ends. Among findings of one kind and site, that of the first block is kept. */
static bool collect(const emu_finding *finding, uint64_t order, const char *format, va_list arguments)
{
    pending *p = waiting;
    while (p < waiting + waiting_count && !same_site(&p->finding, finding))
        p++;
    bool known = p < waiting + waiting_count;
    if (known) {
        p->finding.times++;
        if (p->order <= order)
            return false;
        free((char *)(uintptr_t)p->finding.text);
    } else if (waiting_count == MOST_FINDINGS) {
        return false;
    } else {
        waiting_count++;
    }
    uint64_t times = known ? p->finding.times : 1;
    *p = (pending){ .finding = *finding, .order = order, .sequence = (unsigned)(p - waiting) };
    p->finding.times = times;
    char *text;
    p->finding.text = vasprintf(&text, format, arguments) < 0 ? strdup("") : text;
    return !known;
}

static bool add(const emu_thread *thread, bool warning, emu_kind kind, emu_site site, const char *format,
                va_list arguments)
{
    emu_finding finding = { .kind = kind, .warning = warning, .site = site, .times = 1 };
    emu_worker *worker = emu_this_worker();
    uint64_t order = 0;
    if (worker)
        worker->busy++;
    if (thread) {
        const emu_worker *of = thread->warp->worker;
        finding.kernel = of->launch->config->kernel;
        finding.launch = (emu_site){ .file = of->launch->config->file, .line = of->launch->config->line };
        finding.block = of->block;
        finding.thread = thread->index;
        order = of->order;
    }
    pthread_mutex_lock(&lock);
    errors += !warning;
    bool is_new;
    if (collecting) {
        is_new = collect(&finding, order, format, arguments);
    } else {
        size_t before = reported_count;
        char *text;
        finding.text = vasprintf(&text, format, arguments) < 0 ? strdup("") : text;
        tell(&finding);
        is_new = reported_count > before;
    }
    pthread_mutex_unlock(&lock);
    if (worker)
        worker->busy--;
    return is_new;
}

#define ADD(thread, warning)                                           \
    va_list arguments;                                                 \
    va_start(arguments, format);                                       \
    bool is_new = add(thread, warning, kind, site, format, arguments); \
    va_end(arguments);                                                 \
    return is_new

bool emu_error(emu_kind kind, emu_site site, const char *format, ...)
{
    ADD(emu_self, false);
}

bool emu_warning(emu_kind kind, emu_site site, const char *format, ...)
{
    ADD(emu_self, true);
}

bool emu_error_of(const emu_thread *thread, emu_kind kind, emu_site site, const char *format, ...)
{
    ADD(thread, false);
}

bool emu_warning_of(const emu_thread *thread, emu_kind kind, emu_site site, const char *format, ...)
{
    ADD(thread, true);
}

void emu_findings_begin(void)
{
    collecting = true;
}

static int by_order(const void *a, const void *b)
{
    const pending *p = a, *q = b;
    if (p->order != q->order)
        return p->order < q->order ? -1 : 1;
    return p->sequence < q->sequence ? -1 : p->sequence > q->sequence;
}

void emu_findings_flush(uint64_t last_block)
{
    pthread_mutex_lock(&lock);
    collecting = false;
    qsort(waiting, waiting_count, sizeof waiting[0], by_order);
    for (size_t i = 0; i < waiting_count; i++) {
        if (waiting[i].order <= last_block)
            tell(&waiting[i].finding);
        else
            free((char *)(uintptr_t)waiting[i].finding.text);
    }
    waiting_count = 0;
    pthread_mutex_unlock(&lock);
}

/* ---- the end of the program -------------------------------------------------------------------------------------- */

static void at_exit(int status, void *unused)
{
    (void)unused;
    emu_report_leaks();
    emu_report_end();
    fflush(NULL);
    if (errors && !status)
        _exit((int)emu_setting("CUEMU_STATUS", 86));
}

void emu_stop_program(void)
{
    emu_findings_flush(UINT64_MAX);
    emu_output_flush(UINT64_MAX);
    at_exit(0, NULL);
    _exit((int)emu_setting("CUEMU_STATUS", 86));
}

__attribute__((constructor(101))) static void begin(void)
{
    on_exit(at_exit, NULL);
}
