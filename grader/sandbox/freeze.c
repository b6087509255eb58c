/* freeze.c -- SIGSTOP, and /proc to see that it took effect. SIGSTOP cannot be caught, and /proc is reported by the
 * kernel, not by the program. */
#include "sandbox/freeze.h"
#include "sandbox/patience.h"

#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { FREEZE_SECONDS = 5, STARVED_SECONDS = 120, AHEAD = -10 };
#define SOON 0.01 /* seconds: mostly it has stopped by then */

/* A small file of /proc as a string; false if it no longer exists. */
static bool slurp(const char *path, char *text, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, size - 1);
    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = 0;
    return n > 0;
}

pid_t mg_program(const mg_process *process)
{
    char path[64], text[256], *end;
    if (process->reaper <= 0)
        return process->child;
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)process->reaper, (int)process->reaper);
    if (!slurp(path, text, sizeof text))
        return 0;
    long pid = strtol(text, &end, 10);
    return *end && end[strspn(end, " \n")] ? 0 : (pid_t)pid;
}

/* One value per thread of a program, folded; stops at the first thread for which visit is false. */
static bool each_thread(pid_t program, const char *file, bool (*visit)(const char *text, double *sum), double *sum)
{
    char path[64], text[512];
    snprintf(path, sizeof path, "/proc/%d/task", (int)program);
    DIR *tasks = opendir(path);
    bool good = tasks != NULL;
    for (struct dirent *e; good && (e = readdir(tasks));) {
        if (e->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "/proc/%d/task/%.20s/%s", (int)program, e->d_name, file);
        if (slurp(path, text, sizeof text)) /* a thread may end while we look */
            good = visit(text, sum);
    }
    if (tasks)
        closedir(tasks);
    return good;
}

static bool is_stopped(const char *stat, double *unused)
{
    const char *after_name = strrchr(stat, ')');
    (void)unused;
    return after_name && (after_name[2] == 'T' || after_name[2] == 'Z' || after_name[2] == 'X');
}

static bool add_waited(const char *schedstat, double *sum)
{
    double ran, waited;
    if (sscanf(schedstat, "%lf %lf", &ran, &waited) == 2)
        *sum += 1e-9 * waited;
    return true;
}

static bool count(const char *text, double *sum)
{
    (void)text;
    *sum += 1;
    return true;
}

/* The state of a program's first thread; 'Z' when it has ended, even if others are running. */
static char state_of(pid_t program)
{
    char path[64], text[512];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)program);
    const char *after_name = slurp(path, text, sizeof text) ? strrchr(text, ')') : NULL;
    return after_name ? after_name[2] : 'Z';
}

/* Stopped, ended or ready to run: not one that sleeps where no signal wakes it. */
static bool is_ready(const char *stat, double *unused)
{
    const char *after_name = strrchr(stat, ')');
    return is_stopped(stat, unused) || (after_name && after_name[2] == 'R');
}

/* The limit is for the program's own time: none passes while it is ready to run and gets no processor. */
mg_frozen mg_freeze(pid_t program)
{
    double ran = 0, own = 0, waited = 0;
    char state;
    mg_patience patience = mg_patience_new();
    if (program <= 0 || kill(program, SIGSTOP))
        return MG_UNFROZEN;
    while ((state = state_of(program)) != 'Z' && own < FREEZE_SECONDS && waited < STARVED_SECONDS) {
        if (state == 'T' && each_thread(program, "stat", is_stopped, NULL))
            return MG_FROZEN;
        nanosleep(&(struct timespec){ .tv_nsec = 20000 }, NULL);
        double now = mg_waiting(&patience), cpu = now > SOON ? mg_cpu_seconds(program) : -1;
        if (cpu < 0 || cpu > ran || !each_thread(program, "stat", is_ready, NULL))
            own += now - waited;
        waited = now;
        ran = cpu;
    }
    return state == 'Z' || own >= FREEZE_SECONDS ? MG_UNFROZEN : MG_STARVED;
}

void mg_thaw(pid_t program)
{
    if (program > 0)
        kill(program, SIGCONT);
}

/* Bind one thread to the lowest free processor. */
static bool take_processor(pid_t thread, cpu_set_t *left)
{
    cpu_set_t one;
    size_t cpu = 0;
    while (cpu < CPU_SETSIZE && !CPU_ISSET(cpu, left))
        cpu++;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    CPU_CLR(cpu, left);
    return sched_setaffinity(thread, sizeof one, &one) == 0;
}

static bool prefer(const char *stat, double *unused)
{
    (void)unused;
    setpriority(PRIO_PROCESS, (id_t)strtol(stat, NULL, 10), AHEAD);
    return true;
}

/* Give it priority over other programs if that is allowed (as root). The kernel may schedule sessions first, and then
 * the programs in each. */
static void run_ahead(pid_t program)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/autogroup", (int)program);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd >= 0) {
        dprintf(fd, "%d", AHEAD);
        close(fd);
    }
    each_thread(program, "stat", prefer, NULL);
}

void mg_spread(pid_t program)
{
    char path[64];
    cpu_set_t allowed;
    double threads = 0;
    run_ahead(program);
    if (sched_getaffinity(program, sizeof allowed, &allowed) || !each_thread(program, "stat", count, &threads) ||
        CPU_COUNT(&allowed) != (int)threads)
        return;
    snprintf(path, sizeof path, "/proc/%d/task", (int)program);
    DIR *tasks = opendir(path);
    for (struct dirent *e; tasks && (e = readdir(tasks)) && CPU_COUNT(&allowed) > 0;)
        if (e->d_name[0] != '.' && !take_processor((pid_t)strtol(e->d_name, NULL, 10), &allowed))
            break;
    if (tasks)
        closedir(tasks);
}

double mg_cpu_seconds(pid_t program)
{
    clockid_t clock;
    struct timespec t;
    if (program <= 0 || clock_getcpuclockid(program, &clock) || clock_gettime(clock, &t))
        return 0;
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double mg_waited_seconds(pid_t program)
{
    double sum = 0;
    each_thread(program, "schedstat", add_waited, &sum);
    return sum;
}

enum { DEEPEST = 12, MOST_CHILDREN = 4096 };

/* The numbers of a process's children, separated by blanks. */
static bool children_of(pid_t process, char text[MOST_CHILDREN])
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)process, (int)process);
    return slurp(path, text, MOST_CHILDREN);
}

/* What `of` returns for each process that this one has started, and they have, added up; the last ones first. */
static double below(pid_t process, double (*of)(pid_t child), int depth)
{
    char text[MOST_CHILDREN];
    double sum = 0;
    children_of(process, text);
    for (char *rest = text, *end; depth < DEEPEST; rest = end) {
        long child = strtol(rest, &end, 10);
        if (end == rest)
            break;
        sum += below((pid_t)child, of, depth + 1);
        sum += of((pid_t)child);
    }
    return sum;
}

static double kill_it(pid_t child)
{
    kill(child, SIGKILL);
    return 0;
}

void mg_kill_below(pid_t process)
{
    if (process > 0)
        below(process, kill_it, 0);
}

static double seconds_of(pid_t process)
{
    char path[64], text[512];
    unsigned long long user = 0, system = 0, ended_user = 0, ended_system = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)process);
    const char *after_name = slurp(path, text, sizeof text) ? strrchr(text, ')') : NULL;
    if (!after_name || sscanf(after_name + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu %llu %llu", &user,
                              &system, &ended_user, &ended_system) != 4)
        return 0;
    return (double)(user + system + ended_user + ended_system) / (double)sysconf(_SC_CLK_TCK);
}

double mg_tree_seconds(pid_t process)
{
    return process > 0 ? seconds_of(process) + below(process, seconds_of, 0) : 0;
}

double mg_tree_waited(pid_t process)
{
    return process > 0 ? mg_waited_seconds(process) + below(process, mg_waited_seconds, 0) : 0;
}
