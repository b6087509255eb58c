/* child.c -- see slot.h. In each group a guard reads from a pipe whose other end only this process has. The read ends
 * when this process does, and the guard then kills its group. */
#include "search/slot.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int lifeline[2] = { -1, -1 };

static mt_status prepare(void)
{
    sigset_t child;
    if (lifeline[0] >= 0)
        return MT_OK;
    if (pipe2(lifeline, O_CLOEXEC) < 0)
        return mt_fail(MT_ERR_IO, "cannot make a pipe: %s", strerror(errno));
    prctl(PR_SET_CHILD_SUBREAPER, 1); /* guards become our children when the shell that started them has ended */
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child, NULL); /* mt_child_wait takes it */
    return MT_OK;
}

static MT_NORETURN void guard(void)
{
    char byte;
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    while (read(lifeline[0], &byte, 1) < 0 && errno == EINTR)
        continue;
    kill(0, SIGKILL);
    _exit(0);
}

static MT_NORETURN void become(const char *command, int log, int64_t threads)
{
    char text[32];
    sigset_t none;
    int input = open("/dev/null", O_RDONLY);
    setpgid(0, 0);
    close(lifeline[1]);
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    if (input < 0 || dup2(input, 0) < 0 || dup2(log, 1) < 0 || dup2(log, 2) < 0)
        _exit(126);
    pid_t pid = fork();
    if (pid < 0)
        _exit(126);
    if (pid == 0)
        guard();
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    snprintf(text, sizeof text, "%" PRId64, threads);
    setenv("OMP_NUM_THREADS", text, 0);
    execl("/bin/sh", "sh", "-c", command, NULL);
    _exit(127);
}

mt_status mt_child_start(pid_t *child, const char *command, const char *log, int64_t threads)
{
    mt_status status = prepare();
    if (status != MT_OK)
        return status;
    int fd = open(log, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0666);
    if (fd < 0)
        return mt_fail(MT_ERR_IO, "%s: %s", log, strerror(errno));
    fflush(NULL);
    *child = fork();
    if (*child == 0)
        become(command, fd, threads);
    int problem = errno;
    close(fd);
    if (*child < 0)
        return mt_fail(MT_ERR_UNAVAILABLE, "cannot start a process: %s", strerror(problem));
    setpgid(*child, *child); /* whoever is first, it or we */
    return MT_OK;
}

bool mt_child_ended(pid_t child, int *status)
{
    siginfo_t info = { 0 };
    if (waitid(P_PID, (id_t)child, &info, WEXITED | WNOHANG | WNOWAIT) < 0 || info.si_pid != child)
        return false;
    kill(-child, SIGKILL); /* the group's number is not given away before the wait */
    waitpid(child, status, 0);
    while (waitpid(-child, NULL, 0) > 0) /* what came to us from its group */
        continue;
    return true;
}

void mt_child_kill(pid_t child)
{
    kill(-child, SIGKILL);
}

void mt_child_wait(double seconds)
{
    sigset_t child;
    struct timespec most = { (time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9) };
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigtimedwait(&child, NULL, &most);
}
