/* tools.c -- running the compiler, the linker and other tools in a sandbox, with limits of time, output and, for what a
 * submission's own texts cost, of processor time in all. */
#include "build/tools.h"
#include "sandbox/freeze.h"
#include "sandbox/patience.h"
#include "sandbox/session.h"

#include <math.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const mg_limits tool_limits = {
    .cpu_s = 1,
    /* times the factor in sandbox.c: 64 s */ .wall_s = 60,
    .memory_mib = 4096,
    .file_mib = 64,
    .output_kib = 512,
};

/* ---- running a tool ------------------------------------------------------------------------- */

enum { TOO_MUCH_OUTPUT = -1, OVERDUE = -2, TOO_MUCH_WORK = -3, ALL_WORK = -4, MOST_BUSY = 5 };

/* Several tools run at once. */
static double used_so_far(const mg_work *work)
{
    double used;
#pragma omp atomic read
    used = work->used;
    return used;
}

/* Read what a tool prints (the beginning goes to `log`) until it ends or exceeds its limits. Returns its status. A tool
 * that had the processor for less than half of its time waits for others: its time limit is five times as long. */
static int watch(mg_process *process, const mg_limits *limits, mg_work *work, char *log, size_t size)
{
    char chunk[8192];
    size_t used = 0, total = 0;
    mg_patience patience = mg_patience_new();
    struct pollfd p[2] = { { .fd = process->output, .events = POLLIN }, { .fd = process->pidfd, .events = POLLIN } };
    int over = 0;
    double worked = 0;
    for (bool ended = false; !ended && !over;) {
        poll(p, 2, MG_TICK_MS);
        ended = p[1].revents;
        for (ssize_t n; (n = read(process->output, chunk, sizeof chunk)) > 0 && !over;) {
            size_t take = mt_min(n, (int64_t)(size - 1 - used));
            memcpy(log + used, chunk, take);
            used += take;
            total += (size_t)n;
            over = total > (size_t)limits->output_kib << 10 ? TOO_MUCH_OUTPUT : 0;
        }
        double waited = mg_waiting(&patience);
        worked = fmax(worked, mg_tree_seconds(process->child));
        double of_all = work ? used_so_far(work) + worked : 0;
        if (!over && !ended && (mg_stop || waited > limits->wall_s * MOST_BUSY))
            over = OVERDUE;
        else if (!over && !ended && waited > limits->wall_s && worked > limits->wall_s / 2)
            over = TOO_MUCH_WORK;
        else if (!over && !ended && work && of_all > work->most)
            over = ALL_WORK;
    }
    if (work) {
#pragma omp atomic update
        work->used += worked;
    }
    log[used] = 0;
    int status = mg_process_end(process);
    return over ? over : status;
}

bool mg_is_spent(const mg_work *work, const char *what, char *log, size_t size)
{
    bool spent = used_so_far(work) >= work->most;
    if (spent)
        snprintf(log, size, "%s: left out, because compiling the units took more than %.0f s of processor time\n", what,
                 work->most);
    return spent;
}

/* Why a tool was ended, as the last line of what it printed. */
static void add_reason(char *log, size_t size, const char *what, int code)
{
    char line[160];
    const char *why = code == TOO_MUCH_WORK     ? "it took too long"
                      : code == ALL_WORK        ? "no processor time is left for compiling"
                      : code == TOO_MUCH_OUTPUT ? "it printed more than 512 KiB"
                                                : "without a message: too much time, memory or output";
    int length = snprintf(line, sizeof line, "%s%s was ended (status %d): %s", log[0] ? "\n" : "", what, code, why);
    size_t at = strlen(log), room = (size_t)length + 1;
    if (room <= size)
        memcpy(log + (at < size - room ? at : size - room), line, room);
}

/* Whether the system killed a program of gcc. One that reaches a limit of ours is not killed: it says that it is out of
 * memory. Lines about a unit begin with a path. */
static bool is_killed(const char *log)
{
    const char *at = strstr(log, "gcc: fatal error: Killed signal terminated program");
    return at && (at == log || at[-1] == '\n');
}

mt_status mg_run_tool(const mg_sandbox *box, const char *what, mg_work *work, char *log, size_t size)
{
    mg_process process;
    mt_status status = mg_sandbox_start(&process, box);
    if (status != MT_OK)
        return status;
    int code = watch(&process, &box->limits, work, log, size);
    if (code == 0)
        return MT_OK;
    if (mg_stop)
        return mt_fail(MT_ERR_STOPPED, "interrupted");
    if (code == TOO_MUCH_WORK || code == ALL_WORK || code == TOO_MUCH_OUTPUT || !log[0])
        add_reason(log, size, what, code);
    if (code == OVERDUE)
        return mt_fail(MT_ERR_UNAVAILABLE, "%s took longer than %g s: the machine is busy, grade again", what,
                       box->limits.wall_s * MOST_BUSY);
    if (is_killed(log))
        return mt_fail(MT_ERR_UNAVAILABLE, "%s was killed: the machine has too little memory, grade again", what);
    return mt_fail(MT_ERR_FORMAT, "%s failed", what);
}

mg_sandbox mg_tool_box(const mg_build *b, const char *const *argv, const char *folder)
{
    return (mg_sandbox){ .confined = b->confined,
                         .toolchain = true,
                         .tmp_mib = 256,
                         .filter = MG_FILTER_COMPILER,
                         .limits = tool_limits,
                         .argv = argv,
                         .folder = folder };
}

/* Output of a sandboxed tool must be a plain file before we use it. */
mt_status mg_is_plain(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0 && S_ISREG(st.st_mode) ? MT_OK : mt_fail(MT_ERR_FORMAT, "%s was not made", path);
}
