/* sandbox.c -- bubblewrap's command line, the fork, the limits; landlock.c has the other kind.
 *
 * The child does, in this order: a session of its own (Ctrl-C is for the grader), descriptors moved into place and all
 * others closed (bubblewrap would pass them on), limits, uid, then exec. The limit on processes is not set here: it
 * counts per user, and before bubblewrap has made its user namespace it would include all processes of that user. A
 * worker's launcher sets it inside (worker/launch.c). */
#include "sandbox/sandbox.h"
#include "sandbox/freeze.h"
#include "sandbox/landlock.h"
#include "sandbox/patience.h"
#include "sandbox/scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/close_range.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define END_SECONDS 0.05

static const char bubblewrap[] = "/usr/bin/bwrap";

enum {
    ARGUMENTS = 256,
    CONTROL = 2, /* descriptors for bubblewrap itself: filter, info */
    START_SECONDS = 10,
    END_TRIES = 20, /* of a twentieth of a second */
    CPU_BACKSTOP =
        64, /* the checker limits the time of each check; the kernel's limit is for the whole life of the worker */
};

/* A command line under construction; `text` holds the numbers in it. */
typedef struct command {
    const char *argv[ARGUMENTS];
    char text[8][16];
    int count, texts;
} command;

/* Data for the child, prepared before the fork. */
typedef struct launch {
    const mg_sandbox *sandbox;
    command command;
    int fd[MG_FDS + CONTROL], fds;
    int output;
} launch;

static void add(command *c, const char *argument)
{
    MT_CHECK(c->count < ARGUMENTS - 1, "the sandbox's command line is full");
    c->argv[c->count++] = argument;
}

#define ADD(c, ...)                                                                     \
    for (const char *const *a_ = (const char *const[]){ __VA_ARGS__, NULL }; *a_; a_++) \
    add(c, *a_)

static const char *number(command *c, int64_t value)
{
    MT_CHECK(c->texts < MT_COUNT(c->text), "too many numbers in the sandbox's command line");
    snprintf(c->text[c->texts], sizeof c->text[0], "%lld", (long long)value);
    return c->text[c->texts++];
}

/* /usr, and the names beside it that are links into it (or, on older systems, folders). */
static void add_toolchain(command *c)
{
    static const char *const beside[] = { "/bin", "/lib", "/lib32", "/lib64", "/libx32" };
    static _Thread_local char target[MT_COUNT(beside)][PATH_MAX];
    ADD(c, "--ro-bind", "/usr", "/usr", "--ro-bind-try", "/etc/alternatives", "/etc/alternatives");
    ADD(c, "--setenv", "PATH", "/usr/bin:/bin");
    for (int64_t i = 0; i < MT_COUNT(beside); i++) {
        ssize_t n = readlink(beside[i], target[i], sizeof target[i] - 1);
        if (n > 0) {
            target[i][n] = 0;
            ADD(c, "--symlink", target[i], beside[i]);
        } else {
            ADD(c, "--ro-bind-try", beside[i], beside[i]);
        }
    }
}

static void add_bubblewrap(command *c, const mg_sandbox *s)
{
    ADD(c, bubblewrap, "--unshare-all", "--unshare-user", "--new-session", "--die-with-parent", "--clearenv");
    ADD(c, "--hostname", "grader", "--cap-drop", "ALL", "--size", "1048576", "--tmpfs", "/");
    if (s->toolchain)
        add_toolchain(c);
    if (s->tmp_mib)
        ADD(c, "--size", number(c, s->tmp_mib << 20), "--tmpfs", "/tmp");
    for (int i = 0; i < MG_PATHS && s->readable[i]; i++)
        ADD(c, "--ro-bind", s->readable[i], s->readable[i]);
    for (int i = 0; i < MG_PATHS && s->writable[i]; i++)
        ADD(c, "--bind", s->writable[i], s->writable[i]);
    ADD(c, "--remount-ro", "/", "--chdir", s->folder ? s->folder : "/");
    ADD(c, "--seccomp", number(c, 3 + s->fds), "--info-fd", number(c, 4 + s->fds), "--");
}

static void limit(int what, int64_t value)
{
    struct rlimit r = { .rlim_cur = (rlim_t)value, .rlim_max = (rlim_t)value };
    setrlimit((__rlimit_resource_t)what, &r);
}

/* A race of n threads gets n processors, so that additional threads bring no advantage. */
static void choose_processors(const mg_sandbox *s)
{
    cpu_set_t all, chosen;
    CPU_ZERO(&chosen);
    if (s->cpus == 0 || sched_getaffinity(0, sizeof all, &all))
        return;
    int count = CPU_COUNT(&all);
    for (int cpu = 0, rank = count - 1; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET((size_t)cpu, &all)) {
            if ((rank + count - s->cpu_shift % count) % count < s->cpus)
                CPU_SET((size_t)cpu, &chosen);
            rank--;
        }
    sched_setaffinity(0, sizeof chosen, &chosen);
}

static void set_limits(const mg_sandbox *s)
{
    limit(RLIMIT_CPU, (int64_t)(s->limits.cpu_s * CPU_BACKSTOP) + 1);
    limit(RLIMIT_AS, s->limits.memory_mib << 20);
    limit(RLIMIT_FSIZE, s->limits.file_mib << 20);
    limit(RLIMIT_STACK, 8 << 20);
    limit(RLIMIT_NOFILE, 64);
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_MEMLOCK, 0);
    limit(RLIMIT_MSGQUEUE, 0);
    choose_processors(s);
}

/* Descriptors 3 .. 3+fds-1 in the wanted order, and no other above them. */
static bool place_descriptors(launch *l)
{
    int null = open("/dev/null", O_RDONLY);
    for (int i = 0; i < l->fds; i++)
        if ((l->fd[i] = fcntl(l->fd[i], F_DUPFD, 64)) < 0)
            return false;
    if (dup2(null, 0) < 0 || dup2(l->output, 1) < 0 || dup2(l->output, 2) < 0)
        return false;
    for (int i = 0; i < l->fds; i++)
        if (dup2(l->fd[i], 3 + i) < 0)
            return false;
    return syscall(SYS_close_range, 3 + l->fds, ~0u, 0) == 0;
}

MT_NORETURN static void child(launch *l, pid_t parent)
{
    static char temporary[PATH_MAX], *environment[] = { "PATH=/usr/bin:/bin", NULL, NULL };
    const mg_sandbox *s = l->sandbox;
    bool bubblewrapped = s->confined == MG_BUBBLEWRAP;
    mg_janitor_note(getpid()); /* not by the grader: it may be killed while bubblewrap makes its child already */
    signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
    setsid();
    if (!place_descriptors(l) || (!bubblewrapped && s->folder && chdir(s->folder)))
        _exit(126);
    if (s->confined == MG_LANDLOCK && s->tmp_mib && s->writable[0]) { /* there is no private /tmp */
        snprintf(temporary, sizeof temporary, "TMPDIR=%s", s->writable[0]);
        environment[1] = temporary;
    }
    set_limits(s);
    if (!mg_drop_root())
        _exit(126);
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* bubblewrap sets its own */
    if (getppid() != parent)
        _exit(126);
    if (!bubblewrapped)
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (s->confined == MG_LANDLOCK && !mg_landlock_enter(s)) {
        dprintf(2, "Landlock: %s\n", strerror(errno));
        _exit(126);
    }
    execve(l->command.argv[0], (char *const *)l->command.argv, environment);
    dprintf(2, "%s: %s\n", l->command.argv[0], strerror(errno));
    _exit(126);
}

/* bubblewrap writes { "child-pid": 1234, ... } when its namespaces exist; the pipe must not be closed before. */
static pid_t read_reaper(int info)
{
    char text[512];
    size_t have = 0;
    while (have < sizeof text - 1 && mg_wait_readable(info, START_SECONDS)) {
        ssize_t n = read(info, text + have, sizeof text - 1 - have);
        if (n <= 0)
            break;
        have += (size_t)n;
        text[have] = 0;
        const char *value = strchr(text, '}') ? strstr(text, "\"child-pid\":") : NULL;
        if (value)
            return (pid_t)strtol(value + strlen("\"child-pid\":"), NULL, 10);
    }
    return 0;
}

static mt_status launch_process(mg_process *process, launch *l)
{
    int output[2];
    pid_t parent = getpid();
    if (pipe2(output, O_CLOEXEC))
        return mt_fail(MT_ERR_IO, "pipe: %s", strerror(errno));
    l->output = output[1];
    pid_t pid = fork();
    if (pid == 0)
        child(l, parent);
    close(output[1]);
    if (pid < 0) {
        close(output[0]);
        return mt_fail(MT_ERR_IO, "fork: %s", strerror(errno));
    }
    *process = (mg_process){ .child = pid, .output = output[0], .pidfd = (int)syscall(SYS_pidfd_open, pid, 0) };
    fcntl(process->pidfd, F_SETFD, FD_CLOEXEC);
    fcntl(output[0], F_SETFL, O_NONBLOCK);
    return MT_OK;
}

static mt_status launch_confined(mg_process *process, launch *l)
{
    int info[2], filter = mg_filter_open(l->sandbox->filter, 0);
    if (filter < 0)
        return MT_ERR_UNAVAILABLE;
    if (pipe2(info, O_CLOEXEC)) {
        close(filter);
        return mt_fail(MT_ERR_IO, "pipe: %s", strerror(errno));
    }
    prctl(PR_SET_CHILD_SUBREAPER, 1); /* what bubblewrap leaves becomes our child: mg_process_end waits for it */
    l->fd[l->fds++] = filter;
    l->fd[l->fds++] = info[1];
    mt_status status = launch_process(process, l);
    close(filter);
    close(info[1]);
    if (status == MT_OK)
        process->reaper = read_reaper(info[0]);
    if (process->reaper > 0)
        mg_janitor_note(process->reaper);
    close(info[0]);
    return status;
}

mt_status mg_sandbox_start(mg_process *process, const mg_sandbox *s)
{
    launch l = { .sandbox = s, .fds = s->fds };
    *process = (mg_process){ .pidfd = -1, .output = -1 };
    memcpy(l.fd, s->fd, sizeof s->fd);
    bool bubblewrapped = s->confined == MG_BUBBLEWRAP;
    if (bubblewrapped)
        add_bubblewrap(&l.command, s);
    for (const char *const *a = s->argv; *a; a++)
        add(&l.command, *a);
    return bubblewrapped ? launch_confined(process, &l) : launch_process(process, &l);
}

/* End the programs in bubblewrap, and let the first process of its namespace wait for them: when that one is killed,
 * the processor time that they have used is lost, and the gradebook would not know of it. False: there were none, or
 * they do not end. */
static bool end_programs(const mg_process *process)
{
    bool ended = process->reaper <= 0 || poll(&(struct pollfd){ .fd = process->pidfd, .events = POLLIN }, 1, 0) > 0;
    bool any = !ended;
    for (int tries = 0; !ended && tries < END_TRIES; tries++) {
        mg_kill_below(process->reaper);
        ended = mg_wait_readable(process->pidfd, END_SECONDS);
    }
    return any && ended;
}

int mg_process_end(mg_process *process)
{
    int status = 0;
    if (process->child <= 0)
        return 0;
    bool killed = end_programs(process);
    kill(process->child, SIGKILL);
    kill(-process->child, SIGKILL); /* without bubblewrap: the processes of a compiler */
    if (process->reaper > 0 && waitid(P_PID, (id_t)process->child, &(siginfo_t){ 0 }, WEXITED | WNOHANG | WNOWAIT) == 0)
        kill(process->reaper, SIGKILL); /* kills all processes of its namespace */
    waitpid(process->child, &status, 0);
    if (process->reaper > 0)
        waitpid(process->reaper, NULL, 0);
    mg_janitor_note(-process->child);
    if (process->reaper > 0)
        mg_janitor_note(-process->reaper);
    close(process->pidfd);
    close(process->output);
    *process = (mg_process){ .pidfd = -1, .output = -1 };
    return killed ? SIGKILL : status;
}

mt_status mg_sandbox_probe(mg_confinement kind)
{
    static const char *const argv[] = { "/usr/bin/true", NULL };
    mg_sandbox s = { .confined = kind, .toolchain = true, .filter = MG_FILTER_COMPILER, .argv = argv };
    char text[256] = "";
    mg_process process;
    s.limits = (mg_limits){ .cpu_s = 10, .wall_s = 10, .memory_mib = 1024, .file_mib = 1 };
    if (kind == MG_LANDLOCK && mg_landlock_version() == 0)
        return mt_fail(MT_ERR_UNAVAILABLE,
                       "no Landlock: it needs Linux 5.13 with landlock in lsm=, and in a container a "
                       "seccomp profile that allows its calls");
    if (kind == MG_BUBBLEWRAP && access(bubblewrap, X_OK))
        return mt_fail(MT_ERR_UNAVAILABLE, "bubblewrap is not installed (apt-get install bubblewrap)");
    mt_status status = mg_sandbox_start(&process, &s);
    mg_wait_readable(process.pidfd, START_SECONDS);
    ssize_t n = process.output < 0 ? 0 : read(process.output, text, sizeof text - 1);
    int code = mg_process_end(&process);
    if (status == MT_OK && code == 0)
        return MT_OK;
    text[n > 0 ? n : 0] = 0;
    text[strcspn(text, "\n")] = 0;
    return mt_fail(MT_ERR_UNAVAILABLE, "%s does not work here: %s", kind == MG_LANDLOCK ? "Landlock" : "bubblewrap",
                   text[0]           ? text
                   : status == MT_OK ? "no reason given"
                                     : mt_last_error());
}

mg_confinement mg_sandbox_choose(char *why, size_t size)
{
    why[0] = 0;
    for (mg_confinement kind = MG_BUBBLEWRAP; kind != MG_UNCONFINED; kind--) {
        if (mg_sandbox_probe(kind) == MT_OK)
            return kind;
        size_t used = strlen(why);
        snprintf(why + used, size - used, "%s%s", used ? "; " : "", mt_last_error());
    }
    return MG_UNCONFINED;
}

mt_status mg_sandbox_find(const char *name, mg_confinement *kind, char *why, size_t size)
{
    static const char *const names[] = { "none", "landlock", "bubblewrap" };
    if (!name) {
        *kind = mg_sandbox_choose(why, size);
        return MT_OK;
    }
    snprintf(why, size, "--sandbox %s", name);
    for (*kind = MG_UNCONFINED; *kind < MT_COUNT(names); (*kind)++)
        if (strcmp(name, names[*kind]) == 0)
            return *kind ? mg_sandbox_probe(*kind) : MT_OK;
    return mt_fail(MT_ERR_ARGUMENT, "--sandbox %s: use bubblewrap, landlock or none", name);
}
